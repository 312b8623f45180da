"""The library for LD_PRELOAD: it steers over two real paths, and never disturbs the program.

The test with two paths needs root and network namespaces. It takes four seconds on a quiet machine, because TCP must
notice congestion on links that are slow enough for any machine.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import textwrap

import pytest

from .conftest import ROOT
from .two_paths import BLAST, CLIENT, DETOUR, SERVER, TwoPaths

DIRECT_MBIT, DETOUR_MBIT, SIZE = 4, 2, 16384


@pytest.fixture(scope="session")
def shim(built):
    if not sys.platform.startswith("linux"):
        pytest.skip("the shim is for Linux")
    return built("odonata-shim")


def steered(shim, settings):
    return {"LD_PRELOAD": str(shim), "ODONATA_SHIM": settings}


@pytest.fixture
def paths():
    missing = [tool for tool in ("ip", "tc", "sysctl") if shutil.which(tool) is None]
    if missing or os.geteuid() != 0:
        pytest.skip(f"needs {', '.join(missing)}" if missing else "network namespaces need root")
    try:
        net = TwoPaths(DIRECT_MBIT, DETOUR_MBIT)
    except OSError as error:
        pytest.skip(f"no network namespaces here: {error}")
    yield net
    net.close()


class Client:
    """A steered program that sends messages and waits for each answer."""

    def __init__(self, net, shim, policy):
        # The direct path is known to have half the latency.
        settings = f"policy={policy} rate={DIRECT_MBIT} to=10.8.0.0/16 sample_age=20 latency_ratio=0.5 stall_ratio=1"
        self.program = net.python("a", CLIENT, steered(shim, settings), size=SIZE)

    def send(self, count):
        """The median time of a message, and the share that took the detour."""
        self.program.stdin.write(f"{count}\n")
        self.program.stdin.flush()
        rows = json.loads(self.program.stdout.readline())
        return statistics.median(row[0] for row in rows), sum(row[1] == DETOUR for row in rows) / len(rows)


def soon(check):
    """Whether a check holds in one of a few attempts: a busy machine delays everything."""
    return any(check() for _ in range(6))


def test_the_shim_leaves_a_congested_path(paths, shim):
    server = paths.python("b", SERVER, size=SIZE)
    assert server.stdout.readline() == "ready\n"
    aware, direct, detour = (Client(paths, shim, policy) for policy in ("app-aware-continuous", "high-bias", "default"))
    assert direct.send(3)[1] == 0
    before = paths.bytes_over("ra", "detour")
    assert detour.send(3)[1] == 1
    assert paths.bytes_over("ra", "detour") - before > 3 * SIZE, "the type of service does not choose the path"

    assert soon(lambda: aware.send(10)[1] < 0.5), "without congestion the direct path is faster"
    blast = paths.python("ra", BLAST, bytes_per_s=0.9 * DIRECT_MBIT * 1e6 / 8)
    assert blast.stdout.readline() == "ready\n"

    def left():
        time, share = aware.send(20)
        return share > 0.7 and time < 0.7 * direct.send(6)[0]

    assert soon(left), "the direct path is congested"
    blast.kill()
    blast.wait()
    assert soon(lambda: aware.send(20)[1] < 0.7), "it tries the direct path again"


def outcome(shim, settings, program, **more):
    """What a program does with the shim: its standard output and standard error."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env=os.environ | steered(shim, settings),
        capture_output=True,
        text=True,
        timeout=60,
        **more,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


PAIR = """
import os, socket, sys, threading
listener = socket.create_server(("127.0.0.1", 0))
a = socket.create_connection(listener.getsockname())
b = listener.accept()[0]
tos = lambda s: s.getsockopt(socket.IPPROTO_IP, socket.IP_TOS)
"""


@pytest.mark.parametrize(("policy", "expected"), [("default", 0x20), ("high-bias", 0x08)])
def test_a_fixed_policy_sets_its_type_of_service(shim, policy, expected):
    """By every function that the library replaces, on both ends of a connection."""
    program = (
        PAIR
        + """
found = [tos(a)]
for send in (lambda s: s.send(b"x"), lambda s: s.sendto(b"x", 0, ("127.0.0.1", 9)), lambda s: s.sendmsg([b"x", b"y"]),
             lambda s: os.write(s.fileno(), b"x"), lambda s: os.writev(s.fileno(), [b"x", b"y"])):
    for s in (a, b):
        send(s)
        found.append(tos(s))
print(found)
"""
    )
    out, err = outcome(shim, f"policy={policy} default=0x20 high-bias=8 report=yes", program)
    assert json.loads(out) == [expected] * 11
    default, high_bias = (10, 0) if policy == "default" else (0, 10)
    assert f"{policy}: {default} sends with the default (0x20), {high_bias} with high bias (0x08), " in err


