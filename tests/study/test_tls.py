"""Who may speak to a scheduler: real ones, with TLS and without."""

from __future__ import annotations

import re
import socket
import ssl
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from odonata.errors import InputError, RunError
from odonata.study import certificates
from odonata.study.certificates import Certificates, address_of, listening, warning_of
from odonata.study.dask_pool import DaskPool, OwnScheduler
from odonata.study.local import LocalPool
from odonata.study.slurm import SlurmPool
from odonata.study.sweep import sweep

from .conftest import COMMAND, Write, children, command, final
from .test_dask import running

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Certificates]:
    """Certificates of two owners, `ours` and `others`."""
    owners = {}
    for name in ("ours", "others"):
        folder, made = tmp_path_factory.mktemp(name), certificates.temporary()
        (folder / "cert.pem").write_text(made.tls_client_cert)
        (folder / "key.pem").write_text(made.tls_client_key)
        owners[name] = Certificates(folder / "cert.pem", folder / "cert.pem", folder / "key.pem")
    return owners


def options(of: Certificates) -> tuple[str, ...]:
    return ("--tls-ca-file", str(of.ca_file), "--tls-cert", str(of.cert), "--tls-key", str(of.key))


@pytest.fixture(scope="module")
def secured(files: dict[str, Certificates]) -> Iterator[str]:
    """The address of a scheduler that accepts the certificates of `ours` only."""
    local = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--protocol", "tls")
    with running("dask_scheduler", *local, *options(files["ours"]), until="Scheduler at:") as line:
        yield line.split()[-1]


@contextmanager
def soon(within_s: float = 25.0) -> Iterator[None]:
    """Dask's own limit is 30 s."""
    began = time.monotonic()
    yield
    assert time.monotonic() - began < within_s


def test_the_same_bytes_from_a_scheduler_of_our_own(study: Write) -> None:
    """The key is readable by the user alone, and gone when the sweep has ended."""
    plan, said = study(), []

    def say(text: str) -> None:
        said.append(text)
        key = Path(re.search(r"--tls-key (\S+)", text)[1])  # type: ignore[index]
        assert (key.stat().st_mode & 0o777, key.parent.stat().st_mode & 0o777) == (0o600, 0o700)

    sweep(plan, Path("dask"), OwnScheduler(here=1, say=say))
    sweep(plan, Path("local"), LocalPool(1))
    assert final("dask") == final("local")
    assert "a scheduler listens at tls://127.0.0.1:" in said[0]
    assert not list(Path().glob(".odonata-tls-*"))


def test_nothing_of_ours_listens_in_plain_text_or_without_our_certificate(
    study: Write, files: dict[str, Certificates]
) -> None:
    """Scheduler, nanny and worker, and a worker that is started by the command that is printed."""
    study('base = "base.toml"\n[sweep]\n"job.target.app.messages" = [30000000]\n')
    sweeping = subprocess.Popen(
        [*COMMAND, "sweep", "study.toml", "--on", "dask", "-j", "1", "-q"], stderr=subprocess.PIPE, text=True
    )
    other = None
    try:
        assert sweeping.stderr is not None
        line = next(line for line in sweeping.stderr if "dask worker" in line)
        given = line.split()[2:]
        other = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_worker", *given, "--no-dashboard"],
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert other.stderr is not None
        assert any("Registered to:" in line for line in other.stderr)
        listening = ports([sweeping.pid, other.pid])
        assert len(listening) >= 5, listening  # a scheduler, two nannies, two workers
        theirs = files["others"].security("we").get_connection_args("client")["ssl_context"]
        theirs.verify_mode = ssl.CERT_NONE  # it is they who must refuse us
        for host, port in listening:
            assert plain_answer(host, port) == b""
            with pytest.raises((ssl.SSLError, ConnectionError)):
                talk(host, port, theirs)
    finally:
        for process in (sweeping, other):
            if process is not None:
                for child in children(process.pid):
                    subprocess.run(["kill", "-9", *map(str, children(child)), str(child)], check=False)
                process.kill()
                process.wait()
                assert process.stderr is not None
                process.stderr.close()


