"""Write python.md from the docstrings of what `extract` exports: `python docs/reference/make_python.py`."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, ForwardRef

import extract

TARGET = Path(__file__).with_name("python.md")
WIDE = 96
FIRST = ("Pipeline", "Run", "Report")  # what a reader looks for; the others follow by name
INNER = re.compile(r"(?<=\. )([a-z_]\w*(?:, [a-z_]\w*)*): ")
NAMED = re.compile(r"([a-z_]\w*(?:, [a-z_]\w*)*): ")

HEAD = """\
# `extract` in Python

What `from extract import …` gives, from its docstrings. This page is made by `make_python.py` beside it
(`make pages`); a test fails when it is stale. The columns that types become are in [types](types.md), the
tables of a store in [store](store.md), the local endpoint and scripted replies in [testing](testing.md), the
commands in [the command line](cli.md).
"""


def text_of(thing: Any) -> str:
    """A docstring as Markdown: `name: …` lines become a list."""
    words = thing.__doc__ if isinstance(thing, ModuleType) else inspect.getdoc(thing)
    paragraphs = (words or "").strip().split("\n\n")
    return "\n\n".join("\n".join(_lines(paragraph)) for paragraph in paragraphs)


def _lines(paragraph: str) -> Iterator[str]:
    lines = paragraph.split("\n")
    if not NAMED.match(lines[0]):
        yield from lines
        return
    for line in lines:
        found = NAMED.match(line)
        told = f"- **{found[1]}**: {line[found.end() :]}" if found else f"  {line.strip()}"
        yield INNER.sub(r"**\1**: ", told)


def signature_of(name: str, thing: Any) -> str:
    """The call as it is written, without `self`."""
    signature = inspect.signature(thing)
    given = [p for p in signature.parameters.values() if p.name not in ("self", "cls")]
    parts: list[str] = []
    for n, parameter in enumerate(given):
        starred = parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts
        if starred and not any(p.kind is p.VAR_POSITIONAL for p in given[:n]):
            parts.append("*")
        parts.append(_parameter(parameter))
    result = "" if isinstance(thing, type) else _annotation(signature.return_annotation, " -> ")
    flat = f"{name}({', '.join(parts)}){result}"
    if len(flat) > WIDE:
        flat = f"{name}(\n" + textwrap.indent(",\n".join(parts), "    ") + f",\n){result}"
    return f"```python\n{flat}\n```"


def _parameter(parameter: inspect.Parameter) -> str:
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    told = f"{stars}{parameter.name}{_annotation(parameter.annotation, ': ')}"
    if parameter.default is parameter.empty:
        return told
    default = repr(parameter.default)
    return f"{told} = {'…' if default.startswith('<') else default}"


def _annotation(annotation: Any, before: str) -> str:
    if annotation is inspect.Signature.empty:
        return ""
    if isinstance(annotation, ForwardRef):  # a field of a named tuple
        annotation = annotation.__forward_arg__
    return before + (annotation if isinstance(annotation, str) else inspect.formatannotation(annotation))


def members(owner: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties with a docstring of their own, in the order of the source."""
    for name, member in vars(owner).items():
        if isinstance(member, classmethod | staticmethod):
            member = member.__func__
        known = inspect.isfunction(member) or isinstance(member, property | cached_property)
        if known and not name.startswith("_") and inspect.getdoc(member):
            yield name, member


def described(name: str, thing: Any, *, level: int = 2) -> Iterator[str]:
    """The section of one name."""
    yield f"{'#' * level} `{name}`\n"
    if isinstance(thing, ModuleType):
        yield f"{text_of(thing)}\n"
        if thing is not extract.errors:  # the tree in its docstring says all
            for inner in sorted(thing.__all__):
                yield from described(f"{name}.{inner}", getattr(thing, inner), level=level + 1)
        return
    if not (isinstance(thing, type) and issubclass(thing, Exception)):
        yield f"{signature_of(name, thing)}\n"
    yield f"{text_of(thing)}\n"
    for inner, member in members(thing) if isinstance(thing, type) else ():
        if inspect.isfunction(member):
            yield f"{'#' * (level + 1)} `{name}.{inner}`\n\n{signature_of(inner, member)}\n"
        else:
            yield f"{'#' * (level + 1)} `{name}.{inner}`: a property\n"
        yield f"{text_of(member)}\n"


def page() -> str:
    """The whole page."""
    names = [*FIRST, *(name for name in extract.__all__ if name not in FIRST and name[0] != "_")]
    sections = [line for name in names for line in described(name, getattr(extract, name))]
    version = "## `__version__`\n\nThe version of the library, a string.\n"
    return "\n".join([HEAD, *sections, version])


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
