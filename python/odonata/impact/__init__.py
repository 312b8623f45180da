"""What all running jobs of a queue cost each other now: one simulation of the machine, and each job once alone."""

from odonata.impact.impact import impact
from odonata.impact.result import Impact, JobImpact

__all__ = ["Impact", "JobImpact", "impact"]
