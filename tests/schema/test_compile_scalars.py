"""Scalars: JSON type, text form, what is told in words, and what no reply may say."""

from __future__ import annotations

import enum
import json
import re
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import (
    UUID4,
    AnyUrl,
    AwareDatetime,
    Base64Bytes,
    Base64Str,
    BaseModel,
    ByteSize,
    ConfigDict,
    Field,
    HttpUrl,
    NaiveDatetime,
    PastDate,
    PostgresDsn,
    SecretBytes,
    SecretStr,
    StringConstraints,
    create_model,
)

from extract.errors import ModelError
from extract.schema.check import Findings
from extract.schema.compile import CompiledSchema, Relaxed, compile_schema
from tests.dialect_lint import keywords, lint


def field(annotation: Any, **more: Any) -> CompiledSchema[Any]:
    compiled = compile_schema(create_model("M", x=(annotation, Field(**more)) if more else (annotation, ...)))
    assert lint(compiled.schema, "kimi") == []
    return compiled


def check(annotation: Any, text: str) -> Any:
    got = field(annotation).check(f'{{"x":{text}}}')
    return got if isinstance(got, Findings) else got.x


class Paint(enum.StrEnum):
    RED = "Red"
    GREEN = "dark-green"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Share(enum.Enum):
    HALF = 0.5
    WHOLE = 1.0


class Odd(enum.Enum):
    TEXT = "x"
    NUMBER = 1
    REAL = 1.5
    NO = False
    NOTHING = None


GOOD: list[tuple[Any, str, Any]] = [
    (int, "9007199254740993", 2**53 + 1),
    (int, "1234567890123456789012", 1234567890123456789012),
    (float, "3", 3.0),
    (float, "-0.0", -0.0),
    (Decimal, '"1.10"', Decimal("1.10")),
    (Decimal, '"1E-7"', Decimal("1E-7")),
    (Decimal, '"123456789012345678901234567890.12"', Decimal("123456789012345678901234567890.12")),
    (date, '"2024-02-29"', date(2024, 2, 29)),
    (datetime, '"2024-01-01T10:00:00"', datetime(2024, 1, 1, 10)),
    (datetime, '"2024-01-01 10:00:00.5+02:00"', datetime(2024, 1, 1, 8, 0, 0, 500_000, UTC)),
    (AwareDatetime, '"2024-01-01T00:00:00Z"', datetime(2024, 1, 1, tzinfo=UTC)),
    (NaiveDatetime, '"2024-01-01T00:00:00"', datetime(2024, 1, 1)),
    (time, '"23:59"', time(23, 59)),
    (timedelta, '"PT1H30M"', timedelta(hours=1.5)),
    (timedelta, '"-P1D"', timedelta(days=-1)),
    (UUID, '"6f1e2c9a-0b7d-4c3e-9d67-2f0a1b2c3d4e"', UUID("6f1e2c9a-0b7d-4c3e-9d67-2f0a1b2c3d4e")),
    (bytes, '"hé"', "hé".encode()),
    (Base64Bytes, '"aGk="', b"hi"),
    (Base64Str, '"aGk="', "hi"),
    (IPv4Address, '"10.0.0.1"', IPv4Address("10.0.0.1")),
    (IPv6Address, '"::1"', IPv6Address("::1")),
    (IPv4Network, '"10.0.0.0/8"', IPv4Network("10.0.0.0/8")),
    (IPv4Interface, '"10.0.0.1/8"', IPv4Interface("10.0.0.1/8")),
    (AnyUrl, '"https://a.de/b?c=d"', AnyUrl("https://a.de/b?c=d")),
    (PostgresDsn, '"postgres://u:p@h:5432/db"', PostgresDsn("postgres://u:p@h:5432/db")),
    (Path, '"a/b.txt"', Path("a/b.txt")),
    (re.Pattern[str], '"^a+$"', re.compile("^a+$")),
    (SecretStr, '"s3"', SecretStr("s3")),
    (SecretBytes, '"s3"', SecretBytes(b"s3")),
    (ByteSize, '"1kb"', ByteSize(1000)),
    (Paint, '"dark-green"', Paint.GREEN),
    (Level, "2", Level.HIGH),
    (Share, "0.5", Share.HALF),
    (Share, "1", Share.WHOLE),
    (Odd, "null", Odd.NOTHING),
    (Odd, '"x"', Odd.TEXT),
    (Odd, "1.5", Odd.REAL),
    (Literal["a", 1, None], "1", 1),
    (Literal[Paint.RED, "z"], '"Red"', Paint.RED),
    (Literal[None], "null", None),
    (None, "null", None),
]


