#!/bin/bash
# Resolves the dependencies of pyproject.toml in a fresh environment, and pins them: those of building and running in
# requirements/run.lock, those of development with them in requirements/dev.lock, and those that only the documentation needs in
# requirements/docs.lock. uv, which installs them, is in requirements/uv.lock.
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
wanted() {
  "$scratch/bin/python" - "$@" <<'PYTHON'
import sys
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
for extra in sys.argv[1:]:
    print(*(project["dependencies"] if extra == "main" else project["optional-dependencies"][extra]), sep="\n")
PYTHON
}
"${PYTHON:-python3}" -m venv "$scratch"
(wanted main all; echo "maturin>=1.16,<2") >"$scratch/run"
"$scratch/bin/pip" install --quiet --disable-pip-version-check -r "$scratch/run"
"$scratch/bin/pip" freeze >requirements/run.lock
wanted main dev >"$scratch/dev"
"$scratch/bin/pip" install --quiet --disable-pip-version-check -c requirements/run.lock -r "$scratch/dev"
"$scratch/bin/pip" freeze >requirements/dev.lock
wanted docs >"$scratch/docs"
"$scratch/bin/pip" install --quiet --disable-pip-version-check -c requirements/dev.lock -r "$scratch/docs"
"$scratch/bin/pip" freeze | grep -vxFf requirements/dev.lock >requirements/docs.lock
"$scratch/bin/pip" install --quiet --disable-pip-version-check uv
"$scratch/bin/pip" freeze | grep '^uv==' >requirements/uv.lock
