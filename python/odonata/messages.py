"""The messages for errors of the core: one table, from the code of an error to a sentence and a hint.

The core reports an error as data: a code, a path into the specification, and named parameters
(`crates/error/src/kind.rs`). The sentences are here, in the vocabulary of the scenario file. `{key}` is the last key of
the path; a format after a colon says how a value is shown: `{found:unit}` with the unit that the key of the
specification ends in, `{at_ps:time}`, `{found_bytes:bytes}`, `{choices:or}`, `{columns:list}`, `{routers:and}`.
"""

import inspect
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from odonata import units
from odonata.errors import InputError, OdonataError, RunError, nearest

#: Keys and indices that lead to a value.
Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Message:
    """The sentence for a code.

    `made` holds values that are computed from several parameters: a name for the template, and a function whose
    parameters have the names of the core. An empty hint is left out. With `of_run` the input is valid and the run
    failed.
    """

    text: str
    hint: str = ""
    made: Mapping[str, Callable[..., str]] = field(default_factory=dict)
    of_run: bool = False

    def parameters(self) -> frozenset[str]:
        """The parameters that it needs from the core."""
        parsed = (*string.Formatter().parse(self.text), *string.Formatter().parse(self.hint))
        named = {name for _, name, _, _ in parsed if name is not None}
        used = {name for function in self.made.values() for name in inspect.signature(function).parameters}
        return frozenset((named - self.made.keys() - {"key"}) | used)


def message_of(code: str, path: Path, parameters: Mapping[str, Any], key: str) -> tuple[str, str | None]:
    """The sentence and the hint for an error of the core.

    `path` leads into the specification; `key` is what the scenario calls the value at its end.
    """
    message = MESSAGES[code]
    made = {
        name: function(**{p: parameters[p] for p in inspect.signature(function).parameters})
        for name, function in message.made.items()
    }
    show = _Formatter(next((part for part in reversed(path) if isinstance(part, str)), ""))
    values = {**parameters, **made, "key": key}
    return show.vformat(message.text, (), values), show.vformat(message.hint, (), values) or None


def error_of(
    code: str,
    path: Path,
    parameters: Mapping[str, Any],
    *,
    keys: Path = (),
    place: Mapping[str, int] | None = None,
) -> OdonataError:
    """The error that users see; `keys` lead to the value in the scenario.

    `place` is where in a trace it is: `line` and `column`, `byte`, or `rank` and `operation`.
    """
    text, hint = message_of(code, path, parameters, key_of(keys or path))
    place = place or {}
    line = place.get("line")
    where = f"node {place['node']} (`{place['name']}`)" if "node" in place else ""
    where = where or ", ".join(f"{name} {number}" for name, number in place.items() if name != "line")
    text = f"{where}: {text}" if where else text
    if MESSAGES[code].of_run:
        return RunError(text if hint is None else f"{text}\n  hint: {hint}", code=code)
    return InputError(text, hint=hint, path=keys, line=line, code=code)


def key_of(path: Path) -> str:
    """The name of the value at the end of a path: its key, with its position in a list."""
    names = [number for number, part in enumerate(path) if isinstance(part, str)]
    if not names:
        return ""
    return str(path[names[-1]]) + "".join(f"[{part}]" for part in path[names[-1] + 1 :])


class _Formatter(string.Formatter):
    """Formats values of parameters; `unit` is the key of the specification that says what unit a number has."""

    def __init__(self, key: str) -> None:
        self.key = key

    def format_field(self, value: Any, format_spec: str) -> str:
        shown: dict[str, Callable[[Any], str]] = {
            "unit": self._with_unit,
            "time": units.format_time,
            "number": "{:,}".format,
            "bytes": _bytes,
            "links": lambda value: f"{value:,} link{'' if value == 1 else 's'}",
            "or": _or,
            "and": _and,
        }
        shown |= {"list": _list, "x": _product, "lines": "; ".join}
        return shown[format_spec](value) if format_spec else str(value)

    def _with_unit(self, value: int) -> str:
        if self.key.endswith("_ps"):
            return units.format_time(value)
        if self.key.endswith("bytes"):
            return _bytes(value)
        if self.key.endswith("_ppm"):
            return f"{value / 10_000:.6g} %"
        return f"{value / 1_000:.6g}" if self.key.endswith("_milli") else str(value)


def _bytes(size: int) -> str:
    return units.format_bytes(size)


def _ticked(values: Sequence[object]) -> list[str]:
    return [
        f"`{value}`" if isinstance(value, str) and "`" not in value and " " not in value else str(value)
        for value in values
    ]


def _list(values: Sequence[object]) -> str:
    return ", ".join(_ticked(values)) or "none"


def _or(values: Sequence[object]) -> str:
    *first, last = _ticked(values)
    return f"{', '.join(first)} or {last}" if first else last