def test_ipv6_and_other_networks(shim):
    program = """
    import socket
    found = []
    for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        try:
            listener = socket.create_server((address, 0), family=family)
        except OSError:
            found.append("none")
            continue
        s = socket.create_connection(listener.getsockname()[:2])
        s.send(b"x")
        v6 = family == socket.AF_INET6
        found.append(s.getsockopt(socket.IPPROTO_IPV6 if v6 else socket.IPPROTO_IP,
                                  socket.IPV6_TCLASS if v6 else socket.IP_TOS))
    print(*found)
    """
    assert outcome(shim, "policy=default", program)[0] in ("16 16\n", "16 none\n")
    assert outcome(shim, "policy=default to=10.0.0.0/8", program)[0] in ("0 0\n", "0 none\n")
    assert outcome(shim, "policy=default to=127.0.0.0/8", program)[0] in ("16 0\n", "16 none\n")


def test_what_is_no_tcp_socket_is_left_alone(shim, tmp_path):
    program = """
    import os, socket
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", 0))
    udp.connect(udp.getsockname())
    udp.send(b"datagram")
    assert udp.recv(100) == b"datagram" and udp.getsockopt(socket.IPPROTO_IP, socket.IP_TOS) == 0
    one, two = socket.socketpair()
    one.sendmsg([b"uni", b"x"])
    assert two.recv(10) == b"unix"
    reader, writer = os.pipe()
    os.writev(writer, [b"pi", b"pe"])
    assert os.read(reader, 10) == b"pipe"
    with open("file", "wb", buffering=0) as file:
        assert file.write(b"file") == 4
    print(open("file").read())
    """
    out, err = outcome(shim, "policy=default report=yes", program, cwd=tmp_path)
    assert (out, err) == ("file\n", "")


def test_errors_of_calls_are_those_of_the_kernel(shim):
    program = (
        PAIR
        + """
import errno
def number(call):
    try:
        call()
    except OSError as error:
        return errno.errorcode[error.errno]
a.setblocking(False)
def fill():
    while True:
        a.send(bytes(1 << 20))
new = socket.socket()
new.setblocking(False)
print(number(lambda: os.write(-1, b"x")), number(lambda: os.write(9999, b"x")), number(fill),
      number(lambda: socket.socket().send(b"x", socket.MSG_NOSIGNAL)),
      new.connect_ex(("127.0.0.1", listener.getsockname()[1])) in (0, errno.EINPROGRESS),
      errno.errorcode[socket.socket().connect_ex(("127.0.0.1", 1))])
"""
    )
    out, _ = outcome(shim, "policy=bandit threshold=0", program)
    assert out == "EBADF EBADF EAGAIN EPIPE True ECONNREFUSED\n"


def test_threads_and_forks_send_what_they_mean(shim):
    """Several threads and a child use the same and other sockets; every byte arrives."""
    program = (
        PAIR
        + """
def read(s, n, into):
    data = b""
    while len(data) < n:
        data += s.recv(n - len(data))
    into.append(data)
got, n, block = [], 8, 20_000
reader = threading.Thread(target=read, args=(b, 2 * n * block, got))
reader.start()
lock = threading.Lock()
def write(k):
    with lock:
        a.sendall(bytes([k]) * block)
threads = [threading.Thread(target=write, args=(k,)) for k in range(n)]
[t.start() for t in threads]
[t.join() for t in threads]
child = os.fork()
if child == 0:
    for k in range(n):
        a.sendall(bytes([k]) * block)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
reader.join()
print(sorted(got[0][i * block] for i in range(2 * n)) == sorted([*range(n)] * 2), len(set(
    got[0][i * block:(i + 1) * block] for i in range(2 * n))))
"""
    )
    assert outcome(shim, "policy=app-aware", program)[0] == "True 8\n"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("polcy=bandit", "unknown key `polcy`; the keys are policy, default, high-bias, rate, to, report, "),
        (
            "policy=app",
            "expected one of default, high-bias, app-aware, app-aware-continuous, app-aware-h, bandit for `policy`, "
            "found `app`",
        ),
        ("rate=fast", "expected a number for `rate`, found `fast`"),
    ],
)
def test_wrong_settings_are_told_and_the_program_runs_unsteered(shim, settings, message):
    out, err = outcome(shim, settings, PAIR + "a.send(b'x'); print(b.recv(1), tos(a))")
    assert out == "b'x' 0\n"
    assert err.startswith(f"odonata-shim: ODONATA_SHIM: {message}")
    assert err.endswith("; the program runs unsteered\n")
    assert err.count("\n") == 1


def test_settings_that_are_no_text(shim):
    done = subprocess.run(
        ["true"], env=os.environb | {b"LD_PRELOAD": str(shim).encode(), b"ODONATA_SHIM": b"\xff"}, capture_output=True
    )
    assert done.stderr == b"odonata-shim: ODONATA_SHIM: it is no UTF-8; the program runs unsteered\n"


