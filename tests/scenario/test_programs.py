"""Programs: what a collective, a motif and a job's keys become in the specification."""

import pytest

from odonata.errors import InputError
from odonata.scenario import COLLECTIVES, MOTIFS, parse
from odonata.scenario.apps.listed import SKELETONS

JOB = """\
system = "zhang2018-272"
[[job]]
name = "a"
nodes = {nodes}
app = {app}
{more}
"""


def resolved(app, nodes=8, more="", folder=None):
    path = "s.toml" if folder is None else folder / "s.toml"
    return parse(JOB.format(app=app, nodes=nodes, more=more), path).resolve()


def program(app, nodes=8, more=""):
    return resolved(app, nodes, more).spec["jobs"][0]["program"]


def whats(app, nodes=8, more=""):
    return [phase["what"] for phase in program(app, nodes, more)["body"]["phases"]]


def test_everything_that_a_job_leaves_open():
    job = resolved('{ collective = "allreduce", message = "1 KB" }').spec["jobs"][0]
    assert job == {
        "name": "a",
        "nodes": list(range(8)),
        "program": {
            "start_ps": 0,
            "iterations": 1,
            "gap_ps": 0,
            # The simulator of Zhang 2018: 130 + 30 + 30 ns, 100 + 30 + 30 ns, 344 ps a byte, eager up to 12,000 B.
            "costs": {
                "send_ps": 190_000,
                "receive_ps": 160_000,
                "copy": 2_906_976_744_186_047,
                "memory_ps": 100_000,
                "eager_bytes": 12_000,
                "control_bytes": 64,
            },
            "body": {
                "name": "phases",
                "phases": [{"what": {"name": "allreduce", "algorithm": "recursive-doubling", "bytes": 1_000}}],
            },
        },
        "record": "histogram",
    }


def test_a_byte_is_copied_in_344_ps():
    from odonata import _core

    copy = program('{ collective = "barrier" }')["costs"]["copy"]
    for size in (1, 1_000, 12_000, 10**9):
        assert _core.serialisation_ps(copy, size) == 344 * size


def test_no_overhead_is_the_network_alone():
    costs = program('{ collective = "barrier" }', more='overhead = "none"')["costs"]
    assert (costs["send_ps"], costs["receive_ps"], costs["copy"], costs["memory_ps"]) == (0, 0, None, 0)
    assert costs["eager_bytes"] >= 2**40


def test_keys_of_a_program_stand_in_the_job_or_in_its_app():
    keys = {"iterations": "3", "ranks_per_node": "2", "mapping": '"round-robin"', "gap": '"1 ms"'}
    keys |= {"every": '"2 ms"', "barrier": "true", "on": '"3 ms"', "off": '"4 ms"'}
    lines = "\n".join(f"{key} = {value}" for key, value in keys.items())
    inside = ", ".join(f"{key} = {value}" for key, value in keys.items())
    in_job = resolved('{ collective = "barrier" }', more=lines)
    in_app = resolved(f'{{ collective = "barrier", {inside} }}')
    assert in_job.spec == in_app.spec
    job = in_job.spec["jobs"][0]
    assert job["nodes"] == [*range(8), *range(8)]
    assert (job["program"]["iterations"], job["program"]["gap_ps"]) == (3, 10**9)
    assert [job["program"][key] for key in ("start_ps", "every_ps")] == [0, 2 * 10**9]
    fixed = [{"distribution": "fixed", "ps": ps} for ps in (3 * 10**9, 4 * 10**9)]
    assert [job["bursts"][key] for key in ("on", "off")] == fixed
    assert job["program"]["body"]["untimed"] == 1


def test_a_barrier_comes_before_each_iteration_and_is_untimed():
    """Of `call`, only the time of the barrier is left out with it."""
    barrier = {"what": {"name": "barrier", "algorithm": "dissemination"}}
    call = {"what": {"name": "compute", "ps": 5_000, "jitter_ps": 0}}
    app = '{ collective = "allreduce", algorithm = "ring", message = "1 KB" }'
    ring = {"what": {"name": "allreduce", "algorithm": "ring", "bytes": 1_000}}
    assert program(app, more="barrier = true")["body"] == {"name": "phases", "phases": [barrier, ring], "untimed": 1}
    more = 'barrier = true\noverhead = { call = "5 ns" }'
    calls = {"name": "phases", "phases": [call, barrier, call, ring], "untimed": 2}
    assert program(app, more=more)["body"] == calls
    assert program(app, more="barrier = false") == program(app)


