"""What can go wrong, in one screen.

Inside a run faults are values (a `DeadLetter`, a `Stop`); exceptions are for the caller. Every
message names who must act and how.

    ExtractError
    ├── ConfigError            nothing was sent: change the call, the model or the environment
    │   ├── ModelError         an output model that has no wire schema: path and way out
    │   ├── PromptError        a template that names a column which is not there, a bad block
    │   ├── RequestError       a request that the chosen model would refuse
    │   ├── InputError         a table that cannot be run: repeated keys, clashing columns
    │   ├── ChangedError       the model or prompt changed since the rows in the table were made
    │   ├── PriceError         a budget in dollars without a price
    │   └── MissingExtraError  an optional package is not installed
    ├── StoreError             the store cannot be used; nothing in it was changed
    │   ├── StoreLockedError   another process holds it
    │   └── StoreVersionError  written by another version of the library
    └── RequirementError       `run.require(...)` was not met; everything is written
"""

from __future__ import annotations

__all__ = [
    "ChangedError",
    "ConfigError",
    "ExtractError",
    "InputError",
    "MissingExtraError",
    "ModelError",
    "PriceError",
    "PromptError",
    "RequestError",
    "RequirementError",
    "StoreError",
    "StoreLockedError",
    "StoreVersionError",
]


class ExtractError(Exception):
    """Everything that this library raises on purpose."""


class ConfigError(ExtractError):
    """Nothing was sent: the call, the model or the environment must change first."""


class ModelError(ConfigError):
    """An output model that cannot be asked for.

    `path` is the place in the model, as `Invoice.lines[].extra`.
    """

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path


class PromptError(ConfigError):
    """A prompt that cannot be made from the rows."""


class RequestError(ConfigError):
    """A request that the chosen model is known to refuse."""


class InputError(ConfigError):
    """A table that cannot be run as it is."""


class ChangedError(ConfigError):
    """The model, the prompt or the schema is not the one that filled this table."""


class PriceError(ConfigError):
    """A budget in dollars for a model without a price."""


class MissingExtraError(ConfigError):
    """An optional package is needed and not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {package}: pip install 'extract-pipelines[{extra}]'")
        self.extra = extra


class StoreError(ExtractError):
    """The store cannot be used; what it holds is as it was."""


class StoreLockedError(StoreError):
    """Another process has the store open."""


class StoreVersionError(StoreError):
    """The store was written by another version of the library."""


class RequirementError(ExtractError):
    """`run.require(...)` was not met. All outcomes are written all the same."""
