"""The wheel holds the library alone, and works beside a user's own `schemas/` and `pipelines/`."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]

EXAMPLE = '''
from decimal import Decimal
from typing import Literal

from pydantic import BaseModel, Field

import extract
from extract import Client, Pipeline
from extract.testing import LocalEndpoint


class Receipt(BaseModel):
    """One receipt."""

    shop: str
    total: Decimal = Field(max_digits=8, decimal_places=2)
    currency: Literal["EUR", "USD"]


ROWS = [
    {"id": "a", "text": "Shop: Corner Bakery\\nTotal: 12,50\\nCurrency: EUR"},
    {"id": "b", "text": "Shop: Hardware Depot\\nTotal: 1,204.00\\nCurrency: USD"},
    {"id": "c", "text": "Not a receipt at all."},
]

with LocalEndpoint() as endpoint:
    client = Client(endpoint.base_url, api_key=endpoint.api_key)
    run = Pipeline(Receipt, client=client).run(ROWS, key="id", store="run.duckdb", into="receipts")

assert run.accepted.select("id", "shop", "total", "currency").rows() == [
    ("a", "Corner Bakery", Decimal("12.50"), "EUR"),
    ("b", "Hardware Depot", Decimal("1204.00"), "USD"),
], run.accepted
assert run.dead_letters["key"].to_list() == ["c"], run.dead_letters
print(extract.__file__)
'''


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True, cwd=folder)
    (made,) = folder.glob("*.whl")
    return made


def test_the_wheel_holds_the_library_alone(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"extract"}
    assert "extract/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_it_works_beside_hostile_folders(wheel: Path, tmp_path: Path) -> None:
    python = _fresh_environment(tmp_path / "env", wheel)
    work = tmp_path / "work"
    for name in ("schemas", "pipelines"):
        (work / name).mkdir(parents=True)
        (work / name / "__init__.py").write_text("raise RuntimeError('a folder of the user was imported')")
    (work / "example.py").write_text(EXAMPLE, "utf-8")
    told = subprocess.run([python, "-W", "error", "example.py"], cwd=work, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    assert Path(told.stdout.strip()).is_relative_to(tmp_path / "env")


def test_the_script_is_there(wheel: Path, tmp_path: Path) -> None:
    python = _fresh_environment(tmp_path / "env", wheel)
    told = subprocess.run([python.parent / "extract", "--help"], cwd=tmp_path, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    assert "dead-letters" in told.stdout


def _fresh_environment(folder: Path, wheel: Path) -> Path:
    """An environment with the wheel in it; what it needs is lent by this one, so that no index is asked."""
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(python)]
    subprocess.run([*pip, "install", "-q", "--no-deps", "--no-index", str(wheel)], check=True)
    (site,) = (folder / "lib").glob("python3*/site-packages")
    # .pth files inside a folder that a .pth file names are not read: no editable install leaks in.
    lent = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (site / "lent.pth").write_text("".join(f"{path}\n" for path in sorted(lent)))
    return python
