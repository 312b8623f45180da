"""Latencies of the simulator BookSim 2, and ours."""