def _and(values: Sequence[object]) -> str:
    *first, last = _ticked(values)
    return f"{', '.join(first)} and {last}" if first else last


def _product(values: Sequence[object]) -> str:
    return " x ".join(map(str, values))


def _near(found: str, known: Sequence[str]) -> str:
    near = nearest(found, known) if found.strip() else None
    return f"did you mean `{near}`?" if near else ""


def _near_or_all(found: str, known: Sequence[str]) -> str:
    return _near(found, known) or f"known: {', '.join(known)}"


def _near_label(label: str, known: Sequence[str]) -> str:
    return _near(label, known) or (f"labels: {', '.join(known)}" if len(known) <= 8 else "")


def _found(found: str) -> str:
    return {"": "the end of the text", "\n": "the end of the line"}.get(found, f"`{found}`")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _ranks(ranks: int) -> str:
    return _counted(ranks, "rank")


def _again(first_line: int | None) -> str:
    return "" if first_line is None else f"; the first is in line {first_line}"


def _whose_group(group: str) -> str:
    return "the last group" if group == "last" else "a group"


def _operation(operation: str) -> str:
    return f"a `{operation}`" if operation else "a row without an operation"


def _time_example(field: str) -> str:
    return "for example `1.5us`" if field == "time" else ""


def _cycle(first: Sequence[Mapping[str, Any]], length: int) -> str:
    def named(step: Mapping[str, Any]) -> str:
        return f"`{step['label']}`" if step["line"] is None else f"`{step['label']}` (line {step['line']})"

    return " waits for ".join([*map(named, first), "..." if length > len(first) else f"`{first[0]['label']}`"])


def _elsewhere(place: Mapping[str, int]) -> str:
    if "node" in place:
        return f"node {place['node']} of rank {place['rank']}"
    return f"line {place['line']}" if "line" in place else f"operation {place['operation']} of rank {place['rank']}"


def _whole_group(group: str) -> str:
    return f"process group `{group}`" if group else "its process group"


def _chakra_cycle(first: Sequence[str], length: int) -> str:
    return " waits for ".join([*first, "..." if length > len(first) else first[0]])


def _expected_bytes(need_bytes: int | None, found_bytes: int) -> str:
    if need_bytes is None:
        return f"the file ends inside the length before it, after {_counted(found_bytes, 'byte')}"
    return f"the length before it says {need_bytes} bytes, but {found_bytes} are left"


def _bad_group(group: str, rank: int, problem: str) -> str:
    what = f"has rank {rank} twice" if problem == "twice" else f"does not have rank {rank}, whose node this is"
    return f"process group `{group}` {what}"


def _needed_key(missing: str) -> str:
    examples = {"peak": '"312 Tflop/s"', "memory": '"1.5 TB/s"', "dimensions": "[8, 4]"}
    return f"for example {missing} = {examples[missing]}"


def _message(operation: str, rank: int, peer: int, tag: int, bytes: int) -> str:  # noqa: A002 - as the core calls it
    to = "to" if operation == "send" else "from"
    return f"rank {rank} {operation}s {_counted(bytes, 'byte')} {to} rank {peer} with tag {tag}"


def _partners(operation: str, matched: int) -> str:
    does = "receives" if operation == "send" else "sends"
    if matched == 0:
        return f"its peer never {does} that"
    return f"its peer {does} that only {'once' if matched == 1 else f'{matched} times'}"


def _other(operation: str, other: Mapping[str, int] | None, other_tag: int | None) -> str:
    does = "receives" if operation == "send" else "sends"
    return "" if other is None else f"{_elsewhere(other)} {does} with tag {other_tag}"


def _send(send: Mapping[str, int]) -> str:
    return _elsewhere(send)


def _overlap(problem: str) -> str:
    if problem == "overlap":
        return "which also belong to another rank or to the table"
    return "and no rank has the bytes before it"


def _root(problem: str) -> str:
    return "is there twice" if problem == "twice" else "does not exist"


#: Kinds of operations in binary GOAL of LogGOPSim2 that use Portals 4. Source: its `Goal.hpp`.
_PORTALS = {
    5: "append",
    6: "put",
    7: "get",
    8: "triggered append",
    9: "triggered put",
    10: "triggered get",
    11: "wait for a counter",
    12: "put on the NIC",
    13: "message of a put",
    14: "message of a get",
    15: "append on the NIC",
    16: "wait for a counter on the NIC",
    17: "get on the NIC",
    18: "reply to a get",
}


def _kind_of_operation(found: int) -> str:
    if found in _PORTALS:
        return f"the Portals 4 operation `{_PORTALS[found]}` ({found})"
    return f"an operation of kind {found}"


def _without_portals(found: int) -> str:
    return "Odonata simulates no Portals 4; write the trace with sends and recvs" if found in _PORTALS else ""


