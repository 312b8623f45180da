"""Files and folders that are either complete or absent, even after a power failure, and the locks of folders.

Run folders, studies, pictures and exports are all written with these functions. A file gets its name when all of it is
on the disk: it is written under another name in the same folder, synchronised and renamed, and then the folder is
synchronised. `remove_partial` and `remove_stale` recognise the files of a killed process by their names.

A lock is `flock` on the folder itself. The package `filelock` locks a separate file, which would stay in the user's
folder among the results. The system releases a lock whenever a process ends.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
import shutil
import sys
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odonata.errors import InputError, RunError

if TYPE_CHECKING:
    from collections.abc import Iterator

_MARK = ".partial-"


def size_and_digest(data: bytes | memoryview) -> dict[str, Any]:
    """The entry of a manifest for a file with these bytes: their number and SHA-256."""
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def size_and_digest_of(path: Path) -> dict[str, Any]:
    """The same of a file on the disk, which may not fit into memory. Raises OSError."""
    return {"bytes": path.stat().st_size, "sha256": sha256_of(path)}


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sync(path: Path) -> None:
    """Wait until the bytes of a file are on the disk. Raises OSError."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def write(path: Path, data: bytes | memoryview | str) -> None:
    """Write a file, durably; text is written as UTF-8.

    If the path is a link, its target is written. A device or a pipe (`/dev/stdout`) receives the bytes.

    Raises RunError if that is not possible (a full disk). Then an older file of this name is unchanged, and no other
    file is left.
    """
    if _is_stream(path):
        _write_stream(path, data.encode() if isinstance(data, str) else data)
        return
    path = Path(os.path.realpath(path)) if path.is_symlink() else path
    partial = path.with_name(f".{path.name}{_MARK}{secrets.token_hex(4)}")
    try:
        try:
            with partial.open("wb") as file:
                file.write(data.encode() if isinstance(data, str) else data)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(path)
        except BaseException:
            with suppress(OSError):
                partial.unlink()
            raise
        sync_folder(path.parent)
    except OSError as problem:
        raise RunError(f"cannot write `{path}`: {problem.strerror or problem}") from problem


def _is_stream(path: Path) -> bool:
    """Whether a name is that of a device or a pipe, or of an open file (`/dev/stdout`, which may be a file)."""
    named = str(path.absolute()).startswith(("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/"))
    return path.exists() and not path.is_dir() and (named or not path.is_file())


def _write_stream(path: Path, data: bytes | memoryview) -> None:
    try:
        if os.path.samestat(path.stat(), os.fstat(1)):
            # Through the open file, so that the order with other output is kept.
            sys.stdout.flush()
            with open(1, "wb", closefd=False) as opened:
                opened.write(data)
            return
        with path.open("ab") as opened:
            opened.write(data)
    except OSError as problem:
        raise RunError(f"cannot write `{path}`: {problem.strerror or problem}") from problem


def write_new(path: Path, data: bytes, *, force: bool) -> None:
    """Write a new file. Overwrite an existing file with different contents only with `force`.

    Raises InputError for another file, and RunError if it cannot be written.
    """
    if not force and not _is_stream(path) and path.is_file() and path.read_bytes() != data:
        raise InputError(f"`{path}` exists with different contents", hint="choose another name, or add --force")
    write(path, data)


def check_new(path: Path, option: str) -> None:
    """Check, before it is made, that a file of this name can be written. Nothing is left.

    Raises InputError, with the option, for a folder, and for a file in a folder that does not exist or is read-only.
    """
    if _is_stream(path):
        return
    try:
        if path.is_dir():
            raise InputError(f"{option}: `{path}` is a folder, expected a file", hint=f"{option} {path / 'page.html'}")
        parent = Path(os.path.realpath(path)).parent
        if not parent.is_dir():
            raise InputError(f"{option}: there is no folder `{parent if path.is_symlink() else path.parent}`")
        with tempfile.TemporaryFile(dir=parent, prefix=f".{path.name}{_MARK}"):
            pass
    except OSError as problem:
        raise InputError(f"{option}: cannot write `{path}`: {problem.strerror or problem}") from None


def remove_partial(folder: Path) -> None:
    """Remove the files that killed processes did not finish in `folder`. No other process may be writing there."""
    for path in folder.iterdir():
        if is_partial(path.name) and path.is_file():
            with suppress(OSError):
                path.unlink()


