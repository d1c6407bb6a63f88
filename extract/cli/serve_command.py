"""`extract serve`."""

from __future__ import annotations

from extract.testing.endpoint import serve


def command(
    *, port: int, latency: str | None, rate: str | None, faults: str | None, api_key: str, as_json: bool
) -> int:
    """Serve until Ctrl-C."""
    named = [("latency", latency), ("rate", rate)]
    knobs = ",".join([f"{name}={value}" for name, value in named if value] + ([faults] if faults else []))
    serve(port, knobs or None, api_key=api_key)
    return 0
