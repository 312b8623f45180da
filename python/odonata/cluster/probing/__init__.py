"""Measures the latency of collectives on a real cluster: a small MPI program, its build, its start and its records."""

from odonata.cluster.probing.configurations import GAP_S, ITERATIONS, OPERATIONS, SIZES, WARMUP
from odonata.cluster.probing.measure import MOST_CHANGE, Probe, probe

__all__ = ["GAP_S", "ITERATIONS", "MOST_CHANGE", "OPERATIONS", "SIZES", "WARMUP", "Probe", "probe"]
