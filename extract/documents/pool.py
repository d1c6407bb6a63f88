"""A few parsing processes: bytes in, a document or the reason why not out. One that dies is replaced.

Knows how processes are started, timed and ended; nothing of formats.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextlib import suppress
from queue import SimpleQueue
from types import TracebackType

from extract.documents import frames
from extract.documents.document import Document, Settings, UnreadableError
from extract.documents.loaders import Entry

_OCR_SECONDS = 10  # times the limit: a page takes as long as a file without it


class Pool:
    """Reads with at most `size` processes at once; each is started when it is first needed.

    Safe for threads; to be used as a context manager.
    """

    def __init__(self, settings: Settings, size: int) -> None:
        self._settings = settings
        self._free: SimpleQueue[_Process | None] = SimpleQueue()
        for _ in range(size):
            self._free.put(None)
        self._size = size
        self._live: set[_Process] = set()
        self._stopped = False

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for _ in range(self._size):
            process = self._free.get()
            if process is not None:
                process.end()

    def stop(self) -> None:
        """Ends what is being read: nobody waits for it any more."""
        self._stopped = True
        for process in tuple(self._live):
            process.kill()

    def read(self, entry: Entry, data: bytes) -> Document:
        """The document, by a loader with a place. Raises UnreadableError where there is none."""
        assert entry.place is not None
        process = self._free.get()
        kept: _Process | None = None
        try:
            if self._stopped:
                raise UnreadableError("nobody waits for it any more")
            if process is None or not process.alive:
                process = _Process(self._settings)
                self._live.add(process)
            document = process.read(entry.place, data)
            kept = process
            return document
        except UnreadableError:
            kept = process if process is not None and process.alive else None
            raise
        finally:
            if kept is None and process is not None:
                self._live.discard(process)
                process.end()
            self._free.put(kept)


class _Process:
    """One parsing process."""

    def __init__(self, settings: Settings) -> None:
        self._seconds = settings.limits.seconds * (_OCR_SECONDS if settings.ocr else 1)
        self._overdue = False
        self._child = subprocess.Popen(
            [sys.executable, "-P", "-m", "extract.documents"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            start_new_session=True,  # Ctrl-C is for the run: a file that it hits would be told as unreadable
        )
        assert self._child.stdin is not None and self._child.stdout is not None
        self._in, self._out = self._child.stdin, self._child.stdout
        frames.write(self._in, {"path": sys.path, "settings": frames.pack_settings(settings)})

    @property
    def alive(self) -> bool:
        return self._child.poll() is None

    def read(self, place: str, data: bytes) -> Document:
        """Raises UnreadableError, also when the process died of the file or took too long."""
        timer = threading.Timer(self._seconds, self._too_long)
        timer.daemon = True
        timer.start()
        try:
            frames.write(self._in, {"loader": place}, [data])
            head, blobs = frames.read(self._out)
        except (EOFError, OSError):
            self._child.wait()
            raise UnreadableError(self._why()) from None
        finally:
            timer.cancel()
        if "error" in head:
            raise UnreadableError(head["error"])
        return frames.unpack(head, blobs)

    def _why(self) -> str:
        if self._overdue:
            return f"reading it took longer than {self._seconds:g} seconds"
        code = self._child.returncode
        return f"its parser died of it ({f'signal {-code}' if code and code < 0 else f'exit {code}'})"

    def _too_long(self) -> None:
        self._overdue = True
        self.kill()

    def kill(self) -> None:
        """Ends it in the middle of whatever it does."""
        self._child.kill()

    def end(self) -> None:
        """Lets the process go."""
        with suppress(OSError):
            self._in.close()
        self._child.kill()
        self._child.wait()
        self._out.close()


def _environment() -> dict[str, str]:
    """That of this process, without keys: what parses untrusted files has no use for them."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("EXTRACT_")}
    return kept | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
