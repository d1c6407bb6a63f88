"""The marker `Evidence` and the alignment of values with their source. Pure."""

from __future__ import annotations

from .align import Span, align
from .fields import EvidenceField, EvidenceFields, evidence_fields
from .ground import EvidenceRow, ground
from .marker import Evidence, find_marker
from .source import Box, Boxes, Source

__all__ = [
    "Box",
    "Boxes",
    "Evidence",
    "EvidenceField",
    "EvidenceFields",
    "EvidenceRow",
    "Source",
    "Span",
    "align",
    "evidence_fields",
    "find_marker",
    "ground",
]
