"""The commands `new`, `show` and `place`, as a user types them."""

import json
import re
import resource
import subprocess
import sys
import tomllib

import pytest
from tests.advice.conftest import Inline

from odonata import _core, machine, placement, scenario
from odonata.analysis.derived import DERIVED
from odonata.cli.main import main
from odonata.cli.place import host_list
from odonata.errors import InputError
from odonata.scenario.apps.train import MODELS
from odonata.store.columns import COLUMNS, TABLES


@pytest.fixture
def odonata(capsys):
    def call(*arguments):
        status = main(list(arguments))
        out, err = capsys.readouterr()
        return status, out, err

    return call


def test_new_writes_a_commented_scenario_that_resolves(odonata, tmp_path):
    file = tmp_path / "first.toml"
    status, out, err = odonata("new", str(file))
    assert (status, err) == (0, "")
    assert f"odonata run {file}" in out
    text = file.read_text()
    assert text.count("#") > 10, "it explains itself"
    assert f"odonata run {file}" in text
    jobs = scenario.load(file).resolve().spec["jobs"]
    assert [job["name"] for job in jobs] == ["target", "background"]


@pytest.mark.parametrize("template", ["scenario", "application", "incast", "training", "queue", "study", "schedule"])
def test_every_template_is_commented_and_runs(odonata, tmp_path, monkeypatch, template):
    """Each file is run by the command that `new` names, and its comments name no other file."""
    monkeypatch.chdir(tmp_path)
    status, out, err = odonata("new", "first.toml", "--template", template)
    assert (status, err) == (0, "")
    command = out.split("odonata ")[-1].split()
    assert command[0] == {"study": "sweep", "schedule": "schedule"}.get(template, "run")
    text = (tmp_path / "first.toml").read_text()
    assert text.count("#") > 10
    assert "odonata " + " ".join(command) in text
    assert not {"FILE", "STEM"} & set(text.split())
    monkeypatch.setattr("odonata.cli.sweep.backend_of", lambda *_: Inline())
    fast = ["-s", "stream.synthetic.jobs=6"] if template == "schedule" else []
    few = ["-s", "job.target.app.messages=2"] if template == "scenario" else []
    status, out, err = odonata(*command, "--quiet", "--json", *fast, *few)
    assert status == 0, err
    assert json.loads(out)


def test_a_template_that_is_not_there_is_named(odonata, tmp_path):
    status, _, err = odonata("new", str(tmp_path / "first.toml"), "--template", "trainng")
    assert status == 2
    assert "training" in err
    assert not list(tmp_path.iterdir())


def test_new_never_overwrites(odonata, tmp_path):
    file = tmp_path / "first.toml"
    file.write_text("mine")
    status, out, err = odonata("new", str(file))
    assert (status, out) == (2, "")
    assert err.startswith(f"error: {file}: it exists already")
    assert file.read_text() == "mine"


def test_new_in_a_folder_that_is_not_there(odonata, tmp_path):
    status, _, err = odonata("new", str(tmp_path / "no" / "first.toml"))
    assert status == 2
    assert "there is no folder" in err


