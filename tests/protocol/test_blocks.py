"""Content blocks: pictures by their bytes, sizes by their letters."""

from __future__ import annotations

import base64
import hashlib

import pytest

from extract.errors import PromptError, RequestError
from extract.protocol import blocks

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\xff\xd8\xff\xe0" + bytes(8), "image/jpeg"),
        (PNG, "image/png"),
        (b"GIF89a" + bytes(8), "image/gif"),
        (b"RIFF\x10\x00\x00\x00WEBPVP8 ", "image/webp"),
    ],
)
def test_the_type_of_a_picture_is_in_its_bytes(data: bytes, kind: str) -> None:
    block = blocks.image_block(data)
    assert block["source"]["media_type"] == kind
    assert base64.b64decode(block["source"]["data"]) == data


@pytest.mark.parametrize("data", [b"", b"%PDF-1.7", b"RIFF\x10\x00\x00\x00WAVEfmt ", b"BM" + bytes(30)])
def test_what_is_no_picture_is_refused(data: bytes) -> None:
    with pytest.raises(PromptError, match="JPEG, PNG, GIF or WebP"):
        blocks.image_block(data)


def test_a_picture_by_address() -> None:
    assert blocks.image_url_block("https://x.example/a.png") == {
        "type": "image",
        "source": {"type": "url", "url": "https://x.example/a.png"},
    }
    with pytest.raises(PromptError):
        blocks.image_url_block("file:///etc/passwd")


def test_half_a_surrogate_pair_becomes_readable() -> None:
    assert blocks.text_block("a\ud83db")["text"] == "a�b"
    assert blocks.text_block("a😀b")["text"] == "a😀b"


def test_web_search_is_a_tool() -> None:
    assert blocks.web_search() == {"type": "web_search_20250305", "name": "web_search"}
    assert blocks.web_search(max_uses=3)["max_uses"] == 3
    assert blocks.searches([blocks.web_search()])
    assert not blocks.searches([{"name": "f", "input_schema": {}}])
    with pytest.raises(RequestError):
        blocks.web_search(max_uses=0)


def test_estimates_grow_with_letters_not_with_the_bytes_of_pictures() -> None:
    assert blocks.estimate_text("word " * 800) == pytest.approx(1_000, rel=0.01)
    assert blocks.estimate_text("漢" * 300) == pytest.approx(200, rel=0.02)
    assert blocks.estimate_blocks([blocks.image_block(PNG + bytes(1_000_000))]) == blocks.IMAGE_TOKENS


def test_a_digest_stands_for_the_bytes_of_a_picture() -> None:
    held = blocks.digested(blocks.image_block(PNG))
    assert held["source"]["sha256"] == hashlib.sha256(PNG).hexdigest()
    assert held["source"]["bytes"] == len(PNG)
    assert blocks.digested(blocks.text_block("x")) == {"type": "text", "text": "x"}
    url = blocks.image_url_block("https://x.example/a.png")
    assert blocks.digested(url) == url
