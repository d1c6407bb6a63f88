"""What one column can be: the shapes between a Python type and the types of Polars and DuckDB.

A shape says its Polars dtype and its DuckDB type, turns a validated value into a plain Python object,
and refuses a value that the column cannot hold without loss. It never looks at more than one value:
the type is decided before any value is there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from pydantic import RootModel

from extract.schema.column_json import MisfitError, json_text, short
from extract.schema.column_scalars import NULL, SCALARS, Stays, dtype, wrong

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "Custom",
    "Entries",
    "Fields",
    "Items",
    "JsonText",
    "Pairs",
    "Part",
    "Served",
    "Shape",
    "Unwrapped",
    "Wrapped",
    "entries",
    "quote",
    "reader",
]


class Shape(Protocol):
    """One column type, or one level of a nested one."""

    @property
    def duckdb(self) -> str:
        """The type as DuckDB writes it."""

    @property
    def stays(self) -> Stays:
        """The values for which `plain` has nothing to do: nearly all."""

    def polars(self) -> pl.DataType:
        """The dtype of a Polars frame."""

    def stored(self) -> pl.DataType:
        """The dtype in which a Polars frame goes into DuckDB, where it takes the declared one badly."""

    def plain(self, value: Any) -> Any:
        """A validated value as a plain Python object; MisfitError for what would be lost."""

    def verify(self, value: Any) -> None:
        """MisfitError for a plain object that Polars would refuse, round or cut silently."""

    def holds(self, values: Sequence[Any]) -> bool:
        """A quick yes for many plain objects at once; after a no, `verify` has to look at each."""


def quote(name: str) -> str:
    """An SQL identifier, whatever its characters."""
    return '"' + name.replace('"', '""') + '"'


# ---------------------------------------------------------------- text of things without a column type


@dataclass(frozen=True, slots=True)
class JsonText:
    """JSON text: unions, `Any`, recursive types and mixed literals have no one column type."""

    duckdb = "JSON"
    stays = NULL

    def polars(self) -> pl.DataType:
        return dtype("String", {})

    def stored(self) -> pl.DataType:
        return self.polars()

    def plain(self, value: Any) -> str | None:
        return None if value is None else json_text(value)

    def verify(self, value: Any) -> None:
        SCALARS["str"].plain(value)

    def holds(self, values: Sequence[Any]) -> bool:
        return SCALARS["str"].holds(values)


@dataclass(frozen=True, slots=True)
class Wrapped:
    """A type whose column is another one's: only the way from the value to it differs."""

    inner: Shape

    @property
    def duckdb(self) -> str:
        return self.inner.duckdb

    @property
    def stays(self) -> Stays:
        return self.inner.stays

    def polars(self) -> pl.DataType:
        return self.inner.polars()

    def stored(self) -> pl.DataType:
        return self.inner.stored()

    def verify(self, value: Any) -> None:
        self.inner.verify(value)

    def holds(self, values: Sequence[Any]) -> bool:
        return self.inner.holds(values)


@dataclass(frozen=True, slots=True)
class Unwrapped(Wrapped):
    """A RootModel is its root."""

    def plain(self, value: Any) -> Any:
        return self.inner.plain(value.root if isinstance(value, RootModel) else value)


@dataclass(frozen=True, slots=True)
class Custom(Wrapped):
    """A type of the user's own: its own serializer makes the plain value, the JSON Schema chose `inner`."""

    serialize: Callable[[Any], Any]
    stays: ClassVar[Stays] = {}

    def plain(self, value: Any) -> Any:
        if hasattr(value, "get_secret_value"):
            return self.inner.plain(value.get_secret_value())
        try:
            made = self.serialize(value)
        except Exception as error:
            raise MisfitError(f"its serializer failed: {short(error)}") from error
        return self.inner.plain(made)


@dataclass(frozen=True, slots=True)
class Served(Wrapped):
    """A validator may turn the declared type into a class of its own: then its serializer turns it back."""

    serialize: Callable[[Any], Any]

    def plain(self, value: Any) -> Any:
        try:
            return self.inner.plain(value)
        except MisfitError as misfit:
            try:
                return Custom(self.inner, self.serialize).plain(value)
            except MisfitError:
                raise misfit from None


# ---------------------------------------------------------------- nested


@dataclass(frozen=True, slots=True)
class Items:
    """A list. A set is sorted, so that the same answer makes the same bytes each time."""

    item: Shape
    ordered: bool = True
    stays: ClassVar[Stays] = NULL

    @property
    def duckdb(self) -> str:
        return f"{self.item.duckdb}[]"

    def polars(self) -> pl.DataType:
        return dtype("List", {"inner": self.item.polars()})

    def stored(self) -> pl.DataType:
        return dtype("List", {"inner": self.item.stored()})

    def plain(self, value: Any) -> list[Any] | None:
        if value is None:
            return None
        if type(value) is not list and (
            isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable)
        ):
            raise wrong(value, "lists")
        items: list[Any] = []
        plain, stays = self.item.plain, self.item.stays
        try:
            for item in value:
                kind = type(item)
                same = kind in stays and ((test := stays[kind]) is None or test(item))
                items.append(item if same else plain(item))  # its length tells where it stopped
        except MisfitError as misfit:
            raise misfit.under(f"[{len(items)}]") from None
        return items if self.ordered else sorted(items, key=_order)

    def holds(self, values: Sequence[Any]) -> bool:
        lists = [value for value in values if value is not None]
        return set(map(type, lists)) <= {list} and self.item.holds(list(chain.from_iterable(lists)))

    def verify(self, value: Any) -> None:
        if value is None:
            return
        if not isinstance(value, list):
            raise wrong(value, "lists")
        for index, item in enumerate(value):
            try:
                self.item.verify(item)
            except MisfitError as misfit:
                raise misfit.under(f"[{index}]") from None


