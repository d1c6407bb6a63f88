"""A pipeline file, and what it says of its input and output."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from extract.cli.inputs import read_input
from extract.cli.load import Loaded, load
from extract.errors import ConfigError
from extract.pipeline import DEFAULT_STORE, Pipeline


@dataclass(frozen=True, slots=True)
class PipelineFile:
    """A pipeline and the names in capitals beside it: INPUT, KEY, STORE and INTO, all optional."""

    pipeline: Pipeline
    loaded: Loaded

    @classmethod
    def load(cls, target: str) -> PipelineFile:
        """What `FILE.py[:NAME]` or `MODULE:NAME` names. Raises ConfigError."""
        loaded = load(target, wanted="Pipeline", accepts=lambda value: isinstance(value, Pipeline))
        return cls(loaded.value, loaded)

    @property
    def key(self) -> Any:
        """The column, or columns, that name a row."""
        return self._get("KEY")

    @property
    def store(self) -> str:
        """The DuckDB file of its runs, relative to the current folder."""
        return str(self._get("STORE") or DEFAULT_STORE)

    @property
    def into(self) -> str | None:
        """The output table."""
        return self._get("INTO")  # type: ignore[no-any-return]

    def rows(self, source: str | None) -> Any:
        """The rows to run over: those of `--input`, otherwise the file's own.

        Raises ConfigError when neither says what to read.
        """
        if source is not None:
            return read_input(source)
        own = self._get("INPUT")
        if own is None:
            raise ConfigError("nothing to read: give --input, or write INPUT = … beside the pipeline")
        if isinstance(own, str | Path):
            return read_input(str(own), folder=self.loaded.folder)
        return own() if callable(own) else own

    def _get(self, name: str) -> Any:
        return getattr(self.loaded.module, name, None)
