"""A real Prometheus that scrapes exporters of virtual nodes; and servers that are none."""

from __future__ import annotations

import http.server
import shutil
import socket
import subprocess
import threading
import time
import urllib.request

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily

from odonata.counters import ask, measured
from odonata.errors import InputError, RunError
from odonata.queue.accounting import Run

RATES = {"n1": (4e6, 2e6), "n2": (2e6, 4e6)}


STEP = 15
SAMPLES = 30


class Node:
    """What node_exporter says of a node that sends and receives at known rates. With each scrape its time goes on by
    15 s, whatever the time of the test is.
    """

    def __init__(self, node, begin):
        self.node, self.begin, self.scrapes = node, begin, 0

    def collect(self):
        self.scrapes += 1
        since = STEP * self.scrapes
        for name, rate in zip(("transmit", "receive"), RATES[self.node], strict=True):
            metric = CounterMetricFamily(f"node_network_{name}_bytes", "x", labels=["device", "nodename"])
            metric.add_metric(["eth0", self.node], rate * since, timestamp=self.begin + since)
            metric.add_metric(["lo", self.node], 1e9 * since, timestamp=self.begin + since)
            yield metric


def free_port():
    with socket.socket() as of:
        of.bind(("127.0.0.1", 0))
        return of.getsockname()[1]


@pytest.fixture
def server(tmp_path):
    """The address of a Prometheus that has scraped the nodes, and when that began by their clocks."""
    closing, targets = [], []
    begin = int(time.time()) - 1800
    nodes = [Node(node, begin) for node in RATES]
    for node in nodes:
        registry = CollectorRegistry(auto_describe=False)
        registry.register(node)
        closing.append(serve(200, lambda registry=registry: generate_latest(registry)))
        targets.append(f"127.0.0.1:{closing[-1].server_port}")
    (tmp_path / "p.yml").write_text(
        "global: {scrape_interval: 200ms, scrape_timeout: 200ms}\n"
        f"scrape_configs: [{{job_name: nodes, static_configs: [{{targets: {targets}}}]}}]\n"
    )
    port = free_port()
    command = ["prometheus", f"--config.file={tmp_path}/p.yml", f"--storage.tsdb.path={tmp_path}/data"]
    process = subprocess.Popen(
        [*command, f"--web.listen-address=127.0.0.1:{port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(100):
            try:
                urllib.request.urlopen(f"{address}/-/ready", timeout=5).close()
                break
            except OSError:
                time.sleep(0.2)
        for _ in range(600):
            if all(node.scrapes > SAMPLES + 5 for node in nodes):
                break
            time.sleep(0.1)
        yield address, begin
    finally:
        process.terminate()
        process.wait(30)
        for http_server in closing:
            http_server.shutdown()
            http_server.server_close()


@pytest.mark.skipif(shutil.which("prometheus") is None, reason="prometheus is missing (make system-deps)")
def test_a_real_prometheus(server):
    address, begin = server
    first, end = begin + 3 * STEP, begin + SAMPLES * STEP
    counters = ask(address, first, end, STEP)
    assert set(counters.nics) == set(RATES)
    (job,), others = measured(counters, [Run(first, end, ("n1", "n2"), 2, "1", name="solver")])
    assert others == []
    assert job.sent == pytest.approx(3e6, rel=0.05)
    assert job.received == pytest.approx(3e6, rel=0.05)
    assert job.top_sender == pytest.approx(2 / 3, rel=0.05)
    with pytest.raises(InputError, match="no counters of NICs"):
        ask(address, first, end, STEP, "infiniband")


def serve(status, body):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body if isinstance(body, bytes) else body())

        def log_message(self, *arguments):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (500, b"broken", "500 broken"),
        (200, b"<html>hello</html>", "does not answer with JSON: <html>hello"),
        (200, b'{"status": "error", "error": "no"}', "does not answer as Prometheus does"),
        (200, b"[1]", "does not answer as Prometheus does"),
    ],
)
def test_servers_that_are_no_prometheus(status, body, message):
    server = serve(status, body)
    try:
        with pytest.raises(RunError) as problem:
            ask(f"http://127.0.0.1:{server.server_port}", 0, 100, 10)
        assert message in str(problem.value)
    finally:
        server.shutdown()
        server.server_close()


def test_nobody_answers():
    with pytest.raises(RunError, match="does not answer"):
        ask(f"http://127.0.0.1:{free_port()}", 0, 100, 10)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ftp://x", 0, 1, 1), "expected an address"),
        (("http://x", 5, 1, 1), "ends after it begins"),
        (("http://x", 0, 1, 0), "step above 0"),
        (("http://x", 0, 1, 1, "ib"), "unknown family"),
        (("http://x", 0, 1, 1e-9), "larger --step"),
    ],
)
def test_wrong_questions(arguments, message):
    with pytest.raises(InputError, match=message):
        ask(*arguments)
