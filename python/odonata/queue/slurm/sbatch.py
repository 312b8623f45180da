"""Checks the options of `sbatch` before the script: none of them may name nodes.

`sbatch` reads options up to the first word that is neither an option nor its value; that word is the script. It accepts
long options shortened, and short ones joined (`-Hw node9`). So the options
that take a value decide which word is the script. Source of the lists: sbatch(1) of Slurm 25.05.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Options that choose nodes or their number.
_OURS = ("nodelist", "nodes", "nodefile")
_OURS_SHORT = "wNF"
#: Short options with a value, in the same word or in the next; those whose value may follow in the same word only; and
#: those without.
_VALUE_SHORT = "AaBbCcDdeGiJLMmnopqStx"
_BARE_SHORT = "HhIkOQsuVvW"
#: Long options that take the next word as their value if there is no `=`.
_VALUE = frozenset(
    [
        "account",
        "acctg-freq",
        "array",
        "batch",
        "bb",
        "bbf",
        "begin",
        "chdir",
        "cluster-constraint",
        "clusters",
        "comment",
        "constraint",
        "container",
        "container-id",
        "core-spec",
        "cores-per-socket",
        "cpu-freq",
        "cpus-per-gpu",
        "cpus-per-task",
        "deadline",
        "delay-boot",
        "dependency",
        "distribution",
        "error",
        "exclude",
        "export",
        "export-file",
        "extra",
        "extra-node-info",
        "gid",
        "gpu-bind",
        "gpu-freq",
        "gpus",
        "gpus-per-node",
        "gpus-per-socket",
        "gpus-per-task",
        "gres",
        "gres-flags",
        "hint",
        "input",
        "job-name",
        "kill-on-invalid-dep",
        "licenses",
        "mail-type",
        "mail-user",
        "mcs-label",
        "mem",
        "mem-bind",
        "mem-per-cpu",
        "mem-per-gpu",
        "mincpus",
        "network",
        "ntasks",
        "ntasks-per-core",
        "ntasks-per-gpu",
        "ntasks-per-node",
        "ntasks-per-socket",
        "open-mode",
        "output",
        "partition",
        "power",
        "prefer",
        "priority",
        "profile",
        "qos",
        "reservation",
        "resv-ports",
        "segment",
        "signal",
        "sockets-per-node",
        "switches",
        "thread-spec",
        "threads-per-core",
        "time",
        "time-min",
        "tmp",
        "tres-bind",
        "tres-per-task",
        "uid",
        "wait-all-nodes",
        "wckey",
        "workdir",
        "wrap",
    ]
)
#: Long options without a value, or with one behind `=` only.
_BARE = frozenset(
    [
        "consolidate-segments",
        "contiguous",
        "exclusive",
        "external",
        "get-user-env",
        "help",
        "hold",
        "ignore-pbs",
        "nice",
        "no-kill",
        "no-requeue",
        "overcommit",
        "oversubscribe",
        "parsable",
        "propagate",
        "quiet",
        "reboot",
        "requeue",
        "share",
        "spread-job",
        "stepmgr",
        "test-only",
        "usage",
        "use-min-nodes",
        "verbose",
        "version",
        "wait",
    ]
)


def split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The options of `sbatch`, and the script with its own arguments.

    Raises InputError for an option that chooses nodes or their number, and for an option whose value has no clear end.
    """
    at = 0
    while at < len(arguments):
        word = arguments[at]
        if word == "--":
            return list(arguments[:at]), list(arguments[at + 1 :])
        if word.startswith("--"):
            at += 1 + _long(word)
        elif word.startswith("-") and word != "-":
            at += 1 + _short(word)
        elif word == ":":
            raise InputError("`:` begins another job, whose nodes are not selected here", hint="submit it by itself")
        else:
            break
    if at > len(arguments):
        raise InputError(f"`{arguments[-1]}` has no value")
    return list(arguments[:at]), list(arguments[at:])


def _long(word: str) -> int:
    """How many of the following words belong to a long option."""
    name, equals, _ = word[2:].partition("=")
    if name in _VALUE or name in _BARE:
        return 0 if equals or name in _BARE else 1
    if any(ours.startswith(name) for ours in _OURS):
        raise _refused(word)
    if not equals:
        raise InputError(
            f"nobody can say whether the next word is the value of `{word}` or the script",
            hint=f"write the whole name of the option; with a value: `{word}=VALUE`",
        )
    return 0


def _short(word: str) -> int:
    """How many of the following words belong to short options."""
    for at, letter in enumerate(word[1:], 1):
        if letter in _OURS_SHORT:
            raise _refused(word)
        if letter in _VALUE_SHORT:
            return 0 if word[at + 1 :] else 1
        if letter not in _BARE_SHORT:
            raise InputError(f"`-{letter}` in `{word}` is not a known option of sbatch", hint="write its long name")
        if letter == "k":
            return 0  # the rest of the word is its value
    return 0


def _refused(word: str) -> InputError:
    return InputError(f"`{word}` says which nodes, or how many; that is what is selected here", hint="leave it out")
