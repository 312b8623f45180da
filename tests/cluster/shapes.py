"""The same small queue as each release of Slurm writes it.

Ten nodes, the worked example of the catalogue (V9): jobs A on n[1-3], B on n[3-4] and C on n5 run, D waits, E is being
cleaned up. So Ne = 4, N'e = 5, Na = 6, and b = 0.4 * 5/6.
"""

from __future__ import annotations

import json
from typing import Any

JOBS = [
    (1, "RUNNING", [], "n[01-03]", 3),
    (2, "RUNNING", [], "n[03-04]", 2),
    (3, "RUNNING", [], "n05", 1),
    (4, "PENDING", [], "", 4),
    (5, "COMPLETED", ["COMPLETING"], "n[08-09]", 2),
]
NODES = {
    "n01": ("ALLOCATED", []),
    "n02": ("ALLOCATED", []),
    "n03": ("MIXED", []),
    "n04": ("ALLOCATED", []),
    "n05": ("MIXED", ["DRAIN"]),
    "n06": ("IDLE", []),
    "n07": ("IDLE", ["DRAIN"]),
    "n08": ("IDLE", ["COMPLETING"]),
    "n09": ("IDLE", ["COMPLETING", "NOT_RESPONDING"]),
    "n10": ("IDLE", ["PLANNED"]),
}
IDLE = ["n06", "n10"]
RELEASES = ["21.08", "22.05", "23.02", "23.11", "24.05", "24.11", "25.05"]


def _meta(release: str) -> dict[str, Any]:
    major, minor = release.split(".")
    plugins: dict[str, dict[str, str]] = {
        "21.08": {"type": "openapi/v0.0.37", "name": "Slurm OpenAPI v0.0.37"},
        "22.05": {"type": "openapi/v0.0.38", "name": "Slurm OpenAPI v0.0.38"},
        "23.02": {"type": "openapi/dbv0.0.39", "data_parser": "v0.0.39"},
        "23.11": {"type": "", "data_parser": "data_parser/v0.0.40"},
        "24.05": {"type": "", "data_parser": "data_parser/v0.0.41"},
        "24.11": {"type": "", "data_parser": "data_parser/v0.0.42"},
        "25.05": {"type": "", "data_parser": "data_parser/v0.0.43"},
    }
    old = release < "23.11"
    version: dict[str, Any] = {"major": int(major), "micro": 8, "minor": int(minor)}
    if not old:
        version = {key: str(value) for key, value in version.items()}
    return {"plugin": plugins[release], "Slurm" if old else "slurm": {"version": version, "release": f"{release}.8"}}


def _number(value: int, release: str) -> Any:
    return value if release < "23.02" else {"set": True, "infinite": False, "number": value}


def queue(release: str) -> str:
    """`squeue --json` of a release."""
    jobs = []
    for job, state, flags, nodes, count in JOBS:
        states = [state, *flags]
        record: dict[str, Any] = {
            "job_id": job,
            "job_state": states if release >= "23.11" else states[-1],
            "nodes": nodes,
            "node_count": _number(count, release),
            "partition": "main",
            "start_time": _number(1_700_000_000, release),
            "a key of the future": {"with": [None]},
        }
        if nodes and release >= "24.05":
            allocation = [{"name": nodes, "cpus": {"count": 4, "used": 0}, "sockets": []}]
            inner = {"count": count, "select_type": ["AVAILABLE"], "list": nodes, "whole": False}
            record["job_resources"] = {"cpus": 4, "nodes": inner | {"allocation": allocation}}
        elif nodes:
            record["job_resources"] = {"nodes": nodes, "allocated_hosts": count}
        else:
            record["job_resources"] = {} if release < "23.11" else None
        jobs.append(record)
    tail = {"warnings": []} if release >= "23.02" else {}
    return json.dumps({"meta": _meta(release), "errors": [], "jobs": jobs, **tail}, indent=1)


def nodes(release: str) -> str:
    """`sinfo --json` of a release: each node until 22.05, sets of like nodes for each partition since."""
    if release < "23.02":
        records: list[dict[str, Any]] = [
            {"name": name, "state": state.lower(), "state_flags": flags, "partitions": ["main", "all"]}
            for name, (state, flags) in NODES.items()
        ]
        return json.dumps({"meta": _meta(release), "errors": [], "nodes": records})
    alike: dict[tuple[str, ...], list[str]] = {}
    for name, (state, flags) in NODES.items():
        alike.setdefault((state, *flags), []).append(name)
    sets = [
        {
            "port": 6818,
            "node": {"state": list(states)},
            "nodes": {"allocated": 0, "idle": 0, "other": 0, "total": len(names), "hostnames": names, "nodes": names},
            "partition": {"name": partition},
        }
        for partition in ("main", "all")
        for states, names in alike.items()
    ]
    empty = {
        "node": {"state": ["UNKNOWN"]},
        "nodes": {"total": 0, "hostnames": [], "nodes": []},
        "partition": {"name": "none"},
    }
    return json.dumps({"meta": _meta(release), "errors": [], "warnings": [], "sinfo": [*sets, empty]})


