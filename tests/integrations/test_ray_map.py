"""A pipeline over a dataset of the real Ray, where it is installed; more in benchmarks/ray_proof.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_rows_come_out_whole_and_cost_nothing_twice() -> None:
    pytest.importorskip("ray")
    command = [sys.executable, "-m", "benchmarks.ray_proof", "plain"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "again: 0" in done.stdout


def test_wrong_use_names_the_way_out() -> None:
    pytest.importorskip("ray")
    from pydantic import BaseModel

    from extract import Client, Pipeline, errors
    from extract.integrations.ray import map as extract_map

    class Note(BaseModel):
        shop: str

    work = Pipeline(Note, client=Client("http://127.0.0.1:9", api_key="k"))
    with pytest.raises(errors.ConfigError, match=r"ray\.data\.from_arrow"):
        extract_map([{"text": "a"}], work, key="id")


def test_without_ray_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['ray'] = None\n"
        "try: import extract.integrations.ray\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("MissingExtraError") and "extract-pipelines[ray]" in done.stdout