def ports(pids: list[int]) -> set[tuple[str, int]]:
    """Where processes and those that they have started listen."""
    places = set()
    for process in (member for pid in pids for member in (psutil.Process(pid), *psutil.Process(pid).children(True))):
        with suppress(psutil.NoSuchProcess):  # one that has ended meanwhile
            for at in process.net_connections("tcp"):
                if at.status == psutil.CONN_LISTEN:
                    places.add((at.laddr.ip.replace("0.0.0.0", "127.0.0.1"), at.laddr.port))
    return places


def plain_answer(host: str, port: int) -> bytes:
    with socket.create_connection((host, port), timeout=5) as plain:
        plain.sendall(b"GET / HTTP/1.0\r\n\r\n")
        try:
            answer = plain.recv(100)
        except ConnectionResetError:
            return b""
    # An alert of TLS is not an answer to the request.
    return b"" if answer[:1] == b"\x15" else answer


def talk(host: str, port: int, context: ssl.SSLContext) -> None:
    with socket.create_connection((host, port), timeout=5) as plain, context.wrap_socket(plain) as wrapped:
        if wrapped.recv(1) == b"":
            raise ConnectionError


def test_a_client_needs_the_certificates_of_the_scheduler(
    study: Write, secured: str, files: dict[str, Certificates]
) -> None:
    plain = secured.replace("tls://", "tcp://")
    with soon(), pytest.raises(RunError, match=r"accepts TLS only\n  hint: write tls://127"):
        sweep(study(), Path("out"), DaskPool(plain))
    with soon(), pytest.raises(InputError, match=r"`tls://.*` needs certificates"):
        sweep(study(), Path("out"), DaskPool(secured))
    with soon(), pytest.raises(RunError, match=r"(?s)no TLS with the scheduler at `tls://.*must be those of its CA"):
        sweep(study(), Path("out"), DaskPool(secured, files["others"]))


