"""An output as Parquet: parts while the run goes on, one atomic replacement at its end.

A part is written before the rows in it are accepted, so a crash loses nothing; parts that a killed run
left are taken up by the next one. Knows nothing of rows, answers or runs.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extract.errors import InputError
from extract.tables.layout import Layout
from extract.tables.names import INDEX
from extract.tables.targets import ParquetFile, ParquetFolder

if TYPE_CHECKING:
    import polars as pl

_ROW = "_is_row"
_SEQUENCE = "_sequence"
_POSITION = "_position"
_MANY_PARTS = 128
_FILE_ROWS = 250_000


class ParquetSink:
    """Upserts by key into a Parquet file or folder.

    While a run goes on, its rows lie in `<path>.parts/`; `finish` merges them with what was there, in the
    order of the input, and puts the result in place in one step.
    """

    folds_case = False
    transactional = False
    fresh = False

    def __init__(self, target: ParquetFile | ParquetFolder, layout: Layout) -> None:
        self.target = target
        self.layout = layout
        self._path = Path(os.path.normpath(target.path))
        self._parts = self._path.with_name(self._path.name + ".parts")
        self._next = 0

    def prepare(self, con: Any = None) -> None:
        """Make the folder of parts; check that what is there fits. Raises InputError when it does not."""
        self._restore()
        self.fresh = not self._base()
        self._parts.mkdir(parents=True, exist_ok=True)
        for draft in self._parts.glob("*.tmp"):
            draft.unlink()
        parts = self._part_files()
        for file in (*self._base(), *parts)[:1]:
            self.layout = self.layout.beside(_schema(file))
        for file in self._base():
            self._compare(file, self.layout.polars)
        for part in parts[:1]:
            self._compare(part, {**self.layout.polars, _ROW: _boolean()})
        self._next = _number(parts[-1]) + 1 if parts else 0

    def write(self, con: Any, frame: pl.DataFrame, keys: pl.DataFrame) -> None:
        """Write one part: all rows of `keys` are replaced by those of `frame`."""
        import polars as pl

        marks = pl.concat([self.layout.empty(), keys], how="diagonal").with_columns(pl.lit(False).alias(_ROW))
        part = pl.concat([marks, frame.select(self.layout.names).with_columns(pl.lit(True).alias(_ROW))])
        self._write_part(part, self._next)
        self._next += 1
        if self._next % _MANY_PARTS == 0:
            self._compact()

    def release(self, con: Any) -> None:
        """Nothing is held."""

    def finish(self, order: pl.DataFrame) -> None:
        """Merge the parts into the output and put it in place.

        order: key columns and `_position`; rows of other keys stay, behind these.
        """
        if not self._parts.is_dir():
            return
        parts = self._part_files()
        if parts or not self._base():
            self._replace(self._merged(parts, order))
        shutil.rmtree(self._parts)

    def read(self, con: Any = None) -> pl.DataFrame:
        """What is in place now, without the parts of a run that goes on."""
        import polars as pl

        files = self._base()
        return pl.read_parquet(files).select(self.layout.names) if files else self.layout.empty()

    # -- parts ---------------------------------------------------------------------------------

    def _part_files(self) -> list[Path]:
        return sorted(self._parts.glob("*.parquet"), key=_number)

    def _write_part(self, frame: pl.DataFrame, number: int) -> None:
        self._parts.mkdir(parents=True, exist_ok=True)
        _write(frame, self._parts / f"{number:08d}.parquet")

    def _compact(self) -> None:
        """Many parts become one under the last number; a crash between leaves older parts, outvoted."""
        import polars as pl

        parts = self._part_files()
        last = self._latest(parts)
        marks = last.collect().drop(_SEQUENCE)
        marks = pl.concat([self.layout.empty(), marks], how="diagonal").with_columns(
            pl.lit(False).alias(_ROW)
        )
        rows = self._live(parts, last).with_columns(pl.lit(True).alias(_ROW)).collect()
        self._write_part(pl.concat([marks, rows.select(marks.columns)]), _number(parts[-1]))
        for part in parts[:-1]:
            part.unlink()

    def _scan(self, parts: Sequence[Path]) -> pl.LazyFrame:
        import polars as pl

        schema = {**self.layout.polars, _ROW: pl.Boolean(), _SEQUENCE: pl.Int64()}
        if not parts:
            return pl.LazyFrame(schema=schema)
        return pl.concat(
            [
                pl.scan_parquet(part).with_columns(pl.lit(_number(part), dtype=pl.Int64).alias(_SEQUENCE))
                for part in parts
            ]
        )

    def _latest(self, parts: Sequence[Path]) -> pl.LazyFrame:
        """Each key with the number of the last part that speaks of it."""
        import polars as pl

        return self._scan(parts).group_by(self.layout.key.names).agg(pl.col(_SEQUENCE).max())

    def _live(self, parts: Sequence[Path], last: pl.LazyFrame) -> pl.LazyFrame:
        """The rows of the parts that no later part replaces."""
        import polars as pl

        names = list(self.layout.key.names)
        rows = self._scan(parts).filter(pl.col(_ROW))
        return rows.join(last, on=[*names, _SEQUENCE], how="semi").select(self.layout.names)

    def _merged(self, parts: Sequence[Path], order: pl.DataFrame) -> pl.LazyFrame:
        import polars as pl

        names = list(self.layout.key.names)
        last = self._latest(parts)
        rows = self._live(parts, last)
        if base := self._base():
            old = pl.scan_parquet(base).select(self.layout.names).join(last, on=names, how="anti")
            rows = pl.concat([old, rows])
        by = [_POSITION, *([INDEX] if self.layout.many else [])]
        return (
            rows.join(order.lazy().select(*names, _POSITION), on=names, how="left", maintain_order="left")
            .sort(by, nulls_last=True, maintain_order=True)
            .select(self.layout.names)
        )

    # -- in place ------------------------------------------------------------------------------

    def _base(self) -> list[Path]:
        if isinstance(self.target, ParquetFile):
            return [self._path] if self._path.is_file() else []
        return sorted(self._path.glob("*.parquet"))

    def _replace(self, rows: pl.LazyFrame) -> None:
        draft = self._parts / "merged.tmp"
        if isinstance(self.target, ParquetFile):
            rows.sink_parquet(draft)
            _settle(draft, self._path)
            return
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir()
        for number, frame in enumerate(_chunks(rows, self.layout)):
            _write(frame, draft / f"part-{number:05d}.parquet")
        self._swap(draft)

    def _swap(self, draft: Path) -> None:
        """Put a folder in place of the old one; after a crash between the renames `_restore` mends it."""
        if self._path.exists():
            self._path.rename(self._old)
        draft.rename(self._path)
        shutil.rmtree(self._old, ignore_errors=True)

    def _restore(self) -> None:
        if self._old.exists() and not self._path.exists():
            self._old.rename(self._path)
        shutil.rmtree(self._old, ignore_errors=True)

    @property
    def _old(self) -> Path:
        return self._path.with_name(self._path.name + ".old")

    def _compare(self, file: Path, wanted: dict[str, pl.DataType]) -> None:
        found = _schema(file)
        for name, dtype in wanted.items():
            if name not in found:
                raise InputError(
                    f"{file} is there already and has no column {name!r}; give another name to into="
                )
            if found[name] != dtype:
                raise InputError(
                    f"{file} is there already and its column {name!r} is {found[name]}, not {dtype}; "
                    f"give another name to into="
                )


def _schema(file: Path) -> dict[str, pl.DataType]:
    import polars as pl

    try:
        return pl.read_parquet_schema(file)
    except Exception as error:
        raise InputError(f"{file} is no Parquet file that can be read; give another name to into=") from error


def _number(part: Path) -> int:
    return int(part.stem)


def _boolean() -> pl.DataType:
    import polars as pl

    return pl.Boolean()


def _write(frame: pl.DataFrame, path: Path) -> None:
    draft = path.with_name(path.name + ".tmp")
    frame.write_parquet(draft)
    _settle(draft, path)


def _settle(draft: Path, path: Path) -> None:
    """Make a finished file durable under its name."""
    with draft.open("rb") as file:
        os.fsync(file.fileno())
    draft.replace(path)


def _chunks(rows: pl.LazyFrame, layout: Layout) -> Iterable[pl.DataFrame]:
    empty = True
    for frame in rows.collect_batches(chunk_size=_FILE_ROWS, maintain_order=True):
        empty = False
        yield frame
    if empty:
        yield layout.empty()
