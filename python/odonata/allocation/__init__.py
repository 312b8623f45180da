"""Nodes for a job on a real cluster, its submission, and where the running jobs are."""
