"""Access to a Dask scheduler: certificates, and the check of an address before Dask connects.

A scheduler and its workers execute everything that they receive. With TLS, only holders of a certificate that the CA
has signed can send them anything. Without TLS, anyone who can connect can.
"""

from __future__ import annotations

import ipaddress
import shlex
import socket
import ssl
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from odonata.errors import InputError, RunError

if TYPE_CHECKING:
    from collections.abc import Iterator

REACH_S = 3.0
"""Time limit for a connection, in wall time. Assumed: a round trip is far shorter on any network."""
INSTALL = 'pip install "odonata[cluster]"'
DEFAULT_PORT = 8786
"""Port of a Dask scheduler where none is given (Dask's own default)."""


@dataclass(frozen=True)
class Certificates:
    """Files for TLS, named like Dask's own options; `None` means the value of Dask's configuration."""

    ca_file: Path | None = None
    cert: Path | None = None
    key: Path | None = None

    @property
    def given(self) -> bool:
        """Whether any file is named."""
        return any((self.ca_file, self.cert, self.key))

    def security(self, who: str) -> Any:
        """A `distributed.Security` for the TLS connections of `who`.

        Raises InputError for a file that is missing or not a certificate, and if neither the options nor Dask's
        configuration name any.
        """
        from distributed import Security

        for option, file in (("--tls-ca-file", self.ca_file), ("--tls-cert", self.cert), ("--tls-key", self.key)):
            if file is not None and not file.is_file():
                raise InputError(f"`{option}`: there is no file `{file}`")
        files = {"tls_ca_file": self.ca_file}
        for role in ("client", "scheduler", "worker"):
            files |= {f"tls_{role}_cert": self.cert, f"tls_{role}_key": self.key}
        security = Security(
            require_encryption=True, **{name: str(file) for name, file in files.items() if file is not None}
        )
        if not (security.tls_ca_file and security.tls_client_cert):
            hint = "--tls-ca-file, --tls-cert and --tls-key, or distributed.comm.tls in Dask's configuration"
            raise InputError(f"{who} needs certificates", hint=hint)
        try:
            security.get_connection_args("client")
        except (OSError, ssl.SSLError) as problem:
            raise InputError(f"the certificates cannot be used: {problem}", hint="PEM files are expected") from None
        return security


def temporary() -> Any:
    """A `distributed.Security` with a new key and certificate, which only this process holds.

    Raises InputError if `cryptography` is not installed.
    """
    from distributed import Security

    try:
        return Security.temporary()
    except ImportError:
        raise InputError("temporary certificates need `cryptography`, which is not installed", hint=INSTALL) from None


@contextmanager
def written(security: Any, folder: Path) -> Iterator[dict[str, str]]:
    """The files of these certificates, by the option of `dask worker` that takes each.

    Certificates that are only in memory are written to a folder in `folder` that only the user can read, and that is
    removed at the end.
    """
    files_of = {
        "tls-ca-file": security.tls_ca_file,
        "tls-cert": security.tls_worker_cert,
        "tls-key": security.tls_worker_key,
    }
    with TemporaryDirectory(prefix=".odonata-tls-", dir=folder) as made:
        for name, value in files_of.items():
            if value is not None and "\n" in value:
                file = Path(made).absolute() / f"{name}.pem"
                file.touch(mode=0o600)
                file.write_text(value)
                files_of[name] = str(file)
        yield files_of


