"""Time and size of reports: of a run on 3,456 nodes with 200 windows of time, and of a machine of 100,000 nodes.

The time to open is that of Chromium, headless, from its start of loading until all is drawn and answers a click; `-`
without Chromium. Times are the least of three.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from importlib import resources
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.report.large import large_run

import odonata as od
from odonata.report import report_of_runs

ROUNDS = 3


def opened_s(file: Path) -> float | None:
    """Seconds that Chromium takes to load and draw it, and to show a group that is clicked."""
    chromium = shutil.which("chromium")
    if chromium is None:
        return None
    from playwright.sync_api import sync_playwright

    times = []
    with sync_playwright() as playwright:
        for _ in range(ROUNDS):
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            page = browser.new_page()
            start = time.monotonic()
            page.goto(file.as_uri())
            page.wait_for_selector("main[data-ready]")
            page.locator("canvas.machine").press("ArrowDown")
            page.wait_for_selector(".details h3")
            times.append(time.monotonic() - start)
            browser.close()
    return min(times)


def main() -> None:
    """Prints a table as docs/reports.md has it."""
    quick = od.load("examples/quick.toml").set("measure.links.every", "200 ns")
    kang = od.run(quick, alone=True)
    series = od.run(quick.set("measure.series", True))
    print("| run | time to write | file | time to open |\n|---|---|---|---|")
    for name, run in (("3,456 nodes", kang), ("3,456 nodes, with a series", series), ("100,000 nodes", large_run())):
        times = []
        for _ in range(ROUNDS):
            start = time.monotonic()
            page = report_of_runs([run])
            times.append(time.monotonic() - start)
        wrote = min(times)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "report.html"
            file.write_bytes(page)
            opened = opened_s(file)
        shown = "-" if opened is None else f"{opened:.1f} s"
        facts = f"{name}, {run.links.height:,} links, {run.counters['window'].n_unique()} windows"
        print(f"| {facts} | {wrote:.1f} s | {len(page) / 1e6:.1f} MB | {shown} |")
    static = resources.files("odonata.report") / "static"
    script, style = (len((static / name).read_bytes()) / 1e6 for name in ("report.js", "report.css"))
    print(f"\nIn each: {script:.2f} MB of script, {style:.2f} MB of style sheet")


if __name__ == "__main__":
    main()
