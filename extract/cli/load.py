"""`file.py:name` or `module:name` → the object there. Knows nothing of what is done with it.

A file's own folder and its project's folder (the nearest one above with `schemas/`, `pyproject.toml`
or `.git` in it) are importable while it loads, so a pipeline file works from any folder.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any

from extract.errors import ConfigError, ExtractError

PROJECT_MARKS = ("schemas", "pyproject.toml", ".git")


@dataclass(frozen=True, slots=True)
class Loaded:
    """An object, the name it has there, and the module it came from.

    folder: what the module's relative paths start from.
    """

    value: Any
    name: str
    module: ModuleType
    folder: Path


def load(target: str, *, wanted: str, accepts: Callable[[Any], bool]) -> Loaded:
    """Load the object that `target` names, or the only one that `accepts` takes.

    wanted: what is looked for, for messages, as "Pipeline".
    Raises ConfigError with what is there for a target that is not found or is something else.
    """
    place, name = _split(target)
    module, folder = _module(place)
    found = {
        key: value for key, value in vars(module).items() if _is_own(key, value, module) and accepts(value)
    }
    name = name or _only(found, place, wanted)
    if not hasattr(module, name):
        raise ConfigError(f"{place} has no {name!r}{_hint(name, found, wanted)}")
    value = getattr(module, name)
    if not accepts(value):
        raise ConfigError(f"{name} in {place} is no {wanted}{_hint(name, found, wanted)}")
    return Loaded(value, name, module, folder)


def _split(target: str) -> tuple[str, str]:
    head, colon, tail = target.rpartition(":")
    if colon and tail.isidentifier() and head:
        return head, tail
    return target.removesuffix(":"), ""


def _is_own(name: str, value: Any, module: ModuleType) -> bool:
    """Not hidden, and no class that the module only imported."""
    imported = isinstance(value, type) and value.__module__ != module.__name__
    return not name.startswith("_") and not imported


def _only(found: dict[str, Any], place: str, wanted: str) -> str:
    if wanted.lower() in found:
        return wanted.lower()
    if len(found) == 1:
        return next(iter(found))
    if not found:
        raise ConfigError(f"{place} defines no {wanted}")
    raise ConfigError(
        f"{place} has several, name one: {', '.join(f'{place}:{name}' for name in sorted(found))}"
    )


def _hint(name: str, found: dict[str, Any], wanted: str) -> str:
    if not found:
        return f"; it defines no {wanted}"
    close = get_close_matches(name, found, n=1)
    return f"; did you mean {close[0]}?" if close else f"; it has {', '.join(sorted(found))}"


def _module(place: str) -> tuple[ModuleType, Path]:
    if place.endswith(".py") or "/" in place or Path(place).is_file():
        path = Path(place).expanduser().resolve()
        if not path.is_file():
            raise ConfigError(f"there is no file {place}{_near(path)}")
        return _guarded(lambda: _from_file(path), place), path.parent
    _importable(Path.cwd())
    module = _guarded(lambda: importlib.import_module(place), place)
    origin = getattr(module, "__file__", None)
    return module, Path(origin).parent if origin else Path.cwd()


def _near(path: Path) -> str:
    if not path.parent.is_dir():
        return ""
    beside = [one.name for one in path.parent.glob("*.py")]
    close = get_close_matches(path.name, beside, n=1)
    return f"; did you mean {path.parent / close[0]}?" if close else ""


def _from_file(path: Path) -> ModuleType:
    for folder in reversed([path.parent, *_project(path)]):
        _importable(folder)
    name = path.stem if path.stem.isidentifier() and path.stem not in sys.modules else f"_file_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # models look their annotations up there
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _project(path: Path) -> list[Path]:
    above = path.parent.parents
    return [folder for folder in above if any((folder / mark).exists() for mark in PROJECT_MARKS)][:1]


def _importable(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def _guarded(make: Callable[[], ModuleType], place: str) -> ModuleType:
    try:
        return make()
    except ExtractError:
        raise
    except Exception as error:
        where = _where(error)
        raise ConfigError(f"{place} cannot be loaded: {type(error).__name__}: {error}{where}") from error


def _where(error: Exception) -> str:
    """The last line of the user's own files that ran, as ` (pipelines/a.py, line 3)`."""
    if isinstance(error, SyntaxError) or error.__traceback__ is None:
        return ""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if f.filename.endswith(".py") and not _is_machinery(f.filename)]
    return f" ({own[-1].filename}, line {own[-1].lineno})" if own else ""


def _is_machinery(filename: str) -> bool:
    path = Path(filename)
    return "site-packages" in path.parts or filename.startswith(sys.base_prefix) or path.is_relative_to(HERE)


HERE = Path(__file__).resolve().parents[1]
