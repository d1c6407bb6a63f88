"""The process that parses: files come in through a pipe, documents go out. It may die of a file.

It opens no file and no socket of its own accord; loaders are imported by name.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any, BinaryIO

try:
    import resource
except ImportError:  # Windows: there only the limits on files and pictures hold
    resource = None  # type: ignore[assignment]

from extract.documents import frames
from extract.documents.document import Settings, UnreadableError
from extract.documents.loaders import resolve
from extract.documents.seeing import with_text


def main() -> None:
    """Serves until the pipe ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a parser prints must not end up between the answers
    start, _ = frames.read(sys.stdin.buffer)
    sys.path[:] = start["path"]
    settings = frames.unpack_settings(start["settings"])
    _bound_memory(settings.limits.memory)
    with suppress(EOFError, BrokenPipeError, KeyboardInterrupt):
        while True:
            _serve(sys.stdin.buffer, answers, settings)


def _serve(questions: BinaryIO, answers: BinaryIO, settings: Settings) -> None:
    head, blobs = frames.read(questions)
    try:
        answer: tuple[dict[str, Any], list[bytes]] = frames.pack(read(head["loader"], blobs[0], settings))
    except Exception as error:
        answer = {"error": told(error)}, []
    frames.write(answers, *answer)


def read(place: str, data: bytes, settings: Settings) -> Any:
    """The document that a loader makes of some bytes."""
    document = resolve(place)(data, settings)
    return with_text(document) if settings.ocr else document


def told(error: Exception) -> str:
    """Why a file could not be read, for people."""
    if isinstance(error, MemoryError):
        return "it takes too much memory to read"
    if isinstance(error, ValueError) and (isinstance(error, UnreadableError) or str(error)):
        return str(error)
    return f"its parser failed: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"


def _bound_memory(size: int) -> None:
    if resource is None:
        return
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (size, size))
