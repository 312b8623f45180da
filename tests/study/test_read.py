"""The file of a study: what it may say, and where errors point."""

from __future__ import annotations

from pathlib import Path

import pytest

from odonata.analysis.derived import DERIVED
from odonata.errors import InputError
from odonata.study.axis import label

from .conftest import STUDY, Write


def test_points_are_the_product_and_the_last_axis_changes_fastest(study: Write) -> None:
    plan = study(STUDY)
    assert (len(plan), plan.keys) == (8, ("routing", "run.seed"))
    assert [plan.point(n) for n in (0, 1, 4)] == [
        (("routing", "fpar"), ("run.seed", 1)),
        (("routing", "fpar"), ("run.seed", 2)),
        (("routing", "minimal"), ("run.seed", 1)),
    ]
    assert plan.scenario(7).resolve().spec["seed"] == 4
    assert plan.scenario(7).resolve().spec["routing"]["name"] == "minimal"


def test_keys_need_no_quotes(study: Write) -> None:
    """`run.seed = ...` is a table in a table to TOML."""
    plain = study(STUDY.replace('"run.seed"', "run.seed"))
    assert plain.keys == ("routing", "run.seed")
    assert list(plain.points()) == list(study(STUDY).points())


def test_zipped_keys_walk_together_and_are_combined_with_the_rest(study: Write) -> None:
    plan = study(
        'base = "base.toml"\n[sweep]\nrouting = ["fpar", "minimal"]\n'
        '[[zip]]\n"job.target.app.messages" = [5, 6]\n"run.seed" = [7, 8]\n[[zip]]\n"measure.warm_up" = ["1 us"]\n'
    )
    assert [len(axis) for axis in plan.axes] == [2, 2, 1]
    assert dict(plan.point(3)) == {
        "routing": "minimal", "job.target.app.messages": 6, "run.seed": 8, "measure.warm_up": "1 us",
    }  # fmt: skip


def test_values_may_be_tables(study: Write) -> None:
    plan = study(
        'base = "base.toml"\n[sweep]\n'
        '"job.noise.place" = ["random", { policy = "contiguous", groups = "0-2" }]\n'
        '"routing" = [{ name = "fpar", threshold = 0.25 }, "minimal"]\n'
    )
    specs = [plan.scenario(n).resolve().spec for n in range(4)]
    assert len({str(spec["jobs"][1]["nodes"]) for spec in specs}) == 2
    assert [spec["routing"]["name"] for spec in specs] == ["fpar", "minimal"] * 2
    assert label(dict(plan.point(2))["job.noise.place"]) == '{ policy = "contiguous", groups = "0-2" }'


def test_derived_columns_can_be_shown(study: Write) -> None:
    """docs/sweeps.md says so: they are computed when the study is read."""
    names = [column.name for column in DERIVED]
    assert study(f"{STUDY}[show]\ncolumns = {names}\n").show.columns == ("accepted_fraction", "iteration_variation")
    with pytest.raises(InputError, match="did you mean `iteration_variation`"):
        study(f'{STUDY}[show]\ncolumns = ["iteration_variatoin"]\n')


def test_the_base_may_stand_in_the_study(study: Write, here: Path) -> None:
    text = Path("base.toml").read_text().replace("[[job]]", "[[base.job]]").replace("[measure]", "[base.measure]")
    plan = study(f'[sweep]\n"run.seed" = [1, 2]\n[base]\n{text}')
    alone = study('base = "base.toml"\n[sweep]\n"run.seed" = [1, 2]\n')
    assert [plan.scenario(n).resolve().id for n in (0, 1)] == [alone.scenario(n).resolve().id for n in (0, 1)]
    with pytest.raises(InputError, match=r"^study.toml:10: `message`: the size `4 KX`|unit of size"):
        study(f'[sweep]\n"run.seed" = [1]\n[base]\n{text.replace("4 KB", "4 KX")}')


