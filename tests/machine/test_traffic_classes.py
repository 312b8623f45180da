"""Traffic classes: from the table of a system to a run."""

import pytest

import odonata as od
from odonata.cli.main import main
from odonata.errors import InputError

SCENARIO = """
[system]
preset = "tiny"
fabric = {{ {fabric} }}

[[job]]
name = "victim"
nodes = 4
{of_victim}
place = {{ policy = "explicit", nodes = [1, 5, 9, 13] }}
app = {{ collective = "allreduce", algorithm = "recursive-doubling", message = "64 B" }}
iterations = 20

[[job]]
name = "neighbour"
nodes = 12
app = {app}
background = true

[run]
seed = 1
until = "victim"
"""

INCAST = '{ motif = "incast", message = "64 KiB" }'
ALLTOALL = '{ collective = "alltoall", message = "64 KiB" }'
BUFFERS = 'links = { local = { buffer = "16 KiB" }, global = { buffer = "16 KiB" } }'
TWO = "traffic_classes = { bulk = {}, latency = { priority = 1 } }"


def scenario(tmp_path, fabric, of_victim="", app=INCAST):
    path = tmp_path / "classed.toml"
    path.write_text(SCENARIO.format(fabric=fabric, of_victim=of_victim, app=app))
    return od.load(path)


def test_classes_have_numbers_and_divide_the_buffers(tmp_path):
    """Catches a class that is parsed and ignored, and buffers that grow with the number of classes."""
    spec = scenario(tmp_path, f"{TWO}, {BUFFERS}", 'class = "latency"').resolve().spec
    assert spec["fabric"]["traffic_classes"] == [
        {"name": "bulk", "priority": 0, "share": 1},
        {"name": "latency", "priority": 1, "share": 1},
    ]
    buffers = {name: link["buffer_bytes"] for name, link in spec["fabric"]["links"].items()}
    alone = scenario(tmp_path, BUFFERS).resolve().spec["fabric"]["links"]
    assert buffers == {"node": alone["node"]["buffer_bytes"], "local": 8192, "global": 8192}
    assert [job.get("class") for job in spec["jobs"]] == [1, None]


@pytest.mark.parametrize(
    ("fabric", "of_victim", "message"),
    [
        (TWO, 'class = "latencyy"', "did you mean `latency`"),
        ("", 'class = "latency"', "has no traffic classes"),
        ("traffic_classes = {}", "", "1 to 8 traffic classes, found 0"),
        ("traffic_classes = { a = { priority = 256 } }", "", "priority"),
        ("traffic_classes = { a = { share = 0 } }", "", "share"),
        ("traffic_classes = { a = { weight = 1 } }", "", "weight"),
        ('traffic_classes = { "a b" = {} }', "", "`a b` is not a name of a traffic class"),
        (f'{TWO}, router = "input-queued"', "", "not modelled together with `input-queued` routers"),
        (f'{TWO}, nic = "aries"', "", "not modelled together with NICs of kind `aries`"),
        (f"{TWO}, channels = 9", "", "9 channels for each of 2 traffic classes are 18; a link has at most 16"),
        (f'{TWO}, channels = 5, congestion_control = "nscc"', "", "and as many for acknowledgements, are 20"),
        (f'{TWO}, links = {{ local = {{ buffer = "3 KiB" }} }}', "", "must hold at least one packet"),
    ],
)
def test_classes_that_no_machine_has(fabric, of_victim, message, tmp_path):
    with pytest.raises(InputError, match="(?s)" + message) as caught:
        scenario(tmp_path, fabric, of_victim).resolve()
    assert "classed.toml" in str(caught.value)


def time_of_victim(tmp_path, name, *given):
    run = od.run(scenario(tmp_path, *given), out=tmp_path / name)
    return run.jobs.row(0, named=True)["time_ps"]


