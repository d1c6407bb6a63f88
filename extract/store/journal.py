"""What is paid and not yet in the database: requests and answers, on disk the moment they come.

A commit costs much the same for one row as for hundreds, so rows wait for company; what they cost must not
wait with them. Two files beside the store are appended to in turns; one is emptied when everything in it is
in the database. A killed process leaves them to the next that opens the store. Knows nothing of DuckDB.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar
from zlib import crc32

from pydantic_core import PydanticSerializationError, SchemaSerializer, core_schema

from extract.protocol.usage import Usage
from extract.store.rows import AnswerRow, CallRow

_LARGE = 1 << 18  # bytes after which the other file takes over, if all of it is in the database

Row = TypeVar("Row", CallRow, AnswerRow)


@dataclass(frozen=True, slots=True)
class Paid:
    """What one entry of the journal holds."""

    calls: tuple[CallRow, ...]
    answers: tuple[AnswerRow, ...]


@dataclass(frozen=True, slots=True)
class Left:
    """What a journal held. broken: lines that cannot be read."""

    entries: list[Paid]
    broken: int


class Journal:
    """The journal of an open store. path: of the store; None for one in memory, which has nothing to keep."""

    def __init__(self, path: Path | None) -> None:
        self._paths = [] if path is None else journal_paths(path)
        self._files: list[int] = []
        self._pending = [0, 0]  # entries in each file that are not in the database yet
        self._written = 0  # bytes in the file that is appended to
        self._turn = 0
        self._lock = threading.Lock()

    def note(self, calls: Sequence[CallRow], answers: Sequence[AnswerRow]) -> int:
        """Writes an entry down, safe from a kill when this returns. Raises OSError.

        Gives what `landed` wants once the entry is in the database.
        """
        if not self._paths:
            return 0
        line = _line(calls, answers)
        with self._lock:
            if self._written > _LARGE and not self._pending[1 - self._turn]:
                self._turn, self._written = 1 - self._turn, 0
            self._append(line)
            self._pending[self._turn] += 1
            return self._turn

    def landed(self, tickets: Sequence[int]) -> None:
        """The entries that `note` gave these for are in the database."""
        if not self._paths:
            return
        with self._lock:
            for file in (0, 1):
                count = tickets.count(file)
                self._pending[file] -= count
                if count and not self._pending[file]:
                    os.ftruncate(self._files[file], 0)
                    self._written = 0 if file == self._turn else self._written

    def left(self) -> Left:
        """What an earlier process left behind, to be written to the database and then to `forget`."""
        lines: list[bytes] = []
        for path in self._paths:
            if path.exists():
                lines += path.read_bytes().split(b"\n")[:-1]  # the last one was cut while it was written
        read = [one for line in lines if (one := _read(line))]
        return Left(read, len(lines) - len(read))

    def forget(self) -> None:
        """All that was left is in the database: the files go."""
        for path in self._paths:
            path.unlink(missing_ok=True)

    def set_aside(self) -> list[Path]:
        """The same where lines could not be read: the files are kept under other names, which it gives."""
        kept = [path for path in self._paths if path.exists() and path.stat().st_size]
        return [path.rename(path.with_name(f"{path.name}.broken-{time.time_ns()}")) for path in kept]

    def close(self) -> None:
        """Lets the files go; those with nothing in them are removed."""
        with self._lock:
            for file in self._files:
                os.close(file)
            self._files.clear()
            for path, pending in zip(self._paths, self._pending, strict=False):
                if not pending:
                    path.unlink(missing_ok=True)

    def _append(self, line: bytes) -> None:
        """All of the line or, where there is no room for it, nothing."""
        if not self._files:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
            self._files = [os.open(path, flags, 0o666) for path in self._paths]
        file, left = self._files[self._turn], line
        try:
            while left:
                left = left[os.write(file, left) :]
        except OSError:
            os.ftruncate(file, self._written)
            raise
        self._written += len(line)


def journal_paths(store: Path) -> list[Path]:
    """The two files of a store's journal."""
    return [store.with_name(f"{store.name}.paid-{number}") for number in (1, 2)]


# -- lines -------------------------------------------------------------------------------------

_ESCAPED = json.JSONEncoder(separators=(",", ":"), default=str).encode


def _rows_of(kind: type[CallRow | AnswerRow]) -> Any:
    """What tells the serializer that rows are tuples: looking for what they are takes as long as writing."""
    usage = core_schema.tuple_schema([core_schema.any_schema()], variadic_item_index=0)
    columns: list[Any] = [usage if name == "usage" else core_schema.any_schema() for name in kind._fields]
    return core_schema.tuple_schema([core_schema.tuple_schema(columns)], variadic_item_index=0)


_ENTRY = SchemaSerializer(
    core_schema.tuple_schema([_rows_of(CallRow), _rows_of(AnswerRow)]),
    core_schema.CoreConfig(ser_json_inf_nan="constants"),
)


def _line(calls: Sequence[CallRow], answers: Sequence[AnswerRow]) -> bytes:
    """A checksum and the entry as JSON, whose text never holds a line break."""
    entry = (tuple(calls), tuple(answers))
    try:
        text = _ENTRY.to_json(entry)
    except PydanticSerializationError:  # half a surrogate pair, which no UTF-8 can hold
        text = _ESCAPED(entry).encode()
    return b"%08x %b\n" % (crc32(text), text)


def _read(line: bytes) -> Paid | None:
    checksum, _, text = line.partition(b" ")
    try:
        if int(checksum, 16) != crc32(text):
            return None
        calls, answers = json.loads(text)
        return Paid(
            tuple(_row(CallRow, one) for one in calls), tuple(_row(AnswerRow, one) for one in answers)
        )
    except (ValueError, TypeError, ArithmeticError):  # damaged, or of a version with other columns
        return None


def _row(kind: type[Row], values: list[Any]) -> Row:
    row = kind(*values)
    cost = None if row.cost is None else Decimal(row.cost)
    return row._replace(usage=Usage(*row.usage), cost=cost)
