#!/bin/bash
# Checks a wheel: every file of the package is in it, and it works in a fresh environment, in an empty folder, without Rust.
#   scripts/check_dist.sh dist/odonata-*.whl
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -eq 1 ] && [ -f "$1" ] || { echo "usage: scripts/check_dist.sh WHEEL" >&2; exit 2; }
scratch=$(mktemp -d)
trap 'command -p rm -rf "$scratch"' EXIT
scripts/install_wheel.sh "$scratch/env" "$1"
git ls-files python/odonata | sed 's|^python/||' >"$scratch/files"
"$scratch/env/bin/python" - "$1" "$scratch/files" <<'PYTHON'
import sys
import zipfile
from pathlib import Path

packed = set(zipfile.ZipFile(sys.argv[1]).namelist())
missing = [name for name in Path(sys.argv[2]).read_text().splitlines() if name not in packed]
sys.exit(f"not in the wheel: {', '.join(missing)}" if missing else 0)
PYTHON
mkdir "$scratch/empty"
cd "$scratch/empty"
unset PYTHONPATH
export PATH="$scratch/env/bin"
! command -v cargo rustc >/dev/null || { echo "Rust is on the path" >&2; exit 1; }
run() {
  odonata "$@" >"$scratch/out" 2>&1 || { echo "odonata $* failed:" >&2; echo "$(<"$scratch/out")" >&2; exit 1; }
}
run --version
[ -f "$scratch/env/share/man/man1/odonata-run.1" ] || { echo "the wheel installed no man pages" >&2; exit 1; }
run new first.toml
run run first.toml --out run
run plot run -o run.png
run report run -o run.html
run show
run show theta
run show scenario
run place --system kang2019 --policy kang2019-random
run export tiny -o tiny.json
run reproduce --list
run bench --help
python -m odonata show kang2019 >/dev/null
python - <<'PYTHON'
import odonata as od

assert od.open("run").jobs.height == 2
assert all(od.load("first.toml").set("system", name).system.shape.nodes for name in od.systems())
PYTHON
echo "odonata $(odonata --version) works from its wheel"
