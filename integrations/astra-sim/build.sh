#!/bin/sh
# Builds ASTRA-sim with Odonata as its network: build.sh CHECKOUT [BUILD], where CHECKOUT has ASTRA-sim with its
# submodules. It needs CMake, a C++ compiler, protoc with its library, and cargo. Only the generated code of the traces'
# format is written to the checkout, as ASTRA-sim's own build does.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$here/../..
if [ $# -lt 1 ] || [ ! -e "$1/astra-sim/common/AstraNetworkAPI.hh" ]; then
    echo "build.sh: expected a checkout of ASTRA-sim, found \`${1-}\`" >&2
    exit 2
fi
checkout=$(CDPATH='' cd -- "$1" && pwd)
build=${2:-$root/target/astra-sim}
format=$checkout/extern/graph_frontend/chakra/schema/protobuf
if [ ! -e "$format/et_def.proto" ]; then
    echo "build.sh: $checkout lacks its submodules: git submodule update --init --recursive" >&2
    exit 2
fi

cargo build --release --locked --quiet --manifest-path "$root/Cargo.toml" -p odonata-network-c
[ -e "$format/et_def.pb.cc" ] || protoc et_def.proto --proto_path="$format" --cpp_out="$format"
cmake -S "$here" -B "$build" -DASTRA_SIM="$checkout" \
    -DODONATA_LIBRARY="$root/target/release/libodonata_network.a" -DCMAKE_POLICY_VERSION_MINIMUM=3.5
cmake --build "$build" --parallel "${JOBS:-2}"
echo "$build/astra-sim-odonata"
