"""A pipeline over a dataset of the real Ray, where it is installed (`make ray`)."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_the_proofs_hold() -> None:
    pytest.importorskip("ray")
    proof = importlib.import_module("benchmarks.ray_proof")
    command = [sys.executable, "-m", "benchmarks.ray_proof"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900)
    print(done.stdout)  # the figures, for whoever reads the log
    assert done.returncode == 0, done.stderr
    told = [line.split(maxsplit=1)[0] for line in done.stdout.splitlines() if line.strip()]
    assert [word for word in told if word in proof.PROOFS] == list(proof.PROOFS)  # Ray has its say between


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray warns of itself
def test_wrong_use_names_the_way_out(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    from pydantic import BaseModel

    from extract import Client, Pipeline, errors
    from extract.integrations.ray import finish
    from extract.integrations.ray import map as extract_map

    class Note(BaseModel):
        shop: str

    work = Pipeline(Note, client=Client("http://127.0.0.1:9", api_key="k"))
    with pytest.raises(errors.ConfigError, match=r"ray\.data\.from_arrow"):
        extract_map([{"text": "a"}], work, key="id")
    with pytest.raises(errors.ConfigError, match="the same store="):
        finish("never.duckdb")

    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    rows = ray.data.from_items([{"id": 1, "text": "a"}])
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"workers": 0}, "workers=0: give the number of processes, at least 1"),
        ({"key": ()}, "key= names the columns"),
        ({"key": "nr"}, r"key column 'nr' is not there; the columns are \['id', 'text'\]"),
        ({"tables": "nowhere://x"}, "filesystem="),
        ({"keep": "some"}, "keep='some'"),
    ]
    for options, words in wrong:
        with pytest.raises(errors.ConfigError, match=words):
            extract_map(rows, work, **{"key": "id", **options})
    with pytest.raises(errors.PromptError, match="body"):
        extract_map(rows, Pipeline(Note, prompt="{body}", client=work.client), key="id")
    with pytest.raises(errors.StoreError, match="its folder does not exist"):
        extract_map(rows, work, key="id", store="/nowhere/s.duckdb")
    unseen = rows.map_batches(lambda batch: batch)  # its columns are known to the workers alone
    with pytest.raises(ray.exceptions.RayTaskError, match="key column 'nr' is not there"):
        extract_map(unseen, work, key="nr", store=tmp_path / "s.duckdb").take_all()
    ray.shutdown()
