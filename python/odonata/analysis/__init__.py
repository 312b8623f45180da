"""Analyses of a run's tables: pure functions, frames and arrays in, frames and arrays out."""
