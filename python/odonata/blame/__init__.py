"""Explains interference: which job makes which job wait, where and why, and which jobs are faster without another
one."""

from typing import TYPE_CHECKING

from odonata.lazy import lazily

if TYPE_CHECKING:
    from odonata.blame.alone import Beside, Part
    from odonata.blame.causes import Cause, JobCauses, Place, causes_of
    from odonata.blame.explanation import Explanation, explain
    from odonata.blame.programs import LeftOut, ProgramTime, Share
    from odonata.blame.shapley import Shapley
    from odonata.blame.without import Without

__all__ = [
    "Beside",
    "Cause",
    "Explanation",
    "JobCauses",
    "LeftOut",
    "Part",
    "Place",
    "ProgramTime",
    "Shapley",
    "Share",
    "Without",
    "causes_of",
    "explain",
]

__getattr__ = lazily(
    __name__,
    {
        "alone": ("Beside", "Part"),
        "causes": ("Cause", "JobCauses", "Place", "causes_of"),
        "explanation": ("Explanation", "explain"),
        "programs": ("LeftOut", "ProgramTime", "Share"),
        "shapley": ("Shapley",),
        "without": ("Without",),
    },
)
