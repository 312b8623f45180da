"""Counters from Prometheus: what its HTTP API answers to `query_range`, asked here or saved in a file.

Known are the counters of node_exporter: of InfiniBand and Omni-Path ports (its collector `infiniband`, in bytes) and of
network interfaces (`netdev`; virtual ones, such as bonds, are left out). A node is the label `nodename`, `node` or
`host`, else `instance` without its port.
"""

from __future__ import annotations

import json
import math
import urllib.error
import urllib.parse
import urllib.request
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from odonata.counters.series import KINDS, VIRTUAL, Counters, counters
from odonata.errors import InputError, RunError, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from odonata.counters.series import Sample

FAMILIES: dict[str, tuple[str, str, str, str]] = {
    "infiniband": (
        "node_infiniband_port_data_transmitted_bytes_total",
        "node_infiniband_port_data_received_bytes_total",
        "node_infiniband_port_packets_transmitted_total",
        "node_infiniband_port_packets_received_total",
    ),
    "netdev": (
        "node_network_transmit_bytes_total",
        "node_network_receive_bytes_total",
        "node_network_transmit_packets_total",
        "node_network_receive_packets_total",
    ),
}
"""Collector of node_exporter -> its metrics, in the order of `KINDS`."""

_METRICS = {name: kind for names in FAMILIES.values() for name, kind in zip(names, KINDS, strict=True)}
_NODE_LABELS = ("nodename", "node", "host")
_NIC_LABELS = ("device", "port", "interface")
_TIMEOUT_S = 60.0
_MOST_BYTES = 1 << 30
MOST_QUESTIONS = 1_000
"""Most questions for a counter (assumed: a year of samples of 15 s takes 211)."""
MOST_POINTS = 10_000
"""Points of a series in one question: Prometheus refuses more than 11,000."""


def samples(answers: Iterable[Any]) -> Iterator[Sample]:
    """The samples of answers. Raises InputError for what is none, and for metrics that are not known."""
    for answer in answers:
        if not isinstance(answer, dict) or answer.get("status") != "success":
            said = answer.get("error") if isinstance(answer, dict) else None
            message = f"Prometheus says: {shortened(str(said), 200)}" if said else "not an answer of Prometheus"
            raise InputError(message, hint='an object with `"status": "success"` and `data`')
        data = answer.get("data")
        series = data.get("result") if isinstance(data, dict) else None
        if not isinstance(data, dict) or data.get("resultType") != "matrix" or not isinstance(series, list):
            kind = data.get("resultType") if isinstance(data, dict) else None
            raise InputError(f"expected a matrix over time, found `{kind}`", hint="the answer to /api/v1/query_range")
        for of in series:
            yield from _series(of)


def _series(of: Any) -> Iterator[Sample]:
    labels = of.get("metric") if isinstance(of, dict) else None
    values = of.get("values") if isinstance(of, dict) else None
    if not isinstance(labels, dict) or not isinstance(values, list):
        raise InputError("expected a series with `metric` and `values`")
    name = labels.get("__name__")
    if name not in _METRICS:
        known = ", ".join(names[0] for names in FAMILIES.values())
        raise InputError(f"unknown metric `{shortened(str(name), 80)}`", hint=f"counters such as {known}")
    if name in FAMILIES["netdev"] and VIRTUAL.fullmatch(str(labels.get("device", ""))):
        return
    node, nic = _node(labels), " ".join(str(labels[key]) for key in _NIC_LABELS if key in labels)
    for pair in values:
        try:
            time, value = float(pair[0]), float(pair[1])
        except (TypeError, ValueError, LookupError):
            raise InputError(f"expected pairs of a time and a number, found `{shortened(repr(pair), 60)}`") from None
        if math.isfinite(time) and math.isfinite(value) and value >= 0:
            yield node, nic, time, _METRICS[name], value


def _node(labels: Mapping[str, Any]) -> str:
    for key in _NODE_LABELS:
        if labels.get(key):
            return str(labels[key])
    instance = str(labels.get("instance", ""))
    host, colon, port = instance.rpartition(":")
    if not instance:
        raise InputError("a series has no label that says its node", hint="`instance`, `nodename`, `node` or `host`")
    return host if colon and port.isdigit() else instance


def ask(url: str, begin: float, end: float, step: float, family: str | None = None) -> Counters:
    """Ask a server.

    Parameters
    ----------
    url
        Its address, such as `http://localhost:9090`.
    begin, end
        Seconds since 1970.
    step
        Seconds between two samples.
    family
        `infiniband` or `netdev`; None for the first of them that the server has.

    Raises
    ------
    InputError
        For an address, times or a family that cannot be, and if the server has no such counters.
    RunError
        If the server does not answer.
    """
    if not url.startswith(("http://", "https://")):
        raise InputError(f"expected an address such as http://localhost:9090, found `{shortened(url, 80)}`")
    if not (0 <= begin < end < math.inf and 0 < step < math.inf):
        raise InputError("expected a time that ends after it begins, and a step above 0")
    if (end - begin) / step > MOST_QUESTIONS * MOST_POINTS:
        raise InputError(f"samples of {step:g} s make {(end - begin) / step:,.0f} points", hint="give a larger --step")
    if family is not None and family not in FAMILIES:
        raise InputError(f"unknown family `{family}`", hint=" or ".join(FAMILIES))
    for names in [FAMILIES[family]] if family is not None else FAMILIES.values():
        answers = [_query(url, name, begin, end, step) for name in names[:2]]
        if all(answer["data"]["result"] for answer in answers):
            answers += [_query(url, name, begin, end, step) for name in names[2:]]
            return counters(samples(answers), url)
    raise InputError(f"the server has no counters of NICs from {begin:.0f} to {end:.0f}", file=url)


def _query(url: str, name: str, begin: float, end: float, step: float) -> Any:
    """An answer, of several questions if it has many points."""
    parts = max(1, math.ceil((end - begin) / step / MOST_POINTS))
    bounds = [begin + number * (end - begin) / parts for number in range(parts)] + [end]
    whole: dict[str, Any] = {"status": "success", "data": {"resultType": "matrix", "result": []}}
    for first, last in pairwise(bounds):
        question = urllib.parse.urlencode({"query": name, "start": first, "end": last, "step": step})
        answer = _get(f"{url.rstrip('/')}/api/v1/query_range?{question}")
        good = isinstance(answer, dict) and answer.get("status") == "success" and isinstance(answer.get("data"), dict)
        if not good:
            raise RunError(f"`{url}` does not answer as Prometheus does: {shortened(repr(answer), 200)}")
        whole["data"]["result"] += answer["data"].get("result") or []
    return whole


def _get(address: str) -> Any:
    try:
        with urllib.request.urlopen(address, timeout=_TIMEOUT_S) as answer:
            data = answer.read(_MOST_BYTES + 1)
    except urllib.error.HTTPError as problem:
        with problem:
            said = _shown(problem.read(400))
        raise RunError(f"`{address}`: {problem.code} {said}") from None
    except (OSError, ValueError) as problem:
        raise RunError(f"`{address}` does not answer: {problem}") from None
    if len(data) > _MOST_BYTES:
        raise RunError(f"`{address}` answers with more than {_MOST_BYTES:,} bytes; ask for a shorter time")
    try:
        return json.loads(data)
    except ValueError:
        raise RunError(f"`{address}` does not answer with JSON: {_shown(data)}") from None


def _shown(data: bytes) -> str:
    return shortened(data[:400].decode(errors="replace"), 200)
