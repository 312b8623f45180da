"""Motifs as a scenario names them: one file each, listed in `MOTIFS`."""

from odonata.scenario.apps.motifs.motif import Motif

#: All motifs by name.
MOTIFS: dict[str, type[Motif]] = {}

__all__ = ["MOTIFS", "Motif"]