@pytest.mark.parametrize("by", ["options", "configuration"])
def test_a_scheduler_of_the_users_own_with_tls(
    study: Write, secured: str, files: dict[str, Certificates], by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    study('base = "base.toml"\n[sweep]\nrouting = ["fpar", "minimal"]\n')
    ours, given = files["ours"], options(files["ours"])
    if by == "configuration":
        tls = "DASK_DISTRIBUTED__COMM__TLS__"
        for name, file in (("CA_FILE", ours.ca_file), ("CLIENT__CERT", ours.cert), ("CLIENT__KEY", ours.key)):
            monkeypatch.setenv(f"{tls}{name}", str(file))
        given = ()
    worker = ("--nthreads", "1", "--no-dashboard", "--no-nanny", "--local-directory", "scratch", secured)
    with running("dask_worker", *worker, *options(ours), until="Registered to:"):
        done = command("sweep", "study.toml", "--out", "out", "--on", "dask", "--scheduler", secured, "-q", *given)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_address_that_cannot_be_reached_is_refused_within_seconds(
    study: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = study()
    with socket.create_server(("127.0.0.1", 0), backlog=0) as mute:
        address = f"tcp://127.0.0.1:{mute.getsockname()[1]}"
        monkeypatch.setattr("odonata.study.dask_pool.CONNECT_S", 1.0)
        with soon(), pytest.raises(RunError, match="no Dask scheduler answers at"):
            sweep(plan, Path("out"), DaskPool(address))
    with (
        soon(),
        pytest.raises(RunError, match=r"no Dask scheduler answers at `tcp://127\.0\.0\.1:9`: Connection refused"),
    ):
        sweep(plan, Path("out"), DaskPool("tcp://127.0.0.1:9"))
    with soon(), pytest.raises(RunError, match=r"there is no host `nowhere\.invalid`"):
        sweep(plan, Path("out"), DaskPool("tcp://nowhere.invalid:8786"))

    def never(*_: object, **__: object) -> None:
        raise TimeoutError("timed out")

    monkeypatch.setattr(socket, "create_connection", never)
    with pytest.raises(RunError, match=r"no Dask scheduler answers at `tcp://10\.255\.255\.1:1` within 3 s"):
        sweep(plan, Path("out"), DaskPool("tcp://10.255.255.1:1"))


def test_addresses() -> None:
    assert address_of("tls://host:1") == ("tls", "host", 1)
    assert address_of("host") == ("tcp", "host", 8786)
    assert address_of("tcp://[::1]:5") == ("tcp", "::1", 5)
    for wrong in ("nonsense://x", "tcp://", "tcp://host:port", "tls://host:1/path", ""):
        with pytest.raises(InputError, match="is not the address of a scheduler"):
            address_of(wrong)
    assert warning_of("tls://far:1") is None
    assert warning_of("tcp://127.0.0.1:1") is None
    assert "tcp://far is not encrypted" in str(warning_of("far:1"))
    for near in ("localhost:1", "127.0.0.2:1", "tcp://[::1]:1"):
        assert warning_of(near) is None
    for far in ("localhost.evil.org", "127.evil.org", "localhostess"):
        assert f"tcp://{far} is not encrypted" in str(warning_of(f"{far}:1"))


def test_where_to_listen() -> None:
    assert listening(None, "127.0.0.1") == {"host": "127.0.0.1", "port": 0}
    assert listening("lo", None) == {"interface": "lo", "port": 0}
    assert listening("127.0.0.1", None) == {"host": "127.0.0.1", "port": 0}
    for wrong in ("192.0.2.1", "lo77", "192.0.2.1:80"):
        with pytest.raises(InputError, match=f"cannot listen at `{wrong}`.*\n  hint: .*interfaces: .*lo"):
            listening(wrong, None)


def test_wrong_files(files: dict[str, Certificates], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="`--tls-key`: there is no file `nowhere`"):
        Certificates(files["ours"].ca_file, files["ours"].cert, Path("nowhere")).security("we")
    text = tmp_path / "text"
    text.write_text("no certificate")
    with pytest.raises(InputError, match="the certificates cannot be used"):
        Certificates(text, text, text).security("we")


def test_slurm_jobs_are_given_tls(study: Write, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A `sbatch` that keeps the script: the scheduler is real, and the key that it names is the user's alone."""
    sbatch = here / "bin" / "sbatch"
    sbatch.parent.mkdir()
    sbatch.write_text('#!/bin/sh\ncase "$1" in --test-only) cat > script.sh;; *) echo "Submitted batch job 1";; esac\n')
    sbatch.chmod(0o755)
    (sbatch.parent / "scancel").symlink_to("/bin/true")
    monkeypatch.setenv("PATH", str(sbatch.parent), prepend=":")
    pool = SlurmPool({"memory": "1 GB", "cores": 2}, 1, listen="lo")
    seen: dict[str, object] = {}

    def stop(self: DaskPool, _: object) -> None:
        script = Path("script.sh").read_text()
        key = Path(re.search(r"--tls-key (\S+)", script)[1])  # type: ignore[index]
        seen.update(script=script, mode=key.stat().st_mode & 0o777, folder=key.parent, key=key)
        cluster = self._scheduler
        seen.update(address=cluster.scheduler_address, services=dict(cluster.scheduler.services))

    monkeypatch.setattr(DaskPool, "run", stop)
    pool.run(None)  # type: ignore[arg-type]
    script = str(seen["script"])
    assert str(seen["address"]).startswith("tls://127.0.0.1:")
    assert str(seen["address"]) in script
    assert "--worker-class odonata.study.dask_servers.Worker" in script
    assert "--protocol tls" in script
    assert (seen["mode"], Path(str(seen["folder"])).parent, seen["services"]) == (0o600, here, {})
    assert not Path(str(seen["key"])).exists()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--listen", "lo"), "`--listen` is for `--on dask` and `--on slurm`"),
        (("--tls-key", "k"), "`--tls-...` is for `--on dask` and `--on slurm`"),
        (
            ("--on", "dask", "--listen", "lo", "--scheduler", "tcp://x:1"),
            "`--listen` is for a scheduler that the sweep starts",
        ),
        (("--on", "dask", "--tls-key", "k", "--scheduler", "tcp://x:1"), "certificates are for a scheduler with TLS"),
        (("--on", "dask", "--scheduler", "tcp://x.invalid:1"), "warning: tcp://x.invalid is not encrypted"),
    ],
)
def test_what_does_not_go_together(study: Write, arguments: tuple[str, ...], expected: str) -> None:
    study()
    done = command("sweep", "study.toml", *arguments)
    assert done.returncode != 0
    assert expected in done.stderr
