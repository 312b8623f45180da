"""`odonata reproduce` as it is typed."""

import json

import pytest

from odonata.cli.main import main
from odonata.reproduce import find, grid


def test_list_names_every_study(capsys):
    assert main(["reproduce", "--list", "--json"]) == 0
    listed = {one["id"]: one["title"] for one in json.loads(capsys.readouterr().out)["studies"]}
    others = {f"zhang2018-fig{number}" for number in (2, *range(4, 14))}
    kang = {"kang2019-4kb", "kang2019-variants", "kang2019-calibration"}
    assert set(listed) == {*kang, "latency-load", "aries-modes", "zhang2018-variants", *others}
    assert main(["reproduce", "--list"]) == 0
    text = capsys.readouterr().out
    assert [line.split()[0] for line in text.splitlines()] == list(listed)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["kang2019-4k"], "unknown study `kang2019-4k`\n  hint: did you mean `kang2019-4kb`?"),
        ([], "which study?"),
        (["kang2019-4kb", "--workers", "0"], "workers"),
    ],
)
def test_wrong_input_ends_with_status_2(words, said, capsys):
    assert main(["reproduce", *words]) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.out == ""


@pytest.fixture
def short(monkeypatch):
    """The reduced study cut down to the quickest of its cases."""
    chosen = find("kang2019-4kb")
    whole = grid.read_cases

    def few(text, file, *, reduced):
        cases = whole(text, file, reduced=reduced)
        return [c for c in cases if c.model == "correct" and c.name.startswith("uniform-random/random/3us")]

    monkeypatch.setattr("odonata.reproduce.study.read_cases", few)
    return chosen


@pytest.mark.usefixtures("short")
def test_json_is_one_object_with_the_agreed_keys_and_nothing_else(tmp_path, capsys):
    assert main(["reproduce", "kang2019-4kb", "--reduced", "--json", "--out", str(tmp_path)]) == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    (row,) = found["rows"]
    assert {"id", "ours", "theirs", "tolerance", "verdict", "why", "model", "messages"} <= set(row)
    assert (row["id"], row["verdict"], row["theirs"]) == ("K31", "match", 2.32)
    assert "2/2 done: correct uniform-random/random/3us" in captured.err
    # Finished runs are kept.
    assert main(["reproduce", "kang2019-4kb", "--reduced", "--out", str(tmp_path)]) == 0
    captured = capsys.readouterr()
    assert "2/2 kept" in captured.err
    assert "2.32 us" in captured.out