def scontrol_nodes() -> str:
    """`scontrol show nodes --json` of 23.02 and later: each node, its state and flags in one list."""
    records = [{"name": n, "state": [s, *flags], "partitions": ["main"]} for n, (s, flags) in NODES.items()]
    return json.dumps({"nodes": records, "last_update": {"set": True, "infinite": False, "number": 1}, "errors": []})


DEFAULT = """\
             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)
                 4      main big job      ann PD       0:00      4 (ReqNodeNotAvail, UnavailableNodes:n[07-08])
                 1      main   my job      bob  R    1:02:03      3 n[01-03]
                 2      main     halo      bob  R       0:10      2 n[03-04]
                 3      main      one      ann  R 2-00:00:10      1 n05
                 5      main     done      ann CG       0:10      2 n[08-09]
"""
#: The same queue as tables: default, `-l`, `-o` with and without signs, `-O`.
TABLES = {
    "default": DEFAULT,
    "long": "Sun Nov 22 06:00:00 2026\n" + DEFAULT,
    "signs": "JOBID|NAME|STATE|NODELIST\n4|a|b|PENDING|\n1|x|RUNNING|n[01-03]\n2|x|RUNNING|n[03-04]\n3|x|RUNNING|n05\n"
    "5|x|COMPLETING|n[08-09]\n",
    "commas": "JOBID,STATE,NODES,NODELIST\n4,PENDING,4,\n1,RUNNING,3,n[01-02,03]\n2,RUNNING,2,n[03,04]\n"
    "3,RUNNING,1,n05\n5,COMPLETING,2,n[08-09]\n",
    "blanks": "JOBID ST NODELIST\n4 PD \n1 R n[01-03]\n2 R n[03-04]\n3 R n05\n5 CG n[08-09]\n",
    "wide": "".join(
        f"{job!s:<20}{name:<20}{state:<20}{nodes:<20}\n"
        for job, name, state, nodes in [
            ("JOBID", "NAME", "STATE", "NODELIST"),
            (4, "", "PENDING", ""),
            (1, "a job with a name of ", "RUNNING", "n[01-03]"),
            (2, "x", "RUNNING", "n[03-04]"),
            (3, "exactly-twenty-chars", "RUNNING", "n05"),
            (5, "x", "COMPLETING", "n[08-09]"),
        ]
    ).replace("a job with a name of ", "a job with a name of"),
    "scontrol": "".join(
        f"JobId={job} JobName=my job\n   UserId=ann(1000) JobState={(flags or [state])[-1]} Reason=None\n"
        f"   ReqNodeList=n[01-09] ExcNodeList=(null)\n   NodeList={nodes or '(null)'}\n   NumNodes={count}\n\n"
        for job, state, flags, nodes, count in JOBS
    ),
}
NODE_TABLES = {
    "default": "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\n"
    "main*        up   infinite      3  alloc n[01-02,04]\nmain*        up   infinite      1    mix n03\n"
    "main*        up   infinite      1   drng n05\nmain*        up   infinite      1   idle n06\n"
    "main*        up   infinite      1  drain n07\nmain*        up   infinite      1   comp n08\n"
    "main*        up   infinite      1  comp* n09\nmain*        up   infinite      1   plnd n10\n"
    "all          up   infinite      1   idle n06\n",
    "signs": "NODELIST|STATE|PARTITION\nn01|allocated|main*\nn02|allocated+|main*\nn03|mixed-|main*\n"
    "n04|allocated|main*\n"
    "n05|draining|main*\nn06|idle~|main*\nn07|drained*|main*\nn08|completing|main*\nn09|down*|main*\nn10|idle-|main*\n",
    "scontrol": "".join(
        f"NodeName={name} Arch=x86_64 CoresPerSocket=4 \n   State={'+'.join([state, *flags])} ThreadsPerCore=1\n"
        "   Partitions=main,all \n\n"
        for name, (state, flags) in NODES.items()
    ),
}
TOPOLOGY = """\
# topology.conf of ten nodes: two islands of two leaves and of one
SwitchName=a1 Nodes=n[01-03]
switchname=a2 nodes=n[04-05]   # names are read in any case
SwitchName=b1 Nodes=n[06-10]
SwitchName=isla Switches=a[1-2]
SwitchName=islb Switches=b1
SwitchName=top \\
  Switches=isl[a,b]
""".replace("isl[a,b]", "isla,islb")
SCONTROL_TOPOLOGY = """\
SwitchName=a1 Level=0 LinkSpeed=1 Nodes=n[01-03]
SwitchName=a2 Level=0 LinkSpeed=1 Nodes=n[04-05]
SwitchName=b1 Level=0 LinkSpeed=1 Nodes=n[06-10]
SwitchName=isla Level=1 LinkSpeed=1 Nodes=n[01-05] Switches=a[1-2]
SwitchName=islb Level=1 LinkSpeed=1 Nodes=n[06-10] Switches=b1
SwitchName=top Level=2 LinkSpeed=1 Nodes=n[01-10] Switches=isla,islb
"""
