"""Kang et al., "Modeling and Analysis of Application Interference on Dragonfly+", SIGSIM-PADS 2019."""