def test_new_leaves_no_half_of_a_scenario(tmp_path):
    """As on a full disk: no file may have more than 100 bytes."""
    done = subprocess.run(
        [sys.executable, "-m", "odonata.cli.main", "new", "first.toml"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "error: cannot write `first.toml`: File too large\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_defect(tmp_path, closed):
    (tmp_path / "empty.toml").write_text("")
    for arguments, status in (("show", 0), ("--help", 0), ("new first.toml", 0), ("run empty.toml", 2)):
        command = f"{sys.executable} -m odonata.cli.main {arguments} {closed}"
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == status, (arguments, done.stderr)
        assert "defect" not in done.stderr
        assert "Traceback" not in done.stderr
        (tmp_path / "first.toml").unlink(missing_ok=True)


def test_show_lists_everything_there_is(odonata):
    status, out, _ = odonata("show", "--json")
    lists = json.loads(out)
    assert status == 0
    applications = ["patterns", "collectives", "motifs", "traces", "matrices", "trainings", "models", "mappings"]
    assert list(lists) == ["systems", "routings", "sensing", "placements", *applications, "simulators", "columns"]
    assert set(lists["systems"]) == set(machine.names())
    assert set(lists["placements"]) == set(placement.names())
    assert set(lists["routings"]) == set(scenario.ROUTINGS)
    assert set(lists["patterns"]) == set(scenario.PATTERNS)
    assert set(lists["collectives"]) == set(scenario.COLLECTIVES)
    assert set(lists["motifs"]) == set(scenario.MOTIFS)
    assert set(lists["models"]) == set(MODELS)
    assert len(lists["columns"]) == len(COLUMNS) + len(DERIVED)
    assert all(about for names in lists.values() for about in names.values()), "each has a line about it"


def test_the_description_of_a_published_simulator_is_what_runs(odonata):
    """`codes-2019`: its default of the NIC is the one of a resolved scenario, and what it says to refuse is refused."""
    status, out, err = odonata("show", "codes-2019", "--json")
    shown = json.loads(out)
    assert (status, err, shown["kind"]) == (0, "", "simulator")
    assert {"buffer", "credit", "score", "least-scored port", "NIC"} <= set(shown["differences"])
    text = (
        'system = "kang2019"\ncompat = "codes-2019"\nrouting = "{routing}"\n{more}[[job]]\nname = "a"\nnodes = 2\n'
        'app = {{ pattern = "uniform-random", message = "4 KB", interval = "3 us", messages = 1 }}\n'
    )
    spec = scenario.parse(text.format(routing="fpar", more=""), "a.toml").resolve().spec
    nanoseconds = int(re.match(r"(\d+) ns", shown["differences"]["NIC"]).group(1))
    assert spec["fabric"]["nic"]["overhead_ps"] == nanoseconds * 1000
    assert spec["routing"]["compare"] == "at-most"
    assert "is free (default of `compare`)" in shown["differences"]["score"]
    for routing in ("fpar", "prog-adaptive", "minimal"):
        assert routing in shown["about"]
        scenario.parse(text.format(routing=routing, more=""), "a.toml").resolve()
    refused = [("valiant", ""), ("fpar", 'sensing = "credits"\n'), ("fpar", "[measure]\nblame = true\n")]
    for routing, more in refused:
        with pytest.raises(InputError):
            scenario.parse(text.format(routing=routing, more=more), "a.toml").check()


def test_every_name_listed_can_be_shown(odonata):
    _, out, _ = odonata("show", "--json")
    for names in json.loads(out).values():
        for name in names:
            status, text, err = odonata("show", name)
            assert (status, err) == (0, ""), name
            assert name in text
            status, shown, _ = odonata("show", name, "--json")
            assert (status, json.loads(shown)["name"]) == (0, name)


def test_show_without_a_name_names_them_all_but_the_columns(odonata):
    _, out, _ = odonata("show")
    for name in [
        *machine.names(),
        *placement.names(),
        *scenario.ROUTINGS,
        *scenario.PATTERNS,
        *scenario.COLLECTIVES,
        *scenario.MOTIFS,
    ]:
        assert f"  {name} " in out
    assert "messages.latency_ps" not in out
    assert "messages.latency_ps" in odonata("show", "columns")[1]


@pytest.mark.parametrize("table", TABLES)
def test_show_the_columns_of_one_table(odonata, table):
    names = [f"{c.table}.{c.name}" for c in (*COLUMNS, *DERIVED) if c.table == table]
    status, out, _ = odonata("show", table, "--json")
    assert (status, list(json.loads(out)[table])) == (0, names)
    _, text, _ = odonata("show", table)
    assert [line.split()[0] for line in text.splitlines()] == [table, *names]


def test_show_all_that_has_a_name(odonata):
    """A broadcast is a pattern and a collective."""
    _, out, _ = odonata("show", "broadcast", "--json")
    shown = json.loads(out)
    assert [shown["kind"], *(other["kind"] for other in shown["also"])] == ["pattern", "collective"]
    collective = shown["also"][0]
    assert set(collective["algorithms"]) == set(_core.collectives()["broadcast"])
    assert {key["name"] for key in collective["keys"]} == {"message", "root", "algorithm", "compute", "jitter"}
    _, text, _ = odonata("show", "broadcast")
    assert re.search(r"scatter-allgather +blocks down a binomial tree", text)
    assert set(collective["libraries"]) == {"open-mpi", "mpich", "cray"}
    assert re.search(r"open-mpi +what Open MPI 4\.1 chooses", text)
    assert "Without `algorithm`: `binomial` below 12 KiB" in text


@pytest.mark.parametrize(
    ("other", "kind", "name"),
    [
        ("worst-case", "pattern", "group-shift"),
        ("aries", "routing", "adaptive-0"),
        ("RDG", "placement", "random-groups"),
    ],
)
def test_show_says_other_names(odonata, other, kind, name):
    """And finds what they stand for; `aries` is a machine too."""
    _, out, _ = odonata("show", other, "--json")
    shown = json.loads(out)
    found = [(facts["kind"], facts["name"]) for facts in (shown, *shown.get("also", ()))]
    assert (kind, name) in found
    _, text, _ = odonata("show", name)
    assert re.search(f"Also called: .*`{other}`", text)


def test_show_says_how_aries_names_its_modes(odonata):
    for mode in ("adaptive-3", "in-order"):
        _, text, _ = odonata("show", mode)
        assert f'Also called: `{{ name = "aries", mode = "{mode}" }}`.' in text


def test_show_a_system(odonata):
    """K1, K2 and a source for every number."""
    _, out, _ = odonata("show", "kang2019", "--json")
    shown = json.loads(out)
    assert (shown["nodes"], shown["routers"], shown["groups"]) == (3456, 432, 9)
    assert shown["links"] == {"node": 3456, "local": 5184, "global": 1728}
    _, text, _ = odonata("show", "kang2019")
    for part in ("3,456", "5,184 local", "332,352 nodes", "90,300 nodes", "4.37 GiB/s", "Kang 2019, section 2.1"):
        assert part in text


def test_show_a_system_of_ones_own(odonata, tmp_path):
    file = tmp_path / "own.toml"
    file.write_text(
        'kind = "dragonfly-plus"\ngroups = 3\nleaves = 2\nspines = 2\nnodes_per_leaf = 1\n'
        'global_links_per_spine = 2\n[fabric.links]\nnode = { bandwidth = "1 GB/s" }\n'
        'local = { bandwidth = "1 GB/s" }\nglobal = { bandwidth = "1 GB/s" }\n'
    )
    status, out, _ = odonata("show", str(file), "--json")
    assert (status, json.loads(out)["nodes"]) == (0, 6)


def test_show_options_with_their_defaults(odonata):
    _, out, _ = odonata("show", "fpar", "--json")
    keys = {key["name"]: key for key in json.loads(out)["keys"]}
    assert keys["threshold"]["default"] == "0.5"
    assert keys["candidates"]["values"] == ["all-groups", "one-group"]
    _, out, _ = odonata("show", "per-leaf", "--json")
    keys = {key["name"]: key for key in json.loads(out)["keys"]}
    assert keys["per_leaf"]["default"] is None
    assert keys["groups"]["default"] == "all groups"
    _, text, _ = odonata("show", "per-leaf")
    assert "nodes on each leaf (required)" in text


def test_show_scenario_knows_every_key_of_the_example(odonata):
    """The list of keys is made from the models, so each key of the example must be in it."""
    _, out, _ = odonata("show", "scenario", "--json")
    known = {key["name"] for keys in json.loads(out)["tables"].values() for key in keys}
    from importlib.resources import files

    example = tomllib.loads((files("odonata.scenario") / "templates" / "scenario.toml").read_text())
    used = set(example) | set(example["run"]) | set(example["measure"]) | {k for job in example["job"] for k in job}
    assert used <= known
    assert all(key["meaning"] for keys in json.loads(out)["tables"].values() for key in keys)


def test_show_an_unknown_name(odonata):
    status, out, err = odonata("show", "kang2018")
    assert (status, out) == (2, "")
    assert "unknown name `kang2018`" in err
    assert "did you mean `kang2019`?" in err
    assert "`odonata show` lists all names" in odonata("show", "zzzzz")[2]


def test_place_in_rank_order(odonata):
    status, out, _ = odonata(
        "place", "--system", "tiny", "--policy", "contiguous", "--nodes", "5", "--busy", "0-1,4", "--json"
    )
    shown = json.loads(out)
    assert status == 0
    assert shown["nodes"] == [2, 3, 5, 6, 7]
    assert shown["nodelist"] == "node[02-03,05-07]"
    assert shown["reason"]


def test_place_random_as_the_library_does(odonata):
    arguments = [
        "place",
        "--system",
        "kang2019",
        "--policy",
        "random",
        "--nodes",
        "9",
        "--seed",
        "4",
        "--groups",
        "3-8",
    ]
    _, out, _ = odonata(*arguments, "--json")
    assert json.loads(out)["nodes"] == placement.place("random", "kang2019", 9, seed=4, groups="3-8").nodes


def test_place_with_options_of_the_policy(odonata):
    _, out, _ = odonata(
        "place", "--system", "tiny", "--policy", "per-leaf", "-s", "per_leaf=1", "-s", "groups=0", "--json"
    )
    assert json.loads(out)["nodes"] == [0, 2]


def test_place_for_slurm_and_for_people(odonata):
    arguments = ["place", "--system", "tiny", "--policy", "explicit", "-s", "nodes=9,2-4"]
    assert odonata(*arguments, "--nodelist") == (0, "node[02-04,09]\n", "")
    assert odonata(*arguments) == (0, "explicit: 4 nodes as listed\n9,2-4\n", "")


@pytest.mark.parametrize(
    ("nodes", "size", "prefix", "line"),
    [
        (range(16), 3456, "node", "node[0000-0015]"),
        ([7], 3456, "node", "node0007"),
        ([3, 1, 2, 9], 10, "n", "n[1-3,9]"),
        ([100], 101, "n", "n100"),
    ],
)
def test_host_lists(nodes, size, prefix, line):
    assert host_list(list(nodes), size, prefix) == line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--system", "tinny", "--policy", "random", "--nodes", "2"], "unknown system `tinny`"),
        (["--system", "tiny", "--policy", "randm", "--nodes", "2"], "unknown placement policy `randm`"),
        (["--system", "tiny", "--policy", "random", "--nodes", "17"], "17 nodes do not fit"),
        (["--system", "tiny", "--policy", "random", "--nodes", "0"], "from 1 on"),
        (["--system", "tiny", "--policy", "random"], "the number of nodes is missing"),
        (["--system", "tiny", "--policy", "random", "--nodes", "2", "--busy", "x"], "expected busy nodes such as"),
        (["--system", "tiny", "--policy", "random", "--nodes", "2", "--busy", "16"], "there is no node 16"),
        (["--system", "tiny", "--policy", "random", "--nodes", "2", "--seed", "-1"], "Must be >= 0"),
        (["--system", "tiny", "--policy", "random", "--nodes", "2", "--prefix", "n"], "--prefix goes with --nodelist"),
        (["--system", "tiny", "--policy", "random", "--nodes", "2", "-s", "sed=1"], "unknown option of `random` `sed`"),
        (["--system", "tiny", "--policy", "random", "--nodes", "2", "-s", "seed"], "has no value"),
        (["--system", "tiny", "--policy", "random", "--nodes", "2", "-s", "busy=1"], "option of `random` `busy`"),
        (["--system", "tiny", "--policy", "explicit", "-s", "nodes=[1"], "-s nodes: `[1` is not TOML"),
        (["--policy", "random", "--nodes", "2"], "--system"),
    ],
)
def test_place_refuses(odonata, arguments, message):
    status, out, err = odonata("place", *arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def test_an_error_shows_no_control_characters(odonata):
    _, _, err = odonata("show", "a\x1b[2J")
    assert "unknown name `a\\x1b[2J`" in err


OWN_SYSTEM = """\
routing = "minimal"
[system]
preset = "tiny"
groups = 3
[[job]]
name = "a"
nodes = 2
app = { pattern = "uniform-random", message = "1 KB", interval = "1 us", messages = 1 }
"""


def test_the_file_of_a_scenario_names_its_system(odonata, tmp_path):
    file = tmp_path / "own.toml"
    file.write_text(OWN_SYSTEM)
    status, out, _ = odonata("show", str(file), "--json")
    assert (status, json.loads(out)["nodes"]) == (0, 12)
    status, out, _ = odonata("export", str(file), "-o", str(tmp_path / "own.json"))
    assert status == 0
    assert "12 nodes" in out
    status, out, _ = odonata("place", "--system", str(file), "--policy", "simple", "--nodes", "12", "--json")
    assert (status, len(json.loads(out)["nodes"])) == (0, 12)
    status, out, _ = odonata("show", str(file), "--routes", "0", "8", "--json")
    assert (status, json.loads(out)["routing"]["name"]) == (0, "minimal")
    file.write_text(OWN_SYSTEM.replace("groups = 3", "grups = 3"))
    status, _, err = odonata("show", str(file))
    assert status == 2
    assert f"{file}:4: " in err
    assert "did you mean `groups`?" in err
