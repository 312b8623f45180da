"""The applications of jobs: patterns, collectives, motifs, traces, matrices and training, one file for each family.

A pattern sends at intervals, independent of delivery (open loop; docs/model.md, section 7). Collectives, motifs,
traces, matrices and training are programs, whose operations wait for each other (closed loop; section 10). `listed.py`
has all names. A program becomes phases with every size and cost, and a node for each rank; a trace becomes a graph of
operations for each rank, `train` one for each stage.
"""
