"""`file.py:name` and `module:name` find what they name, and say what is there when they do not."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from extract.cli.load import Loaded, load
from extract.errors import ConfigError


@pytest.fixture(autouse=True)
def _clean_imports() -> Iterator[None]:
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def find(target: str) -> Loaded:
    """Loads complex numbers: something that a test file can make without this library."""
    return load(target, wanted="Number", accepts=lambda value: isinstance(value, complex))


def write(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return str(path)


def test_by_name(tmp_path: Path) -> None:
    file = write(tmp_path, "a.py", "one = 1j\ntwo = 2j\n")
    assert find(f"{file}:two").value == 2j


def test_the_only_one_needs_no_name(tmp_path: Path) -> None:
    assert find(write(tmp_path, "a.py", "x = 3\nonly = 1j\n_hidden = 2j\n")).name == "only"


def test_of_several_the_one_called_like_the_kind(tmp_path: Path) -> None:
    assert find(write(tmp_path, "a.py", "one = 1j\nnumber = 2j\n")).value == 2j


def test_of_several_none_is_guessed(tmp_path: Path) -> None:
    file = write(tmp_path, "a.py", "one = 1j\ntwo = 2j\n")
    with pytest.raises(ConfigError, match=r"has several, name one: .*a\.py:one, .*a\.py:two"):
        find(file)


@pytest.mark.parametrize(
    ("name", "told"),
    [("tow", "did you mean two"), ("zzz", "it has one, two"), ("word", "word in .* is no Number")],
)
def test_a_wrong_name_is_told_what_there_is(tmp_path: Path, name: str, told: str) -> None:
    file = write(tmp_path, "a.py", "one = 1j\ntwo = 2j\nword = 'x'\n")
    with pytest.raises(ConfigError, match=told):
        find(f"{file}:{name}")


def test_none_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="defines no Number"):
        find(write(tmp_path, "a.py", "x = 1\n"))


def test_a_file_that_is_not_there_names_its_neighbour(tmp_path: Path) -> None:
    write(tmp_path, "invoices.py", "one = 1j\n")
    with pytest.raises(ConfigError, match=r"there is no file .*invoice\.py; did you mean .*invoices\.py"):
        find(str(tmp_path / "invoice.py"))


def test_a_mistake_in_the_file_is_told_with_its_line(tmp_path: Path) -> None:
    file = write(tmp_path, "broken.py", "one = 1j\n\nboom = 1 / 0\n")
    with pytest.raises(ConfigError, match=r"ZeroDivisionError: division by zero \(.*broken\.py, line 3\)"):
        find(file)


def test_a_mistake_in_what_it_imports_is_told_there(tmp_path: Path) -> None:
    write(tmp_path, "helper_of_test.py", "\n\nraise OSError('no')\n")
    file = write(tmp_path, "uses.py", "import helper_of_test\none = 1j\n")
    with pytest.raises(ConfigError, match=r"OSError: no \(.*helper_of_test\.py, line 3\)"):
        find(file)


def test_a_syntax_error_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"SyntaxError: .*bad\.py, line 1"):
        find(write(tmp_path, "bad.py", "one = = 1\n"))


def test_the_project_of_a_file_can_be_imported_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "project/pyproject.toml", "")
    write(tmp_path, "project/models_of_test/thing.py", "value = 4j\n")
    file = write(tmp_path, "project/jobs/night.py", "from models_of_test.thing import value\n")
    monkeypatch.chdir("/")
    loaded = find(file)
    assert loaded.value == 4j
    assert loaded.folder == tmp_path / "project" / "jobs"


def test_a_module_of_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "jobs_of_test/night.py", "one = 1j\n")
    monkeypatch.chdir(tmp_path)
    loaded = find("jobs_of_test.night:one")
    assert (loaded.value, loaded.folder) == (1j, tmp_path / "jobs_of_test")


def test_a_module_that_is_not_there() -> None:
    with pytest.raises(ConfigError, match="ModuleNotFoundError"):
        find("no_such_module_here:one")


def test_a_file_named_like_a_library_does_not_replace_it(tmp_path: Path) -> None:
    import json

    file = write(tmp_path, "json.py", "one = 1j\n")
    assert find(file).value == 1j
    assert sys.modules["json"] is json