def test_what_is_set_on_the_command_line_changes_the_base(study: Write) -> None:
    plan = study(STUDY, overrides=("job.target.app.messages=3", "measure.warm_up=1 us"))
    assert plan.scenario(0).resolve().spec["jobs"][0]["traffic"]["intervals"] == 3
    assert "messages = 3" in plan.base.text


def problem(study: Write, text: str, *overrides: str) -> str:
    with pytest.raises(InputError) as raised:
        study(text, overrides=overrides)
    return str(raised.value)


AXES = 'base = "base.toml"\n[sweep]\nrouting = ["fpar"]\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "study.toml: the study has no axis"),
        ('base = "base.toml"\n[swep]\n', "study.toml:2: unknown table `swep`\n  hint: did you mean `sweep`?"),
        ('base = "gone.toml"\n[sweep]\nrouting = ["fpar"]', "study.toml:1: there is no scenario `gone.toml`"),
        ('[sweep]\nrouting = ["fpar"]', "study.toml: the study has no `base`"),
        (AXES + '"run.seed" = []', "study.toml:4: `run.seed`: the axis has no values"),
        (AXES + '"run.seed" = 3', "study.toml:4: `run.seed`: expected a list of values or a range, found `3`"),
        (
            AXES + '"run.seed" = { from = 1, too = 2 }',
            "study.toml:4: `run.seed`: unknown key of a range `too`\n  hint: did you mean `to`?",
        ),
        (AXES + '"run.seed" = { from = 1 }', "study.toml:4: `run.seed`: the range has no `to`"),
        (AXES + '"run.seed" = { from = 5, to = 1 }', "study.toml:4: `run.seed`: `5` is more than `1`"),
        (AXES + '"run.seed" = { from = 1, to = 9000000000 }', "study.toml:4: `run.seed`: the range has 9,000,000,000"),
        (AXES + '[zip]\nrouting = ["minimal"]', "study.toml:5: `routing` has two axes"),
        (AXES + '"run.seed" = [1]\nrun.seed = [2]', "study.toml:5: `run.seed` has two axes"),
        (AXES + '"routing.threshold" = [0.5]\n[zip]\nrouting = ["fpar"]', "study.toml:6: `routing` has two axes"),
        (
            'base = "base.toml"\n[sweep]\n"routing.threshold" = [0.5]\nrouting = ["fpar"]',
            "study.toml:4: the axis `routing` would overwrite what the axis `routing.threshold` has set",
        ),
        (
            AXES + '[zip]\n"run.seed" = [1, 2]\n"job.target.app.messages" = [1, 2, 3]',
            "study.toml:6: `job.target.app.messages` has 3 values and `run.seed` has 2: keys under [zip] need lists",
        ),
        (AXES + '"job.tarrget.nodes" = [1]', "study.toml:4: cannot set `job.tarrget.nodes`: there is no job `tarrget`"),
        (AXES + '"rooting" = ["fpar"]', "study.toml:4: unknown key `rooting`\n  hint: did you mean `routing`?"),
        ('base = "base.toml"\n[sweep]\nrouting = [\n"fpar",\n"minmal",\n]', "study.toml:5: unknown routing `minmal`"),
        (
            AXES + '"job.target.app.interval" = ["1 us", "2 uss"]',
            "study.toml:4: `interval`: `uss` is not a unit of time\n  hint: did you mean `us`?",
        ),
        (
            AXES + '"job.target.place" = ["contiguous",\n"levelspread"]',
            "study.toml:5: unknown placement policy `levelspread`\n  hint: did you mean `level-spread`?",
        ),
        (
            AXES + '"job.target.place" = ["contiguous",\n{ policy = "per-leaf", perleaf = 1 }]',
            "study.toml:5: unknown option of `per-leaf` `perleaf`\n  hint: did you mean `per_leaf`?",
        ),
        (AXES + '"job.target.place" = [{ nodes = "gone.txt" }]', "study.toml:4: there is no file `gone.txt`"),
        (AXES + '"job.target.app" = [{ trace = "gone.goal" }]', "study.toml:4: there is no file `gone.goal`"),
        (
            AXES + '"job.target.app" = [{ motif = "ping-pong", message = "1 B", mapping = "gone.txt" }]',
            "study.toml:4: there is no file `gone.txt`",
        ),
        (
            AXES + '"run.until" = ["target",\n"1 ms",\n"tragt"]',
            "study.toml:6: there is no job `tragt`\n  hint: did you mean `target`?",
        ),
        (AXES + 'system = ["tiny",\n"kang"]', "study.toml:5: unknown system `kang`\n  hint: did you mean `kang2019`?"),
        (AXES + 'system = ["gone.toml"]', "study.toml:4: gone.toml: cannot read it: no such file or directory"),
        (
            AXES + '"fabric.links.glboal.latency" = ["1 us"]',
            "study.toml:4: unknown class of links `glboal`\n  hint: did you mean `global`?",
        ),
        (AXES + '"job.target.app.interval" = [1]', "study.toml:4: `interval`: the time 1 has no unit"),
        (AXES + "[random]\nseed = 1", "study.toml:4: [random] has no `samples`"),
        (AXES + "[random]\nsamples = 2\nseed = 1", "study.toml:4: [random] draws nothing"),
        (AXES + "[random]\nsamples = 0\nseed = 1", "study.toml:5: `samples`: expected a whole number from 1"),
        (
            AXES + '[random]\nsamples = 2\nseed = 1\n"run.seed" = { integer = [1, 2] }',
            "study.toml:7: `run.seed`: unknown distribution `integer`\n  hint: did you mean `integers`?",
        ),
        (
            AXES + '[random]\nsamples = 2\nseed = 1\n"run.seed" = { integers = [2, 1] }',
            "study.toml:7: `run.seed`: `2` is more than `1`",
        ),
        (AXES + '[show]\ncolumns = ["latency_p5"]', "study.toml:5: unknown column `latency_p5`"),
        (AXES + '[show]\nby = ["run.seed"]', "study.toml:5: unknown axis `run.seed`"),
        (AXES + '[show]\njob = "tarrget"', "study.toml:5: unknown job `tarrget`\n  hint: did you mean `target`?"),
        (AXES + "[cluster]\ncore = 2", "study.toml:5: unknown key `core`\n  hint: did you mean `cores`?"),
        (AXES + '[cluster]\ncores = "2"', "study.toml:5: `cores`: expected a whole number from 1 on"),
        (
            AXES + '"run.seed" = { from = 1, to = 1000000 }\n"job.target.app.messages" = { from = 1, to = 100 }',
            "study.toml: the study has 1 x 1,000,000 x 100 = 100,000,000 points, at most 10,000,000 are possible",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_line(study: Write, text: str, expected: str) -> None:
    message = problem(study, text)
    assert message.startswith(expected), message


def test_errors_of_the_scenario_are_of_its_own_file(study: Write) -> None:
    base = Path("base.toml")
    base.write_text(base.read_text().replace('"4 KB"', '"4 KX"'))
    assert problem(study, AXES).startswith("base.toml:7: `message`:")
    base.write_text(base.read_text().replace('"4 KX"', '"4 KB"'))
    assert problem(study, AXES, "job.target.app.message=4 KX").startswith("base.toml with -s job.target.app.message:")
    assert problem(study, AXES, "run.seed").startswith("`-s run.seed` has no value")
    assert "`routing` is an axis of the study" in problem(study, AXES, "routing=minimal")
    assert "`routing` is an axis of the study" in problem(study, AXES, "routing.threshold=0.5")
    assert problem(study, AXES, "run.sed=3").startswith("base.toml with -s run.sed: unknown key `sed`")


def test_what_only_another_axis_makes_right_is_left_to_the_runs(study: Write) -> None:
    """Groups that only the larger machine has, and a machine that two axes describe together."""
    assert len(
        study(AXES + 'system = ["tiny", "kang2019"]\n"job.target.place" = [{ policy = "contiguous", groups = "8" }]')
    )
    assert len(study(AXES + 'system = ["tiny", "aries"]\n"fabric.links.optical.latency" = ["1 us"]'))
