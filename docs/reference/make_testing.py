"""Writes testing.md from the code: run it after a change of knobs or rules."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from extract.testing.endpoint import Knobs
from extract.testing.endpoint.rules import chat, messages

TARGET = Path(__file__).with_name("testing.md")

HEAD = """\
# `extract.testing`

For your own tests: none of them reaches a network. This page is made by `make_testing.py` beside it; a test
fails when it is stale.

## The local endpoint

A real HTTP server on a loopback port (extra `endpoint`) that holds the rules of the service's documents. It
is no model: it reads `label: value` lines and tables, in English, German, French and Spanish, into the names,
titles and descriptions of your schema. What it does not find is null; it makes nothing up
([decision 015](../decisions/015-the-endpoint-is-strict-and-invents-nothing.md)).

```python
from extract import Client
from extract.testing import LocalEndpoint

with LocalEndpoint("latency=200ms,rate=50,err500=0.02") as endpoint:
    client = Client(endpoint.base_url, api_key=endpoint.api_key)
    ...
    assert endpoint.counts()["rows_answered"] == 10
```

`endpoint.turn("err500=1")` changes knobs while it runs, `endpoint.log()` tells the requests one by one,
`endpoint.reset()` forgets them, and `endpoint.advance(3600)` lets an hour pass for its cache and its limits.
From another process the same is at `/_endpoint/counts`, `/_endpoint/log`, `/_endpoint/knobs` (GET, or POST of
`name=value,…`), `/_endpoint/reset` and `/_endpoint/advance` (POST).

With pytest, the fixture `extract_endpoint` is there without an import;
`@pytest.mark.extract_endpoint("rate=50", api_key="…")` sets it up.

## Scripted replies

```python
from extract.testing import ScriptedReplies

with ScriptedReplies(["no JSON", 429, {"number": "A-1"}]) as script:
    client = Client(script.base_url, api_key=script.api_key)
    ...
    assert "not accepted" in script.requests[2].prompt
```

One reply a request, in order, or a function from the request. A reply is a text, a value (sent as JSON), a
whole message, a status, bytes, a list of bytes (a stream, piece by piece), an exception (the connection
breaks), a `Reply` with everything said, or the library's own `Message` or `Fault`. A request beyond the
script fails the block.

## Record and replay

```python
from extract.testing import record, replay

with record("run.jsonl") as tape:  # once, against the service
    client = Client(api_key=key, transport=tape)
with replay("run.jsonl") as tape:  # ever after, without one
    client = Client("http://127.0.0.1", transport=tape)
```

One file a run, and no key in it. A request without a recording and a recording without a request fail the
block. Documents and answers are in the file: look before you commit it.
"""


KNOBS = """\
## Knobs

Written `name=value,name=value`; a share without a value is 1. Times are seconds or `200ms`, `2m`, `1h`;
`latency` also takes `100ms-300ms`, `normal:200ms:50ms` and `lognormal:200ms:0.6`. Shares are 0 to 1 and at
most 1 together. Which request gets which fault follows from `seed`, its bytes and how often they came.

| knob | default | |
|---|---|---|
"""


def page() -> str:
    """The whole page."""
    wires = {"/v1/messages": messages.RULES, "/v1/chat/completions": chat.RULES}
    return "\n".join([HEAD, _knobs(), *(_rules(path, rules) for path, rules in wires.items())])


def _knobs() -> str:
    default = Knobs().as_dict()
    rows = [f"| `{f.name}` | `{default[f.name]}` | {_says(f.metadata)} |" for f in fields(Knobs)]
    return KNOBS + "\n".join(rows) + "\n"


def _says(metadata: object) -> str:
    assert hasattr(metadata, "get")
    choices = metadata.get("choices") or ()
    share = "share: " if metadata.get("share") else ""
    return f"{share}{metadata.get('says')}" + (f" ({', '.join(choices)})" if choices else "")


def _rules(path: str, rules: tuple[messages.Rule, ...]) -> str:
    rows = [f"| `{rule.name}` | {rule.says} |" for rule in rules]
    return "\n".join([f"## Rules of `POST {path}`\n", "| rule | |", "|---|---|", *rows, ""])


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
