"""Bad programs: every one is answered with file, line, what was found and what was meant."""

import pytest

from odonata.errors import InputError
from odonata.scenario import COLLECTIVES, MOTIFS, parse
from odonata.scenario.apps.listed import SKELETONS

TEXT = """\
system = "tiny"

[[job]]
name = "a"
nodes = 8
%s
[run]
seed = 1
"""
C = 'app = { collective = "allreduce", message = "1 KB"%s }'
SIZED = f"""{C % ""}
overhead = {{ by_size = [{{ send = "1 us", receive = "1 us", size = "%s" }}, {{ size = "2 KB", send = "1 us", \
receive = "1 us" }}] }}"""
HALO = 'app = { motif = "halo3d"%s }'
TRAIN = 'app = { motif = "training"%s }'
PHASES = 'app = { motif = "phases", phases = [\n  { compute = "1 us" },\n  %s,\n] }'
MODEL = ", hidden = 8, layers = 4, sequence = 8, microbatch = 1"

CASES = [
    # what the job says, line, message, hint
    ("unknown collective", 'app = { collective = "allredce" }', 6, "unknown collective `allredce`", "`allreduce`"),
    ("unknown motif", 'app = { motif = "halo4d" }', 6, "unknown motif `halo4d`", "`halo"),
    ("a motif as a collective", 'app = { collective = "halo3d" }', 6, "unknown collective", 'motif = "halo3d"'),
    ("a collective as a pattern", 'app = { pattern = "alltoall" }', 6, "unknown pattern", 'collective = "alltoall"'),
    ("two kinds", 'app = { collective = "barrier", motif = "halo3d" }', 6, "`collective` and `motif` exclude", None),
    ("a name that is none", "app = { collective = 5 }", 6, "the name of a collective, found `5`", None),
    ("a misspelt kind", 'app = { colective = "barrier" }', 6, "missing key", "`collective`"),
    ("unknown algorithm", C % ', algorithm = "rign"', 6, "found `rign`", "`ring`"),
    ("no message", 'app = { collective = "allreduce" }', 6, "missing key `message`", "vector"),
    ("an empty message", C.replace("1 KB", "0 B") % "", 6, "between 1 B and 2^40 B", None),
    ("a message for a barrier", 'app = { collective = "barrier", message = "1 KB" }', 6, "unknown key `message`", None),
    ("a root outside", 'app = { collective = "reduce", message = "1 B", root = 8 }', 6, "ranks 0 to 7", None),
    ("a negative root", 'app = { collective = "broadcast", message = "1 B", root = -1 }', 6, "ranks 0 to 7", None),
    ("unknown option", C % ", rot = 1", 6, "unknown key `rot`", None),
    ("no iterations", f"{C % ''}\niterations = 0", 7, "a number of iterations from 1 to 2^31 - 1", None),
    ("half an iteration", f"{C % ''}\niterations = 1.5", 7, "a number of iterations (a whole number)", None),
    ("an exponent", f"{C % ''}\niterations = 1e3", 7, "a number of iterations (a whole number)", "write 1_000"),
    ("no ranks on a node", f"{C % ''}\nranks_per_node = 0", 7, "between 1 and", None),
    ("too many ranks on a node", f"{C % ''}\nranks_per_node = 4097", 7, "up to 4,096 ranks, found 4,097", None),
    ("the same in the app", C % ", ranks_per_node = 4097", 6, "up to 4,096 ranks, found 4,097", None),
    ("a gap without a unit", f"{C % ''}\ngap = 3", 7, "no unit", '"3 ns"'),
    ("a long gap", f'{C % ""}\ngap = "400 min"', 7, "2^54 ps (5 hours)", None),
    ("a long start", f'{C % ""}\nstart = "400 min"', 7, "2^54 ps (5 hours)", None),
    ("a burst without a pause", f'{C % ""}\non = "1 ms"', 7, "`on` without `off`", "belong together"),
    ("a pause without a burst", f'{C % ""}\noff = "1 ms"', 7, "`off` without `on`", "belong together"),
    ("a burst in the app alone", C % ', on = "1 ms"', 6, "`on` without `off`", "belong together"),
    ("a burst of nothing", f'{C % ""}\non = "0 s"\noff = "1 ms"', 7, "at least 1 ps", None),
    ("a burst of nothing in the app", C % ', on = "0 s", off = "1 ms"', 6, "at least 1 ps", None),
    ("a pause of nothing", f'{C % ""}\non = "1 ms"\noff = "0 s"', 8, "at least 1 ps", None),
    ("a long pause", f'{C % ""}\non = "1 ms"\noff = "400 min"', 8, "2^54 ps (5 hours)", None),
    ("a barrier that is a number", f"{C % ''}\nbarrier = 1", 7, "expected `true` or `false`, found `1`", None),
    ("costs by no size", f"{C % ''}\noverhead = {{ by_size = 5 }}", 7, "a list of tables with `size`, `send`", None),
    ("a word for costs", f'{C % ""}\noverhead = {{ by_size = "none" }}', 7, "expected a list of tables", None),
    ("costs that are no table", f"{C % ''}\noverhead = {{ by_size = [5] }}", 7, "expected a table, found `5`", None),
    ("sizes that descend", SIZED % "3 KB", 7, "sizes ascend, found 2 KB after 3 KB", None),
    ("a size twice", SIZED % "2 KB", 7, "sizes ascend, found 2 KB after 2 KB", None),
    ("a size of no message", SIZED % "1025 GiB", 7, "at most 2^40 B (1 TiB), found `1025 GiB`", None),
    ("a delay that is too long", SIZED % '1 KB", delay = "2 ms', 7, "longer than the longest delay, 1 ms", None),
    ("a misspelt cost", SIZED % '1 KB", sned = "2 us', 7, "unknown key `sned`", "`send`"),
    ("a missing cost", f'{C % ""}\noverhead = {{ by_size = [{{ size = "1 B" }}] }}', 7, "missing key `send`", "sender"),
    ("an incast to nobody", 'app = { motif = "incast", message = "1 B", root = 8 }', 6, "ranks 0 to 7", None),
    ("no size of an incast", 'app = { motif = "incast" }', 6, "missing key `message`", "each message"),
    ("no size of an exchange", 'app = { motif = "all-to-all-linear" }', 6, "missing key `message`", None),
    ("unknown mapping", f'{C % ""}\nmapping = "liner"', 7, "unknown mapping `liner`", "`linear`"),
    ("a mapping of another type", f"{C % ''}\nmapping = 5", 7, "expected a mapping, a file or a table", None),
    ("no such file", f'{C % ""}\nmapping = "no.txt"', 7, "cannot read the mapping `no.txt`", None),
    (
        "a seed that means nothing",
        f'{C % ""}\nmapping = {{ name = "linear", seed = 1 }}',
        7,
        "does not use `seed`",
        None,
    ),
    (
        "a file that means nothing",
        f'{C % ""}\nmapping = {{ name = "linear", file = "x" }}',
        7,
        "does not use `file`",
        None,
    ),
    ("a mapping without file", f'{C % ""}\nmapping = "file"', 7, "missing key `file`", None),
    ("unknown cost", f'{C % ""}\noverhead = {{ eagr = "1 KB" }}', 7, "unknown key `eagr`", "`eager`"),
    ("unknown costs", f'{C % ""}\noverhead = "nothing"', 7, "unknown overhead `nothing`", '"none"'),
    ("a slow send", f'{C % ""}\noverhead = {{ send = "2 ms" }}', 7, "longer than the longest delay, 1 ms", None),
    ("a copy that never ends", f'{C % ""}\noverhead = {{ copy = "0 B/s" }}', 7, "would never end", '"none"'),
    ("no control messages", f'{C % ""}\noverhead = {{ control = "0 B" }}', 7, "between 1 B and 64 KiB", None),
    ("large control messages", f'{C % ""}\noverhead = {{ control = "65 KiB" }}', 7, "between 1 B and 64 KiB", None),
    ("too many nodes", C % "" + '\nplace = { nodes = "0-16" }', 7, "there is no node 16", None),
    ("a grid that does not fit", HALO % ', message = "1 B", grid = [2, 2, 3]', 6, "12 points for 8", "2 x 2 x 2"),
    ("a grid of two", HALO % ', message = "1 B", grid = [2, 4]', 6, "three numbers of ranks", None),
    ("a grid of nothing", HALO % ', message = "1 B", grid = [0, 2, 4]', 6, "three numbers of ranks", None),
    ("no size", HALO % "", 6, "give `message` or `cells`", None),
    ("two sizes", HALO % ', message = "1 B", cells = [1, 1, 1]', 6, "`message` and `cells` exclude", None),
    ("fields of a message", HALO % ', message = "1 B", fields = 2', 6, "`message` and `fields` exclude", None),
    ("no cells", HALO % ", cells = [1, 0, 1]", 6, "three numbers of cells", None),
    ("too many cells", HALO % ", cells = [1000000, 1000000, 1]", 6, "not between 1 B and 2^40 B", None),
    ("unknown order", HALO % ', message = "1 B", order = "all"', 6, "found `all`", None),
    (
        "an order without corners",
        'app = { motif = "halo3d26", message = "1 B", order = "axis-by-axis" }',
        6,
        "`all-at-",
        None,
    ),
    ("a long time of computing", HALO % ', message = "1 B", compute = "400 min"', 6, "5 hours", None),
    (
        "planes that do not fit",
        'app = { motif = "sweep3d", cells = [1, 1, 5], planes = 2 }',
        6,
        "5 cells along z",
        None,
    ),
    ("blocks of cells", 'app = { motif = "sweep3d", cells = [1, 1, 5], blocks = 2 }', 6, "`cells` and `blocks`", None),
    ("no size of a sweep", 'app = { motif = "sweep3d" }', 6, "give `message` or `cells`", None),
    (
        "both sizes of a sweep",
        'app = { motif = "sweep3d", message = "1 B", planes = 2 }',
        6,
        "and `planes` exclude",
        None,
    ),
    ("no size of a transform", 'app = { motif = "fft3d" }', 6, "give `message` or `cells`", None),
    (
        "both sizes of a transform",
        'app = { motif = "fft3d", message = "1 B", width = 8 }',
        6,
        "and `width` exclude",
        None,
    ),
    (
        "ranks without partner",
        'app = { motif = "ping-pong", message = "1 B", stride = 3 }',
        6,
        "whole blocks of 6",
        "4",
    ),
    ("no size of gradients", TRAIN % "", 6, "give `gradient_bytes`", "hidden"),
    ("half a model", TRAIN % ", hidden = 8, layers = 2", 6, "the model has no `sequence`", None),
    ("layers that do not fit", TRAIN % f", pipeline = 8{MODEL}", 6, "4 layers cannot be divided into 8", None),
    ("ranks that do not fit", TRAIN % f", tensor = 3{MODEL}", 6, "not a multiple of tensor x pipeline", None),
    ("a product that does not fit", TRAIN % f", tensor = 2, data = 2{MODEL}", 6, "but there are 8 ranks", "data = 4"),
    ("a huge model", TRAIN % MODEL.replace("hidden = 8", "hidden = 4000000"), 6, "more than 2^40 B", None),
    (
        "an element without model",
        TRAIN % ', gradient_bytes = "1 B", element = 4',
        6,
        "`element` is used only with a model",
        None,
    ),
    ("negative reductions", TRAIN % f", tensor_reductions = -1{MODEL}", 6, "must be 0 or more", None),
    ("no phases", 'app = { motif = "phases", phases = [] }', 6, "expected a list of phases", None),
    ("a phase that is none", PHASES % "5", 8, "expected a phase", None),
    ("a misspelt phase", PHASES % '{ colective = "barrier" }', 8, "missing key", "`collective`"),
    ("an unknown phase", PHASES % '{ collective = "bcast" }', 8, "unknown collective `bcast`", "`broadcast`"),
    ("an unknown motif of a phase", PHASES % '{ motif = "halo" }', 8, "unknown motif `halo`", "halo"),
    ("a phase of two", PHASES % '{ collective = "barrier", motif = "halo2d" }', 8, "exclude each other", None),
    ("iterations of a phase", PHASES % '{ collective = "barrier", iterations = 2 }', 8, "belongs to the job", None),
    ("a phase along nothing", PHASES % '{ collective = "barrier", along = 5 }', 8, "expected a table", None),
    (
        "no such axis",
        PHASES % '{ collective = "barrier", along = { grid = [4, 2], axis = 2 } }',
        8,
        "not an axis of",
        "0 to 1",
    ),
    (
        "another grid",
        PHASES % '{ collective = "barrier", along = { grid = [4, 3], axis = 0 } }',
        8,
        "12 points for 8",
        None,
    ),
    (
        "no grid",
        PHASES % '{ collective = "barrier", along = { grid = [], axis = 0 } }',
        8,
        "numbers of ranks along",
        None,
    ),
    (
        "along twice",
        PHASES % '{ motif = "fft3d", message = "1 B", along = { grid = [4, 2], axis = 0 } }',
        8,
        "own",
        None,
    ),
    (
        "computing along",
        PHASES % '{ compute = "1 us", along = { grid = [4, 2], axis = 0 } }',
        8,
        "`along` does not apply",
        None,
    ),
    (
        "a root outside of a communicator",
        PHASES % '{ collective = "broadcast", message = "1 B", root = 4, along = { grid = [4, 2], axis = 0 } }',
        8,
        "root 4 is not one of the ranks 0 to 3",
        None,
    ),
]


