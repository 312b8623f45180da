"""Documents: reading, changing values, and finding the line of what is wrong."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odonata.document import parse, read
from odonata.document.edit import read_value
from odonata.errors import InputError

TEXT = """\
system = "tiny"        # the machine
routing = "fpar"

[[job]]
name = "target"        # the job
app = { pattern = "tornado", interval = "1 us" }

[[job]]
name = "other"

[run]
seed = 1               # luck
"""


@pytest.fixture
def document():
    return parse(TEXT, "s.toml")


def test_changes_keep_the_layout_and_the_comments(document):
    changed = document.set("run.seed", 7).set("job.target.app.interval", "2 us")
    assert changed.text == TEXT.replace("seed = 1 ", "seed = 7 ").replace("1 us", "2 us")
    assert tomllib.loads(changed.text) == changed.data
    assert document.data["run"]["seed"] == 1, "the document itself must not change"


def test_names_become_tables_where_a_change_needs_one(document):
    changed = document.set("routing.threshold", 0.3).set("system.groups", 3).set("job.other.place.policy", "random")
    assert changed.data["routing"] == {"name": "fpar", "threshold": 0.3}
    assert changed.data["system"] == {"preset": "tiny", "groups": 3}
    assert changed.data["job"][1]["place"] == {"policy": "random"}
    assert tomllib.loads(changed.text) == changed.data


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                ["run.seed", "job.target.app.message", "job.other.nodes", "measure.links.every", "routing"]
            ),
            st.one_of(st.integers(0, 9), st.text("ab \"'\n#", max_size=5), st.lists(st.integers(0, 3), max_size=3)),
        ),
        max_size=5,
    )
)
def test_the_text_always_means_the_data(changes):
    document = parse(TEXT, "s.toml")
    for key, value in changes:
        document = document.set(key, value)
    assert tomllib.loads(document.text) == document.data


@pytest.mark.parametrize(
    ("key", "message", "hint"),
    [
        ("job.tarket.nodes", "there is no job `tarket`", "`target`"),
        ("job.target", "is a whole table", "job.target.nodes"),
        ("run.seed.more", "`run.seed` is not a table", None),
        ("", "is not a key", "run.seed"),
        ("run..seed", "is not a key", "run.seed"),
    ],
)
def test_keys_that_lead_nowhere(document, key, message, hint):
    with pytest.raises(InputError) as caught:
        document.set(key, 1)
    assert message in caught.value.message
    assert hint is None or hint in caught.value.hint


@pytest.mark.parametrize(
    ("path", "where"),
    [
        (("run", "seed"), "s.toml:12: bad"),
        (("job", 0, "app", "interval"), "s.toml:6: bad"),
        (("job", 1, "app", "interval"), "s.toml:8: bad"),
        (("measure", "links"), "s.toml: bad"),
        ((), "s.toml: bad"),
    ],
)
def test_the_line_of_the_nearest_key_that_is_there(document, path, where):
    assert str(document.locate(InputError("bad", path=path))) == where


def test_a_changed_value_has_no_line_but_the_change(document):
    changed = document.set("job.target.app.interval", 5)
    error = changed.locate(InputError("bad", path=("job", 0, "app", "interval")))
    assert str(error) == "s.toml with -s job.target.app.interval: bad"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("0.5", 0.5),
        ("true", True),
        ('"4 KB"', "4 KB"),
        ("4 KB", "4 KB"),
        ("fpar", "fpar"),
        ("3-8", "3-8"),
        ("[1, 2]", [1, 2]),
        ('{ policy = "random" }', {"policy": "random"}),
        ("", ""),
    ],
)
def test_values_on_a_command_line(text, value):
    assert read_value(text) == value


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a = 1\nb = 5 us\n", 2, "write a quantity in quotes"),
        ("a = 1\nb = fpar\n", 2, "write a text in quotes"),
        ("a = 1\n\nb = { c = 1", 3, "the file ends there"),
        ("[[job]\n", 1, "not TOML"),
        ("a = 1\na = 2\n", 2, "not TOML"),
    ],
)
def test_what_is_not_toml(text, line, message):
    with pytest.raises(InputError) as caught:
        parse(text, "s.toml")
    assert str(caught.value).startswith(f"s.toml:{line}: not TOML: ")
    assert message in str(caught.value)


@pytest.mark.parametrize("end", range(0, len(TEXT), 7))
def test_a_truncated_file_is_read_or_refused_cleanly(end):
    try:
        parse(TEXT[:end], "s.toml")
    except InputError as e:
        assert e.line is not None  # noqa: PT017


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match=r"no\.toml: cannot read it: no such file"):
        read(tmp_path / "no.toml")
    with pytest.raises(InputError, match="cannot read it: is a directory"):
        read(tmp_path)
    binary = tmp_path / "b.toml"
    binary.write_bytes(b"a = 1\n\xff\xfe")
    with pytest.raises(InputError, match="byte 6 is not UTF-8"):
        read(binary)


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path):
    (tmp_path / "s.toml").write_text(TEXT, encoding="utf-8-sig")
    document = read(tmp_path / "s.toml")
    assert (document.text, document.data) == (TEXT, tomllib.loads(TEXT))
    assert document.locate(InputError("bad", path=("routing",))).line == 2
