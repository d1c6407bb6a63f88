"""An output as Parquet: parts while the run goes on, one atomic replacement at its end.

A part is written before the rows in it are accepted, so a crash loses nothing; parts that a killed run
left are taken up by the next one. Knows nothing of rows, answers or runs.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extract.errors import InputError
from extract.tables.layout import Layout
from extract.tables.parquet_merge import ROW, SEQUENCE, Merge, Places
from extract.tables.targets import ParquetFile, ParquetFolder

if TYPE_CHECKING:
    import polars as pl

_MANY_PARTS = 128
"""Parts of commits that become one. Such larger parts stay until the end: there are few."""


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
            shutil.rmtree(draft) if draft.is_dir() else draft.unlink()
        parts = self._part_files()
        for file in (*self._base(), *parts)[:1]:
            self.layout = self.layout.beside(_schema(file))
        for file in self._base():
            self._compare(file, self.layout.polars)
        for part in parts[:1]:
            self._compare(part, {**self.layout.polars, ROW: _boolean()})
        self._next = _number(parts[-1]) + 1 if parts else 0

    def write(self, con: Any, frame: pl.DataFrame, keys: pl.DataFrame) -> None:
        """Write one part: all rows of `keys` are replaced by those of `frame`."""
        import polars as pl

        marks = pl.concat([self.layout.empty(), keys], how="diagonal").with_columns(pl.lit(False).alias(ROW))
        part = pl.concat([marks, frame.select(self.layout.names).with_columns(pl.lit(True).alias(ROW))])
        self._write_part(part, self._next)
        self._next += 1
        if self._next % _MANY_PARTS == 0:
            self._compact()

    def release(self, con: Any) -> None:
        """Nothing is held."""

    def finish(self, places: Places) -> None:
        """Merge the parts into the output and put it in place.

        places: gives key columns and `_position` of the rows that are in the input, in batches; rows of
        other keys stay, behind these.
        """
        if not self._parts.is_dir():
            return
        parts = self._part_files()
        if parts or not self._base():
            self._replace(self._merged(parts, places))
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
        """The last parts become one under the last number; a crash between leaves older parts, outvoted."""
        import polars as pl

        parts = [part for part in self._part_files() if _number(part) >= self._next - _MANY_PARTS]
        names, rows = list(self.layout.key.names), self._scan(parts)
        last = rows.group_by(names).agg(pl.col(SEQUENCE).max())
        marks = pl.concat([self.layout.empty().lazy(), last.select(names)], how="diagonal")
        live = rows.filter(ROW).join(last, on=[*names, SEQUENCE], how="semi").select(self.layout.names)
        draft = self._parts / "compact.tmp"
        pl.concat(
            [part.with_columns(pl.lit(is_row).alias(ROW)) for part, is_row in ((marks, False), (live, True))]
        ).sink_parquet(draft)
        _settle(draft, parts[-1])
        for part in parts[:-1]:
            part.unlink()

    def _scan(self, parts: Sequence[Path]) -> pl.LazyFrame:
        """The rows of some parts, with the number of the part."""
        import polars as pl

        none = pl.LazyFrame(schema={**self.layout.polars, ROW: pl.Boolean(), SEQUENCE: pl.Int64()})
        numbered = [
            pl.scan_parquet(part).with_columns(pl.lit(_number(part), dtype=pl.Int64).alias(SEQUENCE))
            for part in parts
        ]
        return pl.concat([none, *numbered])

    def _merged(self, parts: Sequence[Path], places: Places) -> Iterator[pl.DataFrame]:
        """What was in place and the parts, in order."""
        import polars as pl

        base, rows = self._base(), self._scan(parts)
        if base:
            old = pl.scan_parquet(base).select(self.layout.names)
            ours = (pl.lit(value=True).alias(ROW), pl.lit(-1, dtype=pl.Int64).alias(SEQUENCE))
            rows = pl.concat([old.with_columns(ours), rows])
        height = rows.select(pl.len()).collect().item()
        size = sum(file.stat().st_size for file in (*base, *parts))
        return Merge(rows, height, size, self.layout, places, self._parts / "dealt.tmp").frames()

    # -- in place ------------------------------------------------------------------------------

    def _base(self) -> list[Path]:
        if isinstance(self.target, ParquetFile):
            return [self._path] if self._path.is_file() else []
        return sorted(self._path.glob("*.parquet"))

    def _replace(self, frames: Iterator[pl.DataFrame]) -> None:
        draft = self._parts / "merged.tmp"
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir()
        files = []
        for number, frame in enumerate(frames):
            files.append(draft / f"part-{number:05d}.parquet")
            _write(frame, files[-1])
        if isinstance(self.target, ParquetFile):
            _settle(files[0] if len(files) == 1 else _joined(files), self._path)
        else:
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


def _joined(files: list[Path]) -> Path:
    """One file with the rows of several, in order."""
    import polars as pl

    joined = files[0].with_name("joined.parquet")
    pl.scan_parquet(files).sink_parquet(joined)
    return joined
