"""Office files are ZIP archives: opened here, if they stay within the limits."""

from __future__ import annotations

import io
import zipfile

from extract.documents.document import Limits, UnreadableError


def opened(data: bytes, limits: Limits) -> zipfile.ZipFile:
    """The file as the archive that it is. Raises UnreadableError for one that is cut or grows too large."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, NotImplementedError):
        raise UnreadableError("it is damaged or cut: its list of parts is missing") from None
    if any(part.flag_bits & 1 for part in archive.infolist()):
        raise UnreadableError("it is encrypted: save it without a password")
    grown = sum(part.file_size for part in archive.infolist())
    if grown > limits.unpacked:
        raise UnreadableError(f"it unpacks to {grown:,} bytes, the limit is {limits.unpacked:,}")
    return archive