def test_a_barrier_before_a_trace_is_refused(tmp_path):
    (tmp_path / "t.goal").write_text("num_ranks 2\nrank 0 {\nsend 1b to 1\n}\nrank 1 {\nrecv 1b from 0\n}\n")
    assert resolved('{ trace = "t.goal" }', 2, "barrier = false", tmp_path)
    with pytest.raises(InputError, match="a trace has no barrier before it") as caught:
        resolved('{ trace = "t.goal" }', 2, "barrier = true", tmp_path)
    assert (caught.value.line, caught.value.hint) == (6, "write the barrier into the trace")
    with pytest.raises(InputError, match="a trace has no barrier before it") as caught:
        resolved('{ trace = "t.goal", barrier = true }', 2, "", tmp_path)
    assert caught.value.line == 5


def test_costs_by_size_stand_beside_the_others():
    app = '{ motif = "ping-pong", message = "1 KB" }'
    rows = '{ size = "8 B", send = "1 ns", receive = "2 ns" }, '
    rows += '{ size = "1 KiB", send = "3 ns", receive = "4 ns", delay = "5 us" }'
    read = program(app, more=f"overhead = {{ by_size = [{rows}] }}")
    assert read.pop("by_size") == [
        {"bytes": 8, "send_ps": 1_000, "receive_ps": 2_000, "delay_ps": 0},
        {"bytes": 1_024, "send_ps": 3_000, "receive_ps": 4_000, "delay_ps": 5_000_000},
    ]
    assert read == program(app) == program(app, more="overhead = { by_size = [] }")


@pytest.mark.parametrize(
    "key",
    [
        *("iterations = 3", "ranks_per_node = 2", 'mapping = "linear"', 'gap = "1 ms"', "barrier = true"),
        *('on = "1 ms"', 'off = "1 ms"'),
    ],
)
def test_a_key_given_twice_is_refused(key):
    with pytest.raises(InputError, match="given twice, in the job and in its app") as caught:
        resolved(f'{{ collective = "barrier", {key} }}', more=key)
    assert (caught.value.file, caught.value.line) == ("s.toml", 5)


def test_a_background_program_has_no_end_unless_one_is_given():
    other = '[[job]]\nname = "b"\nnodes = 4\napp = { collective = "barrier"%s }\nbackground = true'
    for given, iterations in (("", None), (", iterations = 5", 5)):
        resolution = resolved('{ collective = "barrier" }', more=other % given)
        assert resolution.spec["jobs"][1]["program"]["iterations"] == iterations
        assert resolution.spec["stop"]["jobs"] == [0]


def test_a_program_runs_alone_and_one_without_end_does_not():
    resolution = resolved(
        '{ collective = "barrier" }',
        more='[[job]]\nname = "b"\nnodes = 4\napp = { collective = "barrier" }\nbackground = true',
    )
    assert resolution.alone("a")["stop"] == {"jobs": [0], "at_ps": None}
    with pytest.raises(InputError, match="never ends") as caught:
        resolution.alone("b")
    assert "iterations" in caught.value.hint


def test_a_job_of_one_node_may_have_several_ranks():
    assert resolved('{ collective = "barrier" }', nodes=1, more="ranks_per_node = 2").spec["jobs"][0]["nodes"] == [0, 0]
    with pytest.raises(InputError, match="a job of one rank has no other rank to send to"):
        resolved('{ collective = "barrier" }', nodes=1)


