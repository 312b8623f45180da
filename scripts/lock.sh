#!/bin/bash
# Resolves the dependencies of pyproject.toml in a fresh environment and pins them all in requirements/dev.lock.
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"${PYTHON:-python3}" -m venv "$scratch"
"$scratch/bin/python" - >"$scratch/wanted" <<'PYTHON'
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
print(*project["dependencies"], *project["optional-dependencies"]["dev"], sep="\n")
PYTHON
"$scratch/bin/pip" install --quiet --disable-pip-version-check -r "$scratch/wanted"
"$scratch/bin/pip" freeze >requirements/dev.lock
