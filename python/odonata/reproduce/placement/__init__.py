"""Two jobs on the same nodes of Leonardo in several placements (De Sensi et al., SC 2024), simulated again."""
