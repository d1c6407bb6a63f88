"""Long inputs cut into pieces, and what was read in the pieces put together again. Pure."""

from __future__ import annotations

from extract.split.cut import Piece, Split, cut
from extract.split.merge import Merged, Part, merge

__all__ = ["Merged", "Part", "Piece", "Split", "cut", "merge"]
