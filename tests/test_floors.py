"""Imports inside `extract` go down a floor or stay on it, never up, never in a circle, never in a function.

The floors are drawn in docs/how-it-works.md; a module that nobody gave a floor fails here.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1] / "extract"

FLOORS: dict[str, int] = {
    # 0: what everyone may know
    "errors": 0,
    "clock": 0,
    # 1: data about models, the wire and evidence
    "schema": 1,
    "protocol": 1,
    "evidence": 1,
    "prices": 1,
    "split": 1,
    "markup": 1,
    # 2: a row out, a reply in
    "judge": 2,
    "prompt": 2,
    "outcome": 2,
    # 3: what one row's conversation and a run's patience decide
    "conversation": 3,
    "pieces": 3,
    "breaker": 3,
    # 4: the outside: network, limits, files, tables
    "addresses": 4,
    "transport": 4,
    "fast_transport": 4,
    "fast_connection": 4,
    "deadlines": 4,
    "exchange": 4,
    "client": 4,
    "rates": 4,
    "window": 4,
    "bucketfit": 4,
    "gate": 4,
    "pace": 4,
    "governor": 4,
    "budget": 4,
    "warmth": 4,
    "cache_tally": 4,
    "store": 4,
    "tables": 4,
    "documents": 4,
    "observe": 4,
    # 5: a run
    "report": 5,
    "show": 5,
    "progress": 5,
    "stopper": 5,
    "work": 5,
    "clearance": 5,
    "courier": 5,
    "committer": 5,
    "engine": 5,
    "endings": 5,
    "intake": 5,
    "host": 5,
    "garbage": 5,
    "plan_math": 5,
    # 6: the face
    "texts": 6,
    "results": 6,
    "signature": 6,
    "planning": 6,
    "options": 6,
    "run": 6,
    "session": 6,
    "running": 6,
    "pipeline": 6,
    # 7: what is built on it
    "labels": 7,
    "testing": 7,
    "integrations": 7,
    # 8: the door
    "": 8,  # extract/__init__.py
    "cli": 8,
    "__main__": 8,
}

# These may wait in a function: heavy ones (jsonschema takes 1 s, polars 0.2 s), extras that may be missing.
LATE = {"polars", "duckdb", "jsonschema"}
# Import name → the package that brings it, for those that an extra brings.
EXTRAS = {
    "starlette": "starlette",
    "uvicorn": "uvicorn",
    "pypdfium2": "pypdfium2",
    "PIL": "pillow",
    "kreuzberg": "kreuzberg",
    "rapidocr": "rapidocr",
    "pyarrow": "pyarrow",
    "scipy": "scipy",
    "numpy": "scipy",
    "rapidfuzz": "rapidfuzz",
    "anywidget": "anywidget",
    "traitlets": "anywidget",
    "httptools": "httptools",
    "opentelemetry": "opentelemetry-api",
    "ray": "ray",
    "fsspec": "ray",  # for places that pyarrow does not reach
    "pytest": "pytest",
}
# Floors 1 to 3 are pure: the same input gives the same output, at any time, on any machine.
PURE = {1, 2, 3}
IMPURE = {
    "asyncio",
    "httpx",
    "socket",
    "ssl",
    "threading",
    "time",
    "subprocess",
    "tempfile",
    "duckdb",
}


PROVIDED_BY_OTHERS = {
    "pydantic_core",
    "annotated_types",
    "typing_extensions",
}  # pydantic cannot do without them
LONGEST_FUNCTION = 60
LONGEST_FILE = 400


@dataclass(frozen=True)
class Import:
    """One import statement: who, whom, where."""

    source: str
    target: str
    line: int
    in_function: bool

    def __str__(self) -> str:
        return f"{self.source}:{self.line} imports {self.target}"


def _modules() -> dict[str, Path]:
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = ("extract", *path.relative_to(ROOT).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = _modules()


def _targets(node: ast.Import | ast.ImportFrom, source: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    base = node.module or ""
    if node.level:
        package = source.split(".")
        depth = node.level - (1 if MODULES[source].name == "__init__.py" else 0)
        base = ".".join([*package[: len(package) - depth], *([base] if base else [])])
    for alias in node.names:
        whole = f"{base}.{alias.name}"
        yield whole if whole in MODULES else base


def _walk(node: ast.AST, source: str, *, in_function: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            continue  # read by type checkers only: it cannot tie a knot at run time
        if isinstance(child, ast.Import | ast.ImportFrom):
            for target in _targets(child, source):
                yield Import(source, target, child.lineno, in_function)
        inside = in_function or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield from _walk(child, source, in_function=inside)


def _imports() -> list[Import]:
    found = []
    for name, path in MODULES.items():
        found.extend(_walk(ast.parse(path.read_text("utf-8")), name, in_function=False))
    return found


IMPORTS = _imports()
OWN = [i for i in IMPORTS if i.target == "extract" or i.target.startswith("extract.")]


def _place(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def _floor(module: str) -> int:
    return FLOORS.get(_place(module), 0)


def test_every_module_has_a_floor() -> None:
    homeless = sorted({name for name in MODULES if _place(name) not in FLOORS})
    assert not homeless, f"give these a floor in tests/test_floors.py and docs/how-it-works.md: {homeless}"


def test_every_room_is_in_the_drawing() -> None:
    """docs/how-it-works.md names each of them on its own floor."""
    drawn: dict[str, int] = {}
    floor = -1
    for line in (ROOT.parent / "docs" / "how-it-works.md").read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) < 4 or "`" not in cells[2]:
            continue
        number = re.match(r"\*\*(\d)\*\*", cells[1])
        floor = int(number[1]) if number else floor
        if floor < 0:
            continue
        drawn |= dict.fromkeys(re.findall(r"`(\w+)/?`", cells[2]), floor)
    drawn[""] = drawn.pop("__init__")
    assert drawn == FLOORS


def test_no_import_goes_up() -> None:
    upward = [str(i) for i in OWN if _floor(i.target) > _floor(i.source)]
    assert not upward, "\n".join(upward)


def test_no_circles() -> None:
    graph: dict[str, set[str]] = {name: set() for name in MODULES}
    for i in OWN:
        if i.target != i.source:
            graph[i.source].add(i.target)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def _behind_an_extra(module: str) -> bool:
    """Own modules that need an extra at their top can only be imported late themselves."""
    at_top = {i.target.split(".")[0] for i in IMPORTS if i.source == module and not i.in_function}
    return bool(at_top & EXTRAS.keys())


def test_imports_stand_at_the_top() -> None:
    allowed = LATE | EXTRAS.keys()
    late = [i for i in IMPORTS if i.in_function and i.target.split(".")[0] not in allowed]
    hidden = [str(i) for i in late if not _behind_an_extra(i.target)]
    assert not hidden, "\n".join(hidden)


def test_heavy_libraries_wait_until_they_are_needed() -> None:
    early = [str(i) for i in IMPORTS if not i.in_function and i.target.split(".")[0] in LATE]
    assert not early, "\n".join(early)


def test_the_core_is_pure() -> None:
    impure = [str(i) for i in IMPORTS if _floor(i.source) in PURE and i.target.split(".")[0] in IMPURE]
    assert not impure, "\n".join(impure)


def _declared() -> tuple[set[str], dict[str, set[str]]]:
    """Packages that are always there, and those of each extra."""
    project = tomllib.loads((ROOT.parent / "pyproject.toml").read_text("utf-8"))["project"]

    def names(lines: list[str]) -> set[str]:
        return {re.split(r"[^\w-]", line, maxsplit=1)[0] for line in lines}

    return names(project["dependencies"]), {
        extra: names(lines) for extra, lines in project["optional-dependencies"].items()
    }


def test_every_library_that_is_imported_is_declared() -> None:
    always, extras = _declared()
    brought = set().union(*extras.values())
    known = always | PROVIDED_BY_OTHERS | set(sys.stdlib_module_names) | {"extract"}
    known |= {name for name, package in EXTRAS.items() if package in brought}
    undeclared = [str(i) for i in IMPORTS if i.target.split(".")[0] not in known]
    assert not undeclared, "\n".join(undeclared)


def test_every_extra_that_a_message_names_is_there() -> None:
    text = "".join(path.read_text("utf-8") for path in MODULES.values())
    named = set(re.findall(r"extract-pipelines\[([a-z]+)\]", text))
    named |= set(re.findall(r'MissingExtraError\("[^"]+", "([a-z]+)"', text))
    assert named <= set(_declared()[1]), named


def test_the_library_never_imports_what_is_built_on_it() -> None:
    back = [
        str(i) for i in IMPORTS if i.target.split(".")[0] in {"schemas", "pipelines", "notebooks", "tests"}
    ]
    assert not back, "\n".join(back)


def test_files_and_functions_stay_short() -> None:
    long = []
    for name, path in MODULES.items():
        text = path.read_text("utf-8")
        if text.count("\n") > LONGEST_FILE:
            long.append(f"{name} has {text.count(chr(10))} lines")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > LONGEST_FUNCTION:
                    long.append(f"{name}.{node.name} has {lines} lines")
    assert not long, "\n".join(long)
