"""Measures the latency of collectives on a real cluster: a small MPI program, its build, its start and its records."""

from odonata.probe.configurations import GAP_S, ITERATIONS, OPERATIONS, SIZES, WARMUP
from odonata.probe.measure import MOST_CHANGE, Probe, probe

__all__ = ["GAP_S", "ITERATIONS", "MOST_CHANGE", "OPERATIONS", "SIZES", "WARMUP", "Probe", "probe"]
