"""A page that stands alone: its style, its one script, and a policy that lets nothing else in.

Knows nothing of what is on it.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import resources

from extract.markup import Markup, tag

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


@cache
def asset(name: str) -> str:
    """A style or a script that comes with the library."""
    return resources.files("extract.show").joinpath("assets", name).read_text("utf-8")


def page(title: str, *body: Markup, style: str = "", script: str = "") -> str:
    """A whole page that may load nothing and runs no script but the one that is given here.

    style, script: names of assets. The page's policy names the script's digest, so that nothing that
    came in with a document can run, even if it got past the escaping.
    """
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY + _only(script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("link", rel="icon", href="data:,"),
        tag("title", title),
        tag("style", Markup(asset("page.css") + (asset(style) if style else ""))),
    )
    ran = tag("script", Markup(asset(script))) if script else None
    return "<!doctype html>\n" + tag("html", head, tag("body", *body, ran), lang="en") + "\n"


def _only(script: str) -> str:
    if not script:
        return ""
    digest = base64.b64encode(hashlib.sha256(asset(script).encode()).digest()).decode()
    return f"; script-src 'sha256-{digest}'"
