"""The local endpoint in a process of its own, for benchmarks: knobs, counts and a table to run on it."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import httpx
from pydantic import BaseModel

KEY = "local-key"


class Ticket(BaseModel):
    """One support ticket."""

    customer: str
    category: Literal["billing", "delivery", "technical"]
    amount: float
    urgent: bool


def tickets(count: int) -> list[dict[str, Any]]:
    """Rows that the endpoint can read, all different."""
    kinds = ("billing", "delivery", "technical")
    return [
        {
            "id": number,
            "text": f"Customer: ROW-{number:06}\nCategory: {kinds[number % 3]}\n"
            f"Amount: {number % 977}.50\nUrgent: {'yes' if number % 5 else 'no'}\n",
        }
        for number in range(count)
    ]


@dataclass(frozen=True)
class Endpoint:
    """Where it is, and its own addresses."""

    base_url: str

    def turn(self, knobs: str) -> None:
        """Change some knobs."""
        httpx.post(f"{self.base_url}/_endpoint/knobs", content=knobs).raise_for_status()

    def reset(self) -> None:
        """Forget counts, cache and limits."""
        httpx.post(f"{self.base_url}/_endpoint/reset").raise_for_status()

    def advance(self, seconds: float) -> None:
        """Turn its clock forward."""
        httpx.post(f"{self.base_url}/_endpoint/advance", content=str(seconds)).raise_for_status()

    def counts(self) -> dict[str, Any]:
        """What it saw."""
        found: dict[str, Any] = httpx.get(f"{self.base_url}/_endpoint/counts").json()
        return found

    def log(self) -> list[dict[str, Any]]:
        """Its requests one by one."""
        found: list[dict[str, Any]] = httpx.get(f"{self.base_url}/_endpoint/log").json()
        return found


@contextlib.contextmanager
def endpoint() -> Iterator[Endpoint]:
    """Starts one on a free port, and stops it."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "extract", "serve", "--port", str(port)], stderr=subprocess.DEVNULL
    )
    try:
        served = Endpoint(f"http://127.0.0.1:{port}")
        wait_for(lambda: _answers(served), seconds=20)
        yield served
    finally:
        process.terminate()
        process.wait(10)


def wait_for(ready: Callable[[], bool], *, seconds: float) -> None:
    """Looks again and again. Raises TimeoutError."""
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.02)


def _answers(served: Endpoint) -> bool:
    try:
        return bool(served.counts())
    except httpx.TransportError:
        return False
