"""Put what the first command really shows into README.md: `python docs/make_readme.py`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
COMMAND = "python -m extract run pipelines/invoices.py --offline"
PLACE = re.compile(r"(?<=<!-- run:invoices -->\n).*?(?=<!-- end -->)", re.DOTALL)


def output() -> str:
    """What the command writes to standard output, 100 columns wide, with a store of its own."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "invoices.duckdb"
        command = [sys.executable, "-m", *COMMAND.split()[2:], "--store", str(store)]
        settings = os.environ | {"COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}
        told = subprocess.run(command, cwd=ROOT, env=settings, capture_output=True, encoding="utf-8")
        if told.returncode != 3:
            raise RuntimeError(f"exit status {told.returncode}\n{told.stdout}{told.stderr}")
        return told.stdout.replace(str(store.resolve()), "invoices.duckdb").replace(
            str(store), "invoices.duckdb"
        )


def page(shown: str) -> str:
    """The README with that output in it."""
    block = f"```console\n$ {COMMAND}\n{shown}```\n"
    return PLACE.sub(lambda _: block, README.read_text("utf-8"))


if __name__ == "__main__":
    README.write_text(page(output()), "utf-8")
