"""`aries-modes`: phantom congestion and large messages under the routing modes of Aries."""

from __future__ import annotations

import textwrap
import tomllib
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from odonata.reproduce.aries_modes import modes_tables
from odonata.reproduce.aries_modes.found import found
from odonata.reproduce.aries_modes.modes_figure import draw
from odonata.reproduce.aries_modes.modes_grid import read_modes
from odonata.reproduce.aries_modes.relations import compare, relations
from odonata.reproduce.markdown import reasons
from odonata.reproduce.study import Study

if TYPE_CHECKING:
    from collections.abc import Sequence

    from odonata.reproduce.aries_modes.found import ModesResults
    from odonata.reproduce.rows import Row

_HERE = "odonata.reproduce.aries_modes"


def _page(rows: Sequence[Row], results: ModesResults) -> str:
    known = found(results)
    said = relations(known)
    counts = {
        id_: f"{sum(one.verdict == 'match' for one in said if one.id == id_)} of {sum(one.id == id_ for one in said)}"
        for id_ in ("D8", "D22")
    }
    return Template(_read("aries_modes.md")).substitute(
        setting=_setting(),
        phantom_count=counts["D8"],
        pairs_count=counts["D22"],
        phantom=modes_tables.statements([one for one in said if one.id == "D8"]),
        pairs_said=modes_tables.statements([one for one in said if one.id == "D22"]),
        reasons=reasons(rows),
        delays=modes_tables.delays(known),
        pairs=modes_tables.pairs(known),
        load=f"{known.modes_load():g}",
        modes=modes_tables.modes(known),
        delay_variants=modes_tables.delay_variants(known),
        pair_variants=modes_tables.pair_variants(known),
    )


def _setting() -> str:
    """The fixed settings of the full form in words."""
    study = tomllib.loads(_read("study.toml"))
    form, around, job, pair = (study[key] for key in ("full", "around", "delay_job", "pair_job"))
    trips = ", ".join(f"{name} {trip}" for name, trip in study["round_trips"].items())
    words = (
        f"Machine: the preset `{form['system']}`. Background: {form['nodes']:,} nodes drawn at random that send "
        f"messages of {around['message']} to each other (`{around['pattern']}`), always in mode `adaptive-0`. Its load "
        "is in percent of what the cables between groups would carry if all of it went the shortest way. Sensors: "
        f"`{around['sensing']}`, and what credits tell is known a round trip of the link late ({trips}). Biases and "
        "numbers of candidates are the modes' defaults: 2 + 2 candidates, a bias of 0, 2 KiB (low) or 8 KiB (high). "
        f"First experiment: {job['ranks']} nodes drawn at random send {job['message']} to each other every "
        f"{job['interval']} on average; the messages issued in {job['window']} count. Second: {pair['repeats'] - 1} "
        f"messages of {pair['message']} count for each pair."
    )
    return textwrap.fill(words, 120, break_long_words=False, break_on_hyphens=False)


def _read(file: str) -> str:
    return (files(_HERE) / file).read_text(encoding="utf-8")


STUDY = Study(
    name="aries-modes",
    title="Routing modes of Aries: phantom congestion; 4 MiB inside a group and between groups (De Sensi 2019)",
    package=_HERE,
    file="study.toml",
    compare=compare,
    page=_page,
    picture=draw,
    read=read_modes,
)
