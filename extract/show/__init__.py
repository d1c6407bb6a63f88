"""Values in, pages out: what a run did, a row beside its source, and the small views of a notebook.

Knows nothing of how the values came about; draws with its own few shapes and loads nothing from elsewhere.
"""

from __future__ import annotations

from extract.show.compare import compare_page
from extract.show.figures import Figures, figures_of
from extract.show.held import shown_rows
from extract.show.report_page import report_page
from extract.show.rows import PageImage, ShownRow, rows_page

__all__ = [
    "Figures",
    "PageImage",
    "ShownRow",
    "compare_page",
    "figures_of",
    "report_page",
    "rows_page",
    "shown_rows",
]
