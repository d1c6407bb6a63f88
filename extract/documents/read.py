"""A folder of files → a frame with one row a file.

A file that cannot be read is a row with an error; it never stops the folder. Knows nothing of
models, prompts or requests.
"""

from __future__ import annotations

import glob
import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extract.documents.sniff import media_type
from extract.documents.text import count_pages, decode
from extract.errors import InputError

if TYPE_CHECKING:
    import polars as pl

COLUMNS = ("id", "path", "media_type", "pages", "text", "error")

Pattern = str | Path


def read_documents(
    pattern: Pattern | Iterable[Pattern], *, root: Pattern | None = None, max_bytes: int = 64 * 1024 * 1024
) -> pl.DataFrame:
    """Read files into a frame, sorted by path.

    pattern: a glob (`**` goes through folders), a file, or several of them.
    root: the folder that relative patterns start from and that paths are told relative to; the
        current one when not given.
    max_bytes: a larger file becomes a row with an error.

    Columns: `id` (digest of the bytes; null where they could not be read), `path`, `media_type`
    (found from the bytes, not from the name), `pages`, `text` (null where there is none), `error`
    (null where all is well). A pattern that matches nothing gives a frame without rows.
    Raises InputError when the folder that a pattern starts in does not exist.
    """
    import polars as pl

    base = Path(root) if root is not None else None
    rows = [_row(path, name, max_bytes) for name, path in sorted(_files(pattern, base))]
    types: dict[str, Any] = dict.fromkeys(COLUMNS, pl.String) | {"pages": pl.Int64}
    return pl.DataFrame(rows, schema=types, orient="row")


def _files(pattern: Pattern | Iterable[Pattern], root: Path | None) -> set[tuple[str, Path]]:
    patterns = [pattern] if isinstance(pattern, str | Path) else list(pattern)
    return {found for one in patterns for found in _matches(str(one), root)}


def _matches(pattern: str, root: Path | None) -> Iterator[tuple[str, Path]]:
    base = root or Path()
    whole = str(base / Path(pattern).expanduser())
    if Path(whole).is_file():  # also a name with brackets in it
        yield _told(Path(whole), root), Path(whole)
        return
    _require_folder(whole, pattern)
    # Path.glob knows no absolute patterns and tells no fixed folder from a pattern.
    for path in map(Path, glob.glob(whole, recursive=True)):  # noqa: PTH207
        if path.is_file():
            yield _told(path, root), path


def _require_folder(whole: str, pattern: str) -> None:
    fixed = Path(re.split(r"[*?\[]", whole, maxsplit=1)[0] or ".")
    if fixed.exists():
        return
    folder = fixed.parent
    ends_in_a_name = glob.has_magic(whole) and not whole.startswith(f"{fixed}/")
    if ends_in_a_name and folder.exists():  # as in `inbox/inv*`
        return
    missing = next((up for up in reversed([fixed, *fixed.parents]) if not up.exists()), fixed)
    raise InputError(f"{pattern}: there is no {missing}")


def _told(path: Path, root: Path | None) -> str:
    if root is not None and path.is_relative_to(root):
        path = path.relative_to(root)
    return path.as_posix()


def _row(path: Path, name: str, max_bytes: int) -> tuple[Any, ...]:
    try:
        size = path.stat().st_size
        if size > max_bytes:
            return None, name, None, None, None, f"too large: {size:,} bytes, the limit is {max_bytes:,}"
        data = path.read_bytes()
    except OSError as error:
        return None, name, None, None, None, f"cannot be opened: {error.strerror or error}"
    identity, kind = hashlib.sha256(data).hexdigest()[:32], media_type(data)
    try:
        text = _text(data, kind)
    except ValueError as error:
        return identity, name, kind, None, None, str(error)
    return identity, name, kind, count_pages(text), text, None


def _text(data: bytes, kind: str) -> str:
    if not data.strip():
        raise ValueError("the file is empty")
    if not kind.startswith("text/"):
        raise ValueError(f"{kind} cannot be read yet: text files can")
    return decode(data)
