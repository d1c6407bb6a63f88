"""The text that the values of a row were looked for in, made again from the input.

The store keeps no documents that were accepted; whoever has the input still can show them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from extract.prompt import Prompt, Rendered
from extract.schema.compile import CompiledSchema
from extract.show import PageImage
from extract.tables import RowSource, read_rows


class SourceTexts:
    """Keys → texts. Reads the input through when it is asked, and keeps nothing.

    frame: a table as `Pipeline.run` takes it, or rows that were read before. Rows of an input that can
    be read once only have no text.
    """

    def __init__(self, prompt: Prompt, frame: Any, key: str | Sequence[str] | None = None) -> None:
        self._prompt = prompt
        self._source = frame if isinstance(frame, RowSource) else read_rows(frame, key=key)

    def __call__(self, keys: Sequence[str]) -> Mapping[str, str]:
        """The texts of those rows that the input has."""
        return {key: made.text for key, made in self.rendered(keys).items()}

    def images(self, keys: Sequence[str]) -> dict[str, dict[int, PageImage]]:
        """Pictures of pages, where the input has the column `images` of `read_documents`."""
        if not self._source.repeatable or "images" not in self._source.columns:
            return {}
        wanted = set(keys)
        rows = (row for batch in self._source for row in batch if row.key in wanted)
        return {row.key: _pictures(row.values.get("images")) for row in rows}

    def rendered(self, keys: Sequence[str]) -> dict[str, Rendered]:
        """Those rows made ready to send again, as far as the input has them."""
        if not self._source.repeatable:
            return {}
        wanted: set[str] = set(keys)
        found: dict[str, Rendered] = {}
        for batch in self._source:
            for row in batch:
                if row.key in wanted and isinstance(made := self._prompt.render(row.values), Rendered):
                    found[row.key] = made
            if len(found) == len(wanted):
                break
        return found


def model_value(compiled: CompiledSchema[Any]) -> Callable[[str], Any]:
    """Reads an accepted answer as plain JSON data in the model's own shape."""

    def read(answer: str) -> Any:
        try:
            value = compiled.load(answer)
        except ValueError:  # the model has changed since: better the old words than none
            return json.loads(answer)
        return json.loads(compiled.adapter.dump_json(value, by_alias=True))

    return read


def _pictures(images: Any) -> dict[int, PageImage]:
    known = [one for one in images or () if isinstance(one, Mapping) and isinstance(one.get("data"), bytes)]
    return {
        int(one["page"]): PageImage(
            one["data"], str(one["media_type"]), float(one.get("width") or 0), float(one.get("height") or 0)
        )
        for one in known
    }
