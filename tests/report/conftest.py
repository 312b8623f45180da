"""Runs to report on, the data in a report, and a browser that opens it from the disk."""

from __future__ import annotations

import base64
import copy
import json
import re
import shutil
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import odonata as od
from odonata.report import report_of_runs
from odonata.store import TABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

HOSTILE = '"><script>alert(1)</script>'
RIGHT_TO_LEFT = "\u202eאבג\u202c=1+1"

TRAFFIC = """\
system = "{system}"

[[job]]
name = "target"
nodes = 20
place = "random"
app = {{ pattern = "uniform-random", message = "4 KB", interval = "1 us", messages = 20 }}

[[job]]
name = "noise"
nodes = 20
place = "random"
app = {{ pattern = "uniform-random", message = "40 KB", interval = "3 us" }}
background = true

[run]
until = "target"
seed = 1

[measure]
latency = "every-message"
links = {{ every = "2 us" }}
series = true
"""

PROGRAM = """\
system = "zhang2018-272"

[[job]]
name = "halo"
nodes = 16
app = { motif = "halo2d", message = "100 KB", iterations = 6 }

[[job]]
name = "sum"
nodes = 16
app = { collective = "allreduce", message = "1 MB", iterations = 3 }

[run]
seed = 1
"""


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., od.Run]:
    """Simulates a scenario into a folder; the same one only once."""
    known: dict[str, od.Run] = {}

    def make(text: str, name: str = "run", **options: Any) -> od.Run:
        key = repr((text, name, sorted(options.items())))
        if key not in known:
            folder = tmp_path_factory.mktemp("runs")
            (folder / f"{name}.toml").write_text(text, encoding="utf-8")
            known[key] = od.run(folder / f"{name}.toml", folder / name, **options)
        return known[key]

    return make


@pytest.fixture(scope="session")
def plus(made: Callable[..., od.Run]) -> od.Run:
    """On a small Dragonfly+, with the run alone."""
    return made(TRAFFIC.format(system="tiny").replace("20\n", "6\n"), alone=True)


@pytest.fixture(scope="session")
def program(made: Callable[..., od.Run]) -> od.Run:
    """Two programs on a dragonfly."""
    return made(PROGRAM, alone=True)


def renamed(run: od.Run, title: str, *jobs: str) -> od.Run:
    """The run with other names, as a folder from somebody else may have them: scenarios refuse most characters."""
    resolved = copy.deepcopy(dict(run.resolved))
    resolved["name"] = resolved["scenario"]["system"]["title"] = title
    resolved["sources"][0]["source"] = title
    for job, name in zip(resolved["spec"]["jobs"], jobs, strict=True):
        job["name"] = name
    tables = {table: run.table(table) for table in TABLES}
    tables["jobs"] = tables["jobs"].with_columns(name=pl.Series(jobs))
    return od.Run(run.manifest, resolved, f"# {title}\n{run.scenario}", tables, run.path)


def data_of(page: bytes) -> dict[str, Any]:
    """The document in a report, with tables as lists by column: the format read again, written separately."""
    text = re.search(r'<script id="data" type="text/plain">([^<]*)</script>', page.decode())
    assert text is not None
    packed = zlib.decompress(base64.b64decode(text[1]))
    length = int.from_bytes(packed[:4], "little")
    body = packed[4 + length :]

    def column(rows: int, kind: str, offset: int, texts: list[str] | None = None) -> list[Any]:
        size = {"u8": 1, "u16": 2, "u32": 4, "f64": 8}[kind]
        planes = np.frombuffer(body, np.uint8, rows * size, offset).reshape(size, rows)
        values = planes.T.copy().view("<f8" if kind == "f64" else f"<u{size}").ravel().tolist()
        return [texts[value] for value in values] if texts is not None else values

    def restored(value: dict[str, Any]) -> Any:
        if "$columns" not in value:
            return value
        return {name: column(value["$rows"], *told) for name, told in value["$columns"].items()}

    return json.loads(packed[4 : 4 + length], object_hook=restored)


def rows_of(page, caption):
    """The values of a table, by row: the head of the row, then what is saved of each cell."""
    table = page.locator(f'.scroll[aria-label^="{caption}"]').first.locator("table")
    return table.locator("tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.cells].map(cell => cell.dataset.value ?? cell.textContent))"
    )


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no chromium here (make system-deps installs it)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Without its sandbox it also starts for root, as in a container. The pages are ours.
        launched = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Page]]:
    """Opens a report from the disk. At the end, nothing may have been said on the console or asked of a network."""
    said: list[str] = []
    contexts = []

    def open_page(*runs: od.Run, width: int = 1280, page: bytes | None = None) -> Page:
        file = tmp_path / f"report-{len(contexts)}.html"
        file.write_bytes(report_of_runs(runs) if page is None else page)
        context = browser.new_context(viewport={"width": width, "height": 900}, accept_downloads=True)
        contexts.append(context)
        shown = context.new_page()
        shown.set_default_timeout(60_000)
        shown.on("console", lambda message: said.append(message.text))
        shown.on("pageerror", lambda problem: said.append(str(problem)))
        shown.on("request", lambda request: request.url.startswith(("file:", "blob:")) or said.append(request.url))
        shown.goto(file.as_uri())
        shown.wait_for_selector("main[data-ready]")
        return shown

    yield open_page
    for context in contexts:
        context.close()
    assert said == []
