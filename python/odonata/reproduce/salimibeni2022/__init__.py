"""Salimi Beni and Cosenza, "An Analysis of Performance Variability on Dragonfly+ Topology", 2022: long tails of the
latency on Marconi100, with more than 100 distributions fitted, and background traffic."""
