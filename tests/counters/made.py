"""Counters of nodes that send and receive at known rates, in every form."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime

BEGIN = datetime(2026, 5, 1, 12, tzinfo=UTC).timestamp()
STEP = 15.0
PACKET = 2000

Rate = Callable[[float], float]


def totals(rate: Rate, count: int, start: float = 1e9) -> list[float]:
    """A counter at each sample, whose rate holds from a sample to the next."""
    values = [start]
    for number in range(count - 1):
        values.append(values[-1] + rate(number * STEP) * STEP)
    return values


def table(rates: dict[str, tuple[Rate, Rate]], count: int = 41) -> list[tuple[str, float, float, float]]:
    """Node, time, bytes sent and received."""
    rows = []
    for node, (sent, received) in rates.items():
        for number, (out, back) in enumerate(zip(totals(sent, count), totals(received, count, 5e8), strict=True)):
            rows.append((node, BEGIN + number * STEP, out, back))
    return rows


def as_csv(rows) -> str:
    lines = ["time,node,nic,sent,received,sent_packets,received_packets"]
    lines += [f"{at},{node},hsn0,{out},{back},{out / PACKET},{back / PACKET}" for node, at, out, back in rows]
    return "\n".join(lines) + "\n"


def as_ldms(rows) -> str:
    names = "#Time,Time_usec,ProducerName,component_id,ib.port_xmit_data#mlx5_0.1,ib.port_rcv_data#mlx5_0.1"
    names += ",ib.port_xmit_packets#mlx5_0.1,other#x"
    lines = [names]
    lines += [f"{at},0,{node},1,{out / 4},{back / 4},{out / PACKET},7" for node, at, out, back in rows]
    return "\n".join(lines) + "\n"


def as_prometheus(rows) -> str:
    answers = []
    for kind, name in ((2, "node_network_transmit_bytes_total"), (3, "node_network_receive_bytes_total")):
        series = {}
        for row in rows:
            series.setdefault(row[0], []).append([row[1], str(row[kind])])
        result = [
            {"metric": {"__name__": name, "instance": f"{node}:9100", "device": "eth0"}, "values": values}
            for node, values in series.items()
        ]
        loopback = {"__name__": name, "instance": "n1:9100", "device": "lo"}
        result.append({"metric": loopback, "values": [[BEGIN, "1"], [BEGIN + 600, "1e15"]]})
        answers.append({"status": "success", "data": {"resultType": "matrix", "result": result}})
    return json.dumps(answers)


def moment(seconds: float) -> str:
    """A time of `sacct`."""
    return datetime.fromtimestamp(BEGIN + seconds, UTC).replace(tzinfo=None).isoformat(timespec="seconds")


def as_sacct(jobs) -> str:
    """Jobs of id, name, nodes, and seconds of start and end."""
    lines = ["JobID|JobName|State|Start|End|NNodes|NodeList"]
    lines += [
        f"{identity}|{name}|COMPLETED|{moment(start)}|{moment(end)}|{count}|{nodes}"
        for identity, name, count, nodes, start, end in jobs
    ]
    return "\n".join(lines) + "\n"
