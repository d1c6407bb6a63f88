"""Makes the environment of each peer: python -m benchmarks.envs [name …]   (BENCH_ENVS says where)."""

from __future__ import annotations

import subprocess
import sys
import venv

from benchmarks.contest import ENVS, PEERS, ROOT


def make(name: str) -> None:
    """One environment, from the peer's requirements."""
    folder = ENVS / name
    if not (folder / "bin" / "python").exists():
        venv.create(folder, with_pip=True)
    wanted = ROOT / "benchmarks" / "peers" / name / "requirements.txt"
    subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "-q", "-r", str(wanted)], check=True)


if __name__ == "__main__":
    for peer in sys.argv[1:] or PEERS:
        print(peer, flush=True)
        make(peer)
