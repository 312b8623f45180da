"""Background utilisation: how much of a machine is used by jobs that communicate, now, in the past and simulated."""
