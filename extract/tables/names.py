"""Names of an output table: what would clash is found before the first request.

Pure. Knows nothing of how tables are written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from extract.errors import InputError
from extract.schema.columns import Columns
from extract.tables.keys import HASHED

INDEX = "index"
"""Place of an item within its row, where a row makes many."""

OWN = frozenset(
    {
        "_key",
        "_evidence",
        "_run_id",
        "_answer_id",
        "_model",
        "_finished_at",
        "_request_id",
        "_error",
        "_tries",
    }
)
"""Columns that the library itself writes."""


def check_output_names(
    key_columns: Sequence[str],
    input_columns: Sequence[str],
    columns: Columns,
    sink: object = None,
    *,
    many: Literal["many", "one"] = "one",
    inputs: Literal["refuse", "allow"] = "refuse",
) -> None:
    """Refuse names that would stand twice in the output.

    key_columns, input_columns: of the table that is read. columns: of the output model.
    sink: where rows go, or will; a DuckDB table cannot keep names apart that differ by case alone.
    many: "many" where each row makes several (a column `index` is added).
    inputs: "refuse" also fields named like an input column that is no key; "allow" lets them be.
    Raises InputError that names the clash and the way out.
    """
    taken = set(columns.names)
    for name in (*key_columns, *columns.names):
        if "\0" in name:  # Arrow ends a name there, and Polars the process
            raise InputError(f"the name {name!r} has a NUL character; rename that column or field")
    for name in key_columns:
        if name in taken:
            raise InputError(
                f"the key column {name!r} and a field of the model have the same name; rename one"
            )
    if inputs == "refuse":
        _refuse_inputs([name for name in input_columns if name in taken])
    _refuse_own([*(name for name in key_columns if name != HASHED), *columns.names])
    if many == "many" and INDEX in {*key_columns, *columns.names}:
        raise InputError(
            f"the name {INDEX!r} is taken by the place of an item in its row; rename that column or field"
        )
    if getattr(sink, "folds_case", False):
        _refuse_twins([*key_columns, *([INDEX] if many == "many" else [])], columns)


def _refuse_inputs(both: Sequence[str]) -> None:
    if both:
        raise InputError(
            f"the input column {both[0]!r} and a field of the model have the same name, so nobody could tell "
            f"them apart in a join; rename the field, or the "
            f"column: frame.rename({{{both[0]!r}: {both[0] + '_given'!r}}})"
        )


def _refuse_own(names: Iterable[str]) -> None:
    own = sorted(OWN.intersection(names))
    if own:
        raise InputError(
            f"the name {own[0]!r} belongs to a column that the library writes; rename that column or field"
        )


def _refuse_twins(added: Sequence[str], columns: Columns) -> None:
    twins = list(columns.case_twins())
    folded = {name.lower(): name for name in columns.names}
    for name in added:
        if name.lower() in folded:
            twins.append(f"{name!r} and {folded[name.lower()]!r}")
        folded[name.lower()] = name
    if twins:
        raise InputError(
            f"names that differ by case alone ({', '.join(twins)}) cannot be kept apart in a DuckDB table; "
            f"rename one, or write Parquet: into='….parquet'"
        )
