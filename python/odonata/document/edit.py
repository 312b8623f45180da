"""Changing single values of a document: `job.target.app.interval` = `"2 us"`."""

import copy
import re
import tomllib
from typing import Any

from odonata import reading
from odonata.document import writing
from odonata.errors import InputError, nearest, shortened

#: Keys whose value may be a bare name, and the key under which a table holds that name.
SHORTHANDS = {"system": "preset", "routing": "name", "place": "policy", "mapping": "name"}
_KEY = re.compile(r'"((?:[^"\\]|\\.)*)"|([^."]+)')


def read_value(text: str) -> Any:
    """The value of a `key=value` on a command line: TOML if it is TOML, else the text itself.

    So `3`, `0.5`, `true`, `"4 KB"`, `[1, 2]` and `{ policy = "random" }` mean what they mean in a file,
    and `4 KB` or `random` need no quotes. Raises InputError for a list, table or quoted text that does not end or
    is wrong inside.
    """
    try:
        data = reading.parse_toml(f"value = {text}")
    except tomllib.TOMLDecodeError as e:
        if not text.startswith(("[", "{", '"', "'")):
            return text
        problem = re.sub(r" \(at .*\)$", "", str(e))
        hint = "write it as in a file, and quote all of it for the shell: -s 'job.a.place={ policy = \"random\" }'"
        raise InputError(f"`{shortened(text)}` is not TOML: {problem[:1].lower()}{problem[1:]}", hint=hint) from None
    return data["value"] if len(data) == 1 else text


def applied(data: dict[str, Any], key: str, value: Any) -> dict[str, Any]:
    """A copy of `data` in which the dotted `key` has this value; missing tables are added."""
    result = copy.deepcopy(data)
    _apply(result, _parts(key), copy.deepcopy(value), key)
    return result


def path_of(data: dict[str, Any], key: str) -> tuple[str | int, ...] | None:
    """The path that a dotted key means in `data`, with jobs by number; None if it leads nowhere."""
    here: Any = data
    path: tuple[str | int, ...] = ()
    for part in _parts(key):
        step: str | int = part
        if isinstance(here, list):
            index = _named(here, part)
            if index is None:
                return None
            step = index
        elif not isinstance(here, dict) or part not in here:
            return None
        here, path = here[step], (*path, step)
    return path


def text(original: str, changes: tuple[tuple[str, Any], ...], data: dict[str, Any]) -> str:
    """The original text with the changes made in place; `data` is what it must mean.

    If the layout cannot be kept (a change that the editing library gets wrong), the data is written without comments
    and layout: the meaning is always right.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(original)
        for key, value in changes:
            _apply(document, _parts(key), value, key)
        result = tomlkit.dumps(document)
        if tomllib.loads(result) == data:
            return result
    except (TOMLKitError, tomllib.TOMLDecodeError, TypeError, ValueError, KeyError, RecursionError):
        pass
    return writing.text(data)


def _apply(root: Any, parts: list[str], value: Any, key: str) -> None:
    here = root
    for depth, part in enumerate(parts[:-1]):
        here = _step(here, part, parts[: depth + 1], key)
    last = parts[-1]
    if isinstance(here, list):
        raise InputError(f"`{key}` is a whole table, not a value", hint=f"add the key to set: `{key}.nodes=...`")
    if not isinstance(here, dict):
        raise InputError(f"cannot set `{key}`: `{'.'.join(parts[:-1])}` is not a table")
    here[last] = value


def _step(here: Any, part: str, so_far: list[str], key: str) -> Any:
    if isinstance(here, list):
        index = _named(here, part)
        if index is None:
            names = [str(e["name"]) for e in here if isinstance(e, dict) and "name" in e]
            near = nearest(part, names)
            hint = f"did you mean `{near}`?" if near else "jobs: " + ", ".join(names)
            raise InputError(f"cannot set `{key}`: there is no job `{part}`", hint=hint)
        return here[index]
    if not isinstance(here, dict):
        raise InputError(f"cannot set `{key}`: `{'.'.join(so_far[:-1])}` is not a table")
    if part not in here:
        here[part] = {}
    elif isinstance(here[part], str) and part in SHORTHANDS:
        here[part] = {SHORTHANDS[part]: str(here[part])}
    return here[part]


def _named(elements: list[Any], name: str) -> int | None:
    for index, element in enumerate(elements):
        if isinstance(element, dict) and element.get("name") == name:
            return index
    return None


def _parts(key: str) -> list[str]:
    parts, at = [], 0
    while at <= len(key):
        match = _KEY.match(key, at)
        if match is None:
            break
        parts.append(match[1] if match[1] is not None else match[2].strip())
        at = match.end()
        if at == len(key):
            if len(parts) > reading.MOST_NESTED:
                break
            return parts
        if key[at] != ".":
            break
        at += 1
    raise InputError(f"`{shortened(key)}` is not a key", hint="keys look like `run.seed` or `job.target.app.interval`")
