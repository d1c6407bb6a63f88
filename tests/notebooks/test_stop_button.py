"""The stop button of a notebook, as the kernel itself hears it: the run lands, and the cell goes on later."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

manager = pytest.importorskip("jupyter_client.manager", reason="ipykernel is in the extra `dev`")
pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]

SETUP = """
from pydantic import BaseModel
from extract import Client, Pace, Pipeline
from extract.testing import LocalEndpoint

class Card(BaseModel):
    name: str

endpoint = LocalEndpoint("latency=60ms").start()
pipeline = Pipeline(
    Card,
    client=Client(endpoint.base_url, api_key=endpoint.api_key),
    pace=Pace(concurrency=4),
)
rows = [{"id": i, "text": f"Name: Card {i}"} for i in range(150)]
"""
RUN = "run = pipeline.run(rows, key='id', store='cards.duckdb', on_progress=lambda p: print('done', p.done))"
TOLD = """
r = run.report
print("told", r.stopped and r.stopped.reason, r.accepted, r.pending, r.requests, r.reused)
"""


class Kernel:
    """A real kernel, spoken to as a notebook does."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PYTHONPATH", str(ROOT))
        self._manager, self._client = manager.start_new_kernel(kernel_name="python3", cwd=str(folder))

    def send(self, code: str) -> str:
        """Starts a cell."""
        return str(self._client.execute(code))

    def messages(self, cell: str) -> Iterator[dict[str, Any]]:
        """What comes from a cell until it is over."""
        while True:
            message = self._client.get_iopub_msg(timeout=60)
            if message["parent_header"].get("msg_id") != cell:
                continue
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                return
            yield message

    def run(self, code: str) -> str:
        """Everything that a cell printed; an error of it fails the test."""
        return self.printed(self.messages(self.send(code)))

    def printed(self, messages: Iterator[dict[str, Any]]) -> str:
        """What messages print."""
        text = ""
        for message in messages:
            assert message["msg_type"] != "error", message["content"]
            text += message["content"].get("text", "")
        return text

    def interrupt(self) -> None:
        """What the stop button does."""
        self._manager.interrupt_kernel()

    def close(self) -> None:
        """The kernel is gone, with all that ran in it."""
        self._client.stop_channels()
        self._manager.shutdown_kernel(now=True)


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kernel]:
    started = Kernel(tmp_path, monkeypatch)
    yield started
    started.close()


def test_a_run_is_stopped_and_gone_on_with(kernel: Kernel) -> None:
    kernel.run(SETUP)
    cell = kernel.send(RUN)
    messages = kernel.messages(cell)
    for message in messages:  # until some rows are done
        assert message["msg_type"] != "error", message["content"]
        if any(int(n) >= 8 for n in re.findall(r"done (\d+)", message["content"].get("text", ""))):
            break
    kernel.interrupt()
    kernel.printed(messages)  # the cell ends without an error: what was in flight has landed

    reason, accepted, pending, requests, _ = _told(kernel)
    assert reason == "interrupted"
    assert 8 <= accepted < 150 and accepted + pending == 150
    assert accepted == requests  # each answer that was paid for is kept

    kernel.run(RUN)
    reason, accepted, pending, more, reused = _told(kernel)
    assert (reason, accepted, pending) == ("None", 150, 0)
    assert (more, reused) == (150 - requests, requests)


def test_two_stops_end_it_at_once_and_nothing_is_lost(kernel: Kernel) -> None:
    kernel.run(SETUP.replace("latency=60ms", "latency=4s"))
    cell = kernel.send(RUN)
    messages = kernel.messages(cell)
    next(message for message in messages if "done" in message["content"].get("text", ""))
    kernel.interrupt()
    time.sleep(0.7)
    kernel.interrupt()
    errors = [m["content"]["ename"] for m in messages if m["msg_type"] == "error"]
    assert errors == ["KeyboardInterrupt"]
    kernel.run("endpoint.stop(); endpoint = LocalEndpoint().start()")
    again = "Client(endpoint.base_url, api_key=endpoint.api_key)"
    kernel.run(f"pipeline = pipeline.using(client={again}); {RUN}")
    assert _told(kernel)[:3] == ("None", 150, 0)


def test_progress_is_a_bar_below_the_cell_and_prints_nothing(kernel: Kernel) -> None:
    kernel.run(SETUP)
    cell = kernel.send(
        "print('mine'); run = pipeline.run(rows[:20], key='id', store=':memory:'); print('mine too')"
    )
    messages = list(kernel.messages(cell))
    text = "".join(m["content"]["text"] for m in messages if m["msg_type"] == "stream")
    assert text == "mine\nmine too\n"
    assert any(m["msg_type"] == "display_data" for m in messages)


def _told(kernel: Kernel) -> tuple[str, int, int, int, int]:
    found = re.search(r"told (\w+) (\d+) (\d+) (\d+) (\d+)", kernel.run(TOLD))
    assert found
    return found[1], int(found[2]), int(found[3]), int(found[4]), int(found[5])
