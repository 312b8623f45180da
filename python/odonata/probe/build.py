"""Builds the MPI program of the probe with the compiler of the cluster, once for each compiler."""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import tempfile
from contextlib import suppress
from importlib import resources
from pathlib import Path

from odonata import files, private
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
        Where the program is kept, which the nodes of the cluster must see; without it
        `odonata.private.folder`.

    Returns
    -------
    Path

    Raises
    ------
    RunError
        If there is no compiler, or it fails; with its message. If others can write to the folder.
    """
    command = shlex.split(compiler or os.environ.get("MPICC") or "mpicc")
    if not command or shutil.which(command[0]) is None:
        raise RunError(
            f"there is no MPI compiler `{command[0] if command else ''}` here\n  hint: load the MPI module of the "
            "cluster, or name the compiler with --mpicc (`cc` on Cray machines)"
        )
    source = resources.files("odonata.probe").joinpath("probe.c").read_bytes()
    # The wrapper names the libraries; the same path may lead to another MPI after a module is loaded.
    with suppress(OSError, subprocess.SubprocessError):
        source += subprocess.run([*command, "-show"], capture_output=True, check=False, timeout=TIMEOUT_S).stdout
    toolchain = repr((command, shutil.which(command[0]), platform.machine())).encode()
    cache = private.folder(folder)
    program = cache / f"probe-{hashlib.sha256(source + toolchain).hexdigest()[:16]}"
    try:
        if not _is_whole(program):
            _compile(command, program)
    except subprocess.TimeoutExpired:
        raise RunError(f"`{shlex.join(command)}` did not build the probe within {TIMEOUT_S} s") from None
    except OSError as e:
        raise RunError(f"cannot build the probe in `{cache}`: {e.strerror or e}") from None
    return program


def _hash_of(program: Path) -> Path:
    return program.with_name(f"{program.name}.sha256")


def _is_whole(program: Path) -> bool:
    """Whether a program is there, nobody else can write it, and it is what was built. Raises OSError."""
    hashed = _hash_of(program)
    if not private.is_own(program) or not private.is_own(hashed):
        return False
    return hashed.read_bytes().decode("ascii", "replace") == files.sha256_of(program)


def _compile(command: list[str], program: Path) -> None:
    """Builds a program. It gets its name when it is whole. Raises RunError if the compiler fails; OSError."""
    source = resources.files("odonata.probe").joinpath("probe.c").read_bytes()
    with tempfile.TemporaryDirectory(prefix=".building-", dir=program.parent) as scratch:
        code, made = Path(scratch) / "probe.c", Path(scratch) / "probe"
        code.write_bytes(source)
        words = [*command, "-O2", "-std=gnu99", "-o", str(made), str(code)]
        done = subprocess.run(words, capture_output=True, check=False, timeout=TIMEOUT_S)
        if done.returncode:
            said = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()[:10]
            raise RunError(f"`{shlex.join(command)}` cannot build the probe:\n" + "\n".join(said))
        made.chmod(0o700)
        files.sync(made)
        # The hash first: without its program it says nothing.
        files.write(_hash_of(program), files.sha256_of(made))
        _hash_of(program).chmod(0o600)
        made.replace(program)
    files.sync_folder(program.parent)
