"""Published figures, simulated again: ours over theirs, with a verdict.

A reproduction (`reproduction.py`) is a study like any other, made in Python: points, a function that makes the scenario
of each, and what is kept of its runs (`odonata.sweep`). A function turns the study's tables into rows (`rows.py`), and
a template into a page (`page.py`). A value that cannot be reproduced is shown with both numbers, and with a cause only
if an experiment supports it. Parameters that were chosen by published values make these values kind F (`rows.py`).

To add one, add its module with a `REPRODUCTION` (or several, by name, in `ALL`) and a line to `REPRODUCTIONS`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from odonata.errors import unknown

if TYPE_CHECKING:
    from odonata.reproduce.reproduction import Reproduction

REPRODUCTIONS: dict[str, str] = {
    "kang2019-4kb": "odonata.reproduce.kang2019.four_kb",
    "kang2019-512kb-4mb": "odonata.reproduce.kang2019.large",
    "kang2019-matrix": "odonata.reproduce.kang2019.matrix",
    "kang2019-matrix-512kb": "odonata.reproduce.kang2019.matrix",
    "kang2019-broadcast": "odonata.reproduce.kang2019.broadcast",
    "kang2019-background": "odonata.reproduce.kang2019.background",
    "kang2019-variants": "odonata.reproduce.kang2019.variants",
    "kang2019-metric": "odonata.reproduce.kang2019.metric",
    "kang2019-defects": "odonata.reproduce.kang2019.defects",
    "kang2019-calibration": "odonata.reproduce.kang2019.calibration",
    "latency-load": "odonata.reproduce.latency_load.load",
    "league": "odonata.reproduce.league.page",
    "q-adaptive": "odonata.reproduce.q_adaptive.page",
    "booksim-uniform": "odonata.reproduce.booksim.uniform",
    "congestion-control": "odonata.reproduce.congestion.control",
    "nccl": "odonata.reproduce.nccl.busbw",
    "training": "odonata.reproduce.training.steps",
    "desensi2019-model": "odonata.reproduce.desensi2019.model",
    "desensi2019-hosts": "odonata.reproduce.desensi2019.hosts",
    "desensi2019-fig3": "odonata.reproduce.desensi2019.distances",
    "desensi2019-fig4": "odonata.reproduce.desensi2019.one_node",
    "desensi2019-fig5": "odonata.reproduce.desensi2019.dispersion",
    "desensi2019-fig7": "odonata.reproduce.desensi2019.modes",
    "desensi2019-buffers": "odonata.reproduce.desensi2019.buffers",
    **{f"desensi2019-fig{number}": "odonata.reproduce.desensi2019.comparisons" for number in (8, 9, 10)},
    **{f"zhang2018-fig{number}": "odonata.reproduce.zhang2018.figures" for number in (2, *range(4, 14))},
    "zhang2018-variants": "odonata.reproduce.zhang2018.figures",
    "zhang2018-routers": "odonata.reproduce.zhang2018.figures",
    "salimi-beni2022": "odonata.reproduce.salimibeni2022.marconi100",
    "salimi-beni2022-tail": "odonata.reproduce.salimibeni2022.tail",
    "salimi-beni2022-mix": "odonata.reproduce.salimibeni2022.mix",
    "salimi-beni2022-tapering": "odonata.reproduce.salimibeni2022.tapering",
    "salimi-beni2022-on-leonardo": "odonata.reproduce.salimibeni2022.leonardo",
    **{f"interference-{of}": "odonata.reproduce.interference.page" for of in ("leonardo", "lumi", "cresco8")},
    "placement-measured": "odonata.reproduce.placement.page",
    "placement-lumi": "odonata.reproduce.placement.lumi",
    "calibration": "odonata.reproduce.calibration.page",
    "steady": "odonata.reproduce.steady.page",
    "steady-rings": "odonata.reproduce.steady.rings",
}
"""Name -> module that defines it."""


def find(name: str) -> Reproduction:
    """The reproduction of that name. Raises InputError if there is none."""
    if name not in REPRODUCTIONS:
        raise unknown("reproduction", name, REPRODUCTIONS)
    module = import_module(REPRODUCTIONS[name])
    reproduction: Reproduction = module.ALL[name] if hasattr(module, "ALL") else module.REPRODUCTION
    return reproduction


__all__ = ["REPRODUCTIONS", "find"]
