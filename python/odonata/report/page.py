"""The HTML file of a report: the script, the style sheet and the data, and nothing from outside."""

from __future__ import annotations

import base64
from importlib.resources import files
from typing import Any

from odonata.report.payload import pack
from odonata.text.page import document as html_document
from odonata.text.page import hashed

MARK = '<meta name="generator" content="odonata report">'
"""The mark by which a report is recognised, so that it may be overwritten."""


def page(title: str, document: dict[str, Any]) -> bytes:
    """The page that shows a document.

    Its policy lets the browser run only the scripts and styles in the file, by hash, and load nothing. The file refers
    to no other address.
    """
    static = files("odonata.report") / "static"
    script, style = ((static / name).read_text(encoding="utf-8") for name in ("report.js", "report.css"))
    policy = f"default-src 'none'; script-src '{hashed(script)}'; style-src '{hashed(style)}'; img-src data: blob;"
    data = base64.b64encode(pack(document)).decode()
    noscript = "This report draws its tables and figures with the script in this file. Allow scripts to see it."
    body = f"""<noscript>{noscript}</noscript>
<main id="report" tabindex="-1"></main>
<script id="data" type="text/plain">{data}</script>
<script>{script}</script>"""
    return html_document(title, MARK, policy, style, body)
