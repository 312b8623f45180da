"""Queries Slurm, with formats that every release knows."""

import os
import secrets
import subprocess
from collections.abc import Mapping, Sequence

from odonata.errors import RunError

#: Longest time of one command, in seconds. Assumed: Slurm's own commands give up after 10 s for each controller.
TIMEOUT_S = 120

#: Environment variables that change the content or the format of the output.
_CHANGES_OUTPUT = ("SQUEUE_", "SINFO_", "SACCT_", "SLURM_TIME_FORMAT", "SLURM_CLUSTERS", "SLURM_BITSTR_LEN")


def queue() -> str:
    """All jobs as a table with a header. Names of jobs may contain the separator.

    A user may give a job a name with a line feed, so that the rest of the name looks like a row. Therefore each row
    begins with a mark that users cannot know.
    """
    mark = secrets.token_hex(8)
    return marked_rows(run(["squeue", "--all", f"--format={mark}|%i|%T|%D|%P|%a|%u|%L|%l|%j|%N"]), f"{mark}|")


def marked_rows(text: str, mark: str) -> str:
    """The rows of a text without their marks; a line feed inside a row becomes a blank.

    A text whose first line has no mark is returned as it is.
    """
    begin, *rows = f"\n{text}".split(f"\n{mark}")
    if begin.strip() or not rows:
        return text
    return "".join(row.rstrip("\n").replace("\n", " ") + "\n" for row in rows)


def nodes() -> str:
    """All nodes as a table with a header, a line for each node and partition."""
    return run(["sinfo", "--all", "--Node", "--format=%T|%R|%N"])


def topology() -> str:
    """The switches or blocks; empty if Slurm knows none."""
    return run(["scontrol", "show", "topology"])


def run(command: Sequence[str], extra: Mapping[str, str] | None = None) -> str:
    """Run a command of Slurm and return its output.

    `extra` are environment variables. Raises RunError, with what the command said, if it is not installed, does not
    end within two minutes, or fails.
    """
    name = command[0]
    environment = {key: value for key, value in os.environ.items() if not key.startswith(_CHANGES_OUTPUT)}
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            check=False,
            timeout=TIMEOUT_S,
            stdin=subprocess.DEVNULL,
            env=environment | dict(extra or {}),
        )
    except FileNotFoundError:
        raise RunError(
            f"there is no `{name}` here\n  hint: run this where Slurm's commands are, or give files in their place"
        ) from None
    except OSError as e:
        raise RunError(f"cannot run `{name}`: {e.strerror}") from None
    except subprocess.TimeoutExpired:
        raise RunError(f"`{name}` did not answer within {TIMEOUT_S} seconds") from None
    if done.returncode != 0:
        said = " ".join(done.stderr.decode(errors="replace").split()) or f"exit status {done.returncode}"
        raise RunError(f"`{name}` failed: {said}")
    # `text=True` would turn a carriage return in the name of a job into a line end.
    return done.stdout.decode(errors="replace")
