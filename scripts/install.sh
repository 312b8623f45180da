#!/bin/bash
# Installs Python packages into an environment, without compiling them to bytecode (`python -m compileall` does):
#   scripts/install.sh ENVIRONMENT -r requirements/run.lock
# uv takes a tenth of the processor time of pip. Where it cannot be had, or fails, pip installs.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -ge 2 ] || { echo "usage: scripts/install.sh ENVIRONMENT PACKAGES" >&2; exit 2; }
python=$1/bin/python
shift
pip() { "$python" -m pip install --quiet --disable-pip-version-check --no-compile "$@"; }
# uv does not read the settings of pip.
settings() {
  local setting value
  while IFS='=' read -r setting value; do
    value=${value#\'}
    value=${value%\'}
    case ${setting##*.} in
      index-url) export UV_DEFAULT_INDEX=${UV_DEFAULT_INDEX:-$value} ;;
      extra-index-url) export UV_INDEX=${UV_INDEX:-${value//\\n/ }} ;;
      find-links) export UV_FIND_LINKS=${UV_FIND_LINKS:-${value//\\n/ }} ;;
      no-index) [ "$value" != true ] || export UV_NO_INDEX=1 ;;
      cert) export SSL_CERT_FILE=${SSL_CERT_FILE:-$value} ;;
      proxy) export ALL_PROXY=${ALL_PROXY:-$value} ;;
    esac
  done < <("$python" -m pip --disable-pip-version-check config list)
}
if "$python" -m uv --version >/dev/null 2>&1 || pip --only-binary=:all: -r requirements/uv.lock 2>/dev/null; then
  settings
  said=$("$python" -m uv pip install --quiet --python "$python" "$@" 2>&1) && exit
  echo "install: uv failed, so pip installs: ${said:-it says nothing}" >&2
fi
pip "$@"
