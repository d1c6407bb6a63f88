"""Every notebook runs from its first cell to its last, offline; none of them holds an output."""

from __future__ import annotations

from pathlib import Path

import pytest

jupytext = pytest.importorskip("jupytext", reason="jupytext is in the extra `dev`")
nbclient = pytest.importorskip("nbclient", reason="nbclient is in the extra `dev`")

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted(path for path in (ROOT / "notebooks").glob("*.py") if "# %%" in path.read_text("utf-8"))


def test_there_is_one_for_each_user() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["documents_to_table", "etl_step", "labeling"]
    assert not list((ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    notebook = jupytext.read(path)
    client = nbclient.NotebookClient(
        notebook, timeout=180, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}
    )
    before = set(path.parent.iterdir())
    client.execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells)
    printed = [out for cell in cells for out in cell.outputs if out.get("name") == "stderr"]
    assert not [out.text for out in printed if "Warning" in out.text or "Traceback" in out.text]
    assert set(path.parent.iterdir()) - before <= {path.parent / "__pycache__"}
