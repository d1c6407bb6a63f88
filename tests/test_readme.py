"""The README shows what happens: its output is a real one, its Python runs, its blocks are what CI runs."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest

from extract.testing import LocalEndpoint

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")
STALE = "run python docs/make_readme.py"


def make_readme() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_readme", ROOT / "docs" / "make_readme.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def upto_requests(text: str) -> str:
    """The part that is the same in every run: rows, dead letters and counts, but no times."""
    return text[: text.index("\nrequests ")]


def test_the_output_is_a_real_one() -> None:
    made = make_readme()
    shown = made.PLACE.search(README)
    assert shown is not None
    fresh = f"```console\n$ {made.COMMAND}\n{made.output()}"
    assert upto_requests(shown[0]) == upto_requests(fresh), STALE


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def test_the_first_two_shell_blocks_stand_under_quick_start() -> None:
    start = README.index("## Quick start")
    assert README.index("```sh") > start
    first, second, *_ = blocks("sh")
    assert "extract run pipelines/invoices.py --offline" in first
    assert "python -m pytest" in second
    assert all("python3 -m venv .venv" in block for block in (first, second))


def test_the_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "receipts").mkdir()
    (tmp_path / "receipts" / "a.txt").write_text("Shop: Bäckerei Vogt\nTotal: 7,40\nCurrency: EUR\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    (code,) = blocks("python")
    names: dict[str, object] = {"__name__": "readme"}
    with LocalEndpoint() as endpoint:
        monkeypatch.setenv("EXTRACT_BASE_URL", endpoint.base_url)
        monkeypatch.setenv("EXTRACT_API_KEY", endpoint.api_key)
        exec(compile(code, "README.md", "exec", dont_inherit=True), names)
    accepted = names["run"].accepted  # type: ignore[attr-defined]
    assert isinstance(accepted, pl.DataFrame)
    assert accepted["shop"].to_list() == ["Bäckerei Vogt"]


@pytest.mark.parametrize(
    "page", sorted(ROOT.glob("*.md")) + sorted(ROOT.glob("docs/**/*.md")), ids=lambda p: p.name
)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
    missing = [target for target in targets if not (page.parent / target).exists()]
    assert not missing
