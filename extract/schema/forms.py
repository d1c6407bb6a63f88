"""Text forms: what a string must look like for a date, a decimal, a URL, in words and as a check.

The checks refuse what Pydantic takes too kindly (the text "2024" for a moment in 1970). Knows no schema.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation

from extract.schema.jsontext import JsonTextError, read


@dataclass(frozen=True, slots=True)
class Form:
    """words: for the description. format: the JSON Schema name, if any. check: refuses other text."""

    words: str
    format: str = ""
    check: Callable[[str], bool] | None = None


def _is_date(text: str) -> bool:
    try:
        return len(text) == 10 and date.fromisoformat(text) is not None
    except ValueError:
        return False


def _is_moment(text: str) -> bool:
    """Not a number of seconds, and not a date alone: the rest is Pydantic's to read."""
    return text[4:5] == "-" and text[10:11] in ("T", "t", " ", "_")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_decimal(text: str) -> bool:
    if not text or text.strip("0123456789+-.eE"):
        return False
    try:
        return Decimal(text).is_finite()
    except InvalidOperation:
        return False


def _is_decimal_or_nan(text: str) -> bool:
    return _is_decimal(text) or text in ("NaN", "Infinity", "-Infinity")


def _is_base64(text: str) -> bool:
    """Python's decoder drops what is not of the alphabet; a reply may not have it."""
    return not text.replace("\n", "").strip(_BASE64)


_BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_="


def _is_json(text: str) -> bool:
    try:
        read(text)
    except JsonTextError:
        return False
    return True


FORMS: dict[str, Form] = {
    "date": Form("A date as YYYY-MM-DD.", "date", _is_date),
    "datetime": Form("A date and time in ISO 8601, as 2024-05-31T14:30:00Z.", "", _is_moment),
    "time": Form("A time of day as HH:MM:SS."),
    "duration": Form("A duration in ISO 8601, as P2DT3H or PT1H30M.", "", lambda text: not _is_number(text)),
    "decimal": Form('A decimal number written as text, as "1234.50".', "", _is_decimal),
    "decimal-or-nan": Form(
        'A decimal number written as text, as "1234.50", or "NaN".', "", _is_decimal_or_nan
    ),
    "bytes": Form(""),
    "base64": Form("Base64 text.", "", _is_base64),
    "base64url": Form("Base64 text with the URL-safe alphabet.", "", _is_base64),
    "hex": Form("Bytes as hexadecimal text."),
    "uuid": Form("A UUID, as 123e4567-e89b-12d3-a456-426614174000.", "uuid"),
    "ipv4": Form("An IPv4 address.", "ipv4"),
    "ipv6": Form("An IPv6 address.", "ipv6"),
    "ipvanyaddress": Form("An IPv4 or IPv6 address."),
    "ipv4interface": Form("An IPv4 interface, as 192.168.0.1/24."),
    "ipv6interface": Form("An IPv6 interface, as 2001:db8::1/64."),
    "ipv4network": Form("An IPv4 network, as 192.168.0.0/24."),
    "ipv6network": Form("An IPv6 network, as 2001:db8::/32."),
    "uri": Form("A URL.", "uri"),
    "multi-host-uri": Form("A URL, possibly with several hosts."),
    "path": Form("A file path."),
    "file-path": Form("The path of a file."),
    "directory-path": Form("The path of a folder."),
    "regex": Form("A regular expression."),
    "email": Form("An e-mail address.", "email"),
    "hostname": Form("A host name.", "hostname"),
    "password": Form(""),
    "json": Form("Text that holds JSON.", "", _is_json),
}

UNKNOWN = Form("")


def form_of(name: str) -> Form:
    """The form of a name; a name that is not known is told to the model as it is."""
    if not name:
        return UNKNOWN
    return FORMS.get(name) or Form(f"Format: {name}.")