@pytest.mark.parametrize(("annotation", "text", "value"), GOOD)
def test_a_good_value_is_taken_exactly_and_written_again(annotation: Any, text: str, value: Any) -> None:
    compiled = field(annotation)
    got = compiled.check(f'{{"x":{text}}}')
    assert not isinstance(got, Findings), str(got)
    assert got.x == value
    assert type(got.x) is type(value)
    assert compiled.check(compiled.encode(got)) == got
    for dialect in ("anthropic", "openai"):
        other = compile_schema(compiled.model, dialect)
        assert lint(other.schema, dialect) == []
        assert other.check(other.encode(got)) == got


BAD: list[tuple[Any, str]] = [
    *((int, text) for text in ("1.0", "1.5", "true", '"1"', "null", "[1]", "1e2")),
    *((float, text) for text in ('"1.5"', "true", "NaN", "Infinity", "1e400", "null", "1" + "0" * 400)),
    *((bool, text) for text in ("1", "0", '"true"', '"yes"', "null")),
    *((str, text) for text in ("1", "true", "null", "[]")),
    *((Decimal, text) for text in ("1.10", "1", '"1_000"', '" 1"', '"NaN"', '"1e"', '"one"', '""', '"١"')),
    *(
        (date, text)
        for text in ('"2024"', '"1714521600"', "1714521600", '"2024-05-03T00:00:00"', '"03.05.2024"')
    ),
    *((date, text) for text in ('"2023-02-29"', '" 2024-01-01"', '""')),
    *((datetime, text) for text in ('"2024"', '"1714521600"', '"2024-01-01"', "1714521600", '"yesterday"')),
    (AwareDatetime, '"2024-01-01T00:00:00"'),
    (NaiveDatetime, '"2024-01-01T00:00:00Z"'),
    (PastDate, '"9999-01-01"'),
    *((time, text) for text in ('"25:00"', '"3600"', "3600")),
    *((timedelta, text) for text in ('"3600"', "3600", '"soon"')),
    *((UUID, text) for text in ('"nope"', "5")),
    (UUID4, '"6f1e2c9a-0b7d-1c3e-9d67-2f0a1b2c3d4e"'),
    (bytes, "1"),
    (Base64Bytes, '"***"'),
    *((IPv4Address, text) for text in ('"999.0.0.1"', '"::1"', "5")),
    (IPv4Network, '"10.0.0.1/8"'),
    *((HttpUrl, text) for text in ('"ftp://a.de"', '"nope"', "1")),
    (re.Pattern[str], '"("'),
    *((Paint, text) for text in ('"red"', '"RED"', '"GREEN"', '""', "null")),
    *((Level, text) for text in ("1.0", "true", '"1"', "3")),
    *((Odd, text) for text in ("1.0", "true", '"null"')),
    *((Literal[1, 2], text) for text in ("true", "1.0", '"1"')),
    *((Literal["a", None], text) for text in ('"None"', '"null"', '"A"')),
    (Literal[True], "1"),
]


@pytest.mark.parametrize(("annotation", "text"), BAD)
def test_a_bad_value_is_a_finding_at_its_place(annotation: Any, text: str) -> None:
    findings = check(annotation, text)
    assert isinstance(findings, Findings), repr(findings)
    assert all(finding.expected for finding in findings)
    if findings[0].stage != "json":
        assert findings[0].path == findings[0].wire_path == "/x"
        assert findings[0].found


