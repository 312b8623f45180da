"""Costs of the host of LUMI and Leonardo, fitted to measured medians of small runs and compared with larger ones."""