def _order(plain: Any) -> tuple[bool, str, Any]:
    if plain is None or isinstance(plain, dict | list):
        return plain is None, "", repr(plain)
    return False, type(plain).__name__, plain


@dataclass(frozen=True, slots=True)
class Part:
    """One named part of an object: a column of the table, or a field of a struct."""

    name: str
    shape: Shape
    get: Callable[[Any], Any]

    def verify(self, value: Any) -> None:
        try:
            self.shape.verify(value)
        except MisfitError as misfit:
            raise misfit.under(self.name) from None


def reader(parts: Iterable[Part]) -> Callable[[Any], dict[str, Any]]:
    """The function that reads the parts of an object by name. It raises MisfitError that names the part."""
    columns = [(part.name, part.get, part.shape.stays, part.shape.plain) for part in parts]

    def read(value: Any) -> dict[str, Any]:
        row: dict[str, Any] = {}
        try:
            for name, get, stays, plain in columns:
                item = get(value)
                kind = type(item)
                same = kind in stays and ((test := stays[kind]) is None or test(item))
                row[name] = item if same else plain(item)
        except MisfitError as misfit:
            raise misfit.under(name) from None
        except (AttributeError, KeyError, IndexError, TypeError) as error:
            raise MisfitError(f"cannot be read: {short(error)}", name) from error
        return row

    return read


@dataclass(frozen=True, slots=True)
class Fields:
    """An object with known fields, as a struct."""

    parts: tuple[Part, ...]
    extras: Callable[[Any], Collection[str]] = lambda value: ()
    read: Callable[[Any], dict[str, Any]] = field(init=False, repr=False, compare=False)
    stays: ClassVar[Stays] = NULL

    def __post_init__(self) -> None:
        object.__setattr__(self, "read", reader(self.parts))

    @property
    def duckdb(self) -> str:
        return "STRUCT(" + ", ".join(f"{quote(p.name)} {p.shape.duckdb}" for p in self.parts) + ")"

    def polars(self) -> pl.DataType:
        return dtype("Struct", {"fields": {p.name: p.shape.polars() for p in self.parts}})

    def stored(self) -> pl.DataType:
        return dtype("Struct", {"fields": {p.name: p.shape.stored() for p in self.parts}})

    def plain(self, value: Any) -> dict[str, Any] | None:
        if value is None:
            return None
        if extra := self.extras(value):
            raise MisfitError(f"no field takes {short(sorted(extra))}")
        return self.read(value)

    def verify(self, value: Any) -> None:
        if value is None:
            return
        if not isinstance(value, dict):
            raise wrong(value, "structs")
        if value.keys() != {part.name for part in self.parts}:
            declared = [part.name for part in self.parts]
            raise MisfitError(f"has the fields {short(list(value))}, the column has {short(declared)}")
        for part in self.parts:
            part.verify(value[part.name])

    def holds(self, values: Sequence[Any]) -> bool:
        names = {part.name for part in self.parts}
        structs = [value for value in values if value is not None]
        return all(type(struct) is dict and struct.keys() == names for struct in structs) and all(
            part.shape.holds([struct[part.name] for struct in structs]) for part in self.parts
        )


@dataclass(frozen=True, slots=True)
class Pairs:
    """A mapping with free keys, as a map. The keys are scalars and never null."""

    key: Shape
    value: Shape
    stays: ClassVar[Stays] = NULL

    @property
    def duckdb(self) -> str:
        return f"MAP({self.key.duckdb}, {self.value.duckdb})"

    def polars(self) -> pl.DataType:
        return dtype("Map", {"key": self.key.polars(), "value": self.value.polars()})

    def stored(self) -> pl.DataType:
        return dtype("Map", {"key": self.key.stored(), "value": self.value.stored()})

    def plain(self, value: Any) -> dict[Any, Any] | None:
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise wrong(value, "mappings")
        made = dict(self._pair(key, item) for key, item in value.items())
        if len(made) != len(value):
            raise MisfitError(f"two keys of {short(list(value))} are one in the column")
        return made

    def _pair(self, key: Any, value: Any) -> tuple[Any, Any]:
        try:
            made = self.key.plain(key)
        except MisfitError as misfit:
            raise misfit.under("[key]") from None
        if made is None or made != made:
            raise MisfitError(f"{short(key)} cannot be a key")
        try:
            return made, self.value.plain(value)
        except MisfitError as misfit:
            raise misfit.under(f"[{short(made)}]") from None

    def verify(self, value: Any) -> None:
        if value is None:
            return
        if not isinstance(value, dict):
            raise wrong(value, "mappings")
        for key, item in value.items():
            self._pair_verified(key, item)

    def holds(self, values: Sequence[Any]) -> bool:
        return False

    def _pair_verified(self, key: Any, value: Any) -> None:
        if key is None or key != key:
            raise MisfitError(f"{short(key)} cannot be a key")
        self.key.verify(key)
        try:
            self.value.verify(value)
        except MisfitError as misfit:
            raise misfit.under(f"[{short(key)}]") from None


def entries(key: Shape, value: Shape) -> Shape:
    """A mapping whose keys are no scalars, as a list of structs of `key` and `value`."""
    parts = (Part("key", key, lambda pair: pair[0]), Part("value", value, lambda pair: pair[1]))
    return Entries(Items(Fields(parts)))


@dataclass(frozen=True, slots=True)
class Entries(Wrapped):
    """The list that `entries` makes."""

    stays: ClassVar[Stays] = NULL

    def plain(self, value: Any) -> Any:
        if value is not None and not isinstance(value, Mapping):
            raise wrong(value, "mappings")
        return self.inner.plain(None if value is None else list(value.items()))