@pytest.mark.parametrize(
    ("app", "nodes", "algorithm"),
    [
        # Thakur, Rabenseifner and Gropp 2005, section 4.
        ('collective = "broadcast", message = "12287 B"', 8, "binomial"),
        ('collective = "broadcast", message = "12 KiB"', 8, "scatter-allgather"),
        ('collective = "broadcast", message = "12 KiB"', 7, "binomial"),
        ('collective = "reduce", message = "1 MB"', 8, "binomial"),
        ('collective = "allreduce", message = "2 KiB"', 8, "recursive-doubling"),
        ('collective = "allreduce", message = "2049 B"', 8, "rabenseifner"),
        ('collective = "allgather", message = "65535 B"', 8, "recursive-doubling"),
        ('collective = "allgather", message = "64 KiB"', 8, "ring"),
        ('collective = "allgather", message = "11 KiB"', 7, "bruck"),
        ('collective = "allgather", message = "12 KiB"', 7, "ring"),
        ('collective = "reduce-scatter", message = "524287 B"', 8, "recursive-halving"),
        ('collective = "reduce-scatter", message = "512 KiB"', 8, "pairwise"),
        ('collective = "alltoall", message = "256 B"', 8, "bruck"),
        ('collective = "alltoall", message = "257 B"', 8, "pairwise"),
        ('collective = "barrier"', 8, "dissemination"),
    ],
)
def test_the_algorithm_that_is_meant_where_none_is_named(app, nodes, algorithm):
    resolution = resolved(f"{{ {app} }}", nodes)
    assert resolution.spec["jobs"][0]["program"]["body"]["phases"][0]["what"]["algorithm"] == algorithm
    assert resolution.document["scenario"]["job"][0]["app"]["algorithm"] == algorithm


@pytest.mark.parametrize("name", COLLECTIVES)
def test_every_algorithm_is_known_to_the_core(name):
    """`resolve` asks the core, which refuses names that it does not know."""
    size = "" if name == "barrier" else ', message = "1 KB"'
    for algorithm in COLLECTIVES[name].algorithms:
        what = whats(f'{{ collective = "{name}", algorithm = "{algorithm}"{size} }}', 7)[0]
        assert (what["name"], what["algorithm"]) == (name, algorithm)


#: The collectives as Zhang 2018 ran them (L).
ZHANG = {
    "alltoall": {"algorithm": "linear-shift", "bytes": 1_000},
    "broadcast": {"algorithm": "binary", "root": 0, "bytes": 1_000},
    "allreduce": {"algorithm": "binary", "bytes": 1_000},
    "reduce": {"algorithm": "binary", "root": 0, "bytes": 1_000},
    "barrier": {"algorithm": "binary"},
}


@pytest.mark.parametrize("name", ZHANG)
def test_collectives_as_zhang_2018_ran_them(name):
    size = "" if name == "barrier" else ', message = "1 KB"'
    compute = {"name": "compute", "ps": 2_000_000, "jitter_ps": 1_000}
    app = f'collective = "{name}", algorithm = "{ZHANG[name]["algorithm"]}"{size}'
    what = {"name": name, **ZHANG[name]}
    assert whats(f"{{ {app} }}") == [what]
    assert whats(f'{{ {app}, compute = "2 us", jitter = "1 ns" }}') == [compute, what]


def test_every_motif_has_a_test():
    tested = {
        "all-to-all-linear",
        "incast",
        "ping-pong",
        "halo2d",
        "halo3d",
        "halo3d26",
        "sweep3d",
        "fft3d",
        "training",
        "phases",
    }
    assert set(MOTIFS) == tested | set(SKELETONS)  # test_skeletons.py


def test_ping_pong():
    what = {"name": "ping-pong", "stride": 4, "bytes": 1_000, "rounds": 3}
    assert whats('{ motif = "ping-pong", message = "1 KB", stride = 4, rounds = 3 }') == [what]


def test_incast():
    assert whats('{ motif = "incast", message = "1 KB" }') == [{"name": "incast", "root": 0, "bytes": 1_000}]
    names = whats('{ motif = "incast", message = "1 KB", root = 7, compute = "1 us" }')
    assert [what["name"] for what in names] == ["compute", "incast"]
    assert names[1]["root"] == 7


def test_a_linear_all_to_all_is_no_call_of_a_collective():
    """The collective with the same algorithm is one."""
    exchange = {"name": "alltoall", "algorithm": "linear", "bytes": 1_000}
    call = 'overhead = { call = "5 ns" }'
    assert whats('{ motif = "all-to-all-linear", message = "1 KB" }', more=call) == [exchange]
    assert program('{ motif = "all-to-all-linear", message = "1 KB" }')["body"]["phases"] == [{"what": exchange}]
    names = whats('{ motif = "all-to-all-linear", message = "1 KB", compute = "1 us" }')
    assert [what["name"] for what in names] == ["compute", "alltoall"]
    of_mpi = whats('{ collective = "alltoall", algorithm = "linear", message = "1 KB" }', more=call)
    assert of_mpi == [{"name": "compute", "ps": 5_000, "jitter_ps": 0}, exchange]