def _is_root(root: str) -> str:
    return "is" if root == "yes" else "is not"


def _bytes_received(bytes: int) -> str:  # noqa: A002 - as the core calls it
    return _counted(bytes, "byte")


def _bytes_sent(send_bytes: int) -> str:
    return _counted(send_bytes, "byte")


def _remedy(routings: Sequence[str]) -> str:
    if "fpar" in routings:
        return 'make `fpar` change to channel 1 at the intermediate spine: channel_switch = "intermediate"'
    return "choose a routing that changes to another channel where its paths turn"


def _awaited(first: Sequence[Mapping[str, Any]], ranks: int) -> str:
    return "; ".join([*map(_wait, first), *(["..."] if ranks > len(first) else [])])


def _wait(wait: Mapping[str, Any]) -> str:
    to = "to" if wait["operation"] == "send" else "from"
    text = (
        f"rank {wait['rank']} waits to {wait['operation']} {_counted(wait['bytes'], 'byte')} {to} rank {wait['peer']}"
    )
    if wait["tag"] is not None:
        text += f" with tag {wait['tag']}"
    places = [f"{name} {wait[name]}" for name in ("phase", "step", "line", "iteration") if wait[name] is not None]
    return text + (f" ({', '.join(places)})" if places else "")


def _trace_lines(first: Sequence[Mapping[str, Any]]) -> str:
    in_trace = any(wait["line"] is not None for wait in first)
    return "line numbers are those of the text that `odonata trace` writes" if in_trace else ""


_NEAR = {"near": _near}

