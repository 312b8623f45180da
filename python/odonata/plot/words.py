"""Keys of scenarios and columns of tables as words, for the axes of pictures: never `job.all.app.load`."""

from __future__ import annotations

_KEYS = {
    "app": "application",
    "load": "offered load",
    "message": "size of a message",
    "messages": "messages of a rank",
    "interval": "interval between messages",
    "place": "placement",
    "policy": "placement",
    "seed": "seed",
    "nodes": "nodes",
    "tgll": "target load of global links",
    "warm_up": "warm-up",
    "nic": "NIC",
    "nics_per_node": "NICs of a node",
    "ranks_per_node": "ranks on a node",
    "per_leaf": "nodes on each leaf",
    "jitter": "random part of the interval",
    "start": "start time",
    "compat": "published simulator",
}
"""Names of keys whose words are not the name itself."""
_COLUMNS = {
    "latency_mean": "mean latency",
    "latency_min": "least latency",
    "latency_max": "greatest latency",
    "latency_p50": "median latency",
    "iteration_mean": "mean time of an iteration",
    "iteration_max": "longest time of an iteration",
    "iteration_p50": "median time of an iteration",
    "iteration_variation": "99 % quantile over median of the time of an iteration",
    "iterations_per_s": "iterations per second",
    "accepted_fraction": "accepted share of the offered load",
    "backlog_growth": "share of the offered load that is not accepted",
    "minimal_fraction": "packets on minimal paths",
    "hops_mean": "mean hops of a packet",
    "slowdown": "slowdown",
}
_TABLES = {"app", "run", "measure", "fabric", "links", "topology", "job", "scenario"}
"""Names of tables that say nothing about the value in them."""


def key_words(key: str) -> str:
    """An axis of a study in words, such as `offered load of all jobs` for `job.all.app.load`."""
    parts = key.split(".")
    owner = ""
    if parts[0] == "job" and len(parts) > 2:
        owner, parts = parts[1], parts[2:]
    *tables, name = parts
    words = _spelled(name)
    kinds = [_spelled(table) for table in tables if table not in _TABLES]
    if tables and "links" in tables:
        kinds = [f"{kind} links" for kind in kinds if kind != "links"][-1:]
    of = [*([" ".join(kinds)] if kinds and (words, kinds) != ("placement", ["placement"]) else [])]
    if owner:
        of.append("all jobs" if owner == "all" else owner)
    return " of ".join([words, *of])


def _spelled(name: str) -> str:
    return _KEYS.get(name, name.replace("_", " ").replace("-", " "))


def column_words(column: str) -> str:
    """A column of `jobs` in words, without its unit."""
    name = column.removesuffix("_ps")
    if name in _COLUMNS:
        return _COLUMNS[name]
    kind, _, quantile = name.rpartition("_p")
    if kind in ("latency", "iteration") and quantile.isdigit():
        said = {"latency": "latency", "iteration": "time of an iteration"}[kind]
        return f"{quantile[:2]}{'.' if quantile[2:] else ''}{quantile[2:]} % quantile of the {said}"
    return name.replace("_", " ").replace(".", ", ")
