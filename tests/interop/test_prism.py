"""Prism between our client and our endpoint: slow, and only where Prism is installed.

`PRISM=…/prism` names its script; `python tests/interop/prism/check.py` installs one by itself.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECK = Path(__file__).parent / "prism" / "check.py"


@pytest.mark.slow
def test_prism_accepts_every_request_and_reply() -> None:
    prism = os.environ.get("PRISM") or shutil.which("prism")
    if prism is None:
        pytest.skip("no Prism here: python tests/interop/prism/check.py installs one and runs the same")
    done = subprocess.run(
        [sys.executable, str(CHECK), "--prism", prism],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
