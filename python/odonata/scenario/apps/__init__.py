"""The applications of jobs: patterns, collectives, motifs, traces, matrices and training, one file for each family.

A pattern sends at intervals, independent of delivery (open loop; docs/model.md, section 7). Collectives, motifs,
traces, matrices and training are programs, whose operations wait for each other (closed loop; section 10). `listed.py`
has all names.
"""
