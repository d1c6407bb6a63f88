"""The marker `Evidence` and the alignment of values with their source. Pure."""

from __future__ import annotations

from extract.evidence.align import Span, align
from extract.evidence.fields import EvidenceField, EvidenceFields, evidence_fields
from extract.evidence.ground import EvidenceRow, ground
from extract.evidence.marker import Evidence, find_marker
from extract.evidence.source import Box, Boxes, Source

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
