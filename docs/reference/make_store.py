"""Write the tables in store.md: `python docs/reference/make_store.py`.

Which tables there are, their columns and what each is come from the code that makes them; the words
around them are written by hand.
"""

from __future__ import annotations

from pathlib import Path

from extract.store.schema import SCHEMA, TABLES, TIME, USAGE, USAGE_FIELDS, VERSION, Table

TARGET = Path(__file__).with_name("store.md")
BEGIN, END = "<!-- tables -->", "<!-- end of tables -->"


def described(table: Table) -> str:
    """One table."""
    short = {USAGE: "usage", TIME: "TIMESTAMPTZ"}
    rows = [f"| `{c.name}` | {short.get(c.type, c.type)} | {c.comment} |" for c in table.columns]
    head = [
        f"### `{SCHEMA}.{table.name}`",
        "",
        table.comment,
        "",
        "| column | type | what it is |",
        "|---|---|---|",
    ]
    return "\n".join([*head, *rows, ""])


def tables() -> str:
    """Every table with its columns."""
    usage = ", ".join(f"`{name}`" for name in USAGE_FIELDS)
    said = (
        f"Version {VERSION} of the tables. `usage` is a struct of {usage}: tokens, except the last, which "
        f"counts searches. A field is null where the server did not tell it. Costs are dollars, times UTC.\n"
    )
    return "\n".join([said, *map(described, TABLES)])


def page() -> str:
    """The page with its tables as the code has them."""
    before, _, rest = TARGET.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    return f"{before}{BEGIN}\n\n{tables()}\n{END}{after}"


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
