#!/bin/bash
# Installs with apt what some checks need: Slurm and munge, Open MPI, iperf3, valgrind, Node.js and npm, Chromium,
# Prometheus, Lua. Without root or a package server it says so and ends well: those checks are then left out.
set -uo pipefail

export PATH="$PATH:/usr/sbin:/sbin" DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
updated=

missing() { for command in "$@"; do command -v "$command" >/dev/null || return 0; done; return 1; }

# provide NAME "COMMANDS" "PACKAGES" CHECKS
provide() {
  local name=$1 commands=$2 packages=$3 checks=$4
  left_out() { echo "system-deps: $1; $checks are left out"; }
  # shellcheck disable=SC2086
  missing $commands || { echo "system-deps: $name: installed"; return; }
  command -v apt-get >/dev/null || { left_out "there is no apt-get here"; return; }
  [ "$(id -u)" = 0 ] || { left_out "apt-get needs root"; return; }
  if [ -z "$updated" ]; then
    timeout 120 apt-get update -q >"$log" 2>&1 || { left_out "apt-get update failed ($(tail -n 1 "$log"))"; return; }
    updated=yes
  fi
  # shellcheck disable=SC2086
  timeout 400 apt-get install -y -q --no-install-recommends -o DPkg::Lock::Timeout=120 -o Acquire::Retries=2 \
    $packages >"$log" 2>&1 || { left_out "apt-get install failed ($(tail -n 1 "$log"))"; return; }
  # shellcheck disable=SC2086
  missing $commands && { left_out "the packages of this system lack a command of $name"; return; }
  echo "system-deps: $name: installed now"
}

provide "Slurm and munge" "slurmctld slurmd munged squeue sbatch" \
  "slurm-wlm slurm-client slurm-wlm-basic-plugins munge" "the tests with a real Slurm"
provide "Open MPI" "mpicc mpirun" "openmpi-bin libopenmpi-dev" "the tests with a real MPI"
provide "iperf3" "iperf3 ip tc" "iperf3 iproute2" "the tests on a contended network"
provide "valgrind" "valgrind" "valgrind" "the limits on instructions"
provide "Node.js and npm" "node npm" "nodejs npm" "the checks of the script of reports"
provide "Prometheus" "promtool prometheus-node-exporter" "prometheus prometheus-node-exporter" "the checks of metrics and alerts"
provide "Lua" "lua5.4" "lua5.4" "the tests of the scripts for Slurm"
provide "Chromium" "chromium" "chromium" "the tests of reports in a browser"
exit 0
