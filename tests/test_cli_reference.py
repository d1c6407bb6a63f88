"""The page of the command line names every command and every option, and none that is not there."""

from __future__ import annotations

import re
from pathlib import Path

import typer

from extract.cli import app

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "cli.md"


def documented() -> dict[str, set[str]]:
    """Command → the options that the page names under its heading."""
    found: dict[str, set[str]] = {}
    command = ""
    for line in PAGE.read_text("utf-8").splitlines():
        if heading := re.match(r"## `extract ([\w-]+)", line):
            command = heading[1]
            found[command] = set()
        elif command and line.startswith("| `--"):
            found[command] |= set(re.findall(r"--[a-z][\w-]*", line.split(" | ")[0]))
    return found


def declared() -> dict[str, set[str]]:
    """Command → the options that it takes."""
    group = typer.main.get_command(app)
    commands = group.commands  # type: ignore[attr-defined]
    return {
        name: {text for option in command.params for text in option.opts if text.startswith("--")}
        - {"--help"}
        for name, command in commands.items()
    }


def test_every_command_and_option_is_on_the_page() -> None:
    assert documented() == declared()
