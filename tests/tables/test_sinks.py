"""Output tables: typed, filled by key, the same whichever way they are kept."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, Literal
from uuid import UUID

import duckdb
import polars as pl
import pytest
from pydantic import AwareDatetime, BaseModel, Field

from extract.errors import InputError, StoreError
from extract.schema.columns import Columns, columns_of
from extract.store import Batch, OutputRows, Store
from extract.tables import DuckTable, Exploded, Key, Output, open_output, provenance_columns
from extract.tables.keys import key_of
from extract.tables.targets import parse_into
from tests.store.store_rows import JOB, commit, row, started


class Line(BaseModel):
    what: str
    price: Decimal = Field(max_digits=10, decimal_places=2)


class Bill(BaseModel):
    number: str
    issued: dt.date
    total: Annotated[Decimal, Field(max_digits=12, decimal_places=2)] | None
    currency: Literal["EUR", "USD"]
    lines: list[Line]
    seen: AwareDatetime | None = None
    took: dt.timedelta | None = None
    id_: UUID | None = None


BILL = columns_of(Bill)
KEY = key_of(["id"], {"id": pl.String()})
INTOS = ["bills", "other.duckdb:bills", "bills.parquet", "bills/"]


def bill(number: str, **more: Any) -> Bill:
    given = {
        "issued": dt.date(1969, 7, 20),
        "total": Decimal("12.50"),
        "currency": "EUR",
        "lines": [Line(what="tea", price=Decimal("2.50")), Line(what="a\0b", price=Decimal("10.00"))],
        "seen": dt.datetime(2300, 1, 1, 12, tzinfo=dt.timezone(dt.timedelta(hours=9))),
        "took": dt.timedelta(days=-1, microseconds=3),
        "id_": UUID(int=7),
        **more,
    }
    return Bill(number=number, **given)


def entry(key: str, *values: Any, columns: Columns = BILL) -> Any:
    outcome = SimpleNamespace(value=values[0] if values else None, request_id="req_1")
    item = SimpleNamespace(key=key, fingerprint=f"print-{key}")
    return SimpleNamespace(item=item, outcome=outcome, output=[columns.row(value) for value in values])


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.chdir(tmp_path)
    with Store.open("work.duckdb") as opened:
        opened.begin(started()).result()
        yield opened


def opened(store: Store, into: Any, key: Key = KEY, columns: Columns = BILL, **more: Any) -> Output:
    output = open_output(into, store=store, key=key, columns=columns, job=JOB, **more)
    assert output is not None
    return output


def put(store: Store, output: Output, *entries: Any) -> None:
    rows = [row(e.item.key, place, "accepted" if e.output else "dead") for place, e in enumerate(entries)]
    commit(store, rows=rows, output=output.rows(entries))


def kept(output: Output) -> dict[str, list[str]]:
    """What the table holds: numbers by key, in order."""
    output.finish()
    frame = output.read()
    found: dict[str, list[str]] = {}
    for key, number in frame.select("id", "number").rows():
        found.setdefault(key, []).append(number)
    return found


def test_nothing_is_nowhere(store: Store) -> None:
    assert open_output(None, store=store, key=KEY, columns=BILL) is None


@pytest.mark.parametrize("into", INTOS)
def test_typed_rows_come_back_as_they_went(store: Store, into: str) -> None:
    output = opened(store, into)
    assert output.fresh
    put(store, output, entry("a", bill("A-1")), entry("b", bare()))
    output.finish()
    frame = output.read().sort("id")
    assert dict(frame.schema) == {"id": pl.String(), **BILL.polars}
    assert frame.drop("id").equals(BILL.frame([BILL.row(bill("A-1")), BILL.row(bare())]))


def bare() -> Bill:
    return bill("B-1", total=None, took=None, seen=None, lines=[])


@pytest.mark.parametrize("into", INTOS)
def test_writing_a_key_again_replaces_it(store: Store, into: str) -> None:
    output = opened(store, into)
    put(store, output, entry("a", bill("A-1")), entry("b", bill("B-1")))
    put(store, output, entry("a", bill("A-2")))
    put(store, output, entry("a", bill("A-2")))
    assert kept(output) == {"a": ["A-2"], "b": ["B-1"]}


@pytest.mark.parametrize("into", INTOS)
def test_a_row_that_is_dead_now_leaves(store: Store, into: str) -> None:
    output = opened(store, into)
    put(store, output, entry("a", bill("A-1")), entry("b", bill("B-1")))
    put(store, output, entry("a"))
    assert kept(output) == {"b": ["B-1"]}


@pytest.mark.parametrize("into", INTOS)
def test_the_next_night_goes_on_where_the_last_ended(store: Store, into: str) -> None:
    output = opened(store, into)
    put(store, output, entry("a", bill("A-1")), entry("b", bill("B-1")))
    assert kept(output) == {"a": ["A-1"], "b": ["B-1"]}
    store.close()
    with Store.open("work.duckdb") as later:
        output = opened(later, into)
        assert not output.fresh
        put(later, output, entry("b", bill("B-2")), entry("c", bill("C-1")))
        commit(later, gone=[(JOB, "a")], output=output.gone(["a"]))
        assert kept(output) == {"b": ["B-2"], "c": ["C-1"]}


@pytest.mark.parametrize("into", INTOS)
def test_a_night_that_changes_nothing_changes_nothing(store: Store, into: str) -> None:
    output = opened(store, into)
    put(store, output, entry("a", bill("A-1")))
    before = kept(output)
    again = opened(store, into)
    assert kept(again) == before


@pytest.mark.parametrize("into", INTOS)
def test_many_rows_of_one(store: Store, into: str) -> None:
    columns = columns_of(list[Line], many=True)
    output = opened(store, into, columns=columns, many=True)
    lines = [Line(what=word, price=Decimal(n)) for n, word in enumerate(["x", "y", "z"])]
    put(store, output, entry("a", *lines, columns=columns), entry("b", *lines[:1], columns=columns))
    put(store, output, entry("a", *lines[1:], columns=columns))
    output.finish()
    frame = output.read().sort("id", "index")
    assert frame.select("id", "index", "what").rows() == [("a", 0, "y"), ("a", 1, "z"), ("b", 0, "x")]


@pytest.mark.parametrize("into", INTOS)
def test_a_list_field_gets_a_table_of_its_own(store: Store, into: str) -> None:
    output = opened(store, into, explode=Exploded("lines", columns_of(Line)))
    put(store, output, entry("a", bill("A-1")), entry("b", bill("B-1", lines=[])))
    put(store, output, entry("a", bill("A-2", lines=[Line(what="new", price=Decimal(1))])))
    output.finish()
    [lines] = output.also
    assert lines.read().rows() == [("a", 0, "new", Decimal("1.00"))]
    commit(store, output=output.gone(["a"]))
    output.finish()
    assert lines.read().is_empty()


@pytest.mark.parametrize("into", INTOS)
def test_provenance_on_request(store: Store, into: str) -> None:
    ours = provenance_columns(run_id="run-1", model="kimi-k3.1-pro", now=lambda: 1_000.0)
    output = opened(store, into, extra=ours)
    put(store, output, entry("a", bill("A-1")))
    output.finish()
    found = output.read().row(0, named=True)
    assert found["_answer_id"] == "print-a"
    assert (found["_run_id"], found["_model"], found["_request_id"]) == ("run-1", "kimi-k3.1-pro", "req_1")
    assert found["_finished_at"].timestamp() == 1_000.0


@pytest.mark.parametrize("into", INTOS)
def test_keys_of_several_columns(store: Store, into: str) -> None:
    schema = {"day": pl.Date(), "n": pl.Int64()}
    frame = pl.DataFrame({"day": [dt.date(2024, 1, 1)] * 2, "n": [1, 2]}, schema=schema)
    key = key_of(["day", "n"], schema)
    first, second = key.encode(frame)
    output = opened(store, into, key=key)
    put(store, output, entry(first, bill("1")), entry(second, bill("2")))
    put(store, output, entry(second, bill("2b")))
    output.finish()
    assert output.read().sort("n").select("day", "n", "number").rows() == [
        (dt.date(2024, 1, 1), 1, "1"),
        (dt.date(2024, 1, 1), 2, "2b"),
    ]


# -- what is there already -------------------------------------------------------------------------


def with_other_columns(into: str) -> None:
    target = parse_into(into)
    frame = pl.DataFrame({"id": ["a"], "number": [1]})
    if isinstance(target, DuckTable):
        with duckdb.connect(str(target.file or "work.duckdb")) as con:
            con.execute(f"CREATE TABLE {target.table} AS SELECT 'a' AS id, 1 AS number")
        return
    assert target is not None
    path = target.path
    if path.suffix != ".parquet":
        path.mkdir()
        path = path / "x.parquet"
    frame.write_parquet(path)


@pytest.mark.parametrize("into", INTOS)
def test_a_table_that_does_not_fit_is_refused_and_left_alone(store: Store, into: str) -> None:
    store.close()
    with_other_columns(into)
    with Store.open("work.duckdb") as again, pytest.raises(InputError, match="there already"):
        opened(again, into)


def test_a_column_of_another_type_is_named(store: Store) -> None:
    made = "CREATE TABLE t (id VARCHAR, what VARCHAR, price DOUBLE)"
    store.with_connection(lambda con: con.execute(made))
    with pytest.raises(InputError, match=r"'price' is DOUBLE, not DECIMAL\(10, 2\)"):
        opened(store, "t", columns=columns_of(Line))


def test_rows_that_others_put_into_our_table_are_replaced_by_key_alone(store: Store) -> None:
    output = opened(store, "lines", columns=columns_of(Line))
    store.close()
    with duckdb.connect("work.duckdb") as con:
        con.execute("INSERT INTO lines VALUES ('a', 'theirs', 1), ('z', 'theirs', 2)")
    with Store.open("work.duckdb") as again:
        output = opened(again, "lines", columns=columns_of(Line))
        again.states(JOB, ["a"]).result()
        put(again, output, entry("a", Line(what="ours", price=Decimal(3)), columns=columns_of(Line)))
        assert sorted(output.read()["what"]) == ["ours", "theirs"]


@pytest.mark.parametrize(
    "name",
    [
        'qu"ote',
        "semi; DROP SCHEMA extract CASCADE; --",
        "line\nbreak",
        "select",
        "x" * 10_000,
        "ü 🙂",
        "a.b.c",
        "'",
    ],
)
def test_hostile_names_are_names(store: Store, name: str) -> None:
    columns = columns_of(Line)
    key = key_of([name], {name: pl.String()})
    for into in (DuckTable(name), DuckTable(name, Path("other.duckdb"))):
        output = opened(store, into, key=key, columns=columns)
        put(store, output, entry(name, Line(what=name, price=Decimal(1)), columns=columns))
        put(store, output, entry(name, Line(what="again", price=Decimal(1)), columns=columns))
        assert output.read().select(name, "what").rows() == [(name, "again")]


def test_another_file_that_is_no_database_is_told(store: Store) -> None:
    Path("text.duckdb").write_text("no database" * 100)
    with pytest.raises(StoreError, match="not a DuckDB file"):
        opened(store, "text.duckdb:t")


def test_the_stores_own_file_named_as_another_takes_part_in_the_transaction(store: Store) -> None:
    output = opened(store, "work.duckdb:bills")
    assert output.sink.transactional
    put(store, output, entry("a", bill("A-1")))
    assert kept(output) == {"a": ["A-1"]}


def test_another_file_is_free_when_the_store_of_a_connection_is_closed(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "theirs.duckdb")) as con:
        with Store.open(con) as store:
            output = opened(store, f"{tmp_path / 'other.duckdb'}:bills")
            put(store, output, entry("a", bill("A-1")))
        with duckdb.connect(str(tmp_path / "other.duckdb")) as other:
            assert other.execute("SELECT number FROM bills").fetchall() == [("A-1",)]


def test_output_and_ledger_are_one_transaction(store: Store) -> None:
    output = opened(store, "bills")
    good, bad = output.rows([entry("a", bill("A-1"))]), output.rows([entry("b", bill("B-1"))])
    broken = Batch(rows=[row("b")], output=[bad, _Breaks.rows()])
    with pytest.raises(StoreError, match="broken on purpose"):
        store.commit(broken).result()
    commit(store, rows=[row("a")], output=good)
    assert kept(output) == {"a": ["A-1"]}
    assert list(store.states(JOB).result()) == ["a"]


class _Breaks:
    transactional = True
    fresh = False

    def prepare(self, con: Any) -> None: ...

    def release(self, con: Any) -> None: ...

    def write(self, con: Any, frame: Any, keys: Any) -> None:
        raise RuntimeError("broken on purpose")

    @classmethod
    def rows(cls) -> Any:
        empty = pl.DataFrame({"id": ["x"]})
        return OutputRows(cls(), empty, empty)


# -- Parquet ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("into", ["bills.parquet", "bills/"])
def test_parquet_is_in_the_order_of_the_input(store: Store, into: str) -> None:
    output = opened(store, into)
    entries = [entry(key, bill(key)) for key in "dbca"]
    rows = [row(e.item.key, place) for place, e in enumerate(entries)]
    for place in (2, 0, 3, 1):
        commit(store, rows=[rows[place]], output=output.rows([entries[place]]))
    assert list(kept(output)) == list("dbca")


@pytest.mark.parametrize("into", ["bills.parquet", "bills/"])
def test_parquet_is_in_order_also_when_it_is_merged_a_few_rows_at_a_time(
    store: Store, into: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("extract.tables.parquet_merge.FILE_ROWS", 7)
    monkeypatch.setattr("extract.store.readers._SPAN", 10)
    places = sorted(range(60), key=lambda n: n * 37 % 60)
    output = opened(store, into)
    for place in places:
        commit(store, rows=[row(f"k{place}", place)], output=output.rows([entry(f"k{place}", bill("1"))]))
    store.forget(JOB, ["k5", "k6"]).result()  # in the input no more: behind the others
    assert list(kept(output)) == [f"k{n}" for n in range(60) if n not in (5, 6)] + ["k5", "k6"]
    output = opened(store, into)
    for place in places[:30]:
        commit(
            store, rows=[row(f"k{place}", 59 - place)], output=output.rows([entry(f"k{place}", bill("2"))])
        )
    assert Counter(number for [number] in kept(output).values()) == {"1": 30, "2": 30}
    assert [n for n in map(int, (key[1:] for key in kept(output))) if n in places[:30]] == sorted(
        places[:30], reverse=True
    )


@pytest.mark.parametrize("into", ["bills.parquet", "bills/"])
def test_parts_of_a_killed_run_are_taken_up(store: Store, into: str) -> None:
    output = opened(store, into)
    put(store, output, entry("a", bill("A-1")), entry("b", bill("B-1")))
    again = opened(store, into)
    put(store, again, entry("b", bill("B-2")))
    assert kept(again) == {"a": ["A-1"], "b": ["B-2"]}
    assert not list(Path().glob("*.parts"))


def test_nothing_is_in_place_before_the_end(store: Store) -> None:
    output = opened(store, "bills.parquet")
    put(store, output, entry("a", bill("A-1")))
    assert not Path("bills.parquet").exists()
    output.finish()
    assert pl.read_parquet("bills.parquet").height == 1
    output = opened(store, "bills.parquet")
    put(store, output, entry("a", bill("A-2")))
    assert pl.read_parquet("bills.parquet")["number"].to_list() == ["A-1"]


@pytest.mark.parametrize("into", ["bills.parquet", "bills/"])
def test_no_row_at_all_still_makes_a_typed_table(store: Store, into: str) -> None:
    output = opened(store, into)
    output.finish()
    frame = pl.read_parquet(into if into.endswith("parquet") else "bills/*.parquet")
    assert dict(frame.schema) == {"id": pl.String(), **BILL.polars}
    assert frame.is_empty()


def test_many_parts_become_one(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("extract.tables.parquet_sink._MANY_PARTS", 4)
    output = opened(store, "bills.parquet")
    for n in range(10):
        gone = entry("gone") if n else entry("gone", bill("x"))
        put(store, output, entry(f"k{n % 3}", bill(f"{n}")), gone)
    assert len(list(Path("bills.parquet.parts").iterdir())) <= 4
    assert kept(output) == {"k0": ["9"], "k1": ["7"], "k2": ["8"]}


def test_a_folder_left_between_two_renames_is_restored(store: Store) -> None:
    output = opened(store, "bills/")
    put(store, output, entry("a", bill("A-1")))
    output.finish()
    Path("bills").rename("bills.old")
    output = opened(store, "bills/")
    put(store, output, entry("b", bill("B-1")))
    assert kept(output) == {"a": ["A-1"], "b": ["B-1"]}


def test_a_parquet_file_that_cannot_be_read_is_refused(store: Store) -> None:
    Path("bills.parquet").write_text("no parquet")
    with pytest.raises(InputError, match="no Parquet file"):
        opened(store, "bills.parquet")
    assert Path("bills.parquet").read_text() == "no parquet"


def test_a_path_is_as_good_as_its_text(store: Store) -> None:
    output = opened(store, Path("bills.parquet"))
    put(store, output, entry("a", bill("A-1")))
    assert kept(output) == {"a": ["A-1"]}