@pytest.mark.parametrize(
    ("job", "line", "message", "hint"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_bad_programs(job, line, message, hint):
    with pytest.raises(InputError) as caught:
        parse(TEXT % job, "s.toml").resolve()
    error = caught.value
    assert message in str(error)
    if line is not None:
        assert (error.file, error.line) == ("s.toml", line), str(error)
    assert hint is None or hint in (error.hint or ""), str(error)


@pytest.mark.parametrize(
    "key",
    [
        *("ranks_per_node = 2", 'mapping = "linear"', "iterations = 3", 'gap = "1 ms"', 'start = "1 ms"'),
        *("overhead = {}", 'every = "1 ms"', "barrier = true"),
    ],
)
def test_keys_of_programs_are_refused_of_patterns(key):
    job = f'app = {{ pattern = "uniform-random", message = "1 KB", interval = "1 us", messages = 1 }}\n{key}'
    with pytest.raises(InputError, match="is for programs, and the application of this job is a pattern") as caught:
        parse(TEXT % job, "s.toml").resolve()
    assert (caught.value.file, caught.value.line) == ("s.toml", 7)


def test_a_job_without_end_that_the_run_waits_for():
    job = 'app = { collective = "barrier" }\nbackground = true'
    with pytest.raises(InputError, match="never ends") as caught:
        parse((TEXT % job).replace("seed = 1", 'until = "a"'), "s.toml").resolve()
    assert "give it `iterations`" in caught.value.hint


def test_what_only_the_core_refuses_has_its_place_and_its_name():
    job = '[job.app]\nmotif = "sweep3d"\nmessage = "1 B"\nblocks = 4000000000\nsweeps = 4000000000'
    with pytest.raises(InputError, match="`blocks`: 16000000000000000000 messages") as caught:
        parse(TEXT % job, "s.toml").resolve()
    assert (caught.value.file, caught.value.line) == ("s.toml", 9)


#: What each application cannot do without.
NEEDED = {"phases": ', phases = [{ compute = "1 us" }]', "barrier": "", "training": ', gradient_bytes = "1 KB"'}
NEEDED |= dict.fromkeys(SKELETONS, "")
OPTIONS = [
    (kind, name, option)
    for kind, table in (("collective", COLLECTIVES), ("motif", MOTIFS))
    for name, model in table.items()
    for option in (field.alias or key for key, field in model.model_fields.items())
    if option != kind
]


@pytest.mark.parametrize("wrong", ["{ x = 1 }", "-1", '"nonsense"', "1.5"])
@pytest.mark.parametrize(("kind", "name", "option"), OPTIONS)
def test_every_option_refuses_what_it_is_not(kind, name, option, wrong):
    needed = NEEDED.get(name, ', message = "1 KB"')
    job = f"[job.app]\n{kind} = '{name}'\n" + needed.removeprefix(", ").replace(", ", "\n") + "\n"
    job = "\n".join(line for line in job.splitlines() if not line.startswith(option))
    text = TEXT % f"{job}\n{option} = {wrong}"
    with pytest.raises(InputError) as caught:
        parse(text, "s.toml").resolve()
    line = 1 + text.splitlines().index(f"{option} = {wrong}")
    assert (caught.value.file, caught.value.line) == ("s.toml", line), str(caught.value)
    assert option in str(caught.value) or "unknown key `x`" in str(caught.value)


def test_a_reduction_that_takes_too_long():
    """The vector of 1 GB is cut into four channels. The error was about the layers of a model."""
    app = 'app = { collective = "allreduce", algorithm = "ring-channels", message = "1 GB" }'
    job = f'{app}\nranks_per_node = 4\noverhead = {{ reduce = "1 KB/s" }}'
    with pytest.raises(InputError, match="a vector of 250 MB for longer than 2\\^54 ps") as caught:
        parse(f'system = "alps-gpu"\n[[job]]\nname = "a"\nnodes = 2\n{job}', "s.toml").resolve()
    assert "`reduce`" in caught.value.hint
