"""Two hosts and three routers in network namespaces: a direct path, and a slower one through a third router.

    host a == router a ======= direct ======= router b == host b
                     \\== router c == detour ==/

A type of service of 0x10 selects the detour. All addresses are inside the namespaces.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import textwrap

DETOUR = 0x10

SERVER = """
import socket, threading
listener = socket.create_server(("10.8.1.10", 5000))
print("ready", flush=True)

def serve(peer):
    while True:
        left = SIZE
        while left:
            data = peer.recv(min(left, 65536))
            if not data:
                return
            left -= len(data)
        peer.send(b"x")

while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
"""

# Each line of its input is a number of messages to send. It answers with the time and the type of service of each; it
# stops early after four seconds.
CLIENT = """
import json, socket, sys, time
peer = socket.create_connection(("10.8.1.10", 5000))
for line in sys.stdin:
    rows, end = [], time.monotonic() + 4
    while len(rows) < int(line) and (start := time.monotonic()) < end:
        peer.sendall(bytes(SIZE))
        tos = peer.getsockopt(socket.IPPROTO_IP, socket.IP_TOS)
        peer.recv(1)
        rows.append((time.monotonic() - start, tos))
    print(json.dumps(rows), flush=True)
"""

# It goes first, because without a processor it congests nothing.
BLAST = """
import os, socket, time
os.nice(-15)
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
print("ready", flush=True)
begin, sent = time.monotonic(), 0
while True:
    due = (time.monotonic() - begin) * BYTES_PER_S
    while sent < due:
        sent += out.sendto(bytes(1400), ("10.7.0.2", 9))
    time.sleep(0.002)
"""


class TwoPaths:
    """The namespaces; `close` removes them."""

    def __init__(self, direct_mbit: int, detour_mbit: int) -> None:
        self.prefix = f"odonata-{os.getpid()}-"
        self.made: list[str] = []
        self.programs: list[subprocess.Popen[str]] = []
        try:
            self._make(direct_mbit, detour_mbit)
        except BaseException:
            self.close()
            raise

    def _make(self, direct_mbit: int, detour_mbit: int) -> None:
        for name in ("a", "b", "ra", "rb", "rc"):
            ip("netns", "add", self.prefix + name)
            self.made.append(self.prefix + name)
            self.ip(name, "link", "set", "lo", "up")
            for key in ("ip_forward=1", "conf.all.rp_filter=0", "conf.default.rp_filter=0"):
                run(*self.inside(name), "sysctl", "-qw", f"net.ipv4.{key}")
        for space, device, address, other, peer, peer_address in (
            ("a", "near", "10.8.0.10/24", "ra", "hosts", "10.8.0.1/24"),
            ("b", "near", "10.8.1.10/24", "rb", "hosts", "10.8.1.1/24"),
            ("ra", "direct", "10.7.0.1/30", "rb", "direct", "10.7.0.2/30"),
            ("ra", "detour", "10.7.1.1/30", "rc", "to-a", "10.7.1.2/30"),
            ("rb", "detour", "10.7.2.1/30", "rc", "to-b", "10.7.2.2/30"),
        ):
            ends = (space, device, address), (other, peer, peer_address)
            ip(
                "link",
                "add",
                device,
                "netns",
                self.prefix + space,
                "type",
                "veth",
                "peer",
                "name",
                peer,
                "netns",
                self.prefix + other,
            )
            for name, port, own in ends:
                self.ip(name, "addr", "add", own, "dev", port)
                self.ip(name, "link", "set", port, "up")
        self.ip("a", "route", "add", "default", "via", "10.8.0.1")
        self.ip("b", "route", "add", "default", "via", "10.8.1.1")
        for name, far, direct, detour in (
            ("ra", "10.8.1.0/24", "10.7.0.2", "10.7.1.2"),
            ("rb", "10.8.0.0/24", "10.7.0.1", "10.7.2.2"),
        ):
            self.ip(name, "route", "add", far, "via", direct)
            self.ip(name, "route", "add", far, "via", detour, "table", "100")
            self.ip(name, "rule", "add", "tos", hex(DETOUR), "lookup", "100")
        self.ip("rc", "route", "add", "10.8.1.0/24", "via", "10.7.2.1")
        self.ip("rc", "route", "add", "10.8.0.0/24", "via", "10.7.1.1")
        for name, device, mbit in (
            ("ra", "direct", direct_mbit),
            ("rb", "direct", direct_mbit),
            ("ra", "detour", detour_mbit),
            ("rb", "detour", detour_mbit),
            ("rc", "to-a", detour_mbit),
            ("rc", "to-b", detour_mbit),
        ):
            tbf = ("tbf", "rate", f"{mbit}mbit", "burst", "16kb", "limit", "64kb")
            run(*self.inside(name), "tc", "qdisc", "add", "dev", device, "root", *tbf)

    def inside(self, name: str) -> tuple[str, ...]:
        """The beginning of a command that runs in a namespace."""
        return ("ip", "netns", "exec", self.prefix + name)

    def ip(self, name: str, *words: str) -> None:
        ip("-n", self.prefix + name, *words)

    def python(
        self, name: str, program: str, environment: dict[str, str] | None = None, **values: float
    ) -> subprocess.Popen[str]:
        """Starts a program; names in capitals are replaced by values."""
        for key, value in values.items():
            program = program.replace(key.upper(), str(value))
        started = subprocess.Popen(
            [*self.inside(name), sys.executable, "-c", textwrap.dedent(program)],
            env=os.environ | (environment or {}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.programs.append(started)
        return started

    def bytes_over(self, name: str, device: str) -> int:
        """Bytes that a router has sent through a device."""
        path = f"/sys/class/net/{device}/statistics/tx_bytes"
        return int(subprocess.check_output([*self.inside(name), "cat", path], text=True))

    def close(self) -> None:
        for program in self.programs:
            program.kill()
            with program:
                pass
        for name in self.made:
            with contextlib.suppress(OSError):
                ip("netns", "del", name)


def ip(*words: str) -> None:
    run("ip", *words)


def run(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"{' '.join(words)}: {done.stderr.strip()}")
