"""`odonata cluster`: the commands for a real cluster; each is imported when it is called."""

from __future__ import annotations

from cyclopts import App

cluster = App(
    "cluster",
    help="Work on a real cluster: how busy its network is, nodes for a job, latencies and how they vary, its machine.",
)
cluster.command(
    "odonata.cli.cluster_allocations:allocations",
    name="allocations",
    help="Say where the running jobs are: switches and groups, links that they share, and how far from a policy.",
)
cluster.command(
    "odonata.cli.cluster_analyse:analyse",
    name="analyse",
    help="Analyse times of iterations: spread, tail, peaks, distribution, correlation with another column.",
)
cluster.command(
    "odonata.cli.cluster_background:background",
    name="background",
    help="Compute the background utilisation b: the share of the machine whose nodes run jobs of two nodes or more.",
)
cluster.command(
    "odonata.cli.cluster_select:select",
    name="select",
    help="Select idle nodes for a job, by a placement policy; print them for `sbatch -w`.",
)
cluster.command(
    "odonata.cli.cluster_import:import_", name="import", help="Make a system file of the network of a real cluster."
)
cluster.command(
    "odonata.cli.cluster_probe:probe",
    name="probe",
    help="Measure the latency of MPI operations, and the background utilisation before and after.",
)
cluster.command(
    "odonata.cli.cluster_train:train",
    name="train",
    help="Learn from records of runs how likely a run is to fall into the long tail, and check it on later runs.",
)
cluster.command(
    "odonata.cli.cluster_predict:predict",
    name="predict",
    help="Predict at submission whether a run falls into the long tail of its job, and how long it takes.",
)
cluster.command(
    "odonata.cli.cluster_when:when",
    name="when",
    help="Say whether a run should start now or when jobs of the queue have ended, and what waiting costs.",
)
cluster.command(
    "odonata.cli.cluster_snapshot:snapshot",
    name="snapshot",
    help="Make a scenario of the jobs that run: on their own nodes, with traffic from a traffic book.",
)
cluster.command(
    "odonata.cli.cluster_snapshot:holds",
    name="holds",
    help="Say what holds for all assumptions about the traffic, from the study of `snapshot --vary traffic`.",
)
cluster.command(
    "odonata.cli.cluster_impact:impact",
    name="impact",
    help="Say of all running jobs how much longer they take than alone, because of whom, and at which links.",
)
cluster.command(
    "odonata.cli.cluster_traffic:traffic",
    name="traffic",
    help="Say what past jobs sent, by the counters of their NICs, and write a traffic book of it.",
)
cluster.command(
    "odonata.cli.cluster_watch:watch",
    name="watch",
    help="Watch a cluster for weeks: sample the queue, keep records, and export metrics for Prometheus.",
)
cluster.command(
    "odonata.cli.cluster_week:week",
    name="week",
    help="Say which jobs lost how many node-hours to neighbours, and how right predictions were, from records.",
)
