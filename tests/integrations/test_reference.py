"""The examples of docs/reference/integrations.md do what they say."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from extract.testing import LocalEndpoint

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "integrations.md").read_text("utf-8")
BLOCKS = re.findall(r"^```python ?(\w*)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_the_page_has_its_examples() -> None:
    assert [extra for extra, _ in BLOCKS] == ["", "", "", "arrow", "ray", "", ""]


@pytest.mark.arrow
def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "page"}
    with LocalEndpoint() as endpoint:
        monkeypatch.setenv("EXTRACT_BASE_URL", endpoint.base_url)
        monkeypatch.setenv("EXTRACT_API_KEY", endpoint.api_key)
        for extra, code in BLOCKS:
            if extra == "ray":
                compile(code, "page", "exec")  # see below
            elif extra != "arrow" or importlib.util.find_spec("pyarrow"):
                exec(compile(code, "page", "exec"), names)


@pytest.mark.slow
def test_the_example_for_ray_runs(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    code = "\n".join(code for extra, code in BLOCKS if extra == "ray" or code is BLOCKS[0][1])
    with LocalEndpoint() as endpoint:
        where = {"EXTRACT_BASE_URL": endpoint.base_url, "EXTRACT_API_KEY": endpoint.api_key}
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=tmp_path,
            env={**os.environ, **where},
            capture_output=True,
            text=True,
            timeout=200,
        )
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "typed").glob("*.parquet")) and list(
        (tmp_path / "run" / "calls").glob("*.parquet")
    )
