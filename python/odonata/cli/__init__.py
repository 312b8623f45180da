"""The command line: one command a file, this table, and `main`.

CONTRIBUTING.md says how to add a command. A file is imported when its command is used, so `odonata --help` stays fast.
A command imports its libraries inside its function for the same reason.
"""

from __future__ import annotations

COMMANDS: dict[str, tuple[str, str]] = {
    "new": ("odonata.cli.new:new", "Write a commented scenario, study or schedule that runs in seconds."),
    "run": ("odonata.cli.run:run", "Simulate a scenario and print the latencies of its messages."),
    "sweep": ("odonata.cli.sweep:sweep", "Run a scenario along many axes, each run once. Resumable."),
    "compare": ("odonata.cli.compare:compare", "Compare the runs of a study by one axis, with intervals."),
    "plot": ("odonata.cli.plot:plot", "Draw a run or a study: latencies as boxes, load of links, traffic over time."),
    "report": (
        "odonata.cli.report:report",
        "Write a run, two runs or a study as one HTML file, or open it.",
    ),
    "archive": ("odonata.cli.archive:archive", "Pack a run or a study with all that is needed to repeat it."),
    "explain": ("odonata.cli.explain:explain", "Explain who makes whom wait in a run, where, and what for."),
    "advise": ("odonata.cli.advise:advise", "Search for changes of a scenario that make a job faster."),
    "schedule": (
        "odonata.cli.schedule:schedule",
        "Simulate a stream of jobs over days, in which contention makes jobs slower.",
    ),
    "schema": ("odonata.cli.schema:schema", "Print the JSON schema of a kind of file, for editors."),
    "show": ("odonata.cli.show:show", "List or print systems, routings, placements, applications and columns."),
    "export": ("odonata.cli.export:export", "Write a machine or a run for other tools."),
    "trace": ("odonata.cli.trace:trace", "Write what a job's ranks do as a trace, for other tools."),
    "design": (
        "odonata.cli.design:design",
        "Compare machines of every kind with the same NICs, switches and taper.",
    ),
    "place": ("odonata.cli.place:place", "Ask a placement policy for nodes."),
    "cluster": (
        "odonata.cli.cluster:cluster",
        "A real cluster: background utilisation, nodes for a job, times of iterations, its network.",
    ),
    "calibrate": (
        "odonata.cli.calibrate:calibrate",
        "Fit the costs of a system's host to measured times of collectives.",
    ),
    "reproduce": ("odonata.cli.reproduce:reproduce", "Repeat a paper's figures: ours beside theirs, with a verdict."),
    "bench": ("odonata.cli.bench:bench", "Measure the simulator on this machine."),
}
"""Command -> where its function is, and its line in `odonata --help`."""

GROUPS: dict[str, tuple[str, ...]] = {
    "Simulate": ("new", "schema", "run", "sweep", "schedule"),
    "Look": ("show", "plot", "report", "compare", "explain", "export", "archive", "trace"),
    "Decide": ("advise", "place", "design"),
    "Real cluster": ("cluster", "calibrate"),
    "Develop": ("reproduce", "bench"),
}
"""The commands as `odonata --help` lists them."""