LIMITS: list[tuple[Any, dict[str, Any], str, str]] = [
    (Annotated[int, Field(ge=1, le=10)], {"minimum": 1, "maximum": 10}, "", "0 11"),
    (Annotated[int, Field(gt=0, lt=10)], {"minimum": 1, "maximum": 9}, "", "0 10"),
    (Annotated[int, Field(multiple_of=5)], {}, "A multiple of 5.", "7"),
    (Annotated[float, Field(gt=0, lt=1)], {}, "Greater than 0. Less than 1.", "0 1 1.0"),
    (Annotated[str, Field(min_length=2, max_length=3)], {"minLength": 2, "maxLength": 3}, "", '"a" "abcd"'),
    (Annotated[str, Field(pattern="^[a-z]+$")], {}, "Matches the regular expression ^[a-z]+$", '"A" ""'),
    (
        Annotated[list[int], Field(min_length=1, max_length=2)],
        {"minItems": 1, "maxItems": 2},
        "",
        "[] [1,2,3]",
    ),
    (Annotated[dict[str, int], Field(min_length=1)], {"minItems": 1}, "No key twice.", "[]"),
    (Annotated[bytes, Field(max_length=2)], {}, "At most 2 bytes.", '"éé"'),
    (
        Annotated[Decimal, Field(max_digits=5, decimal_places=2, gt=0)],
        {},
        'A decimal number written as text, as "1234.50". '
        "At most 5 digits in all. At most 2 digits after the point. Greater than 0.",
        '"0" "1.005" "123456"',
    ),
    (
        Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=3)],
        {"minLength": 1},
        "At most 3 characters.",
        '"   " " abcd "',
    ),
]


@pytest.mark.parametrize(("annotation", "carried", "told", "bad"), LIMITS)
def test_a_constraint_is_carried_or_told_and_always_checked(
    annotation: Any, carried: dict[str, Any], told: str, bad: str
) -> None:
    compiled = field(annotation)
    wire = dict(compiled.schema["properties"]["x"])
    assert wire.pop("description", "") == told
    assert {key: wire[key] for key in wire.keys() - {"type", "items"}} == carried
    for text in bad.split('" "') if '"' in bad else bad.split(" "):
        quoted = f'"{text.strip(chr(34))}"' if '"' in bad else text
        assert isinstance(compiled.check(f'{{"x":{quoted}}}'), Findings), quoted


def test_bounds_of_moments_are_told_as_moments_and_are_plain_json() -> None:
    class Bounded(BaseModel):
        day: Annotated[date, Field(ge=date(2020, 1, 1), lt=date(2021, 1, 1))]
        span: Annotated[timedelta, Field(le=timedelta(hours=1))]
        price: Annotated[Decimal, Field(ge=Decimal("0.01"))]
        open: Annotated[float, Field(lt=float("inf"))]

    compiled = compile_schema(Bounded)
    told = [part.get("description", "") for part in compiled.schema["properties"].values()]
    assert told[0] == "A date as YYYY-MM-DD. Not before 2020-01-01. Before 2021-01-01."
    assert told[1].endswith("At most PT1H.")
    assert told[2].endswith("At least 0.01.")
    assert told[3] == ""
    assert json.loads(json.dumps([one.value for one in compiled.relaxed]))
    findings = compiled.check('{"day":"2021-01-01","span":"PT2H","price":"0","open":1}')
    assert isinstance(findings, Findings)
    assert [one.expected for one in findings[:1]] == ["before 2021-01-01"]
    assert len(findings) == 3


def test_text_that_the_model_strips_may_be_longer_on_the_wire() -> None:
    trimmed = Annotated[str, StringConstraints(strip_whitespace=True, max_length=3)]
    assert check(trimmed, '"  abc  "') == "abc"


def test_what_is_told_in_words_is_on_the_relaxed_list() -> None:
    compiled = field(Annotated[Decimal, Field(max_digits=5, gt=0)])
    assert compiled.relaxed == (
        Relaxed("M.x", "maxDigits", 5),
        Relaxed("M.x", "exclusiveMinimum", 0),
        Relaxed("M.x", "format", "decimal"),
    )


