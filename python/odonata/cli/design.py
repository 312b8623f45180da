"""`odonata design`: machines of every kind for the same NICs, switches and taper."""

import json as json_module
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter, validators

from odonata.errors import InputError

if TYPE_CHECKING:
    from odonata.machine.design import Designed

Positive = Annotated[int, Parameter(validator=validators.Number(gte=1))]
Kind = Literal["fat-tree", "dragonfly-plus", "dragonfly", "hyperx"]

_MOST_TARGET = 64
"""Nodes of the job of the study at most, so that the study takes minutes."""


def design(
    nics: Positive,
    /,
    *,
    radix: Positive,
    taper: str = "1:1",
    nics_per_node: Positive = 1,
    bandwidth: str = "400 Gbit/s",
    kind: Annotated[list[Kind] | None, Parameter(negative=())] = None,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"])] = None,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Compare machines of every kind with the same NICs, switches and taper, and write them as system files.

    Of each kind it is the machine with the fewest switches, then the fewest cables, whose links carry uniform random
    traffic of all NICs on minimal paths. Costs count switches, cables and ports; a study compares how long jobs take.

    Parameters
    ----------
    nics
        NICs at least: of an AI cluster, usually one for each GPU.
    radix
        Ports of a switch.
    taper
        What NICs send to what the links behind them carry: `1:1`, or `2:1` for half of the links. In a fat tree it is
        that of the leaves.
    nics_per_node
        NICs of a node. On a fat tree and a dragonfly they are on different switches, on others on one switch.
    bandwidth
        Bandwidth of every link. (Default: one port of NDR InfiniBand or 400 Gbit/s Ethernet.)
    kind
        Only this kind; can be repeated.
    out
        Write KIND.toml for each kind into this new folder, and a study of all of them.
    json
        Print one JSON object.
    """
    from odonata.cli import design_text
    from odonata.machine.design import Wanted, designs

    wanted = Wanted(nics, radix, _ratio(taper), nics_per_node)
    machines = designs(wanted, bandwidth, tuple(dict.fromkeys(kind or ())))
    facts = design_text.facts(wanted, bandwidth, machines, kind or ())
    if out is not None:
        _write(out, nics, machines)
    print(json_module.dumps(facts) if json else design_text.text(facts))
    if out is not None and not json:
        study = _study_of(out)
        print(f"\n{out}: {', '.join(f'{of.kind}.toml' for of in machines)}, {study.name}")
        print(f"compare them: odonata sweep {study}")
    return 0


def _ratio(text: str) -> Fraction:
    """2 for `2:1`. Raises InputError."""
    over, colon, under = text.partition(":")
    try:
        ratio = Fraction(over.strip()) / Fraction(under.strip() if colon else "1")
    except (ValueError, ZeroDivisionError):
        raise InputError(f"`--taper`: expected a ratio such as 2:1, found `{text}`") from None
    if ratio < 1:
        raise InputError(f"`--taper`: expected at least 1:1, found `{text}`", hint="2:1 halves the links")
    return ratio


def _study_of(folder: Path) -> Path:
    """The file of the study: its name has that of the folder, because results go to a folder of this name."""
    return folder / f"{folder.resolve().name}-compare.toml"


def _write(folder: Path, nics: int, machines: "list[Designed]") -> None:
    """The system files and the study, into a new folder."""
    from importlib.resources import files

    from odonata.cli import design_text
    from odonata.document import writing
    from odonata.schemas import line_of

    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise InputError(f"`--out`: `{folder}` exists already", hint="choose another name") from None
    for of in machines:
        text = f"{line_of('system')}\n{writing.text(of.table)}"
        (folder / f"{of.kind}.toml").write_text(text, encoding="utf-8")
    nodes = min(of.system.shape.nodes for of in machines)
    target = max(1, min(nodes // 4, _MOST_TARGET))
    values: dict[str, Any] = {
        "NICS": f"{nics:,}",
        "SYSTEMS": ", ".join(f'"{of.kind}.toml"' for of in machines),
        "FIRST": f'"{machines[0].kind}.toml"',
        "TARGET": str(target),
        "OTHERS": str(min(2 * target, nodes - target)),
        "RANKS": str(machines[0].table.get("rails", 1)),
        "ROUTINGS": ", ".join(f"{of.kind} {design_text.routing(of)}" for of in machines),
        "FILE": str(_study_of(folder)),
        "STUDY": f"studies/{_study_of(folder).stem}",
    }
    study = (files("odonata.machine.design") / "compare.template").read_text(encoding="utf-8")
    for name, value in values.items():
        study = study.replace(name, value)
    _study_of(folder).write_text(f"{line_of('study')}\n{study}", encoding="utf-8")
