#!/bin/bash
# Tries the lower bounds of the dependencies (requirements/oldest.txt) in a fresh environment, then without the libraries
# for pictures and statistics.
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'command -p rm -rf "$scratch"' EXIT
"${PYTHON:-python3}" -m venv "$scratch/env"
pip=("$scratch/env/bin/pip" install --quiet --disable-pip-version-check)
"${pip[@]}" -r requirements/oldest.txt "pyparsing<3.3" # newer ones warn about what that matplotlib calls
"${pip[@]}" -c requirements/dev.lock pytest pytest-timeout pytest-xdist hypothesis syrupy psutil
export PYTHONPATH=$PWD/python
"$scratch/env/bin/python" -m pytest -q -n auto -p no:cacheprovider \
  tests/run tests/store tests/study tests/scenario tests/analysis tests/document --ignore=tests/study/test_tls.py
"$scratch/env/bin/pip" uninstall --quiet --yes --disable-pip-version-check matplotlib scipy pymetis
cd "$scratch"
odonata() { "$scratch/env/bin/python" -m odonata "$@"; }
odonata new first.toml
odonata run first.toml --alone --out run
odonata show kang2019 >/dev/null
if odonata plot run -o run.png 2>error; then echo "a picture without matplotlib" >&2; exit 1; fi
grep -q "odonata\[all\]" error
echo "the oldest versions work, and runs need neither matplotlib nor scipy"
