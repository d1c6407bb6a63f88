"""Media type → the loader that reads it, and the extra that it needs. Users add their own here.

Loaders are named, not imported: they run in a process of their own, which imports what it needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from extract.documents.document import Loader, UnreadableError
from extract.errors import ConfigError, MissingExtraError

_OFFICE = "application/vnd.openxmlformats-officedocument."


@dataclass(frozen=True, slots=True)
class Entry:
    """How one media type is read.

    place: "module:function" of a loader that another process can import; None for one that lives in
        this process only, as one that is written in a notebook does.
    packages: import names that it needs, and the package and extra that bring them.
    """

    place: str | None
    packages: tuple[tuple[str, str, str], ...] = ()
    local: Loader | None = None

    def require(self, kind: str) -> None:
        """Raises MissingExtraError when a package is not installed."""
        for name, package, extra in self.packages:
            if find_spec(name) is None:
                raise MissingExtraError(package, extra, f"reading {kind}")

    def resolve(self) -> Loader:
        """The loader, imported."""
        return self.local or resolve(self.place or "")


PILLOW = ("PIL", "pillow", "documents")
PDFIUM = ("pypdfium2", "pypdfium2", "documents")
KREUZBERG = ("kreuzberg", "kreuzberg", "documents")
RAPIDOCR = ("rapidocr", "rapidocr", "ocr")

_HERE = "extract.documents"
_PICTURE = Entry(f"{_HERE}.pictures:load", (PILLOW,))

_ENTRIES: dict[str, Entry] = {
    "text/plain": Entry(f"{_HERE}.plain:load"),
    "text/markdown": Entry(f"{_HERE}.plain:load"),
    "text/csv": Entry(f"{_HERE}.csvfile:load"),
    "text/html": Entry(f"{_HERE}.html:load"),
    "message/rfc822": Entry(f"{_HERE}.mail:load"),
    "application/pdf": Entry(f"{_HERE}.pdf:load", (PDFIUM, PILLOW)),
    f"{_OFFICE}wordprocessingml.document": Entry(f"{_HERE}.wordfile:load"),
    f"{_OFFICE}spreadsheetml.sheet": Entry(f"{_HERE}.office:load_xlsx", (KREUZBERG,)),
    f"{_OFFICE}presentationml.presentation": Entry(f"{_HERE}.office:load_pptx", (KREUZBERG,)),
} | dict.fromkeys(("image/png", "image/jpeg", "image/gif", "image/webp", "image/tiff", "image/bmp"), _PICTURE)

_WAYS_OUT = {
    "application/zip": "a ZIP archive; unpack it and read what is in it",
    "application/x-ole-storage": (
        "an old Office file (.doc, .xls, .ppt or .msg); save it as .docx, .xlsx, .pptx or .eml; "
        "a password makes a new one look old too"
    ),
    "image/heic": "a photo in Apple's HEIC; save it as JPEG",
    "application/gzip": "a gzip archive; unpack it",
    "application/x-7z-compressed": "a 7z archive; unpack it",
    "application/vnd.apache.parquet": "a Parquet table; read it with polars.read_parquet",
    "application/vnd.sqlite3": "an SQLite database; query it",
    "application/octet-stream": "neither text nor a file type that is known",
}
_NO_LOADER = "no loader reads {}; register_loader() takes one"


def register_loader(media_type: str, loader: Loader) -> None:
    """Read a media type with a loader of your own, in this process from now on.

    media_type: as the column `media_type` tells it, for instance "application/rtf".
    loader: takes the bytes and `Settings`, returns a `Document`, raises `UnreadableError` with the reason.
        One that stands in a module runs in a process of its own, within the limits. One that stands in
        `__main__`, or inside a function, runs in your process, where nothing can end it.
    Raises ConfigError for what cannot be called.
    """
    if not callable(loader):
        raise ConfigError(f"register_loader({media_type!r}): give a function of bytes and Settings")
    _ENTRIES[media_type] = Entry(_place(loader), local=loader)


def entry_of(kind: str) -> Entry:
    """How a media type is read. Raises UnreadableError, with a way out, for one that is not."""
    found = _ENTRIES.get(kind)
    if found is None:
        raise UnreadableError(f"unsupported: {_WAYS_OUT.get(kind, _NO_LOADER.format(kind))}")
    return found


def require_ocr() -> None:
    """Raises MissingExtraError when no text can be seen in pictures."""
    Entry(None, (RAPIDOCR,)).require("pictures with ocr=True")


def resolve(place: str) -> Loader:
    """The loader that "module:function" names."""
    module, _, name = place.partition(":")
    loader: Loader = getattr(import_module(module), name)
    return loader


def _place(loader: Any) -> str | None:
    module, name = getattr(loader, "__module__", None), getattr(loader, "__qualname__", "")
    if not module or module == "__main__" or not name.isidentifier():
        return None
    return f"{module}:{name}"
