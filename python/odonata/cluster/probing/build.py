"""Builds the MPI program of the probe with the compiler of the cluster, once for each compiler."""

from __future__ import annotations

import hashlib
import os
import platform
import secrets
import shlex
import shutil
import subprocess
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

from odonata.errors import RunError

#: Longest time of a build in seconds. Assumed.
TIMEOUT_S = 120


def build(compiler: str | None = None, folder: Path | None = None) -> Path:
    """The program, built if it is not in the cache.

    Parameters
    ----------
    compiler
        Command of the MPI compiler, with its options; without it `$MPICC`, else `mpicc`.
    folder
        Where the program is kept, which the nodes of the cluster must see; without it `odonata` in the user's cache
        folder.

    Returns
    -------
    Path

    Raises
    ------
    RunError
        If there is no compiler, or it fails; with its message.
    """
    command = shlex.split(compiler or os.environ.get("MPICC") or "mpicc")
    if not command or shutil.which(command[0]) is None:
        raise RunError(
            f"there is no MPI compiler `{command[0] if command else ''}` here\n  hint: load the MPI module of the "
            "cluster, or name the compiler with --mpicc (`cc` on Cray machines)"
        )
    source = files("odonata.cluster.probing").joinpath("probe.c").read_bytes()
    # The wrapper names the libraries; the same path may lead to another MPI after a module is loaded.
    with suppress(OSError, subprocess.SubprocessError):
        source += subprocess.run([*command, "-show"], capture_output=True, check=False, timeout=TIMEOUT_S).stdout
    toolchain = repr((command, shutil.which(command[0]), platform.machine())).encode()
    cache = folder or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "odonata"
    program = cache / f"probe-{hashlib.sha256(source + toolchain).hexdigest()[:16]}"
    if program.is_file():
        return program
    partial = program.with_name(f"{program.name}.partial-{secrets.token_hex(4)}")
    try:
        cache.mkdir(parents=True, exist_ok=True)
        code = partial.with_name(f"{partial.name}.c")
        code.write_bytes(files("odonata.cluster.probing").joinpath("probe.c").read_bytes())
        words = [*command, "-O2", "-std=gnu99", "-o", str(partial), str(code)]
        try:
            done = subprocess.run(
                words, capture_output=True, text=True, errors="replace", check=False, timeout=TIMEOUT_S
            )
            if done.returncode:
                said = "\n".join((done.stderr or done.stdout).strip().splitlines()[:10])
                raise RunError(f"`{shlex.join(command)}` cannot build the probe:\n{said}")
            partial.replace(program)
        finally:
            for path in (code, partial):
                path.unlink(missing_ok=True)
    except subprocess.TimeoutExpired:
        raise RunError(f"`{shlex.join(command)}` did not build the probe within {TIMEOUT_S} s") from None
    except OSError as e:
        raise RunError(f"cannot build the probe in `{cache}`: {e.strerror or e}") from None
    return program
