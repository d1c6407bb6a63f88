"""A folder of files → rows, one a file; a mail's attachments are rows of their own.

A file that cannot be read is a row with an error; it never stops the folder. Plain text is decoded here,
everything else in processes that may die of it. Knows nothing of models, prompts or requests.
"""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extract.documents.document import Document, Limits, Picture, Settings, UnreadableError
from extract.documents.files import Pattern, find
from extract.documents.loaders import Entry, entry_of, require_ocr
from extract.documents.pool import Pool
from extract.documents.sniff import media_type, mislabelled
from extract.documents.worker import told
from extract.errors import ConfigError
from extract.protocol.blocks import media_type as picture_type

if TYPE_CHECKING:
    import polars as pl

COLUMNS = ("id", "path", "media_type", "pages", "text", "images", "layout", "error")

_AT_HOME = {"text/plain", "text/markdown"}  # decoding is all there is to them: no process is needed
_DEEPEST = 3  # mails in mails
_AHEAD = 2  # files a process that are read before somebody asks for them


def read_documents(
    pattern: Pattern | Iterable[Pattern],
    *,
    root: Pattern | None = None,
    limits: Limits | None = None,
    password: str | Sequence[str] = (),
    encoding: str | None = None,
    ocr: bool = False,
    processes: int = 2,
) -> pl.DataFrame:
    """Read files into a frame, sorted by path. `scan_documents` does it without holding them all.

    pattern: a glob (`**` goes through folders), a file, a folder with all that is in it, or several of them.
    root: the folder that relative patterns start from and that paths are told relative to; the
        current one when not given.
    limits: what one file may cost in bytes, pages, pixels and seconds; a file beyond them becomes a row
        with an error.
    password: one, or several to try, for encrypted PDFs.
    encoding: of text files without a byte order mark; by default UTF-8, else Windows-1252.
    ocr: give pages that are pictures a text layer (extra `ocr`); evidence is then found on scans too.
    processes: how many files are parsed at the same time.

    Columns: `id` (SHA-256 of the bytes; null where they could not be read), `path`, `media_type`
    (found from the bytes; the name only tells kinds of plain text apart), `pages`, `text` (pages parted
    by form feeds; null where there is none), `images` (pages without a text layer: `page`, `media_type`,
    `data`, `width` and `height` in points), `layout` (where the words stand, for evidence), `error`
    (null where all is well). A pattern
    that matches nothing gives a frame without rows.

    Raises InputError when the folder that a pattern starts in does not exist, and MissingExtraError
    when a file needs a package that is not installed.
    """
    import polars as pl

    size = {"width": pl.Float64, "height": pl.Float64}
    picture = pl.Struct({"page": pl.Int64, "media_type": pl.String, "data": pl.Binary, **size})
    types: dict[str, Any] = dict.fromkeys(COLUMNS, pl.String)
    types |= {"pages": pl.Int64, "images": pl.List(picture), "layout": pl.Binary}
    rows = scan_documents(
        pattern,
        root=root,
        limits=limits,
        password=password,
        encoding=encoding,
        ocr=ocr,
        processes=processes,
    )
    return pl.DataFrame([tuple(row.values()) for row in rows], schema=types, orient="row")


def scan_documents(
    pattern: Pattern | Iterable[Pattern],
    *,
    root: Pattern | None = None,
    limits: Limits | None = None,
    password: str | Sequence[str] = (),
    encoding: str | None = None,
    ocr: bool = False,
    processes: int = 2,
) -> Documents:
    """Read files one after the other while somebody takes the rows: memory does not grow with the folder.

    Takes what `read_documents` takes and gives the same rows as mappings: `pipeline.run` takes it as
    it is. Files are read again each time that it is iterated. Raises the same errors; those about
    packages when it comes to the file.
    """
    if ocr:
        require_ocr()
    if processes < 1:
        raise ConfigError(f"processes={processes}: at least one reads the files")
    passwords = (password,) if isinstance(password, str) else tuple(password)
    settings = Settings(limits or Limits(), passwords, encoding, ocr)
    return Documents(tuple(find(pattern, root)), settings, processes)