HALOS = {
    "halo2d": ([4, 2, 1], [320, 160, 0], [0] * 3, 0, "even-receives-first"),
    "halo3d": ([2, 2, 2], [9_600, 4_800, 3_200], [0] * 3, 0, "axis-by-axis"),
    "halo3d26": ([2, 2, 2], [9_600, 4_800, 3_200], [160, 320, 480], 16, "all-at-once"),
}


@pytest.mark.parametrize("name", HALOS)
def test_sizes_of_halos_follow_from_cells(name):
    """10 x 20 (x 30) cells with two fields of 8 B: a face x has ny x nz cells, an edge along x has nx."""
    grid, faces, edges, corner, order = HALOS[name]
    cells = [10, 20] if name == "halo2d" else [10, 20, 30]
    assert whats(f'{{ motif = "{name}", cells = {cells}, fields = 2 }}') == [
        {
            "name": "halo",
            "grid": grid,
            "periodic": False,
            "face_bytes": faces,
            "edge_bytes": edges,
            "corner_bytes": corner,
            "order": order,
        }
    ]


def test_all_neighbours_get_a_message_of_the_size_given():
    halo = whats('{ motif = "halo3d26", message = "1 KB", grid = [4, 2, 1], periodic = true }')[0]
    assert (halo["face_bytes"], halo["edge_bytes"], halo["corner_bytes"]) == ([1_000] * 3, [1_000] * 3, 1_000)
    assert (halo["grid"], halo["periodic"]) == ([4, 2, 1], True)
    flat = whats('{ motif = "halo2d", message = "1 KB" }')[0]
    assert (flat["face_bytes"], flat["edge_bytes"], flat["corner_bytes"]) == ([1_000, 1_000, 0], [0] * 3, 0)


def test_a_halo_computes_first_and_reduces_last():
    names = [what["name"] for what in whats('{ motif = "halo3d", message = "1 KB", compute = "1 us", reduce = true }')]
    assert names == ["compute", "halo", "allreduce"]


def test_sweep3d():
    """Blocks of two planes: 5 x 2 cells along x, 4 x 2 along y, 8 B each."""
    assert whats('{ motif = "sweep3d", cells = [4, 5, 6], planes = 2, compute = "1 us" }') == [
        {
            "name": "sweep",
            "grid": [4, 2],
            "blocks": 3,
            "x_bytes": 80,
            "y_bytes": 64,
            "compute_ps": 1_000_000,
            "sweeps": 8,
        }
    ]
    given = whats('{ motif = "sweep3d", message = "1 KB", blocks = 4, sweeps = 2 }')[0]
    assert (given["blocks"], given["x_bytes"], given["y_bytes"], given["sweeps"]) == (4, 1_000, 1_000, 2)


def test_fft3d_has_four_all_to_alls_and_two_barriers():
    """L: along rows, columns, barrier, columns, rows, barrier; 33 x 64^2 complex numbers on 8 ranks: 264 KiB each."""
    phases = program('{ motif = "fft3d", cells = [64, 64, 64] }')["body"]["phases"]
    told = [(phase["what"]["name"], phase.get("along", {}).get("axis"), phase["what"].get("bytes")) for phase in phases]
    row, column, barrier = ("alltoall", 0, 67_584), ("alltoall", 1, 135_168), ("barrier", None, None)
    assert told == [row, column, barrier, column, row, barrier]
    assert all(phase["along"]["grid"] == [4, 2] for phase in phases if "along" in phase)
    given = program('{ motif = "fft3d", message = "1 KB", grid = [2, 4] }')["body"]["phases"]
    assert given[0] == {
        "along": {"grid": [2, 4], "axis": 0},
        "what": {"name": "alltoall", "algorithm": "linear-shift", "bytes": 1_000},
    }


def test_bytes_of_training_follow_from_the_model():
    """s b h e = 128 x 2 x 1,024 x 2 B; 12 h^2 + 13 h weights in each of 2 layers, halved by the tensor group."""
    model = "hidden = 1024, layers = 4, sequence = 128, microbatch = 2"
    step = whats(f'{{ motif = "training", tensor = 2, pipeline = 2, {model}, forward = "1 ms" }}')[0]
    assert step == {
        "name": "training",
        "tensor": 2,
        "data": 2,
        "pipeline": 2,
        "microbatches": 2,
        "tensor_reductions": 4,
        "tensor_bytes": 524_288,
        "activation_bytes": 262_144,
        "gradient_bytes": (12 * 1024**2 + 13 * 1024) * 2 * 2 // 2,
        "forward_ps": 10**9,
        "backward_ps": 2 * 10**9,
        "jitter_ps": 0,
    }


