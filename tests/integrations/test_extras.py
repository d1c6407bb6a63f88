"""Where a package is missing, the integration that needs it names the extra."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("package", "integration", "extra"), [("opentelemetry", "otel", "otel"), ("ray", "ray", "ray")]
)
def test_without_the_package_the_extra_is_named(package: str, integration: str, extra: str) -> None:
    code = (
        f"import sys; sys.modules[{package!r}] = None\n"
        f"try: import extract.integrations.{integration}\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("MissingExtraError") and f"extract-pipelines[{extra}]" in done.stdout
