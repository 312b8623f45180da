"""The HTML file of a report: the script, the style sheet and the data, and nothing from outside."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from importlib.resources import files
from typing import Any

from odonata.report.payload import pack

MARK = '<meta name="generator" content="odonata report">'
"""The mark by which a report is recognised, so that it may be overwritten."""


def page(title: str, document: dict[str, Any]) -> bytes:
    """The page that shows a document.

    Its policy lets the browser run only the scripts and styles in the file, by hash, and load nothing. The file refers
    to no other address.
    """
    static = files("odonata.report") / "static"
    script, style = ((static / name).read_text(encoding="utf-8") for name in ("report.js", "report.css"))
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    data = base64.b64encode(pack(document)).decode()
    text = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
{MARK}
<title>{escape(title)}</title>
<style>{style}</style>
</head>
<body>
<noscript>This report draws its tables and figures with the script in this file. Allow scripts to see it.</noscript>
<main id="report" tabindex="-1"></main>
<script id="data" type="text/plain">{data}</script>
<script>{script}</script>
</body>
</html>
"""
    return text.encode("utf-8", "backslashreplace")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
