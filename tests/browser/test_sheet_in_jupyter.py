"""The sheet in a real JupyterLab: three rows labelled by keyboard; after a reload the labels are there."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from chromium import Browser, chromium, needs_chromium

pytest.importorskip("jupyterlab", reason="jupyterlab is in the extra `dev`")
pytestmark = [pytest.mark.slow, needs_chromium]
ROOT = Path(__file__).resolve().parents[2]

CELL = """
from typing import Annotated, Literal
from pydantic import BaseModel
from extract import Client, Evidence, Pipeline, labels
from extract.testing.endpoint.local import LocalEndpoint

class Letter(BaseModel):
    sender: Annotated[str | None, Evidence()]
    tone: Literal["kind", "cross", "plain"] | None
    pages: int | None

rows = [
    {"id": "L-1", "text": "Sender: Ann Lee\\nTone: kind\\nPages: 2\\n<script>document.title=1</script>"},
    {"id": "L-2", "text": "Sender: Bo Ek\\nTone: plain"},
    {"id": "L-3", "text": "Sender: Cy Oz\\nTone: cross"},
    {"id": "L-4", "text": "Sender: Di Ux\\nTone: cross"},
]
with LocalEndpoint() as endpoint:
    pipeline = Pipeline(Letter, client=Client(endpoint.base_url, api_key=endpoint.api_key))
    run = pipeline.run(rows, key="id", store="letters.duckdb")
sheet = labels.sheet(run, who="tester")
sheet
"""


def _notebook() -> str:
    cell = {
        "cell_type": "code",
        "execution_count": None,
        "id": "one",
        "metadata": {},
        "outputs": [],
        "source": CELL,
    }
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return json.dumps({"cells": [cell], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5})


@contextmanager
def _jupyter(folder: Path) -> Iterator[str]:
    """JupyterLab on a free loopback port, with everything that it writes in a folder of its own."""
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    own = folder / "jupyter"
    places = {f"JUPYTER_{name}_DIR": str(own / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    env = {
        **os.environ,
        **places,
        "PYTHONPATH": str(ROOT),
        "HOME": str(folder),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}"]
    command += ["--ip=127.0.0.1", "--IdentityProvider.token=", f"--ServerApp.root_dir={folder}"]
    quiet = own / "config" / "labconfig" / "page_config.json"
    quiet.parent.mkdir(parents=True)
    news = "@jupyterlab/apputils-extension:announcements"
    quiet.write_text(json.dumps({"disabledExtensions": {news: True}}))
    with (folder / "jupyter.log").open("w") as log:
        process = subprocess.Popen(command, env=env, stdout=log, stderr=log, cwd=folder)
    try:
        address = f"http://127.0.0.1:{port}"
        _until(lambda: _answers(address), "JupyterLab starts", seconds=90)
        yield address
    finally:
        process.terminate()
        process.wait(30)


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/api/status", timeout=2) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False


def _until(holds: Callable[[], object], what: str, *, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if holds():
                return
        except Exception as error:  # the page is being drawn
            last = error
        time.sleep(0.2)
    pytest.fail(f"waited {seconds} s in vain: {what} ({locals().get('last')})")


def _started(browser: Browser) -> bool:
    """Whether the cell runs or has run; presses control and enter in it where it has not."""
    if re.search(r"[*\d]", browser.text(".jp-CodeCell .jp-InputPrompt")):
        return True
    if browser.driver.find_elements("css selector", ".jp-Dialog .jp-mod-accept"):
        browser.click(".jp-Dialog .jp-mod-accept")  # asked for a kernel before it had started its own
    browser.click(".jp-Notebook .jp-CodeCell .cm-content")
    browser.chord("\ue007")  # enter
    time.sleep(2)
    return False


def _key(browser: Browser) -> str:
    return browser.text(".x-sheet .key")


def _count(browser: Browser) -> str:
    return browser.text(".x-sheet .count")


def test_three_rows_are_labelled_by_keyboard_and_survive_a_reload(tmp_path: Path) -> None:
    (tmp_path / "letters.ipynb").write_text(_notebook())
    with _jupyter(tmp_path) as address, chromium() as browser:
        browser.look(width=1400, height=1000)
        browser.driver.get(f"{address}/lab/tree/letters.ipynb")
        _until(
            lambda: browser.driver.find_element("css selector", ".jp-Notebook .jp-CodeCell .cm-content"),
            "the cell",
        )
        _until(lambda: "Idle" in browser.run("return document.body.innerHTML"), "the kernel")
        _until(lambda: _started(browser), "the cell runs")
        _until(lambda: _key(browser) == "L-1", "the sheet")
        assert browser.run("return document.title") != "1"

        browser.run("document.querySelector('.x-sheet').focus()")
        assert "on" in browser.run("return document.querySelector('.x-sheet mark').className")
        browser.press("a")  # accept
        _until(lambda: _key(browser) == "L-2", "the second row")
        browser.press("\ue0152")  # down: tone; 2: cross
        _until(lambda: "was plain" in browser.text(".x-sheet .fields"), "the change")
        browser.press("\ue015c7\ue007")  # down: pages; change, type 7, enter
        _until(lambda: "7" in browser.text(".x-sheet .field.on .value"), "the number")
        browser.screenshot(tmp_path / "sheet.png")
        browser.press("a")
        _until(lambda: _key(browser) == "L-3", "the third row")
        browser.press("cmany\ue007")  # a word where the sender stands
        _until(lambda: "many" in browser.text(".x-sheet .field.on .value"), "the sender")
        browser.press("\ue015\ue015cmany\ue007")  # pages: no number
        _until(lambda: "is no integer" in browser.text(".x-sheet .said.bad"), "the refusal")
        browser.press("s")
        _until(lambda: _key(browser) == "L-4", "the fourth row")
        assert _count(browser) == "row 4 of 4 · 3 done"

        browser.chord("s")  # the notebook itself
        _until(lambda: "widget-view" in (tmp_path / "letters.ipynb").read_text(), "the notebook is saved")
        browser.driver.get(f"{address}/lab/tree/letters.ipynb")
        _until(lambda: "3 done" in _count(browser), "the sheet after the reload")
        browser.run("document.querySelector('.x-sheet').focus()")
        browser.press("\ue012\ue012")  # back to the second row
        _until(lambda: _key(browser) == "L-2", "the second row again")
        assert "was plain" in browser.text(".x-sheet .fields")
        browser.screenshot(tmp_path / "after.png")
    if kept := os.environ.get("SCREENSHOTS"):
        for name in ("sheet.png", "after.png"):
            (Path(kept) / name).write_bytes((tmp_path / name).read_bytes())
