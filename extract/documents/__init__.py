"""Files in, rows out: one row a file, whatever the file is."""

from extract.documents.document import (
    Attachment,
    Document,
    Limits,
    Loader,
    Picture,
    Settings,
    UnreadableError,
)
from extract.documents.loaders import register_loader
from extract.documents.read import COLUMNS, Documents, read_documents, scan_documents

__all__ = [
    "COLUMNS",
    "Attachment",
    "Document",
    "Documents",
    "Limits",
    "Loader",
    "Picture",
    "Settings",
    "UnreadableError",
    "read_documents",
    "register_loader",
    "scan_documents",
]