def address_of(scheduler: str) -> tuple[str, str, int]:
    """Protocol, host and port of an address such as `tls://host:8786`. Raises InputError for any other text."""
    protocol, _, rest = scheduler.rpartition("://")
    protocol = protocol or "tcp"
    try:
        parts = urlsplit(f"//{rest}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if protocol not in ("tcp", "tls") or not host or rest.rstrip("/") != parts.netloc:
        hint = "such as tls://host:8786, or tcp://host:8786 without encryption"
        raise InputError(f"`{scheduler}` is not the address of a scheduler", hint=hint)
    return protocol, host, DEFAULT_PORT if port is None else port


def _is_here(host: str) -> bool:
    """Whether a name or an address means this machine; `localhost.example.org` and `127.example.org` do not."""
    if host.lower().rstrip(".") == "localhost":
        return True
    with suppress(ValueError):
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    return False


def warning_of(scheduler: str) -> str | None:
    """The warning about an unencrypted connection to another host; None if there is no reason to warn."""
    protocol, host, _ = address_of(scheduler)
    if protocol == "tls" or _is_here(host):
        return None
    return (
        f"{protocol}://{host} is not encrypted: anyone who can connect to the scheduler can run code on its workers, "
        "and anyone on the network path can read and change the data (use tls://; see docs/trust.md)"
    )


def reach(scheduler: str, security: Any) -> None:
    """Connects once, with TLS if the address says so.

    Dask itself retries until its own time limit, and ends with a traceback. Raises RunError if there is no answer
    within seconds, or if the other side refuses our certificate or uses another protocol.
    """
    protocol, host, port = address_of(scheduler)
    try:
        with socket.create_connection((host, port), timeout=REACH_S) as plain:
            if protocol == "tls":
                context = security.get_connection_args("client")["ssl_context"]
                with context.wrap_socket(plain) as secured:
                    # In TLS 1.3 a client learns that its certificate was refused when it reads.
                    secured.settimeout(0.2)
                    if secured.recv(1) == b"":
                        raise RunError(f"the scheduler at `{scheduler}` closed the connection")
            elif _speaks_tls(host, port):
                hint = f"write tls://{host}:{port}, with certificates"
                raise RunError(f"the scheduler at `{scheduler}` accepts TLS only\n  hint: {hint}")
    except TimeoutError as problem:
        if "read" in str(problem):
            return  # the server waits for data, so it accepted the handshake
        raise RunError(f"no Dask scheduler answers at `{scheduler}` within {REACH_S:g} s") from None
    except ssl.SSLError as problem:
        said = problem.reason or str(problem)
        hint = "the certificates must be those of its CA"
        if said in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "UNEXPECTED_EOF_WHILE_READING"):
            hint = "it may be a scheduler without TLS (tcp://)"
        raise RunError(f"no TLS with the scheduler at `{scheduler}`: {said}\n  hint: {hint}") from None
    except socket.gaierror:
        raise RunError(f"no Dask scheduler answers at `{scheduler}`: there is no host `{host}`") from None
    except OSError as problem:
        said = problem.strerror or str(problem)
        raise RunError(f"no Dask scheduler answers at `{scheduler}`: {said}") from None


def _speaks_tls(host: str, port: int) -> bool:
    """Whether the other side speaks TLS: it answers the first message with TLS, even if it refuses the connection."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with socket.create_connection((host, port), timeout=REACH_S) as plain:
            plain.settimeout(1.0)
            with context.wrap_socket(plain):
                return True
    except ssl.SSLError as problem:
        return "ALERT" in (problem.reason or "")
    except OSError:
        return False


def listening(listen: str | None, default: str | None) -> dict[str, Any]:
    """Options of a scheduler that listens at an address (`host` or `host:port`) or at a network interface.

    Raises InputError for anything that is neither an address nor an interface of this machine.
    """
    if listen is None:
        return {"host": default, "port": 0} if default else {"port": 0}
    import psutil

    interfaces = psutil.net_if_addrs()
    if listen in interfaces:
        return {"interface": listen, "port": 0}
    _, host, port = address_of(listen)
    port = 0 if listen.rpartition(":")[2] != str(port) else port
    try:
        with socket.create_server((host, port)):
            pass
    except OSError as problem:
        hint = "an address of this machine, perhaps with a port, or one of its interfaces: " + ", ".join(
            sorted(interfaces)
        )
        raise InputError(f"cannot listen at `{listen}`: {problem.strerror or problem}", hint=hint) from None
    return {"host": host, "port": port}


def worker_command(address: str, held: dict[str, str], worker: str) -> str:
    """The command that starts a worker for a scheduler with these certificates (`written`)."""
    options = [part for name, file in held.items() for part in (f"--{name}", file)]
    return shlex.join(["dask", "worker", address, "--nthreads", "1", "--worker-class", worker, *options])
