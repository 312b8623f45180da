#!/bin/bash
# Installs Slurm, munge and Open MPI with apt, for the tests that need a real Slurm or a real MPI. Without root or a
# package server it says so and ends well: those tests are then left out.
set -uo pipefail

needed=(slurmctld slurmd munged squeue sbatch mpicc mpirun)
export PATH="$PATH:/usr/sbin:/sbin" DEBIAN_FRONTEND=noninteractive

missing() { for command in "${needed[@]}"; do command -v "$command" >/dev/null || return 0; done; return 1; }
left_out() { echo "system-deps: $1; tests that need what is missing are left out"; exit 0; }

missing || { echo "system-deps: Slurm, munge and Open MPI are installed"; exit 0; }
command -v apt-get >/dev/null || left_out "there is no apt-get here"
[ "$(id -u)" = 0 ] || left_out "apt-get needs root"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
options=(-y -q --no-install-recommends -o DPkg::Lock::Timeout=120 -o Acquire::Retries=2)
packages=(slurm-wlm slurm-client slurm-wlm-basic-plugins munge openmpi-bin libopenmpi-dev)
timeout 120 apt-get update -q >"$log" 2>&1 || left_out "apt-get update failed ($(tail -n 1 "$log"))"
timeout 300 apt-get install "${options[@]}" "${packages[@]}" >"$log" 2>&1 ||
  left_out "apt-get install failed ($(tail -n 1 "$log"))"
missing && left_out "the packages of this system lack a command of Slurm or Open MPI"
echo "system-deps: installed Slurm, munge and Open MPI"
