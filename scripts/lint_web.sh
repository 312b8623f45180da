#!/bin/bash
# Types, lints and formatting of web/, and whether the script and style sheet in the package are those that web/ gives.
# Without Node.js and npm it says so and ends well.
set -euo pipefail
cd "$(dirname "$0")/../web"
for command in node npm; do
  command -v "$command" >/dev/null && continue
  said="lint-web: there is no $command here: web/ is not checked (make system-deps installs it)"
  echo "$said"
  [ -z "${LEFT_OUT:-}" ] || { mkdir -p "$(dirname "$LEFT_OUT")" && echo "$said" >>"$LEFT_OUT"; }
  exit 0
done
MAKEFLAGS='' make --silent --no-print-directory -C .. web/node_modules/.installed
node_modules/.bin/tsc --noEmit
node_modules/.bin/biome ci --colors=off --error-on-warnings --reporter=summary .
node build.mjs --check
node licences.mjs
