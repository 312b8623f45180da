#!/bin/sh
# Installs a wheel with the packages that it needs, in pinned versions, into a new environment. No Rust is needed. The
# images in packaging/ and the check of `make dist` use it.
#   scripts/install_wheel.sh ENVIRONMENT WHEEL [PINS]
set -eu
[ $# -ge 2 ] && [ -f "$2" ] || { echo "usage: scripts/install_wheel.sh ENVIRONMENT WHEEL [PINS]" >&2; exit 2; }
pins=${3:-$(dirname "$0")/../requirements/run.lock}
"${PYTHON:-python3}" -m venv "$1"
"$1/bin/pip" install --quiet --disable-pip-version-check --no-cache-dir -c "$pins" "$2[all]"
