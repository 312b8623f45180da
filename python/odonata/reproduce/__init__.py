"""Published figures, simulated anew: ours over theirs, with a verdict.

A study is a folder's worth of files: which cases are simulated (`study.toml`, read by `grid`), what the paper says
(`expected.csv`), a page and a picture. `pool` runs the cases and keeps what they gave; `measures` and `verdict` turn it
into rows. A value that cannot be reproduced is shown with both numbers and the reason; nothing is tuned until it fits.

To add a study, add its module with a `STUDY` (or several, by name, in `ALL`) and a line to `STUDIES`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from odonata.errors import unknown

if TYPE_CHECKING:
    from odonata.reproduce.study import Study

STUDIES: dict[str, str] = {
    "kang2019-4kb": "odonata.reproduce.kang2019.four_kb",
    "kang2019-variants": "odonata.reproduce.kang2019.variants",
    "kang2019-calibration": "odonata.reproduce.kang2019.calibration",
    "latency-load": "odonata.reproduce.latency_load.latency_load",
    "aries-modes": "odonata.reproduce.aries_modes.aries_modes",
    **{f"zhang2018-fig{number}": "odonata.reproduce.zhang2018.studies" for number in (2, *range(4, 14))},
    "zhang2018-variants": "odonata.reproduce.zhang2018.studies",
}
"""Name -> module that defines it."""


def find(name: str) -> Study:
    """The study of that name. Raises InputError if there is none."""
    if name not in STUDIES:
        raise unknown("study", name, STUDIES)
    module = import_module(STUDIES[name])
    found: Study = module.ALL[name] if hasattr(module, "ALL") else module.STUDY
    return found


__all__ = ["STUDIES", "find"]