def is_partial(name: str) -> bool:
    """Whether a file of this name is one that `write` did not finish."""
    return name.startswith(".") and _MARK in name


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    # A file system without this operation has other ways to keep names.
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


@contextmanager
def locked(folder: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold the lock of a folder. Without `wait`, raise BlockingIOError if another process holds it.

    On a file system without locks, the block runs without one.
    """
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            raise
        except OSError:
            pass
        yield
    finally:
        os.close(opened)


@contextmanager
def alone_in(folder: Path, what: str) -> Iterator[None]:
    """Makes a folder if there is none, and holds its lock.

    Raises InputError if another command, which the message calls `what`, holds it, and RunError if the folder cannot be
    used.
    """
    with ExitStack() as locks:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            locks.enter_context(locked(folder, wait=False))
        except BlockingIOError:
            raise InputError(f"another {what} is using `{folder}`", hint="wait for it, or choose --out") from None
        except OSError as problem:
            raise RunError(f"cannot use the folder `{folder}`: {problem.strerror or problem}") from problem
        yield


@contextmanager
def partial_folder(folder: Path) -> Iterator[Path]:
    """A new empty folder beside `folder`, locked while it is written, and removed at the end unless it was renamed.

    The lock shows that the folder is in use. A process id in the name would not show it, because containers reuse ids.
    """
    partial, lock = _locked(folder)
    try:
        yield partial
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        os.close(lock)


def remove_stale(folder: Path) -> None:
    """Remove the partial folders of `folder` that no living process is writing."""
    prefix = f".{folder.name}{_MARK}"
    for path in folder.parent.iterdir():
        if not path.name.startswith(prefix) or path.is_symlink():
            continue
        with suppress(OSError):
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            try:
                # Not `locked`: on a file system without locks, stale folders are unknown, so none is removed.
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(lock)


def _locked(folder: Path) -> tuple[Path, int]:
    while True:
        partial = folder.with_name(f".{folder.name}{_MARK}{secrets.token_hex(4)}")
        partial.mkdir()
        try:
            lock = os.open(partial, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            continue  # another run removed it as stale before it could be locked
        try:
            # On a file system without locks, a stale folder cannot be recognised: all are kept.
            with suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_EX)
            if partial.is_dir():
                return partial, lock
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            os.close(lock)
            raise
        os.close(lock)


def check_folder(folder: Path) -> None:
    """Check that files can be written to `folder`, which need not exist yet, by trying it. Nothing is left there.

    Raises InputError for a file, a link that leads nowhere, the current directory, a name that is too long, and a
    place that is read-only.
    """
    try:
        str(folder).encode()
    except UnicodeEncodeError:
        # Polars takes names of files as text.
        raise InputError(f"the name of the folder `{folder}` is not UTF-8", hint="choose another with --out") from None
    try:
        if folder.is_symlink() and not folder.exists():
            raise InputError(
                f"`{folder}` is a link to `{folder.readlink()}`, which does not exist",
                hint="create that folder, or choose another with --out",
            )
        if not folder.exists():
            _try_new(Path(os.path.realpath(folder)))
        elif not folder.is_dir():
            raise InputError(f"`{folder}` is a file, expected a folder", hint="choose another with --out")
        elif folder.samefile(Path.cwd()):
            raise InputError(f"`{folder}` is the current directory", hint="name a folder in it")
        else:
            with tempfile.TemporaryFile(dir=folder):
                pass
    except OSError as problem:
        hint = "choose another folder with --out"
        raise InputError(f"cannot write to `{folder}`: {problem.strerror or problem}", hint=hint) from None


def _try_new(folder: Path) -> None:
    """Make a folder with the longest name that is needed later, in the nearest parent that exists."""
    missing = [folder]
    while not missing[-1].parent.exists():
        missing.append(missing[-1].parent)
    parent = missing[-1].parent
    longest = max((path.name for path in missing), key=lambda name: len(os.fsencode(name)))
    probe = Path(tempfile.mkdtemp(prefix=f".{longest}{_MARK}", dir=parent))
    # Another process may have removed it as stale.
    with suppress(FileNotFoundError):
        probe.rmdir()
