"""The door to the sheet: needs the extra `notebook`, and says so."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from extract.errors import MissingExtraError
from extract.labels.book import book
from extract.run import Run

if TYPE_CHECKING:
    from extract.labels.widget import Sheet


def sheet(run: Run, *, keys: Sequence[str] | None = None, who: str | None = None) -> Sheet:
    """Rows of a run to look at and correct, in Jupyter, VS Code or marimo.

    keys: which rows in which order, as `labels.queue(run)["key"]`; by default all, in the run's order.
    who: whose words these are; by default the user of this machine.
    What is pressed is in the store at once; `labels.book(run)` reads and says the same without a widget.
    Raises MissingExtraError without the extra `notebook`, InputError for a key that the run does not have.
    """
    if find_spec("anywidget") is None:
        raise MissingExtraError("anywidget", "notebook", "the sheet for labels")
    from extract.labels.widget import Sheet

    return Sheet(run, book(run, who=who), keys)
