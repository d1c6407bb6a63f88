"""Reply → value or findings. The only judge.

Five stages, strict in each: message, JSON, JSON Schema, decode and Pydantic (these three in
`schema.check`), evidence. Knows nothing of requests, retries or tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from extract.evidence import Source, evidence_fields, ground
from extract.protocol.reply import Message
from extract.schema.check import Findings
from extract.schema.finding import Finding, shorten
from extract.schema.jsontext import unwrap

if TYPE_CHECKING:
    from extract.schema.compile import CompiledSchema

Verdict = Literal["accepted", "findings", "truncated", "refused", "too_long", "no_answer"]

_STOPPED = {
    "max_tokens": "truncated",
    "refusal": "refused",
    "model_context_window_exceeded": "too_long",
}
_COMPLETE = frozenset({"end_turn", None})  # some servers never set a stop reason
_SEARCH_RESULT = "web_search_tool_result"


class Judgement(NamedTuple):
    """What the judge says of one reply.

    text: the answer's text as it came, for the store and for dead letters.
    """

    verdict: Verdict
    text: str = ""
    value: Any = None
    evidence: tuple[dict[str, Any], ...] = ()
    findings: tuple[Finding, ...] = ()


class Judge:
    """Judges replies against one compiled model; built once, used for every row."""

    def __init__(self, compiled: CompiledSchema[Any]) -> None:
        self._compiled = compiled
        self._fields = evidence_fields(compiled.model)
        self._quoting = any(field.marker.by == "quote" for field in self._fields)

    @property
    def wants_evidence(self) -> bool:
        """Whether the output model asks for evidence anywhere."""
        return bool(self._fields)

    @property
    def quotes(self) -> bool:
        """Whether some values come with the words that support them."""
        return self._quoting

    def wire_path(self, path: str, text: str) -> str:
        """The pointer in the shape that was asked for. path: in the model's. text: the answer as it came."""
        return self._compiled.model_to_wire(path, text)

    @property
    def needs_text(self) -> bool:
        """Whether an answer to a row without any text would be refused, whatever it is."""
        return any(
            field.marker.missing == "refuse" and not field.optional and field.path.count("/") == 1
            for field in self._fields
            if "*" not in field.path
        )

    def judge(self, message: Message, source: Source) -> Judgement:
        """One reply to one row whose text is `source`."""
        text = answer_text(message.content)
        return _stage_message(message, text) or self.judge_text(text, source)

    def judge_text(self, text: str, source: Source) -> Judgement:
        """Stages two to five, for a text that is known to be complete."""
        checked = self._compiled.check(text)
        if isinstance(checked, Findings):
            return Judgement("findings", text, findings=tuple(checked))
        return self._accept(unwrap(text), checked, source)

    def judge_again(self, text: str, source: Source) -> Judgement:
        """An answer that was accepted before: validators may have changed since, the schema has not."""
        try:
            value = self._compiled.load(text)
        except Exception as error:  # a user's validator may raise anything
            finding = Finding(
                "value", "", "", f"{type(error).__name__}: {error}", "a value that the model takes"
            )
            return Judgement("findings", text, findings=(finding,))
        return self._accept(text, value, source)

    def _accept(self, text: str, value: Any, source: Source) -> Judgement:
        """The last stage, for a value of the model. text: its JSON alone."""
        if not self._fields:
            return Judgement("accepted", text, value)
        compiled = self._compiled
        rows, findings = ground(
            value,
            self._fields,
            source,
            quotes=compiled.quotes(text) if self._quoting else None,
            wire_path=lambda path: compiled.model_to_wire(path, text),
        )
        evidence = tuple(row.as_dict() for row in rows)
        verdict: Verdict = "findings" if findings else "accepted"
        return Judgement(verdict, text, value, evidence, tuple(findings))


def answer_text(content: list[dict[str, Any]]) -> str:
    """The text blocks joined in order; with server-side search, those after the last result."""
    if len(content) == 1 and content[0].get("type") == "text":
        return content[0].get("text") or ""
    texts: list[str] = []
    for block in content:
        kind = block.get("type")
        if kind == "text":
            texts.append(block.get("text") or "")
        elif kind == _SEARCH_RESULT:
            texts.clear()
    return "".join(texts)


def _stage_message(message: Message, text: str) -> Judgement | None:
    """The first stage: is there a complete answer at all?"""
    verdict = _STOPPED.get(message.stop_reason or "")
    if verdict is not None:
        return Judgement(verdict, text)  # type: ignore[arg-type]
    if message.stop_reason not in _COMPLETE:
        return Judgement(
            "no_answer", text, findings=(_no_answer(f"stop_reason {message.stop_reason}", text),)
        )
    if not text.strip():
        kinds = ", ".join(sorted({str(block.get("type")) for block in message.content})) or "no blocks"
        return Judgement("no_answer", text, findings=(_no_answer(kinds, text),))
    return None


def _no_answer(found: str, text: str) -> Finding:
    seen = f"{found}: {shorten(text)}" if text else found
    return Finding("message", "", "", seen, "a complete answer in a text block")