def test_look_around_and_other_patterns_are_told_in_words_everywhere() -> None:
    class Code(BaseModel):
        model_config = ConfigDict(regex_engine="python-re")
        code: Annotated[str, Field(pattern=r"^(?=.*[0-9])[A-Z0-9]{4}$")]
        plain: Annotated[str, Field(pattern=r"^[A-Z]{2}-\d+$")]

    for dialect, sent in (("kimi", False), ("anthropic", True), ("openai", True)):
        compiled = compile_schema(Code, dialect)
        parts = compiled.schema["properties"]
        assert "pattern" not in parts["code"] and "(?=" in parts["code"]["description"]
        assert ("pattern" in parts["plain"]) is sent
        assert not isinstance(compiled.check('{"code":"AB1C","plain":"AB-1"}'), Findings)
        assert isinstance(compiled.check('{"code":"ABCD","plain":"AB-1"}'), Findings)


def test_a_mixed_enum_is_one_enum_a_type() -> None:
    parts = field(Odd).schema["properties"]["x"]["anyOf"]
    assert parts == [
        {"type": "string", "enum": ["x"]},
        {"type": "integer", "enum": [1]},
        {"type": "number", "enum": [1.5]},
        {"type": "boolean", "enum": [False]},
        {"type": "null"},
    ]


def test_an_enum_whose_values_have_no_json_is_refused() -> None:
    class Span(enum.Enum):
        SHORT = (1, 2)

    class Price(enum.Enum):
        LOW = Decimal("1.5")

    for cls in (Span, Price):
        with pytest.raises(ModelError, match=r"M\.x: the values of"):
            field(cls)


def test_bytes_follow_the_config() -> None:
    class Blob(BaseModel):
        model_config = ConfigDict(val_json_bytes="base64", ser_json_bytes="base64")
        data: bytes

    class Hex(BaseModel):
        model_config = ConfigDict(val_json_bytes="hex")
        data: bytes

    for model, words in ((Blob, "Base64"), (Hex, "hexadecimal")):
        compiled = compile_schema(model)
        value = model(data=b"\xff\x00\xfe")
        assert compiled.check(compiled.encode(value)) == value
        assert words in compiled.schema["properties"]["data"]["description"]


def test_enum_values_may_be_kept_instead_of_members() -> None:
    class Plain(BaseModel):
        model_config = ConfigDict(use_enum_values=True)
        paint: Paint

    compiled = compile_schema(Plain)
    got = compiled.check('{"paint":"Red"}')
    assert got.paint == "Red"
    assert compiled.check(compiled.encode(got)) == got


def test_moments_far_and_odd_come_back() -> None:
    class Moments(BaseModel):
        day: date
        at: datetime
        span: timedelta
        clock: time

    compiled = compile_schema(Moments)
    for value in (
        Moments(day=date.min, at=datetime.min, span=timedelta.min + timedelta(days=1), clock=time.min),
        Moments(
            day=date.max,
            at=datetime(9999, 12, 31, 23, 59, 59, 999_999, timezone(timedelta(hours=-11, minutes=-30))),
            span=timedelta(days=-3, microseconds=1),
            clock=time(23, 59, 59, 999_999),
        ),
    ):
        assert compiled.check(compiled.encode(value)) == value


def test_a_value_without_a_json_form_is_an_error_and_not_a_wrong_text() -> None:
    real, day = field(float), field(date)
    with pytest.raises(ValueError, match="nan"):
        real.encode(real.model.model_construct(x=float("nan")))
    with pytest.raises(ValueError, match="a date is needed, not a str"):
        day.encode(day.model.model_construct(x="2024-01-01"))


def test_no_wire_schema_has_a_keyword_outside_its_dialect() -> None:
    everything = create_model("All", **{f"f{i}": (a, ...) for i, (a, _, _) in enumerate(GOOD)})
    for dialect in ("kimi", "openai"):
        compiled = compile_schema(everything, dialect)
        assert lint(compiled.schema, dialect) == []
        assert not keywords(compiled.schema) & {"const", "title", "default", "examples", "oneOf", "allOf"}
