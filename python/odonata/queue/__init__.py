"""Queues of real clusters: jobs, nodes, switches and past jobs, from the files and commands of a workload manager.

`records` has what a job and a node are, whatever manager lists them; `hosts` parses all lists of nodes. `snapshot`
(queue and nodes), `topology` and `accounting` recognise a file by its content. `slurm` has the formats and commands of
Slurm; those of another manager are a package beside it.
"""
