"""EML → head and body as text, attachments as files of their own. The standard library reads it."""

from __future__ import annotations

from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage, Message
from mimetypes import guess_extension
from pathlib import PurePath

from extract.documents.document import (
    PAGE_BREAK,
    Attachment,
    Document,
    Settings,
    UnreadableError,
    document_of,
)
from extract.documents.html import html_text

_HEAD = ("From", "To", "Cc", "Date", "Subject")


def load(data: bytes, settings: Settings) -> Document:
    """One mail."""
    message = message_from_bytes(data, policy=policy.default)
    attachments = _attachments(message)
    if len(attachments) > settings.limits.attachments:
        raise UnreadableError(
            f"it has {len(attachments):,} attachments, the limit is {settings.limits.attachments:,}"
        )
    head = [f"{name}: {' '.join(str(message[name]).split())}" for name in _HEAD if message[name]]
    text = ("\n".join(head) + "\n\n" + _body(message)).strip()
    if not attachments:
        return document_of([text])
    return Document(text.replace(PAGE_BREAK, "\n"), 1, attachments=tuple(attachments))


def _body(message: EmailMessage) -> str:
    part = message.get_body(preferencelist=("plain", "html"))
    if part is None:
        return ""
    text = _text(part)
    return html_text(text) if part.get_content_subtype() == "html" else text.replace("\r\n", "\n").strip()


def _text(part: Message) -> str:
    data = part.get_payload(decode=True)
    raw = data if isinstance(data, bytes) else str(part.get_payload()).encode("utf-8", "replace")
    for encoding in (part.get_content_charset() or "utf-8", "utf-8", "cp1252"):
        try:
            return raw.decode(encoding)
        except (LookupError, UnicodeDecodeError):
            continue
    return raw.decode("latin-1")


def _attachments(message: EmailMessage) -> list[Attachment]:
    found: list[Attachment] = []
    used: set[str] = set()
    for part in _parts(message):
        if part.get_content_disposition() != "attachment" and part["Content-ID"]:
            continue  # a picture that the body shows: a logo in a signature, most often
        data, named = _bytes(part), part.get_filename()
        if named or data.strip():  # lists and bounces have empty parts without a name
            ending = guess_extension(part.get_content_type()) or ""
            name = _name(named or f"part-{len(found) + 1}{ending}", used)
            found.append(Attachment(name, data))
    return found


def _parts(message: EmailMessage) -> Iterator[EmailMessage]:
    """What hangs on a mail, also inside of parts that only hold others."""
    for part in message.iter_attachments():
        if part.get_content_maintype() == "multipart" and isinstance(part, EmailMessage):
            yield from (leaf for leaf in part.iter_parts() if isinstance(leaf, EmailMessage))
        elif isinstance(part, EmailMessage):
            yield part


def _name(wanted: str, used: set[str]) -> str:
    """A name without a path in it, given once."""
    plain = PurePath(wanted.replace("\\", "/").rsplit("/", 1)[-1].strip() or "part")
    name, count = plain.name, 1
    while name in used:
        count += 1
        name = f"{plain.stem} ({count}){plain.suffix}"
    used.add(name)
    return name


def _bytes(part: Message) -> bytes:
    if part.get_content_type() == "message/rfc822":
        inner = part.get_payload()
        first = inner[0] if isinstance(inner, list) and inner else None
        return first.as_bytes() if isinstance(first, Message) else b""
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""
