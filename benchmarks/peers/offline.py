"""Peers that download vocabularies when they start get one of single bytes instead: no network is needed."""

from __future__ import annotations

from typing import Any


def without_vocabularies() -> None:
    """Makes tiktoken answer without a download; nothing where it is not installed."""
    try:
        import tiktoken
        import tiktoken.load as load
        import tiktoken.registry as registry
        import tiktoken_ext.openai_public as public
    except ImportError:
        return
    single: Any = lambda path, expected_hash=None: {bytes([byte]): byte for byte in range(256)}  # noqa: E731
    load.load_tiktoken_bpe = single
    public.load_tiktoken_bpe = single
    whole = registry.get_encoding("cl100k_base")
    tiktoken.get_encoding = lambda name: whole
    tiktoken.encoding_for_model = lambda name: whole