def test_bytes_of_training_may_be_given():
    sizes = 'tensor_bytes = "1 KB", activation_bytes = "2 KB", gradient_bytes = "3 KB"'
    step = whats(f'{{ motif = "training", tensor = 2, pipeline = 2, microbatches = 3, {sizes} }}')[0]
    assert (step["tensor_bytes"], step["activation_bytes"], step["gradient_bytes"]) == (1_000, 2_000, 3_000)
    assert (step["microbatches"], step["tensor_reductions"]) == (3, 2)
    model = "hidden = 8, layers = 2, sequence = 1, microbatch = 1"
    over = whats(f'{{ motif = "training", tensor = 2, {model}, gradient_bytes = "3 KB", tensor_reductions = 1 }}')[0]
    assert (over["gradient_bytes"], over["tensor_bytes"], over["tensor_reductions"]) == (3_000, 16, 1)


def test_what_one_rank_would_send_itself_is_no_part_of_a_training_step():
    """Otherwise equal runs would have different ids."""
    sizes = 'tensor_bytes = "{}", activation_bytes = "2 MB", gradient_bytes = "3 MB"'
    apps = [f'{{ motif = "training", tensor = 1, pipeline = 2, {sizes.format(size)} }}' for size in ("1 B", "1 MB")]
    first, second = (whats(app) for app in apps)
    assert first == second
    assert [first[0][key] for key in ("tensor_reductions", "tensor_bytes", "activation_bytes")] == [0, 0, 2_000_000]
    (alone,) = whats('{ motif = "training", tensor = 8, tensor_bytes = "1 MB" }')
    assert (alone["data"], alone["activation_bytes"], alone["gradient_bytes"]) == (1, 0, 0)


def test_phases_are_listed_in_order():
    along = "along = { grid = [4, 2], axis = 1 }"
    resolution = resolved(
        '{ motif = "phases", phases = [ { compute = "1 us", jitter = "2 ns" }, '
        f'{{ collective = "broadcast", message = "20 KB", root = 1, {along} }}, '
        '{ motif = "halo3d", message = "1 KB", compute = "3 us" } ] }'
    )
    phases = resolution.spec["jobs"][0]["program"]["body"]["phases"]
    assert phases[0] == {"what": {"name": "compute", "ps": 1_000_000, "jitter_ps": 2_000}}
    assert phases[1] == {
        "along": {"grid": [4, 2], "axis": 1},
        # Two ranks along that axis, fewer than the eight from which blocks are scattered.
        "what": {"name": "broadcast", "algorithm": "binomial", "root": 1, "bytes": 20_000},
    }
    assert [phase["what"]["name"] for phase in phases[2:]] == ["compute", "halo"]
    told = resolution.document["scenario"]["job"][0]["app"]["phases"]
    assert told[1]["along"] == {"grid": [4, 2], "axis": 1}
    assert (told[1]["algorithm"], told[2]["grid"]) == ("binomial", [2, 2, 2])


#: Keys that are written out only if they are given.
RARE = """
barrier = true
on = { mean = "1 ms", distribution = "lognormal", sigma = 0.25 }
off = "7 us"
overhead = { by_size = [
  { size = "0 B", send = "1 ns", receive = "0 s" },
  { size = "3 KB", send = "1.5 ns", receive = "7 ps", delay = "3 us" },
] }
"""


@pytest.mark.parametrize(
    ("inside", "more"), [("", ""), ("", RARE), (', barrier = true, on = "1 ms", off = "7 us"', "")]
)
@pytest.mark.parametrize("motif", ["fft3d", "incast", "all-to-all-linear"])
def test_what_was_decided_can_be_run_again(motif, inside, more):
    """The document's job, without what only tells, is the same scenario."""
    app = f'{{ motif = "{motif}", message = "1 KB"{inside} }}'
    resolution = resolved(app, more=f'mapping = "random"\nranks_per_node = 2{more}')
    job = dict(resolution.document["scenario"]["job"][0])
    assert (job.pop("ranks"), job.pop("placed") != "") == (16, True)
    import tomlkit

    again = parse(tomlkit.dumps({"system": "zhang2018-272", "job": [job]})).resolve()
    assert again.spec == resolution.spec
    assert again.id == resolution.id