@dataclass(frozen=True)
class Documents:
    """Files that are read while it is iterated; gives one mapping a document, in the order of their names."""

    files: tuple[tuple[str, Path], ...]
    settings: Settings
    processes: int = 2

    def __iter__(self) -> Iterator[dict[str, Any]]:
        with Pool(self.settings, self.processes) as pool, ThreadPoolExecutor(self.processes) as threads:
            waiting: deque[Future[list[dict[str, Any]]]] = deque()
            files = iter(self.files)
            try:
                while True:
                    for name, path in files:
                        waiting.append(threads.submit(_file, name, path, self.settings, pool))
                        if len(waiting) > _AHEAD * self.processes:
                            break
                    if not waiting:
                        return
                    yield from waiting.popleft().result()
            finally:
                for future in waiting:
                    future.cancel()
                pool.stop()


def _file(name: str, path: Path, settings: Settings, pool: Pool) -> list[dict[str, Any]]:
    limit = settings.limits.bytes
    try:
        size = path.stat().st_size
        if size > limit:
            return [_row(None, name, error=f"too large: {size:,} bytes, the limit is {limit:,}")]
        data = path.read_bytes()
    except OSError as error:
        return [_row(None, name, error=f"cannot be opened: {error.strerror or error}")]
    return list(_rows(name, data, settings, pool, 0))


def _rows(name: str, data: bytes, settings: Settings, pool: Pool, depth: int) -> Iterator[dict[str, Any]]:
    """The document, then its attachments."""
    kind = media_type(data, name)
    try:
        document = _document(name, data, kind, settings, pool)
    except ValueError as error:
        yield _row(data, name, kind, error=str(error))
        return
    yield _row(data, name, kind, document)
    for attachment in document.attachments:
        inner = f"{name}/{attachment.name}"
        if depth < _DEEPEST:
            yield from _rows(inner, attachment.data, settings, pool, depth + 1)
        else:
            yield _row(attachment.data, inner, error=f"a mail in a mail, {depth + 1} deep: not looked into")


def _document(name: str, data: bytes, kind: str, settings: Settings, pool: Pool) -> Document:
    if not data.strip():
        raise UnreadableError("the file is empty")
    try:
        entry = entry_of(kind)
    except UnreadableError as error:
        raise UnreadableError(mislabelled(name, kind) + str(error)) from None
    entry.require(kind)
    if kind in _AT_HOME and entry.local is None:
        return entry.resolve()(data, settings)
    return _local(entry, data, settings) if entry.place is None else pool.read(entry, data)


def _local(entry: Entry, data: bytes, settings: Settings) -> Document:
    try:
        return entry.resolve()(data, settings)
    except Exception as error:  # a user's loader, in our process: one file must not end the folder
        raise UnreadableError(told(error)) from error


def _row(
    data: bytes | None,
    name: str,
    kind: str | None = None,
    document: Document | None = None,
    *,
    error: str | None = None,
) -> dict[str, Any]:
    pictures = [_picture(picture) for picture in (document.pictures if document else ())]
    return {
        "id": hashlib.sha256(data).hexdigest() if data is not None else None,
        "path": _legible(name),
        "media_type": kind,
        "pages": document.pages if document else None,
        "text": document.text if document and document.text.strip() else None,
        "images": pictures,
        "layout": document.layout if document else None,
        "error": error,
    }


def _picture(picture: Picture) -> Mapping[str, Any]:
    width, height = picture.points or (None, None)
    kind = picture_type(picture.data)
    return {
        "page": picture.page,
        "media_type": kind,
        "data": picture.data,
        "width": width,
        "height": height,
    }


def _legible(name: str) -> str:
    """A name as text: bytes of it that are none are told as escapes."""
    return os.fsencode(name).decode("utf-8", "backslashreplace") if _has_lone(name) else name


def _has_lone(name: str) -> bool:
    return any("\ud800" <= letter <= "\udfff" for letter in name)