#: Code of the core -> message.
MESSAGES: Mapping[str, Message] = {
    # Any value.
    "out-of-range": Message("`{key}` is {found:unit}; it must be between {least:unit} and {most:unit}"),
    "zero": Message("`{key}` is 0; it must be at least 1"),
    "grid-of-other-size": Message("`{key}`: a grid of {grid:x} has {points} points, but there are {ranks} ranks"),
    "root-not-a-rank": Message("`{key}`: {root} is not one of the {ranks} ranks, which are numbered from 0"),
    "no-bandwidth": Message("`{key}` is 0, so no packet would ever arrive"),
    # Machines.
    "too-few-global-ports": Message(
        "{links_per_pair} links to each of {peers} other groups need {need} global ports per group, but {routers} "
        "{router_name} with {per_router} global links each have only {have}",
        "lower `groups` or `links_per_pair`, or raise `{parameter}`",
    ),
    "too-many-groups": Message(
        "{groups} groups need at least {need} global ports per group, one per other group, but {routers} {router_name} "
        "with {per_router} global links each have only {have}",
        "at most {most} groups can be connected",
    ),
    "group-lacks-ports": Message(
        "group {group} needs {need} global ports for its links to other groups, but its {routers} {router_name} with "
        "{per_router} global links each have only {have}",
        "lower `pair_links` or `links_per_pair`, or raise `{parameter}`",
    ),
    "last-group-lacks-ports": Message(
        "`{key}` leaves the last group {have} global ports, but it needs one to each of {peers} other groups",
        "raise it, or raise `{parameter}`",
    ),
    "uneven-parallel-links": Message(
        "`{key}` is {links}, but the parallel arrangement gives each of {spines} spines the same number of "
        "links to a group",
        "use a multiple of {spines}, or the arrangement `linear`",
    ),
    "last-group-too-large": Message("`{key}` is {found}, but a full group has {full}; it can be 1 to {full}"),
    "machine-too-large": Message("the machine has {what} = {found}, but at most {most} are possible"),
    "too-many-vcs": Message(
        "{ports} router ports with {channels} virtual channels each are more than the {most} channels that can be "
        "simulated",
        "use a smaller machine or fewer channels",
    ),
    "beside-global-links": Message(
        "`{key}` cannot be given with `global_links`, which lists every cable", "leave one of them out"
    ),
    "missing-arrangement": Message(
        "`{key}` is missing; it can be {choices:or}", "or list every cable in `global_links`"
    ),
    "missing-seed": Message("`{key}` is missing; the arrangement `random` needs one"),
    "needless-seed": Message("`{key}` is used only by the arrangement `random`", "leave it out"),
    "uneven-rails": Message(
        "`{key}` is {ports}, but every node of a router has {rails} NICs (`rails`)", "use a multiple of {rails}"
    ),
    "uneven-rail-routers": Message(
        "`{key}` is {rails}, each on another router, but {whose} has {routers} routers",
        "the number of routers must be a multiple of `rails`",
        {"whose": _whose_group},
    ),
    "uneven-rail-leaves": Message(
        "`{key}` is {rails}, each on another leaf, but a pod has {leaves} leaves",
        "the number of leaves must be a multiple of `rails`",
    ),
    "uneven-cores": Message(
        "`{key}` is {cores}, which {spines} spines of a pod cannot share equally", "use a multiple of {spines}"
    ),
    "needless-cores": Message("`{key}` is {cores}, but a tree with one pod has no cores", "set it to 0"),
    "number-of-dimensions": Message("`{key}` has {found} numbers, but a HyperX has one to {most} dimensions"),
    "links-of-dimensions": Message("`{key}` has {found} numbers, but there are {dimensions} dimensions"),
    "uneven-nics": Message("`{key}` has {nics} entries, not the NICs of one or more nodes with {rails} each"),
    "link-to-itself": Message("`{key}` joins router {router} to itself"),
    "nodes-out-of-order": Message(
        "node {node} is on a lower router than the node before it (routers {routers:and})",
        "number nodes router by router, by the router of their first NIC",
    ),
    "routers-out-of-order": Message(
        "of the routers {routers:and} the first has no nodes and the second has", "number the routers with nodes first"
    ),
    "no-such-router": Message("`{key}` names router {router}, but the routers are 0 to {last}"),
    "no-such-group": Message("`{key}` names group {group}, but the groups are 0 to {last}"),
    "not-a-spine": Message(
        "`{key}` names router {router}, a leaf; global links join spines, which are routers {first} to {last} in group "
        "{group}"
    ),
    "same-group": Message("`{key}` joins routers {routers:and}, both of group {group}"),
    "too-many-links-of-router": Message(
        "`{key}` is one link too many for router {router} (global ports: {most})", "raise `{parameter}`"
    ),
    "pair-of-one-group": Message("`{key}` names group {group} twice; a pair is two different groups"),
    "pair-again": Message("`{key}` names the pair of groups {groups:and} again", "remove one of the two"),
    "no-such-port": Message("`{key}` names port {port} of router {router}, whose ports are 0 to {last}"),
    "port-to-node": Message(
        "`{key}` names port {port} of router {router}, which leads to node {node}; only links between routers can fail",
        "leave the node out of the jobs instead",
    ),
    "unused-port": Message("`{key}` names port {port} of router {router}, which has no cable"),
    "group-cut-apart": Message(
        "the failures leave no path between routers {routers:and} of group {group}",
        "remove some failed local links of the group, or add one of the two routers to `failed.routers`",
    ),
    "leaves-cut-apart": Message(
        "no shortest path joins the leaves {routers:and} (routers)",
        "add a link between spines that both leaves are linked to, or add one of the two leaves to `failed.routers`",
    ),
    "routers-cut-apart": Message(
        "no path of working links joins the routers {routers:and}",
        "add a link, remove some failed links, or add one of the two routers to `failed.routers`",
    ),
    "groups-cut-apart": Message(
        "groups {groups:and} have neither a cable between them nor a third group with cables to both",
        "add a link (`pair_links`, `global_links`), or remove some failed links",
    ),
    "too-many-cables": Message("two groups have {found} cables between them, but routings handle at most {most}"),
    # The specification.
    "unreadable-specification": Message("the specification cannot be read: {problem}"),
    "unsupported-version": Message("this core reads version {supported} of the specification, not {found}"),
    "other-machine": Message("the specification is for another machine than the one that was prepared"),
    "no-such-model": Message("`{key}`: this simulator does not imitate another one; leave `{key}` out"),
    "defect-without-model": Message(
        "`{key}`: only a published simulator has these defects", "set `compat`, or leave `{key}` out"
    ),
    "window-ends-early": Message(
        "`{key}`: the measured window ends at {until_ps:time}, before it begins at {from_ps:time}"
    ),
    "too-many-windows": Message(
        "`{key}`: the run has more windows of this width than fit into memory", "use wider ones"
    ),
    "other-classes": Message(
        "`{key}`: the links of this machine are of the classes {classes:list}, found {found:list}"
    ),
    "unknown-class": Message("`{class}` is not a class of links between routers; those are {classes:list}"),
    "slow-link": Message("`{key}`: a packet of {packet_bytes:bytes} takes {found_ps:time}, more than {most_ps:time}"),
    "packet-on-wire-too-large": Message(
        "`{key}`: a packet of {packet_bytes:bytes} with a header of {header_bytes:bytes} has {wire_bytes:bytes} in "
        "flits of {flit_bytes:bytes}; at most {most_bytes:bytes} are possible"
    ),
    "buffer-out-of-range": Message(
        "`{key}` is {found_bytes:bytes}; it must hold at least one packet ({packet_bytes:bytes}) and at most "
        "{most_bytes:bytes}"
    ),
    "application-aware-without-counters": Message(
        "`{key}`: application-aware routing reads the counters of the NICs, and the NICs of this system count nothing",
        'fabric = {{ nic = "aries" }}',
    ),
    "two-windows": Message(
        "`{key}`: NICs have a window of their own", "one of: NICs of Aries, a window in bytes, congestion control"
    ),
    "aries-in-order": Message(
        "`{key}`: NICs of Aries give packets to their node as they come",
        'routing = "in-order", which sends all packets between two nodes on one path',
    ),
    "reps-without-marks": Message(
        "`{key}`: `reps` uses again what comes back without a mark, and no switch marks packets between switches",
        'fabric.congestion_control = "nscc" or "ecn-window"',
    ),
    "reps-without-spraying": Message(
        "`{key}`: `reps` chooses the path of each packet, and `{routing}` with these options does not draw it",
        'spread = "packet", or select = "random"',
    ),
    "fixed-acknowledgements": Message(
        "`{key}`: NICs with `{of}` acknowledge each packet or none",
        'congestion_control = "nscc"',
    ),
    "marks-of-no-port": Message("`{key}`: no switch marks packets with `{law}`"),
    "no-such-traffic-class": Message(
        "`{key}` is {class}, counted from 0, and the fabric has {classes} traffic classes"
    ),
    "traffic-class-twice": Message("`{key}`: another traffic class is named `{name}` too"),
    "not-with-traffic-classes": Message(
        "`{key}`: traffic classes are not modelled together with {other}",
        "leave out `fabric.traffic_classes`{instead}",
        {
            "instead": lambda other: (
                ", or `measure.blame`: `odonata run --alone` says what the others cost a job"
                if other == "blame"
                else ""
            ),
        },
    ),
    "cycle-too-long": Message(
        "`{key}` is {cycle_ps:time}, longer than a flit of {flit_bytes:bytes} takes on a link of class `node` "
        "({flit_ps:time})"
    ),
    "roots-without-blame": Message("`{key}` needs `blame` of the same table", "blame = true"),
    "no-output-buffers": Message(
        "`{key}`: `output-buffer` and `output-credits` need routers with output buffers, and the routers of this "
        "system are ideal",
        'fabric = {{ router = "input-queued" }}, or `backlog`',
    ),
    "job-count": Message("a run has between 1 and {most} jobs, not {found}"),
    "job-name-taken": Message("`{key}`: another job is named `{name}` too"),
    "no-such-node": Message("`{key}`: node {node} does not exist; the machine has {nodes} nodes, numbered from 0"),
    "node-twice": Message("`{key}`: node {node} is listed twice"),
    "node-taken": Message("`{key}`: node {node} already belongs to job `{job}`"),
    "node-failed": Message("`{key}`: node {node} is on a router that has failed"),
    "same-node": Message("`{key}`: the packet is already at node {node}"),
    "too-few-ranks": Message("`{key}`: a job of {shown} has no other rank to send to", "", {"shown": _ranks}),
    "traffic-or-program": Message("a job has either traffic or a program"),
    "nics-of-gpus": Message("`{key}`: expected a NIC for each of {gpus} GPUs, found {found}"),
    "gpu-link-again": Message("`{key}`: two GPUs are joined at most once, and none with itself, found {gpus:list}"),
    "gpus-apart": Message("`{key}`: no path leads from GPU 0 to GPU {gpu}", "add a link"),
    "no-end": Message("neither a job nor a time ends the run"),
    "no-such-job": Message("`{key}`: there is no job {job}"),
    "endless-job": Message("`{key}`: job `{job}` never ends, so the run would not either"),
    "offset-to-self": Message("`{key}`: an offset of {offset} makes each of {ranks} ranks its own partner"),
    "shift-to-self": Message("`{key}`: a shift of {shift} makes each of the job's {groups} groups its own partner"),
    "one-group": Message("the pattern needs ranks in at least two groups"),
    "unequal-groups": Message(
        "the pattern needs equally many ranks in each group, but group {group} has {ranks} and group {other} has "
        "{other_ranks}"
    ),
    "endless-iterations": Message(
        "`{key}`: an iteration takes no time, so a program without a number of iterations would never end",
        "give it an operation that takes time, or set `iterations`",
    ),
    # Routings.
    "routing-not-for-machine": Message("`{routing}` is not a routing for a {machine}", "choose {choices:or}"),
    "via-not-for-machine": Message("`{key}`: on a {machine} packets turn at a {choices:or}"),
    "needless-inside": Message(
        "`{key}`: packets inside a group of a {machine} take minimal paths only", "leave it out"
    ),
    "needless-gateways": Message("`{key}`: a {machine} has no choice of gateways", "leave it out"),
    "missing-gateways": Message("`{key}`: choose the cables of minimal paths: {choices:or}"),
    "different-gateways": Message("`{key}`: all routings of a run must have the same gateways"),
    "too-few-channels": Message(
        "the routing `{routing}` needs {need} virtual channels on this machine; the fabric has {have}",
        "set channels = {need} in [fabric]; paths around missing links need more channels",
    ),
    "via-leaf-with-failures": Message(
        "`{key}`: on a machine with failures packets cannot turn at a leaf", 'set via = "spine"'
    ),
    "dimension-order-with-failures": Message(
        "`{key}`: in the order of the dimensions packets cannot avoid what has failed", "use `minimal` or `omni-war`"
    ),
    "too-many-spines": Message(
        "on a machine with failures the routing `{routing}` handles groups of at most {most} spines, not {found}"
    ),
    "too-many-routings": Message("the jobs have {found} different routings, but a run has at most {most}"),
    "could-deadlock": Message(
        "the routing ({routings:list}) could deadlock: packets can wait for each other in a cycle ({cycle})",
        "{remedy}",
        {"cycle": lambda cycle: " -> ".join(cycle), "remedy": _remedy},
    ),
    "routing-not-loaded": Message(
        "the functions of the routing `{program}` are not loaded", "run the specification with `odonata.run`"
    ),
    "beside-own-routing": Message(
        "a run has routings of one's own or built-in ones, not both: here also `{routing}`",
        "write the other one as a file too",
    ),
    "too-few-hops": Message(
        "with {have:links} a packet cannot reach every node: a shortest path of this machine has up to {need}",
        "set `hops` to {need} or more",
    ),
    "no-such-choice": Message(
        "the routing picked {picked} of {ports} ports (0 is the first) at {time_ps:time} for a packet at router "
        "{router} to router {destination}, after {hop:links}",
        "return the position of a port in `ports`, which differ from packet to packet, not its number `ports[i].port`",
    ),
    "memory-out-of-range": Message(
        "the routing wrote {memory} into `packet.memory` at {time_ps:time} for a packet at router {router} to router "
        "{destination}, after {hop:links}",
        "it keeps whole numbers from 0 to 4,294,967,294, or -1 for nothing",
    ),
    "routing-raised": Message(
        "the function `{function}` of the routing raised an exception at router {router}, at {time_ps:time}",
        "usually an index beyond an array (the sizes of `state`, `len(ports)`) or a division by 0",
    ),
    # Compatibility models.
    "compat-other-value": Message("`{key}` is `{found}`, but the model `{model}` supports only {supported:or}"),
    "compat-not-zero": Message(
        "`{key}` is {found_ps:time}, but the model `{model}` has its own rule for it: 0 is expected"
    ),
    "compat-whole-percent": Message(
        "`{key}` is {found}, but the model `{model}` needs a whole percent",
        "",
        {
            "found": lambda found_ppm: f"{found_ppm / 10_000:.6g} %",
        },
    ),
    "compat-too-many-packets": Message(
        "`{key}`: a message has {found} packets, but the model `{model}` numbers at most {most}"
    ),
    "compat-unsupported": Message("`{key}`: the model `{model}` does not support this", "leave it out"),
    # Programs.
    "phase-count": Message("`{key}`: a program cannot have {found} phases"),
    "no-ranks": Message("a collective needs at least one rank"),
    "no-such-axis": Message("`{key}`: {axis} is not an axis of a grid with {axes} axes, which are numbered from 0"),
    "collective-too-large": Message(
        "`{key}`: the largest message among {ranks} ranks would have {found_bytes:bytes}; at most {most_bytes:bytes} "
        "can be sent"
    ),
    "no-partner": Message(
        "`{key}`: {ranks} ranks are not whole blocks of 2 x {stride} = {block}, so some have no partner"
    ),
    "faces-only": Message("`{key}` must be 0: only the order `{order}` sends messages across edges and corners"),
    "nothing-to-send": Message("`{key}`: all sizes are 0, so there is no message to send"),
    "pair-order": Message("`{key}`: the pairs are not in ascending order, or a rank is paired with itself"),
    "too-many-messages": Message("`{key}`: {found} messages from a rank to another are more than {most}"),
    # Stages.
    "stage-order": Message("`{key}`: node {node} waits for node {after}, which does not come before it"),
    "stage-message": Message(
        "`{key}`: the {operation} of {bytes:bytes} from stage {from} to stage {to} with tag {tag} has no other end of "
        "the same size"
    ),
    # Traces.
    "trace-too-long": Message("the trace has {found_bytes:bytes}; at most {most_bytes:bytes} can be read"),
    "trace-of-other-ranks": Message("a trace of {found} ranks for a job of {ranks}"),
    "unexpected": Message("expected {expected:or}, found {shown}", "{near}", {"shown": _found, "near": _near}),
    "unknown-name": Message("unknown {what} `{found}`", "{near}", {"near": _near_or_all}),
    "second-time": Message("the {what} `{found}` appears a second time{again}", "", {"again": _again}),
    "open-rank": Message("rank {rank} has no end: expected `}}` for the `{{` in line {rank_line}"),
    "open-comment": Message("a comment that begins here has no end: expected `*/`"),
    "not-whole": Message("expected {what}, found `{found}`: not a whole number"),
    "too-large": Message("expected {what} of at most {most}, found `{found}`"),
    "trace-without-ranks": Message("expected at least one rank, found 0"),
    "missing-rank": Message("`num_ranks` is {ranks}, but there is no block of rank {rank}"),
    "no-such-rank": Message("there is no rank {rank}; there are {ranks} ranks, numbered from 0"),
    "any-source": Message("`{found}` means any source, but a receive here must name its source"),
    "any-tag": Message("`{found}` means any tag, but a message here must have one tag"),
    "unknown-label": Message("no operation of this rank has the label `{label}`", "{near}", {"near": _near_label}),
    "cycle-of-operations": Message("operations wait for each other in a cycle: {cycle}", "", {"cycle": _cycle}),
    "no-header": Message(
        "expected a header, `{names}`, found nothing", "", {"names": lambda columns: ",".join(columns)}
    ),
    "no-rows": Message("expected at least one row after the header"),
    "missing-column": Message("the header has no column `{column}`"),
    "too-many-fields": Message("expected {most} fields, as in the header, found more"),
    "rank-without-rows": Message(
        "there are rows of rank {last}, but none of rank {rank}", "if it does nothing, write `{rank}` alone"
    ),
    "missing-field": Message(
        "{what} needs `{field}`, found nothing", "{example}", {"what": _operation, "example": _time_example}
    ),
    "needless-field": Message("{what} has no `{field}`, found `{found}`", "leave it empty", {"what": _operation}),
    "nothing-to-wait-for": Message(
        "rank {rank} waits for an `isend` or `irecv` with rank {peer} and tag {tag}, but none is outstanding"
    ),
    "unmatched": Message(
        "{message}, but {partners}",
        "{other}",
        {"message": _message, "partners": _partners, "other": _other},
    ),
    "unequal-sizes": Message(
        "rank {rank} receives {received} from rank {peer} with tag {tag}, but {where} sends {sent}",
        "",
        {"where": _send, "received": _bytes_received, "sent": _bytes_sent},
    ),
    "not-a-time": Message("expected a time such as `1.5 us`, found `{found}`"),
    "no-unit": Message(
        "the time `{found}` has no unit",
        "write `{found} ns`, or another of {names}",
        {
            "names": lambda units: ", ".join(units),
        },
    ),
    "negative-time": Message("a time must not be negative, found `{found}`"),
    "time-too-long": Message("`{found}` is too long: a time is less than 2^64 ps (213 days)"),
    "fraction-of-picosecond": Message("`{found}` is not a whole number of picoseconds"),
    "random-compute": Message("computing takes a random time, which a trace cannot express", "set its jitter to 0"),
    "csv-cpu": Message("the operation is on CPU {cpu}, which CSV cannot express", "write GOAL"),
    "csv-nic": Message("the operation names NIC {nic}, which CSV cannot express", "write GOAL"),
    "csv-order": Message(
        "the operation waits for operations other than the one before it and those that a `wait` can name, which CSV "
        "cannot express",
        "write GOAL",
    ),
    "csv-overlap": Message(
        "the operation computes, and the next one does not wait for its end, which CSV cannot express", "write GOAL"
    ),
    "too-many-cpus": Message("CPU {cpu}: rank {rank} uses {found} CPUs, but at most {most} are possible"),
    "binary-as-text": Message("this is binary GOAL, which ends in .bin", 'rename the file, or set format = "bin"'),
    "not-utf8": Message("expected text in UTF-8, found a byte that is not UTF-8"),
    # Binary traces.
    "short-file": Message("expected a header of {least_bytes} bytes, found a file of {found_bytes}"),
    "spoilt-file": Message(
        "a run of LogGOPSim with `--save-mem` has overwritten parts of this file (it begins with 2342)",
        "make the file again from its text",
    ),
    "not-binary-goal": Message("expected binary GOAL, which begins with the number {expected}, found {found}"),
    "long-rank-table": Message("{ranks} ranks need a table of {need_bytes} bytes, but the file ends before"),
    "rank-misplaced": Message(
        "rank {rank} has the bytes from {begin} on, {overlap}; expected {expected}", "", {"overlap": _overlap}
    ),
    "rank-beyond-file": Message("rank {rank} ends at byte {end}, but the file has {file_bytes}"),
    "short-rank": Message("rank {rank} has the bytes from {begin} to {end}, but it needs at least {least_bytes}"),
    "bytes-of-no-rank": Message("{found_bytes} bytes belong to no rank"),
    "too-many-operations": Message(
        "rank {rank} has {operations} operations and {roots} roots, which need {need_bytes} bytes, but it has only "
        "{found_bytes}"
    ),
    "dependencies-do-not-fit": Message(
        "the operations of rank {rank} have {found} dependencies, which need {need_bytes} bytes; found {found_bytes}"
    ),
    "bad-root": Message("in the roots of rank {rank}, operation {operation} {what}", "", {"what": _root}),
    "compute-too-long": Message("computes for {found_ns} ns; a time is less than 2^64 ps (213 days)"),
    "unknown-operation": Message(
        "expected a send (1), a recv (2) or a calc (3), found {operation}",
        "{instead}",
        {"operation": _kind_of_operation, "instead": _without_portals},
    ),
    "followers-outside": Message(
        "its followers are {first} to {end} of the list of dependencies, which has {found} entries"
    ),
    "no-such-follower": Message("operation {follower} waits for it, but there are only {operations} operations"),
    "waits-disagree": Message(
        "it states that it waits for {told} operations, but {found} operations list it as a follower"
    ),
    "root-disagrees": Message("it waits for {waits} operations and {is_root} a root", "", {"is_root": _is_root}),
    "binary-limit": Message("binary GOAL has only {limit}, found the {what} {found}"),
    # Chakra traces.
    "chakra-truncated": Message(
        "message {message}: {expected}",
        "the file is truncated, or is no Chakra trace (messages with their lengths before them)",
        {"expected": _expected_bytes},
    ),
    "chakra-unreadable": Message(
        "message {message} is no message of the schema of Chakra: {problem}",
        "versions 0.0.2 and later of the schema are read",
    ),
    "chakra-without-nodes": Message("the file has no nodes"),
    "chakra-node-type": Message(
        "unknown type {found}; expected 1 (metadata), 2 (load), 3 (store), 4 (compute), 5 (send), 6 (receive) or 7 "
        "(collective)"
    ),
    "chakra-second-node": Message("an earlier node has the same id"),
    "chakra-missing-node": Message("it depends on node {node}, which the file does not have"),
    "chakra-cycle": Message("nodes wait for each other in a cycle: {cycle}", "", {"cycle": _chakra_cycle}),
    "chakra-missing-value": Message("a node of kind {operation} needs the attribute `{attribute}`"),
    "chakra-bad-value": Message("`{attribute}`: expected {expected}, found `{found}`"),
    "chakra-needs-key": Message(
        "it has `{attribute}`, for which the app needs the key `{missing}`", "{example}", {"example": _needed_key}
    ),
    "chakra-unknown-group": Message(
        "nothing says which ranks are in process group `{group}`",
        "{near}",
        {"near": lambda group, known: _near(group, known) or 'name them in a file: groups = "FILE.json"'},
    ),
    "chakra-bad-group": Message("{what}", "", {"what": _bad_group}),
    "chakra-collectives-differ": Message(
        "collective {number} of {whose} is {found} of {found_bytes} bytes here, but node {other_node} of rank "
        "{other_rank} is {other} of {other_bytes} bytes",
        "the ranks of a group run the same collectives in the same order",
        {"whose": _whole_group},
    ),
    "chakra-collective-missing": Message(
        "rank {other_rank} has {others} of {whose}, but this rank has {found}",
        "the ranks of a group run the same collectives in the same order",
        {"whose": _whole_group, "others": lambda other_found: _counted(other_found, "collective")},
    ),
    "chakra-collective": Message(
        "there is no algorithm for the collective {found}", "known: {names}", {"names": lambda known: ", ".join(known)}
    ),
    "chakra-too-long": Message(
        "one iteration has {found:number} operations of all ranks; {most:number} are the most that a trace may hold",
        "fewer ranks, fewer steps or microbatches",
    ),
    "too-many-nodes": Message(
        "one iteration of {ranks:number} ranks has {found:number} nodes (calls of collectives, computing, messages "
        "between stages) of all ranks; {most:number} are the most that a run keeps",
        "fewer ranks, fewer microbatches or layers, or larger chunks",
    ),
    # Runs.
    "deadlock": Message("deadlock at {at_ps:time}: {waiting} packets wait for room, and none can move", of_run=True),
    "deadlocked-program": Message(
        "the program of job `{job}` is deadlocked: {ranks} of its ranks wait for messages that can no longer arrive "
        "({awaited})",
        "{trace_lines}",
        {"awaited": _awaited, "trace_lines": _trace_lines},
        of_run=True,
    ),
    "time-overflow": Message(
        "simulated time passed 2^63 ps (106 days): an interval, a size or a bandwidth has the wrong magnitude",
        of_run=True,
    ),
    "out-of-memory": Message(
        "not enough memory for {rows} rows of messages", 'latency = "histogram" in [measure] needs none', of_run=True
    ),
    "interrupted": Message("interrupted", of_run=True),
}
