"""Files in, rows out: one row a file, whatever the file is."""

from extract.documents.read import COLUMNS, read_documents

__all__ = ["COLUMNS", "read_documents"]
