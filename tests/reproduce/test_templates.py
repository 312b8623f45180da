"""No number in a page is typed: templates hold digits of citations and of parameters only."""

# ruff: noqa: E501 (expressions)

import csv
import re
import tomllib
from pathlib import Path

import pytest

import odonata.reproduce

PACKAGE = Path(odonata.reproduce.__file__).parent
TEMPLATES = sorted(
    file.relative_to(PACKAGE).as_posix()
    for file in [*PACKAGE.rglob("*.md"), *PACKAGE.glob("zhang2018/*.toml"), *PACKAGE.glob("kang2019/expected*.csv")]
    if file.name != "README.md"
)

SIZE = r"\d[\d,.]*(?:\.\d+)?"
ALLOWED = (
    # Citations.
    r"`[^`]*`",
    r"\{[^{}]*\}",
    r"\[[^\]]*\](?:\([^)]*\)|: \S+)",
    r"\bvalidation/\S+",
    r"https?://\S+",
    r"\b(?:18|19|20)\d\d\b",
    r"\barXiv [\d.]+",
    r"\b(?:[Ss]ections?|[Ff]igures?|tables?|equations?|Fig\.|eq\.|rank|causes?|version|commit) \(?\d[\w.]*(?:\([a-z](?:, [a-z])*\))?\)?"
    r"(?:(?:,| and| to) \d[\w.]*)*",
    r"\b[KDLV]\d+(?:(?:, | and | to )[KDLV]?\d+)*",
    r"\b\d[a-f0-9]{6,}\b",
    r"\b(?:Slingshot|Spectrum MPI|Open MPI|CRESCO|Marconi|MPICH|halo|fft|sweep|FFT)[- ]?\d*[a-z]?\w*",
    # Parameters: sizes, counts of what is simulated, intervals, loads, ratios of a setting.
    rf"{SIZE}(?:, {SIZE})*(?:[- ](?:to|and|or) {SIZE})* ?(?:B|KB|KiB|MB|MiB|GB|GiB)\b(?!/)",
    rf"{SIZE}(?: (?:to|and|or) {SIZE})*[- ](?:busy |random |idle |more |of the |drawn )*"
    r"(?:nodes?|jobs?|ranks?|routers?|groups?|workloads?|messages?|repetitions?|runs?|iterations?|processes|pairs|cores|"
    r"queues?|allocations|islands|patterns|seeds|families|links|ports|channels|leaves|spines|cells|neighbours|queue)\b",
    rf"(?:every|intervals? of|after|N =|ratio|=|threshold of|load of) {SIZE}(?:(?:,| and| or) {SIZE})* ?(?:us|µs|ms|ns|s|%|x)?",
    rf"{SIZE}(?:(?:,| and| or) {SIZE})* % (?:interval|intervals|background|utilisation|quantile|confidence|of the (?:machine|load))",
    rf"{SIZE}(?: x {SIZE})* (?:sites|points|elements|atoms|exchanges|floating-point operations)\b|{SIZE} Gflop/s|computing of {SIZE} µs|\bCP2K\b",
    r"\b(?:beside|background of) \d+(?:(?:,| and) \d+)* %",
    r"\b\d\. \*\*",
    rf"(?:sizes? of|nodes of|first|[Jj]obs? of|and of|four of|or of|of 16 nodes, or of|small|large|on|jobs of \d+, or of) \(?(?:jobs? \()?{SIZE}(?: to {SIZE})?(?:,| of)?",
    r"\(\d+ to \d+\)",
    r"\bof 64\b",
    rf"{SIZE} % (?:of|from)|as fit on {SIZE} %|{SIZE} %\)? (?:utilisation|confidence|from order)",
    r"\(95 %,|95 %|5 %[,;)]|99th|99 %|\(20 µs|\(k = \d+",
    r"Q[13]|1\.5 IQR|1,000|1,024|p99|(?:figure|equation) \d|every \d+ us|20 µs|from 0 to|1 ms\b|to \$largest|22 full|have 2\b|ranks? 0|N = \d+|[KDLV]L?\d+(?:, LL\d+)*|LL\d+",
    rf"ratio {SIZE}|(?:packets|nodes|flits|p|f|L) ?[+/] ?{SIZE}|/ ?1024|equation \(?\d\)?",
)
"""What may have digits. Results have none of these forms: `13 %`, `1.07 x`, `2.9 us`, `5.25 GB/s`."""


def left(text: str) -> list[str]:
    """Words with digits that are neither citations nor parameters."""
    joined = re.sub(r"[ \t]*\n(?!\n)[ \t]*", " ", text)
    for form in ALLOWED:
        joined = re.sub(form, " ", joined, flags=re.MULTILINE)
    return re.findall(r"\S*\d\S*(?: \S+)?", joined)


def prose(name: str) -> str:
    """The text of a template that a page shows."""
    text = (PACKAGE / name).read_text(encoding="utf-8")
    if name.endswith(".toml"):
        tables = tomllib.loads(text)
        entries = [each for table in tables.values() for each in (table if isinstance(table, list) else [table])]
        return "\n\n".join(entry[key] for entry in entries for key in ("text", "differs", "why") if key in entry)
    if name.endswith(".csv"):
        return "\n\n".join(
            line[key] for line in csv.DictReader(text.splitlines()) for key in line if key.startswith("why_")
        )
    return text


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_hold_no_results(name):
    assert left(prose(name)) == []


@pytest.mark.parametrize(
    "typed", ["faster by 13 %", "at most 1.07 x", "latency 2.9 us", "only 5.25 GB/s", "in 31 of the panels", "rho 0.72"]
)
def test_typed_results_are_told(typed):
    assert left(f"A template says {typed}, as it was once.")
