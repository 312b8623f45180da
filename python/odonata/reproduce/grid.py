"""`study.toml`: which cases a study consists of.

A study has a `system`, the `ranks` of its target job, a `seed`, `models` (settings of a scenario each), `targets` (the
app of each pattern), `places` (options of each placement) and any number of `[[cases]]`. In those, `pattern`, `place`,
`interval`, `background`, `background_interval`, `messages` and every list under `vary` are swept: the cases are the
product. `reduced` are the numbers of messages of the reduced form (none: not part of it). `models` limits a block to
some of the models.
"""

from __future__ import annotations

import itertools
import json
import tomllib
from typing import TYPE_CHECKING, Any

from odonata.errors import InputError
from odonata.reproduce.case import Background, Case

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_KEYS = {
    "pattern",
    "place",
    "interval",
    "background",
    "background_interval",
    "messages",
    "reduced",
    "models",
    "vary",
    "windows",
}


def read_cases(text: str, file: str, *, reduced: bool) -> list[Case]:
    """The cases of a study in the order of the file, each once.

    Raises InputError for a key that means nothing and for a name that is not defined in the file.
    """
    study = tomllib.loads(text)
    found: dict[Case, None] = {}
    for number, block in enumerate(study["cases"], 1):
        unknown = sorted(set(block) - _KEYS)
        if unknown:
            raise InputError(f"cases {number}: unknown key `{unknown[0]}`", file=file, hint=", ".join(sorted(_KEYS)))
        try:
            found |= dict.fromkeys(_cases(study, block, reduced=reduced))
        except KeyError as problem:
            raise InputError(f"cases {number}: {problem} is missing or not defined", file=file) from None
    return list(found)


def models(text: str) -> list[str]:
    """Names of a study's models, in the order of the file."""
    return list(tomllib.loads(text)["models"])


def _cases(study: Mapping[str, Any], block: Mapping[str, Any], *, reduced: bool) -> Iterator[Case]:
    for model, pattern, place, interval, background, settings, messages in itertools.product(
        block.get("models", list(study["models"])),
        block["pattern"],
        block["place"],
        block["interval"],
        _backgrounds(block),
        _varied(block.get("vary", {})),
        block.get("reduced", []) if reduced else block["messages"],
    ):
        yield Case(
            model=model,
            pattern=pattern,
            place=place,
            interval=interval,
            background=background,
            messages=messages,
            seed=study["seed"],
            settings=tuple((key, json.dumps(value)) for key, value in (*study["models"][model].items(), *settings)),
            label=",".join(_label(key, value) for key, value in settings),
            app=json.dumps(study["targets"][pattern]),
            nodes=json.dumps(study["places"][place]),
            ranks=study["ranks"],
            system=study["system"],
            windows=block.get("windows", ""),
        )


def _backgrounds(block: Mapping[str, Any]) -> list[Background]:
    found = []
    for percent in block.get("background", [0]):
        intervals = block["background_interval"] if percent else [""]
        found += [Background(percent, interval) for interval in intervals]
    return found


def _varied(vary: Mapping[str, Sequence[Any]]) -> list[tuple[tuple[str, Any], ...]]:
    """Every combination of the values; one empty combination if nothing is varied."""
    return list(itertools.product(*([(key, value) for value in values] for key, values in vary.items())))


def _label(key: str, value: Any) -> str:
    """`threshold=0.4`; for a table its entries."""
    pairs = value.items() if isinstance(value, dict) else [(key.rpartition(".")[2], value)]
    return ",".join(f"{name}={text}" for name, text in pairs).replace(" ", "")
