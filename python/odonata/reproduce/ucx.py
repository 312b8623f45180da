"""What UCX does below Open MPI on InfiniBand, where it decides what the network sees."""

from __future__ import annotations

BLOCKING_EAGER = "256 KiB"
"""Largest message of MPI_Send that is sent without asking: Open MPI sends with `ucp_tag_send_nbr` (open-mpi/ompi, pull
request 4719), whose limit is `UCX_RNDV_SEND_NBR_THRESH`, 256 KiB, whatever the transport (openucx/ucx, issue 4430)."""
DC_FROM = 61
"""Ranks from which UCX takes DC in place of RC, whose latency it reckons 1 ns more for each peer and DC's 60 ns more
(openucx/ucx, rc_mlx5_iface.c and dc_mlx5.c)."""
INITIATORS = 8
"""Initiators of DC of a rank before version 1.18 (openucx/ucx, `UCX_DC_MLX5_NUM_DCI`): it fetches from so many."""


def connections(ranks: int) -> dict[str, int]:
    """What of `overhead` follows from the number of ranks: with DC a rank asks for a few messages at a time."""
    return {"fetches": INITIATORS} if ranks >= DC_FROM else {}
