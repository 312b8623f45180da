"""Measured times of iterations: tables of them, and their spread, tail, peaks, distribution and correlation."""
