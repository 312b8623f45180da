"""Host lists as Slurm writes them: `node[001-005,9],gpu[1-2]n[0-3]`.

The parser is our own. ClusterShell's NodeSet reads a larger language (groups, set operators, steps), takes the meaning
of some characters from the configuration of the site, and is under the LGPL; python-hostlist is under the GPL.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import product

from odonata.errors import InputError, shortened

#: Most hosts that one list may name. Assumed: ten times the largest machine.
MOST_HOSTS = 1_000_000

#: Texts, in lower case, that Slurm prints for an empty node list. A text in brackets is the reason why a job waits.
_NO_HOSTS = ("", "none", "none assigned", "n/a", "unknown")

#: Most digits of a number in a range.
_MOST_DIGITS = 18

_RANGE = re.compile(r"([0-9]+)(?:-([0-9]+))?")
_HOST = re.compile(r"(?P<before>.*?)(?P<number>[0-9]+)(?P<after>[^0-9]*)", re.DOTALL)


def expand(text: str) -> list[str]:
    """Expand a host list, in its order and with repetitions.

    Leading zeros are kept: `n[08-10]` is `n08`, `n09`, `n10`. A name may have several brackets, and text after them;
    the last bracket varies fastest.

    Parameters
    ----------
    text
        Hosts and ranges of hosts, separated by commas.

    Returns
    -------
    list of str
        Names of hosts; empty for an empty text.

    Raises
    ------
    InputError
        For a list that is cut or malformed, a range that ends before it begins, and more than a million hosts.
    """
    hosts: list[str] = []
    for part in _parts(text):
        hosts += _expand_part(part, text, MOST_HOSTS - len(hosts))
    return hosts


def expand_field(text: str) -> tuple[str, ...]:
    """The hosts in a field of Slurm, each once; an empty list for texts such as `(null)`.

    Raises InputError as `expand` does.
    """
    listed = text.strip()
    if listed.startswith("(") or listed.lower() in _NO_HOSTS:
        return ()
    return tuple(dict.fromkeys(expand(listed)))


def fold(hosts: Iterable[str]) -> str:
    """Fold hosts into a host list that Slurm's `-w` takes: each host once, with ascending numbers.

    The last number of a name becomes a bracket; names that differ elsewhere are listed separately. `expand` returns the
    same hosts.

    Parameters
    ----------
    hosts
        Names of hosts.

    Returns
    -------
    str
        Hosts and ranges of hosts, separated by commas.
    """
    plain: dict[str, None] = {}
    families: dict[tuple[str, str, int], set[int]] = {}
    for host in hosts:
        match = _HOST.fullmatch(host)
        if match is None or len(match["number"]) > _MOST_DIGITS:
            plain[host] = None
            continue
        digits = match["number"]
        # Numbers without leading zeros share a list even if their widths differ: n[8-10].
        width = len(digits) if digits.startswith("0") and len(digits) > 1 else 0
        families.setdefault((match["before"], match["after"], width), set()).add(int(digits))
    _join_widths(families)
    folded = [_fold_family(*family, numbers) for family, numbers in families.items() if numbers]
    return ",".join([*plain, *folded])


def _join_widths(families: dict[tuple[str, str, int], set[int]]) -> None:
    """Moves numbers without leading zeros (`n100`) to the family of the same width with leading zeros (`n010`)."""
    for before, after, width in [family for family in families if family[2]]:
        bare = families.get((before, after, 0), set())
        fitting = {number for number in bare if len(str(number)) == width}
        families[before, after, width] |= fitting
        bare -= fitting


def _fold_family(before: str, after: str, width: int, numbers: set[int]) -> str:
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][1] + 1 == number:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    parts = [f"{a:0{width}}" if a == b else f"{a:0{width}}-{b:0{width}}" for a, b in runs]
    inside = parts[0] if len(numbers) == 1 else f"[{','.join(parts)}]"
    return f"{before}{inside}{after}"


def _parts(text: str) -> Iterator[str]:
    """The parts between the commas outside brackets."""
    depth, start = 0, 0
    for at, sign in enumerate(text):
        if sign == "[":
            depth += 1
            if depth > 1:
                raise _wrong(text, at, "a bracket inside a bracket")
        elif sign == "]":
            depth -= 1
            if depth < 0:
                raise _wrong(text, at, "`]` without `[`")
        elif sign == "," and depth == 0:
            if not text[start:at].strip():
                raise _wrong(text, at, "a comma without a host before it")
            yield text[start:at].strip()
            start = at + 1
    if depth:
        raise _wrong(text, len(text), "the list is cut: a bracket is not closed")
    if text[start:].strip():
        yield text[start:].strip()
    elif start:
        raise _wrong(text, len(text), "the list is cut: nothing comes after the last comma")


def _expand_part(part: str, text: str, most: int) -> list[str]:
    pieces = re.split(r"\[([^\]]*)\]", part)
    if any(re.search(r"\s", piece) for piece in pieces[::2]):
        raise _wrong(text, text.find(part), f"a blank inside `{shortened(part, 60)}`")
    choices: list[list[str]] = []
    count = 1
    for number, piece in enumerate(pieces):
        numbers = _numbers(piece, text) if number % 2 else [[piece]]
        size = sum(map(len, numbers))
        count *= size
        if count > most:
            raise InputError(f"the host list `{shortened(text, 60)}` names more than {MOST_HOSTS:,} hosts")
        choices.append([name for names in numbers for name in names])
    return ["".join(names) for names in product(*choices)]


def _numbers(inside: str, text: str) -> list[list[str]]:
    ranges = []
    total = 0
    for part in inside.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            raise _wrong(text, text.find(f"[{inside}]"), f"expected a number or a range, found `{shortened(part, 60)}`")
        low, high = match[1], match[2] or match[1]
        if max(len(high), len(low)) > _MOST_DIGITS:
            raise _wrong(text, text.find(part), f"the number in `{shortened(part, 60)}` has too many digits")
        if int(high) < int(low):
            raise _wrong(text, text.find(part), f"the range `{part.strip()}` ends before it begins")
        total += int(high) - int(low) + 1
        if total > MOST_HOSTS:
            raise InputError(f"the host list `{shortened(text, 60)}` names more than {MOST_HOSTS:,} hosts")
        ranges.append([f"{number:0{len(low)}}" for number in range(int(low), int(high) + 1)])
    return ranges


def _wrong(text: str, at: int, what: str) -> InputError:
    return InputError(f"host list `{shortened(text, 60)}`, character {at + 1}: {what}")
