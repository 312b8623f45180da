#!/bin/bash
# Speed on this machine (medians, never a test), and limits on instructions, which other load does not change.
set -euo pipefail
cd "$(dirname "$0")/.."
.venv/bin/odonata bench --record benches/results.csv
if command -v valgrind >/dev/null; then
  .venv/bin/odonata bench --limits benches/instructions.toml --record benches/results.csv
else
  echo "valgrind is not installed: instructions are not counted" >&2
fi
.venv/bin/odonata bench --large -n 1 --record benches/results.csv
.venv/bin/odonata bench --machines -n 3 --messages 100
.venv/bin/odonata bench --blame -n 5
.venv/bin/odonata bench --sweep -n 3
.venv/bin/python scripts/bench_study.py
.venv/bin/python scripts/bench_report.py
.venv/bin/python scripts/bench_waits.py
