"""The rows of many Parquet files in the order of the input, a bounded number at a time.

Few rows are sorted in memory; more are first dealt out into files by their place, each of which is then
small enough to be sorted alone. Knows nothing of where the files lie or what becomes of the result.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from extract.tables.layout import Layout
from extract.tables.names import INDEX

if TYPE_CHECKING:
    import polars as pl

ROW = "_is_row"
SEQUENCE = "_sequence"
POSITION = "_position"
_BUCKET = "_bucket"
FILE_ROWS = 100_000
_FILE_BYTES = 16_000_000  # compressed
_SHARE_ROWS = 1_000_000  # whose keys and places are held at a time, some 50 bytes a row

Places = Callable[[], Iterable["pl.DataFrame"]]


@dataclass
class Merge:
    """A merge of versions of rows.

    rows: the table's columns, ROW (false in a mark that says: this key was written) and SEQUENCE; of a key
        the rows with its highest SEQUENCE count. height, size: of `rows`, in rows and bytes on disk.
    places: gives key columns and POSITION of the rows that have a place, in batches. folder: for its files.
    """

    rows: pl.LazyFrame
    height: int
    size: int
    layout: Layout
    places: Places
    folder: Path
    _files: dict[int | None, list[Path]] = field(default_factory=dict)

    def frames(self) -> Iterator[pl.DataFrame]:
        """The rows by place; those without one behind all others."""
        at_once = min(FILE_ROWS, max(1, self.height * _FILE_BYTES // max(1, self.size)))
        if self.height <= at_once:
            yield self._settled(self._placed(0, 1).collect())
            return
        self.folder.mkdir(parents=True)
        self._deal(at_once)
        rest = self._files.pop(None, [])
        for bucket in sorted(self._files, key=int):  # type: ignore[arg-type]
            yield self._settled(_read(self._files[bucket]))
        yield from self._rest(rest, at_once)
        shutil.rmtree(self.folder)

    def _deal(self, at_once: int) -> None:
        """Every row into a file of its bucket."""
        import polars as pl

        shares, bucket = 1 + self.height // _SHARE_ROWS, (pl.col(POSITION) // at_once).alias(_BUCKET)
        for share in range(shares):
            for frame in self._placed(share, shares).collect_batches(maintain_order=True):
                parts = frame.with_columns(bucket).partition_by(_BUCKET, as_dict=True, include_key=False)
                for (number,), part in parts.items():
                    files = self._files.setdefault(number, [])
                    files.append(self.folder / f"{number}-{len(files)}.parquet")
                    part.write_parquet(files[-1], compression="lz4")

    def _rest(self, files: list[Path], at_once: int) -> Iterator[pl.DataFrame]:
        """Rows without a place."""
        import polars as pl

        if not files:
            return
        rows = pl.scan_parquet(files)
        shares = 1 + rows.select(pl.len()).collect().item() // (2 * at_once)
        for share in range(shares):
            yield self._settled(rows.filter(self._of_share(share, shares)).collect())

    def _placed(self, share: int, shares: int) -> pl.LazyFrame:
        """The rows of a share of the keys with their places."""
        import polars as pl

        names, mine = list(self.layout.key.names), self._of_share(share, shares)
        none = pl.DataFrame(schema={**self.layout.key.polars, POSITION: pl.Int64()})
        places = pl.concat([none, *(frame.select(none.columns).filter(mine) for frame in self.places())])
        return self.rows.filter(mine).join(places.lazy(), on=names, how="left", maintain_order="left")

    def _of_share(self, share: int, shares: int) -> pl.Expr:
        import polars as pl

        if shares == 1:
            return pl.lit(value=True)
        plain = [
            pl.col(name).cast(pl.String) if isinstance(dtype, pl.Enum | pl.Categorical) else pl.col(name)
            for name, dtype in self.layout.key.polars.items()
        ]
        return pl.struct(plain).hash(seed=1) % shares == share

    def _settled(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows that count, in order."""
        import polars as pl

        newest = pl.col(SEQUENCE).max().over(list(self.layout.key.names))
        by = [POSITION, *([INDEX] if self.layout.many else [])]
        kept = frame.filter(pl.col(SEQUENCE) == newest).filter(pl.col(ROW))
        return kept.sort(by, nulls_last=True, maintain_order=True).select(self.layout.names)


def _read(files: list[Path]) -> pl.DataFrame:
    import polars as pl

    return pl.read_parquet(files)