@pytest.mark.parametrize(("name", "app"), [("incast", INCAST), ("alltoall", ALLTOALL)])
def test_a_job_in_a_class_of_its_own_waits_less_for_its_neighbour(name, app, tmp_path):
    """Catches classes that share buffers, and links that do not know priorities."""
    slow = BUFFERS + ', congestion_control = "none"'
    shared = time_of_victim(tmp_path, "shared", slow, "", app)
    equal = time_of_victim(
        tmp_path, "equal", f"{slow}, traffic_classes = {{ bulk = {{}}, latency = {{}} }}", 'class = "latency"', app
    )
    first = time_of_victim(tmp_path, "first", f"{slow}, {TWO}", 'class = "latency"', app)
    assert first <= equal < 0.95 * shared


TREE = """
kind = "fat-tree"
pods = 1
leaves = 2
spines = 1
nodes_per_leaf = 2
leaf_links = 1

[{prefix}fabric]
{fabric}
links.node = {{ bandwidth = "10 GB/s", buffer = "64 KiB" }}
links.leaf = {{ bandwidth = "10 GB/s", buffer = "64 KiB" }}
"""


@pytest.mark.parametrize(
    ("first", "second", "least", "most"),
    [("share = 1", "share = 3", 2.8, 3.2), ("priority = 0", "priority = 1", 100, 1e9), ("", "", 0.9, 1.1)],
)
def test_two_jobs_share_a_link_as_their_classes_say(first, second, least, most, tmp_path):
    """Catches links that serve classes in the order of their packets, and shares that count the other way round."""
    fabric = f"traffic_classes = {{ a = {{ {first} }}, b = {{ {second} }} }}"
    app = 'app = { pattern = "tornado", offset = 1, message = "64 KiB", interval = "6.5536 us" }\nbackground = true'
    jobs = "".join(
        f'[[job]]\nname = "{name}"\nclass = "{name}"\nplace = {{ nodes = "{nodes}" }}\n{app}\n'
        for name, nodes in (("a", "0,2"), ("b", "1,3"))
    )
    path = tmp_path / "shared.toml"
    path.write_text("[system]" + TREE.format(prefix="system.", fabric=fabric) + jobs + '[run]\nuntil = "1 ms"\n')
    sent = od.run(path, out=tmp_path / "out").jobs["bytes"].to_list()
    assert least < sent[1] / max(sent[0], 1) < most
    # Both directions of the link carry what they can: 20 MB in 1 ms.
    assert 0.97 * 20e6 < sum(sent) <= 20e6


def test_show_names_them(tmp_path, capsys):
    from odonata.cli.main import main

    path = tmp_path / "machine.toml"
    path.write_text(TREE.format(prefix="", fabric=TWO))
    assert main(["show", str(path)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "bulk (priority 0, share 1), latency (priority 1, share 1); each has 1 channel and an equal part" in said


def test_that_classes_have_no_blame_is_said_before_and_after_a_run(tmp_path, capsys):
    """Catches an explanation that simulates again and then fails without a remedy."""
    loaded = scenario(tmp_path, TWO)
    assert main(["show", str(loaded.path)]) == 0
    assert "with traffic classes a run has no blame" in " ".join(capsys.readouterr().out.split())
    assert main(["run", str(loaded.path), "-q", "--out", str(tmp_path / "run")]) == 0
    assert main(["explain", str(tmp_path / "run")]) == 2
    error = capsys.readouterr().err
    assert "simulated again" not in error
    assert "not attributed in a run with traffic classes" in error
    assert "`odonata run --alone`" in error


def test_a_run_with_classes_refuses_blame_with_its_line(tmp_path):
    loaded = scenario(tmp_path, TWO)
    loaded.path.write_text(loaded.path.read_text() + "[measure]\nblame = true\n")
    line = len(loaded.path.read_text().splitlines())
    with pytest.raises(InputError, match=rf"classed\.toml:{line}: `blame`: traffic classes.*\n.*run --alone"):
        od.load(loaded.path).resolve()
