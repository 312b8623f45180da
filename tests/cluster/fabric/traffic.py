"""Real MPI programs under a real Slurm, whose NICs a real Prometheus watches through a node_exporter for each node.

    python -m tests.cluster.fabric.traffic OUT

must run within `network.private`; `result` starts it there. Two jobs of four nodes run at once: one exchanges messages
with neighbours, in the other all send to one node. It writes `sent.json` (what the programs have sent), `sacct.txt`
(the jobs with their times), and what `odonata cluster traffic` makes of the counters, `traffic.json` and `book.toml`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.cluster.fabric import network
from tests.cluster.fabric.experiment import odonata, until
from tests.cluster.slurm import server
from tests.cluster.slurm.server import run

LEAVES, PER_LEAF = 2, 4
PROGRAMS = {"exchange": (65_536, 800, 40_000, "n[0-3]"), "incast": (32_768, 700, 45_000, "n[4-7]")}
"""Pattern -> bytes of a message, messages of a rank, microseconds between two, and nodes."""
MOST_S = 240
SCRAPE_S = 1
_LAUNCHER = (
    "mpirun --allow-run-as-root --oversubscribe --map-by node --mca btl self,tcp --mca pml ob1 "
    f"--mca btl_tcp_if_include {network.DATA}.0/24 --mca oob_tcp_if_include {network.MANAGEMENT}.0/24 "
    "--mca mpi_yield_when_idle 1 -n 4"
)


def result(out: Path) -> dict[str, Any]:
    """Runs it in private namespaces; what it writes, by file. Raises RuntimeError if it fails."""
    command = network.private(sys.executable, "-m", __name__, str(out))
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=MOST_S)
    if done.returncode:
        raise RuntimeError(f"it ended with exit status {done.returncode}:\n{done.stderr[-4000:]}")
    return {name: json.loads((out / f"{name}.json").read_text()) for name in ("sent", "traffic")}


def main(out: Path) -> None:
    """Runs it in the namespaces of this process."""
    folder = Path("/run/odonata")
    (folder / "scratch").mkdir(parents=True)
    os.environ |= {
        "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin",
        "SLURM_CONF": str(folder / "slurm.conf"),
        "TMPDIR": str(folder / "scratch"),
    }
    hosts = network.make(LEAVES, PER_LEAF, 1000)
    server.start(folder, hosts, server.tree(1, LEAVES, PER_LEAF), address=network.HEAD, port=17001)
    address = _watch(folder, hosts)
    run("mpicc", "-o", str(folder / "sender"), str(Path(__file__).with_name("sender.c")))
    begin = time.time()
    jobs = {}
    for pattern, (size, count, gap, nodes) in PROGRAMS.items():
        script = folder / f"{pattern}.sh"
        script.write_text(f"#!/bin/sh\nexec {_LAUNCHER} {folder}/sender {pattern} {size} {count} {gap}\n")
        words = ["-N4", "--ntasks-per-node=1", f"--nodelist={nodes}", f"--job-name={pattern}"]
        jobs[pattern] = run("sbatch", "--parsable", f"--output={out}/{pattern}.txt", *words, str(script)).strip()
    until(lambda: not run("squeue", "--noheader").strip(), 150, "the jobs have ended")
    time.sleep(3 * SCRAPE_S)
    said = {pattern: (out / f"{pattern}.txt").read_text() for pattern in jobs}
    sent = {
        pattern: [int(of) for of in re.findall(r"^sent (\d+)$", text, re.MULTILINE)] for pattern, text in said.items()
    }
    if any(len(of) != 4 for of in sent.values()):
        raise RuntimeError(f"the programs failed: {said}")
    (out / "sent.json").write_text(json.dumps({jobs[pattern]: of for pattern, of in sent.items()}))
    (out / "sacct.txt").write_text(_accounting(list(jobs.values())))
    words = ["--from", str(int(begin)), "--to", str(int(time.time())), "--step", str(SCRAPE_S)]
    words += ["--jobs", str(out / "sacct.txt"), "--bandwidth", "1 Gbit/s", "--out", str(out / "book.toml"), "--json"]
    (out / "traffic.json").write_text(odonata("cluster", "traffic", address, *words))


def _watch(folder: Path, hosts: list[server.Host]) -> str:
    """Starts a node_exporter on each node, and a Prometheus that scrapes them; its address."""
    targets = []
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    for host in hosts:
        command = ["prometheus-node-exporter", "--collector.disable-defaults", "--collector.netdev"]
        command += [f"--web.listen-address={host.address}:9100"]
        subprocess.Popen([*host.enter, *command], **quiet)  # type: ignore[call-overload]
        targets.append({"targets": [f"{host.address}:9100"], "labels": {"nodename": host.name}})
    jobs = [{"job_name": "nodes", "static_configs": targets}]
    interval = {"scrape_interval": f"{SCRAPE_S}s", "scrape_timeout": f"{SCRAPE_S}s"}
    # JSON is YAML.
    (folder / "prometheus.yml").write_text(json.dumps({"global": interval, "scrape_configs": jobs}))
    command = ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data"]
    subprocess.Popen([*command, f"--web.listen-address={network.HEAD}:9090"], **quiet)  # type: ignore[call-overload]
    address = f"http://{network.HEAD}:9090"
    until(lambda: _up(address) == len(hosts), 60, "Prometheus scrapes all nodes")
    return address


def _up(address: str) -> int:
    try:
        with urllib.request.urlopen(f"{address}/api/v1/query?query=up", timeout=5) as answer:
            series = json.load(answer)["data"]["result"]
    except (OSError, ValueError, KeyError):
        return 0
    return sum(of["value"][1] == "1" for of in series)


def _accounting(jobs: list[str]) -> str:
    """The jobs as `sacct --parsable2` prints them; there is no accounting here, so `scontrol` says it."""
    lines = ["JobID|JobName|State|Start|End|NNodes|NodeList"]
    for job in jobs:
        told = dict(re.findall(r"(\w+)=(\S+)", run("scontrol", "--oneliner", "show", "job", job)))
        times = [datetime.fromisoformat(told[key]).astimezone(UTC).isoformat() for key in ("StartTime", "EndTime")]
        row = [job, told["JobName"], told["JobState"], *times, told["NumNodes"].partition("-")[0], told["NodeList"]]
        lines.append("|".join(row))
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
