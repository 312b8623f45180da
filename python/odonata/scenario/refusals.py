"""What the core refuses, in terms of the scenario: which keys led to a value of the specification."""

import re

from odonata.errors import InputError

#: Path of a value in the specification -> keys in the scenario; {0} and {1} are groups of the pattern.
_PATHS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"jobs\[(\d+)\]\.name", ("job", "{0}", "name")),
    (r"jobs\[(\d+)\]\.nodes.*", ("job", "{0}", "place")),
    (r"jobs\[(\d+)\]\.traffic\.message_bytes", ("job", "{0}", "app", "message")),
    (r"jobs\[(\d+)\]\.traffic\.interval_ps", ("job", "{0}", "app", "interval")),
    (r"jobs\[(\d+)\]\.traffic\.intervals", ("job", "{0}", "app", "messages")),
    (r"jobs\[(\d+)\]\.traffic\.arrival.*", ("job", "{0}", "app", "arrival")),
    (r"jobs\[(\d+)\]\.routing\.name", ("job", "{0}", "routing")),
    (r"jobs\[(\d+)\]\.routing\.(\w+?)(?:_ppm|_bytes|_milli)?", ("job", "{0}", "routing", "{1}")),
    (r"jobs\[(\d+)\]\.routing.*", ("job", "{0}", "routing")),
    (r"jobs\[(\d+)\]\.traffic\.pattern\.(\w+)", ("job", "{0}", "app", "{1}")),
    (r"jobs\[(\d+)\]\.program\.(start|gap|every)_ps", ("job", "{0}", "{1}")),
    (r"jobs\[(\d+)\]\.program\.iterations", ("job", "{0}", "iterations")),
    (r"jobs\[(\d+)\]\.program\.costs\.(\w+?)(?:_ps|_bytes)?", ("job", "{0}", "overhead", "{1}")),
    (r"jobs\[(\d+)\]\.program\.body\.(?:.*\.)?(\w+)(?:\[\d+\])?", ("job", "{0}", "app", "{1}")),
    (r"jobs\[(\d+)\].*", ("job", "{0}", "app")),
    (r"fabric\.links\.(\w+)\.(bandwidth)", ("fabric", "links", "{0}", "{1}")),
    (r"fabric\.links\.(\w+)\.(\w+?)_(?:ps|bytes)", ("fabric", "links", "{0}", "{1}")),
    (r"fabric\.nic\.(\w+?)(?:_ps)?", ("fabric", "nic", "{0}")),
    (r"fabric\.packet_bytes", ("fabric", "packet")),
    (r"fabric\.router_delay_ps", ("fabric", "router_delay")),
    (r"fabric\.channels", ("fabric", "channels")),
    (r"fabric.*", ("fabric",)),
    (r"topology\.(\w+)", ("system", "{0}")),
    (r"topology.*", ("system",)),
    (r"routing\.name", ("routing",)),
    (r"routing\.(\w+?)(?:_ppm|_bytes|_milli)?", ("routing", "{0}")),
    (r"routing.*", ("routing",)),
    (r"sensing\.delay_ps\.(\w+)", ("sensing", "delay", "{0}")),
    (r"sensing\.delay_ps", ("sensing", "delay")),
    (r"sensing.*", ("sensing",)),
    (r"failures.*", ("system", "failed")),
    (r"stop\.at_ps", ("run", "horizon")),
    (r"stop.*", ("run", "until")),
    (r"measure\.until_ps", ("measure", "window")),
    (r"measure\.arrivals_every_ps", ("measure", "links", "every")),
    (r"measure.*", ("measure",)),
    (r"compat", ("compat",)),
    (r"seed", ("run", "seed")),
)


def refusal_as_error(message: str, at: str | None) -> InputError:
    """The core's refusal as an InputError whose path leads into the scenario."""
    for pattern, keys in _PATHS:
        match = re.fullmatch(pattern, at or "")
        if match is not None:
            path = tuple(int(part) if part.isdigit() else part for part in (k.format(*match.groups()) for k in keys))
            return InputError(f"`{keys[-1].format(*match.groups())}`: {_without(message, at or '')}", path=path)
    return InputError(message)


def _without(message: str, at: str) -> str:
    """The message without the path of the specification, which the user never wrote, and with the scenario's keys."""
    told = re.sub(rf"^`?{re.escape(at)}`?\s*:?\s*", "", message) or message
    return told.replace("`failures.", "`failed.")
