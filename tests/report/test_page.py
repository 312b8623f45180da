"""The file of a report: nothing from outside, nothing that a browser would run but our script."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

from tests.report.conftest import HOSTILE, RIGHT_TO_LEFT, data_of, renamed

from odonata.report import report_of_runs
from odonata.report.page import page


class Elements(HTMLParser):
    """All elements with their attributes, and the text of the title."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.title = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data):
        if self.tags and self.tags[-1][0] == "title":
            self.title += data


def test_no_address_of_another_place_is_in_the_file(plus):
    text = report_of_runs([plus]).decode()
    assert re.findall(r"(?i)\b(?:https?|ftp|wss?)://", text) == []
    assert re.findall(r"@import|\burl\(", text) == []
    for tag, attributes in Elements(text).tags:
        assert not {"src", "href", "action", "srcset", "style"} & set(attributes), tag
        assert not [name for name in attributes if name.startswith("on")], tag


def test_the_policy_permits_exactly_the_script_and_the_style_sheet():
    text = page("title", {}).decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    script, style = (re.search(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)[1] for tag in ("script", "style"))
    for name, content in (("script", script), ("style", style)):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy


def test_a_title_is_text():
    elements = Elements(page(HOSTILE, {}).decode())
    assert elements.title.startswith(HOSTILE)
    assert [tag for tag, _ in elements.tags].count("script") == 2


def test_names_are_only_in_the_data_and_in_the_title_as_text(program):
    """Catches a name that reaches the page as markup."""
    text = report_of_runs([renamed(program, HOSTILE, HOSTILE, RIGHT_TO_LEFT)])
    assert [job["name"] for job in data_of(text)["runs"][0]["jobs"]] == [HOSTILE, RIGHT_TO_LEFT]
    assert HOSTILE.encode() not in text
    assert Elements(text.decode()).title.startswith(HOSTILE)


def test_the_same_runs_give_the_same_bytes(plus):
    assert report_of_runs([plus]) == report_of_runs([plus])


def test_the_script_is_small_and_names_the_licences_of_what_it_contains():
    text = page("title", {}).decode()
    assert len(text) < 2_000_000
    assert "Copyright (c) 2022 Leon Sorokin" in text
