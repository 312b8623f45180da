"""Slurm: what its commands print, the commands, and the options of `sbatch`."""
