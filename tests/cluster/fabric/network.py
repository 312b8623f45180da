"""A small network of two levels in network namespaces: nodes, leaf switches, and uplinks of a limited rate.

    n0 ... n7   n8 ... n15   ...      each node: `d0` for data (10.8.0.x), `m0` for Slurm (10.9.0.x, not limited)
      leaf 0      leaf 1     ...      bridges
         \\__________|__________/      uplinks, limited in both directions
                  spine

It makes them in the namespaces of its own process, which must be private: `private` starts a command in new ones. The
kernel ends all processes there and removes all namespaces, addresses and files when that command ends, however it ends.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.cluster.slurm.server import Host, run

HEAD = "10.9.0.1"
DATA, MANAGEMENT = "10.8.0", "10.9.0"

# `sh` is the first process of its namespace and waits for all that lose their parents. /sys still shows the devices
# outside, and must: slurmd looks for cgroups there.
_FIRST = """
mount -t tmpfs -o mode=755 tmpfs /run && mkdir /run/netns /run/sys && mount -t sysfs sysfs /run/sys &&
ip link set lo up || exit 70
"$@" & wait $!
"""
_CAN_MAKE = """
ip netns add probe && ip link add dev upper type veth peer name lower netns probe && ip link add leaf type bridge &&
tc qdisc add dev upper root tbf rate 10mbit burst 16kb limit 64kb && chrt --rr 1 true
"""


def private(*command: str) -> tuple[str, ...]:
    """A command that runs in private namespaces, and dies with the thread that starts it."""
    kinds = ("--net", "--pid", "--mount", "--ipc", "--uts", "--fork", "--kill-child", "--mount-proc")
    return ("setpriv", "--pdeathsig", "KILL", "unshare", *kinds, "sh", "-c", _FIRST, "sh", *command)


def refusal() -> str | None:
    """Why such a network cannot be made here, with processes of a real-time priority in it; None if it can."""
    done = subprocess.run(private("sh", "-ec", _CAN_MAKE), capture_output=True, text=True, check=False, timeout=30)
    return (done.stderr.strip().splitlines() or ["no reason"])[-1] if done.returncode else None


def make(leaves: int, per_leaf: int, mbit: int) -> list[Host]:
    """Makes the network; its nodes, in the order of leaves."""
    lines = ["link add mgmt type bridge", f"addr add {HEAD}/24 dev mgmt", "link set mgmt up"]
    lines += ["link add spine type bridge", "link set spine up"]
    hosts = []
    for leaf in range(leaves):
        lines += [f"link add leaf{leaf} type bridge", f"link set leaf{leaf} up"]
        lines += [f"link add up{leaf} type veth peer name down{leaf}"]
        lines += [f"link set up{leaf} master leaf{leaf} up", f"link set down{leaf} master spine up"]
        for node in range(leaf * per_leaf, (leaf + 1) * per_leaf):
            run("ip", "netns", "add", f"n{node}")
            own = ["link set lo up"]
            for device, port, bridge, subnet in (
                ("d0", f"p{node}", f"leaf{leaf}", DATA),
                ("m0", f"m{node}", "mgmt", MANAGEMENT),
            ):
                lines += [f"link add {device} netns n{node} type veth peer name {port}"]
                lines += [f"link set {port} master {bridge} up"]
                own += [f"addr add {subnet}.{node + 10}/24 dev {device}", f"link set {device} up"]
            lines += [f"netns exec n{node} ip {words}" for words in own]
            enter = ("nsenter", f"--net=/run/netns/n{node}")
            hosts.append(Host(f"n{node}", f"{MANAGEMENT}.{node + 10}", 17100, enter))
    for words in lines:
        run("ip", *words.split())
    for leaf in range(leaves):
        for device in (f"up{leaf}", f"down{leaf}"):
            limit = ("tbf", "rate", f"{mbit}mbit", "burst", "16kb", "limit", "256kb")
            run("tc", "qdisc", "add", "dev", device, "root", *limit)
    return hosts


def sent(device: str) -> int:
    """Bytes that a device of the network has sent so far: `up0` from leaf 0 to the spine, `p0` to node 0."""
    return int(Path(f"/run/sys/class/net/{device}/statistics/tx_bytes").read_text(encoding="ascii"))
