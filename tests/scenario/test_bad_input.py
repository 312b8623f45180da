"""Bad scenarios: every one is answered with file, line, what was found and what was meant."""

import pytest

from odonata.errors import InputError
from odonata.scenario import parse

BASE = """\
system = "tiny"
routing = "fpar"

[[job]]
name = "target"
nodes = 8
app = { pattern = "uniform-random", message = "4 KB", interval = "1 us", messages = 5 }

[run]
seed = 1
"""
OTHER = """
[[job]]
name = "other"
nodes = 4
app = { pattern = "tornado", offset = 1, message = "1 KB", interval = "1 us", messages = 1 }
"""
PEERS = 'pattern = "group-peers"'
PATTERN = 'pattern = "uniform-random"'

CASES = [
    # what is replaced, by what, line, message, hint
    ("unknown key", "routing =", "routin =", 2, "unknown key `routin`", "`routing`"),
    ("unknown key in a job", "nodes = 8", "nodez = 8", 6, "unknown key `nodez`", "`nodes`"),
    ("key spelt otherwise", PATTERN, f"{PEERS}, tgll-bandwidth = 1", 7, "`tgll-bandwidth`", "`tgll_bandwidth`"),
    ("unknown key in an app", "interval =", "intervall =", 7, "unknown key `intervall`", "`interval`"),
    ("unknown table", "[run]", "[runs]", 9, "unknown key `runs`", "`run`"),
    ("missing key", ', interval = "1 us"', "", 7, "missing key `interval` or `load`", "mean time"),
    ("no system", 'system = "tiny"', "", None, "missing key `system`", "the machine"),
    ("no nodes", "nodes = 8\n", "", 4, "missing key `nodes`", None),
    ("no jobs", BASE[BASE.index("[[job]]") : BASE.index("[run]")], "", None, "needs a job", "[[job]]"),
    ("one bracket", "[[job]]", "[job]", 4, "jobs are a list", "[[job]]"),
    ("wrong unit", '"1 us"', '"1 usec"', 7, "`usec` is not a unit of time", "`us`"),
    ("no unit", '"1 us"', "1", 7, "the time 1 has no unit", '"1 ns"'),
    ("unit of another kind", '"4 KB"', '"4 us"', 7, "`us` is not a unit of size", "KiB"),
    ("zero interval", '"1 us"', '"0 us"', 7, "`interval`: an interval of `0 us`", None),
    ("long interval", '"1 us"', '"400 min"', 7, "5 hours", None),
    ("no quotes", '"1 us"', "1 us", 7, "not TOML", "quotes"),
    ("message too large", '"4 KB"', '"1.1 TiB"', 7, "is not a whole number", None),
    ("message beyond 2^40", '"4 KB"', '"1025 GiB"', 7, "between 1 B and 2^40 B", None),
    ("empty message", '"4 KB"', '"0 B"', 7, "between 1 B and 2^40 B", None),
    ("no intervals", "messages = 5", "messages = 0", 7, "from 1 to 2^31 - 1", None),
    ("half an interval", "messages = 5", "messages = 5.5", 7, "a number of intervals", None),
    ("a count with an exponent", "messages = 5", "messages = 1e9", 7, "a whole number", "write 1_000_000_000"),
    ("digits of another script", '"1 us"', '"١ us"', 7, "expected a time", None),
    ("a control character", 'name = "target"', 'name = "a\\u001b"', 5, r"`'a\x1b'` is not a name of a job", "letters"),
    ("digits of another script in ids", "nodes = 8", 'place = { policy = "random", groups = "١" }', 6, "groups", None),
    ("negative seed", "seed = 1", "seed = -1", 10, "between 0 and 2^64 - 1", None),
    ("seed too large", "seed = 1", "seed = 18446744073709551616", 10, "between 0 and 2^64 - 1", None),
    ("seed in quotes", "seed = 1", 'seed = "1"', 10, "expected a seed", None),
    ("too many processes", "nodes = 8", "nodes = 17", 6, "17 nodes do not fit: only 16 are free", None),
    ("a job of one", "nodes = 8", "nodes = 1", 6, "no other rank to send to", None),
    (
        "impossible topology",
        '"tiny"',
        '{ preset = "tiny", groups = 100 }',
        1,
        "100 groups need at least 99",
        "7 groups",
    ),
    ("no groups", '"tiny"', '{ preset = "tiny", groups = 0 }', 1, "`groups`: a count must be between", None),
    ("sources that are no table", '"tiny"', '{ preset = "tiny", sources = 3 }', 1, "a table of texts, found `3`", None),
    (
        "a source that is no text",
        '"tiny"',
        '{ preset = "tiny", sources = { groups = 3 } }',
        1,
        "a text for `groups`",
        "where",
    ),
    ("unknown system", '"tiny"', '"tinny"', 1, "unknown system `tinny`", "`tiny`"),
    ("system of another type", '"tiny"', "5", 1, "expected the name of a system or a table", None),
    ("unknown routing", '"fpar"', '"fpra"', 2, "unknown routing `fpra`", "`fpar`"),
    ("unknown option", '"fpar"', '{ name = "fpar", treshold = 1 }', 2, "unknown key `treshold`", "`threshold`"),
    ("threshold too large", '"fpar"', '{ name = "fpar", threshold = 50 }', 2, "at most 1 (100 %)", '"50 %"'),
    ("threshold too fine", '"fpar"', '{ name = "fpar", threshold = 0.1234567 }', 2, "six decimals", None),
    ("factor too fine", '"fpar"', '{ name = "prog-adaptive", factor = 0.1234 }', 2, "three decimals", None),
    ("an option of another routing", '"fpar"', '{ via = "leaf" }', 2, "unknown key `via`", "threshold"),
    ("unknown choice", '"fpar"', '{ name = "valiant", via = "lief" }', 2, "found `lief`", "`leaf`"),
    ("unknown simulator", 'routing = "fpar"', 'compat = "codes-2020"', 2, "found `codes-2020`", "`codes-2019`"),
    (
        "unknown defect",
        'routing = "fpar"',
        'compat_without = ["running-minimum"]',
        2,
        "found `running-minimum`",
        "`running-minima`",
    ),
    ("unknown pattern", "uniform-random", "uniform-randm", 7, "unknown pattern `uniform-randm`", "`uniform-random`"),
    ("no pattern", f"{PATTERN}, ", "", 7, "missing key: `pattern`, `collective`", "odonata show"),
    ("an abbreviated app", "app = {", "ap = {", 7, "unknown key `ap`", "did you mean `app`?"),
    (
        "an app of several",
        "app = {",
        "app = [{ compute = '1 us' }] # {",
        7,
        "expected a table with",
        'motif = "phases"',
    ),
    (
        "an app by name",
        "app = {",
        "app = 'allreduce' # {",
        7,
        "found `'allreduce'`",
        'app = { collective = "allreduce" }',
    ),
    ("an app of another type", "app = {", "app = 5 # {", 7, "expected a table with `pattern`, `collective`", None),
    ("unknown arrival", PATTERN, f'{PATTERN}, arrival = "poison"', 7, "found `poison`", "`poisson`"),
    (
        "jitter of poisson",
        PATTERN,
        f'{PATTERN}, arrival = "poisson", jitter = "1 ns"',
        7,
        "is not used with poisson",
        None,
    ),
    ("unknown policy", "nodes = 8", 'nodes = 8\nplace = "randm"', 7, "unknown placement policy", "`random`"),
    (
        "unknown option of a policy",
        "nodes = 8",
        'nodes = 8\nplace = { policy = "random", sed = 1 }',
        7,
        "`sed`",
        "`seed`",
    ),
    (
        "no such group",
        "nodes = 8",
        'nodes = 8\nplace = { policy = "random", groups = "3-9" }',
        7,
        "no group 4",
        "0 to 3",
    ),
    ("an option of another policy", "nodes = 8", "nodes = 8\nplace = { per_leaf = 2 }", 7, "`per_leaf`", "groups"),
    ("nodes as the policy", "nodes = 8", "place = [0, 15]", 6, "found `[0, 15]`", 'place = { nodes = "0,15" }'),
    ("nodes in quotes as the policy", "nodes = 8", 'place = "0,15"', 6, "found `0,15`", '{ nodes = "0,15" }'),
    ("a node as the policy", "nodes = 8", "place = 3", 6, "found `3`", '{ nodes = "3" }'),
    ("a policy that is no name", "nodes = 8", "nodes = 8\nplace = { policy = 5 }", 7, "the name of a policy", None),
    ("fewer nodes listed", "nodes = 8", 'nodes = 8\nplace = { nodes = "0-3" }', 6, "4 of the 8 nodes", None),
    ("a node that is not there", "nodes = 8", 'place = { nodes = "14-16" }', 6, "there is no node 16", "0 to 15"),
    ("no such file", "nodes = 8", 'place = { nodes = "no.txt" }', None, "no.txt: cannot read it", None),
    ("a bad name", 'name = "target"', 'name = "a.b"', 5, "not a name of a job", "letters"),
    ("both size and load", PATTERN, f"{PEERS}, tgll = 0.5", 7, "exclude each other", None),
    ("neither size nor load", f'{PATTERN}, message = "4 KB"', PEERS, 7, "give `message` or `tgll`", None),
    (
        "a load that is no ratio",
        f'{PATTERN}, message = "4 KB"',
        f'{PEERS}, tgll = "x"',
        7,
        "`tgll`: expected a ratio",
        None,
    ),
    ("a percentage", f'{PATTERN}, message = "4 KB"', f"{PEERS}, tgll = 130", 7, "more than 20 (2,000 %)", "1.30"),
    ("no load", f'{PATTERN}, message = "4 KB"', f"{PEERS}, tgll = 0", 7, "would send nothing", None),
    ("other groups", PATTERN, f'{PEERS}, groups = "1-2"', 7, "are in groups 0-1, not in 1-2", None),
    (
        "a grid that does not fit",
        PATTERN,
        'pattern = "stencil-3d", grid = [2, 2, 3]',
        7,
        "12 points for 8",
        "2 x 2 x 2",
    ),
    ("a grid of two", PATTERN, 'pattern = "stencil-3d", grid = [2, 4]', 7, "three numbers of ranks", None),
    ("a root outside", PATTERN, 'pattern = "broadcast", root = 8', 7, "root 8 is not one of the ranks 0 to 7", None),
    ("an offset of nothing", PATTERN, 'pattern = "tornado", offset = 8', 7, "its own partner", "1 to 7"),
    ("a target without end", ", messages = 5", "", 7, "never ends", "horizon"),
    ("only background", "nodes = 8", "nodes = 8\nbackground = true", 10, "nothing ends the run", "until"),
    ("until an unknown job", "seed = 1", 'until = "targt"', 10, "no job `targt`", "`target`"),
    ("until a wrong unit", "seed = 1", 'until = "1 parsec"', 10, "`parsec` is not a unit of time", None),
    ("until nothing", "seed = 1", 'until = "0 s"', 10, "cannot end at `0 s`", None),
    ("until a number", "seed = 1", "until = 5", 10, "expected a job, a list of jobs or a time", None),
    ("no horizon", "seed = 1", 'horizon = "0 s"', 10, "must be longer than 0", None),
    ("a horizon too far", "seed = 1", 'horizon = "100000 min"', 10, "longer than 2^62 ps", None),
    ("windows of nothing", "seed = 1", '[measure]\nlinks = { every = "0 us" }', 11, "longer than 0", None),
    ("unknown record", "seed = 1", '[measure]\nlatency = "all"', 11, "found `all`", None),
    ("one channel", "seed = 1", "[fabric]\nchannels = 1", 11, "needs 2 virtual channels, the fabric has 1", None),
    ("a link of nothing", "seed = 1", '[fabric]\nlinks.global.bandwidth = "0 B/s"', 11, "never delivers", None),
    (
        "a slow link",
        "seed = 1",
        '[fabric]\nlinks.global.bandwidth = "1 B/s"',
        11,
        "`bandwidth`: a packet of 2 KiB",
        None,
    ),
    ("a small buffer", "seed = 1", '[fabric]\nlinks.local.buffer = "1 KB"', 11, "at least one packet", None),
    ("unknown class", "seed = 1", '[fabric]\nlinks.globl.buffer = "8 KB"', 11, "class of links `globl`", "`global`"),
    ("a slow router", "seed = 1", '[fabric]\nrouter_delay = "2 ms"', 11, "longest delay, 1 ms", None),
    ("a boolean in quotes", "nodes = 8", 'nodes = 8\nbackground = "yes"', 7, "`background`: expected `true` or", None),
]


