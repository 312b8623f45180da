"""Fits the costs of the host to measured times of collectives, by simulating the same collectives.

| file | what it does |
|---|---|
| `measurements` | reads measured medians, and names algorithms as Odonata does |
| `simulated` | the simulated time of a measurement, for given costs |
| `fit` | the costs under which both agree best, with intervals |
| `calibrate` | all of it: which part is held out, errors, and the file with the result |
"""

from odonata.calibration.calibrate import Calibration, calibrate

__all__ = ["Calibration", "calibrate"]