C_PROGRAM = r"""
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static int to;
static volatile sig_atomic_t interrupts;

static void handler(int signal) {
  (void)signal;
  interrupts += write(to, "s", 1) == 1;
}

int main(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  bind(listener, (struct sockaddr *)&address, length);
  listen(listener, 1);
  getsockname(listener, (struct sockaddr *)&address, &length);
  to = socket(AF_INET, SOCK_STREAM, 0);
  connect(to, (struct sockaddr *)&address, length);
  int from = accept(listener, NULL, NULL);

  FILE *file = tmpfile();
  errno = 42;
  if (write(fileno(file), "x", 1) != 1 || errno != 42) return 2;
  if (send(to, "x", 1, 0) != 1 || errno != 42) return 3;

  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  char buffer[4096];
  long sent = 1;
  for (int i = 0; i < 20000; i++) {
    if (write(to, "m", 1) == 1) sent++;
    if (i % 100 == 99) recv(from, buffer, sizeof buffer, MSG_DONTWAIT);
  }
  setitimer(ITIMER_REAL, &never, NULL);
  printf("%s\n", sent == 20001 && interrupts > 0 ? "fine" : "lost");
  return 0;
}
"""


def test_errno_is_kept_and_a_signal_handler_may_send(shim, tmp_path):
    """Catches a lock that is waited for: the handler interrupts the shim in the same thread."""
    source, program = tmp_path / "a.c", tmp_path / "a"
    source.write_text(C_PROGRAM)
    subprocess.run(["gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", source, "-o", program], check=True)
    environment = os.environ | steered(shim, "policy=app-aware threshold=0")
    done = subprocess.run([program], env=environment, capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stdout, done.stderr) == (0, "fine\n", "")


@pytest.mark.parametrize(
    "own",
    ["s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 0x10)", "s.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, 3)"],
)
def test_a_type_of_service_that_the_program_chose_stays(shim, own):
    """Also if it is one of the shim's own values."""
    program = (
        PAIR
        + f"""
for s in (a, b):
    s.send(b"x")
    {own}
    kept = tos(s)
    s.send(b"x")
    os.write(s.fileno(), b"x")
    assert tos(s) == kept, (tos(s), kept)
print(tos(a))
"""
    )
    out, _ = outcome(shim, "policy=default default=0x20 high-bias=0x10", program)
    assert out in ("16\n", "32\n")
    first = outcome(
        shim,
        "policy=high-bias default=0x20 high-bias=8",
        'import socket\nlistener = socket.create_server(("127.0.0.1", 0))\ns = socket.socket()\n'
        "s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 0x20)\ns.connect(listener.getsockname())\n"
        's.send(b"x"); print(s.getsockopt(socket.IPPROTO_IP, socket.IP_TOS))',
    )
    assert first[0] == "32\n"


def test_a_socket_that_was_refused_may_connect_elsewhere(shim):
    """It is steered only inside the network, whatever it tried before."""
    program = """
    import socket
    inside = socket.create_server(("127.0.0.1", 0))
    outside = socket.create_server(("127.0.0.2", 0))
    s = socket.socket()
    tos = lambda: s.getsockopt(socket.IPPROTO_IP, socket.IP_TOS)
    unused = socket.socket()
    unused.bind(("127.0.0.1", 0))
    found = [s.connect_ex(unused.getsockname()) != 0, tos(), s.connect_ex(outside.getsockname()), tos()]
    s.send(b"x")
    print(*found, tos())
    """
    assert outcome(shim, "policy=default to=127.0.0.1", program)[0] == "True 0 0 0 0\n"


def test_fast_open_is_steered(shim):
    program = """
    import socket
    listener = socket.create_server(("127.0.0.1", 0))
    s = socket.socket()
    s.sendto(b"x", socket.MSG_FASTOPEN, listener.getsockname())
    print(s.getsockopt(socket.IPPROTO_IP, socket.IP_TOS))
    """
    assert outcome(shim, "policy=default to=127.0.0.1", program)[0] == "16\n"
    assert outcome(shim, "policy=default to=127.0.0.2", program)[0] == "0\n"


def test_the_report_goes_nowhere_else_than_to_standard_error(shim, tmp_path):
    program = (
        PAIR
        + """
a.send(b"x")
file = os.open("data", os.O_WRONLY | os.O_CREAT)
os.dup2(file, 2)
"""
    )
    assert outcome(shim, "report=yes", program, cwd=tmp_path) == ("", "")
    assert (tmp_path / "data").read_bytes() == b""


@pytest.fixture(scope="session")
def calls(cargo, tmp_path_factory):
    program = tmp_path_factory.mktemp("calls") / "socket_calls"
    source = ROOT / "tests" / "decision" / "socket_calls.c"
    subprocess.run(["gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", source, "-o", program], check=True)
    return program


# `make fuzz-shim` is the long form: 100,000 calls. With seed 2, a first byte is never acknowledged.
LONG = "FUZZ_SHIM" in os.environ


@pytest.mark.parametrize("seed", range(1, 6) if LONG else [1, 2, 7])
def test_random_calls_have_the_same_results_and_errors(shim, calls, seed):
    """Valid and invalid ones."""
    lines = []
    for environment in ({}, steered(shim, "policy=app-aware threshold=0")):
        done = subprocess.run(
            [calls, str(seed), "20000" if LONG else "2500"],
            env=os.environ | environment,
            capture_output=True,
            text=True,
            timeout=1000 if LONG else 100,
        )
        assert done.returncode == 0, done.stderr
        lines.append(done.stdout.splitlines())
    assert [pair for pair in zip(*lines, strict=True) if pair[0] != pair[1]] == []