@pytest.mark.parametrize(
    ("replaced", "instead", "line", "message", "hint"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_bad_scenarios(replaced, instead, line, message, hint):
    assert BASE.count(replaced) >= 1
    with pytest.raises(InputError) as caught:
        parse(BASE.replace(replaced, instead, 1), "s.toml").resolve()
    error = caught.value
    assert message in str(error)
    if "no.txt" not in str(error):
        assert (error.file, error.line) == ("s.toml", line), str(error)
    assert hint is None or hint in error.hint, str(error)


def test_the_base_is_fine_and_so_is_a_second_job():
    assert len(parse(BASE + OTHER).resolve().spec["jobs"]) == 2


@pytest.mark.parametrize(
    ("first", "second", "line", "message"),
    [
        ('place = { nodes = "0-7" }', 'place = { nodes = "7-10" }', 15, "node 7 is already taken by job `target`"),
        ("", "nodes = 9", 14, "9 nodes do not fit: only 8 are free anywhere"),
        ("", 'place = { policy = "contiguous", groups = "0" }\nnodes = 5', 15, "only 4 are free in group 0"),
    ],
)
def test_jobs_that_overlap_or_do_not_fit(first, second, line, message):
    text = (BASE + OTHER).replace("nodes = 8", f"nodes = 8 \n{first}".rstrip() if first else "nodes = 8")
    text = text.replace("nodes = 4", second)
    with pytest.raises(InputError) as caught:
        parse(text, "s.toml").resolve()
    assert (caught.value.line, message in str(caught.value)) == (line, True), str(caught.value)


def test_a_change_of_one_job_that_makes_another_one_wrong_names_that_one():
    changed = parse(BASE + OTHER, "s.toml").set("job.target.nodes", 14)
    with pytest.raises(InputError) as caught:
        changed.resolve()
    said = "s.toml with -s job.target.nodes: job `other`: 4 nodes do not fit: only 2 are free anywhere"
    assert str(caught.value) == said


@pytest.mark.parametrize(("given", "near"), [("polcy", "policy"), ("from_grup", "from_group")])
def test_a_typo_in_place_may_be_one_of_policy(given, near):
    with pytest.raises(InputError, match=f"unknown option of `contiguous` `{given}`\n  hint: did you mean `{near}`"):
        parse(BASE.replace("nodes = 8", f'nodes = 8\nplace = {{ {given} = "random" }}')).resolve()


def test_two_jobs_of_one_name():
    with pytest.raises(InputError, match=r"s\.toml:13: another job is named `target` too"):
        parse((BASE + OTHER).replace('"other"', '"target"'), "s.toml").resolve()


def test_peers_need_as_many_ranks_in_each_group():
    text = BASE.replace(PATTERN, PEERS)
    with pytest.raises(InputError, match="at least two groups"):
        parse(text.replace("nodes = 8", 'place = { nodes = "0-3" }')).resolve()
    with pytest.raises(InputError, match="group 0 has 4 and group 1 has 2"):
        parse(text.replace("nodes = 8", "nodes = 6")).resolve()


def test_an_override_is_named_instead_of_a_line():
    with pytest.raises(InputError, match=r"^s\.toml with -s job\.target\.app\.interval: `interval`: the time `5`"):
        parse(BASE, "s.toml").set("job.target.app.interval", "5").resolve()


@pytest.mark.parametrize("end", range(len(BASE)))
def test_a_scenario_cut_off_anywhere_is_read_or_refused_cleanly(end):
    try:
        parse(BASE[:end], "s.toml").resolve()
    except InputError as e:
        assert str(e).startswith("s.toml")  # noqa: PT017
