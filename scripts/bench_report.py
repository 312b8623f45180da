"""Time and size of reports: of a run on 3,456 nodes with 200 windows of time, and of a machine of 100,000 nodes.

The time to open is that of Chromium, headless, from its start of loading until all is drawn; `-` without Chromium.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.report.large import large_run

import odonata as od
from odonata.report import report_of_runs


def opened_s(file: Path) -> float | None:
    """Seconds that Chromium takes to load and draw it."""
    chromium = shutil.which("chromium")
    if chromium is None:
        return None
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        start = time.monotonic()
        page.goto(file.as_uri())
        page.wait_for_selector("main[data-ready]")
        took = time.monotonic() - start
        browser.close()
    return took


def main() -> None:
    """Prints a table as docs/reports.md has it."""
    quick = od.load("examples/quick.toml").set("measure.links.every", "200 ns")
    kang = od.run(quick, alone=True)
    series = od.run(quick.set("measure.series", True))
    print("| run | time to write | file | time to open |\n|---|---|---|---|")
    for name, run in (("3,456 nodes", kang), ("3,456 nodes, with a series", series), ("100,000 nodes", large_run())):
        start = time.monotonic()
        page = report_of_runs([run])
        wrote = time.monotonic() - start
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "report.html"
            file.write_bytes(page)
            opened = opened_s(file)
        shown = "-" if opened is None else f"{opened:.1f} s"
        facts = f"{name}, {run.links.height:,} links, {run.counters['window'].n_unique()} windows"
        print(f"| {facts} | {wrote:.1f} s | {len(page) / 1e6:.1f} MB | {shown} |")


if __name__ == "__main__":
    main()
