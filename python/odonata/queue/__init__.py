"""Queues of real clusters: jobs, nodes, switches and past jobs, from the files and commands of a workload manager.

`records` defines jobs and nodes for every workload manager, and `hosts` parses lists of nodes. `snapshot` (queue and
nodes), `topology` and `accounting` recognise the format of a file by its content. `slurm` has the formats and commands
of Slurm; another manager would be another package.
"""
