"""A finished run, as a value: its tables, its report, and what is still open."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from extract.errors import RequirementError
from extract.report import Report
from extract.results import Results
from extract.show import report_page, rows_page
from extract.show.cards import SOME, Page, run_card

if TYPE_CHECKING:
    import polars as pl


class Run:
    """What `Pipeline.run` returns.

    report: counts, tokens, cost and time of this run; `report.stopped` says why it ended early.
    """

    def __init__(self, report: Report, results: Results) -> None:
        self.report = report
        self._results = results

    @property
    def id(self) -> str:
        """The run's id in the store."""
        return self.report.run_id

    @cached_property
    def accepted(self) -> pl.DataFrame:
        """Key and typed columns of the accepted rows of this input, also those answered earlier.

        In the order of the input; read from the store when first asked for.
        """
        return self._results.accepted()

    @cached_property
    def dead_letters(self) -> pl.DataFrame:
        """Rows of this input that no answer was accepted for, one row each, in the order of the input."""
        return self._results.dead_letters()

    @property
    def results(self) -> Results:
        """Where the rows are: for what is built on a run, as `extract.labels`."""
        return self._results

    def values(self) -> dict[str, Any]:
        """The accepted values of the output model, by key, in the order of the input."""
        return self._results.values()

    def exploded(self, field: str) -> pl.DataFrame:
        """The items of a list field of the accepted rows, one row each: key, `index`, the item's columns.

        Raises ConfigError for a field that is no list of models.
        """
        return self._results.exploded(field)

    def require(self, *, accepted: float = 1.0) -> Run:
        """Raises RequirementError unless at least this share of the rows (0 to 1) was accepted.

        Everything is written all the same. Returns the run.
        """
        report = self.report
        share = report.accepted / report.rows if report.rows else 1.0
        if share >= accepted and not (report.pending and accepted >= 1.0):
            return self
        stopped = f"; the run stopped: {report.stopped}" if report.stopped else ""
        raise RequirementError(
            f"{report.accepted} of {report.rows} rows accepted ({share:.1%}), {accepted:.1%} required: "
            f"{report.dead_letters} dead letters {report.dead_by_reason or ''}, {report.pending} pending; "
            f"look with: extract dead-letters {report.store}{stopped}"
        )

    def show(self, key: str | None = None) -> Page:
        """Rows beside their documents: in a notebook shown at once, elsewhere a text to write to a file.

        key: the row to begin with; by default the first. Raises ConfigError for a key that is not there.
        """
        rows, first = self._results.shown(key)
        return Page(rows_page(rows, title=self._results.job, first=first))

    def html(self) -> str:
        """The report of this run as one self-contained page."""
        return report_page(self._results.figures())

    def _repr_html_(self) -> str:
        return run_card(self.report, self.dead_letters.head(SOME).to_dicts())

    def __repr__(self) -> str:
        return f"Run {self.id}\n{self.report}"

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON."""
        return self.report.as_dict()
