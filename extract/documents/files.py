"""Patterns → files, each with the name that it is told by. Opens none of them."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from extract.errors import InputError

Pattern = str | Path


def find(patterns: Pattern | Iterable[Pattern], root: Pattern | None) -> list[tuple[str, Path]]:
    """Name and place of each file that is found, sorted by name.

    Raises InputError when the folder that a pattern starts in does not exist.
    """
    base = Path(root) if root is not None else None
    several = [patterns] if isinstance(patterns, str | Path) else list(patterns)
    return sorted({found for one in several for found in _matches(str(one), base)})


def _matches(pattern: str, root: Path | None) -> Iterator[tuple[str, Path]]:
    base = root or Path()
    whole = str(base / Path(pattern).expanduser())
    if Path(whole).is_file():  # also a name with brackets in it
        yield _told(Path(whole), root), Path(whole)
        return
    if Path(whole).is_dir():  # a folder stands for all that is in it
        whole = str(Path(glob.escape(whole)) / "**" / "*")
    _require_folder(whole, pattern)
    # Path.glob knows no absolute patterns and tells no fixed folder from a pattern.
    for path in map(Path, glob.glob(whole, recursive=True)):  # noqa: PTH207
        if path.is_file():
            yield _told(path, root), path


def _require_folder(whole: str, pattern: str) -> None:
    fixed = Path(re.split(r"[*?\[]", whole, maxsplit=1)[0] or ".")
    if fixed.exists():
        return
    folder = fixed.parent
    ends_in_a_name = glob.has_magic(whole) and not whole.startswith(f"{fixed}/")
    if ends_in_a_name and folder.exists():  # as in `inbox/inv*`
        return
    missing = next((up for up in reversed([fixed, *fixed.parents]) if not up.exists()), fixed)
    raise InputError(f"{pattern}: there is no {missing}")


def _told(path: Path, root: Path | None) -> str:
    if root is not None and path.is_relative_to(root):
        path = path.relative_to(root)
    return path.as_posix()
