"""What users read names papers and sections, never a number of the catalogue alone."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from odonata.cli.main import main

if TYPE_CHECKING:
    import pytest

NUMBER = re.compile(r"(?<!DeepSeek-)\b[KDLV][1-9][0-9]?\b")


def test_no_listing_and_no_description_has_a_number(capsys: pytest.CaptureFixture[str]) -> None:
    main(["show", "--json"])
    listing = capsys.readouterr().out
    assert not NUMBER.findall(listing)
    names = [name for kind, of in json.loads(listing).items() if kind != "columns" for name in of]
    for name in [*dict.fromkeys(names), "columns", "scenario"]:
        main(["show", name])
        assert not NUMBER.findall(capsys.readouterr().out), name
    main(["reproduce", "--list"])
    assert not NUMBER.findall(capsys.readouterr().out)
