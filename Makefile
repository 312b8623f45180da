# Everything is made from a bare checkout with python3 (3.11 or newer), cargo, gcc and make.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# So that every cargo command finds the same interpreter, and none of them needs Python's headers.
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
# Two targets at once, each with its output in one piece. A make that cannot do that (before 4.0) makes one at a time.
TWO_AT_ONCE := $(if $(filter output-sync,$(.FEATURES)),--jobs=2 --output-sync=target)

# `make fuzz`
ROUNDS ?= 10

# `make validate REDUCED=1`
REDUCED_FORM := $(if $(REDUCED),--reduced --out build/validation)

RUST := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock
# The environment with maturin; what running needs, and what developing needs besides; the optimised simulator; that of
# `make demo`, alone and installed.
TOOLS := $(VENV)/.tools
RUNS := $(VENV)/.runs
INSTALLED := $(VENV)/.installed
BUILT := $(VENV)/.built
DEMO_CORE := $(VENV)/.demo-core
DEMO_BUILT := $(VENV)/.demo
INSTALL := scripts/install.sh $(VENV)
# Where Python may not write its compiled files (a shared installation), each command would compile all sources. (Some
# packages have files for other versions of Python.)
COMPILE := $(BIN)/python -m compileall -qq $(VENV)/lib python/odonata || true

# Each check that is left out writes a line here.
export LEFT_OUT := $(CURDIR)/build/left-out

.PHONY: help venv tested build build-fast build-for-tests shim web demo docs test lint lint-python lint-stubs lint-rust lint-web test-rust test-instructions test-python test-slurm test-fabric test-oldest fuzz fuzz-shim system-deps miri fmt bench validate bless audit lock dist release clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | \
	  awk -F '\t' '{ printf "  make %-12s %s\n", $$1, $$2 }'

$(TOOLS): requirements/run.lock requirements/uv.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "error: Python 3.11 or newer is needed, $(PYTHON) is " + sys.version.split()[0])'
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) -c requirements/run.lock maturin
	@touch $@

$(RUNS): $(TOOLS)
	$(INSTALL) -r requirements/run.lock
	@touch $@

$(INSTALLED): $(RUNS) requirements/dev.lock
	$(INSTALL) -r requirements/dev.lock
	@$(COMPILE)
	@touch $@

$(BUILT): $(RUNS) $(RUST) pyproject.toml
	PIP_QUIET=1 $(BIN)/maturin develop --quiet --release
	@rm -f $(DEMO_CORE) $(DEMO_BUILT)
	@$(COMPILE)
	@touch $@

# The simulator is compiled while packages are installed. (Without MAKEFLAGS: cargo uses all processors.)
$(DEMO_CORE): $(TOOLS) $(RUST) pyproject.toml
	MAKEFLAGS='' $(BIN)/maturin develop --quiet --profile demo --skip-install
	@rm -f $(BUILT)
	@touch $@

$(DEMO_BUILT): $(DEMO_CORE) $(RUNS)
	MAKEFLAGS='' PIP_QUIET=1 $(BIN)/maturin develop --quiet --profile demo
	@touch $@

# What tests use: the optimised simulator if it is up to date; if not, one that shares the build of the Rust tests, so
# that each crate is compiled once. It also checks indices and overflow. `make dist` tests the optimised wheel.
tested: $(INSTALLED)
	@$(MAKE) --question $(BUILT) >/dev/null 2>&1 || $(MAKE) --no-print-directory build-for-tests

build-for-tests: $(RUNS)
	PIP_QUIET=1 $(BIN)/maturin develop --quiet --profile dev
	@rm -f $(BUILT) $(DEMO_CORE) $(DEMO_BUILT)
	@$(BIN)/python -m compileall -q python/odonata

venv: $(INSTALLED) ## Create the virtual environment .venv with the locked dependencies

build: $(BUILT) ## Build the optimised simulator into .venv

build-fast: $(RUNS) ## Build a simulator that is built faster and runs slower, for work on one part of it
	PIP_QUIET=1 $(BIN)/maturin develop --quiet --profile fast
	@rm -f $(BUILT) $(DEMO_CORE) $(DEMO_BUILT)

demo: ## Simulate an interference study of Kang 2019, in the demo folder: tables, a figure and a report
	@$(MAKE) --question $(BUILT) >/dev/null 2>&1 || $(MAKE) --question $(DEMO_BUILT) >/dev/null 2>&1 || { \
	  echo "demo: installs Python packages into $(VENV) and builds the simulator: some minutes, once"; \
	  $(MAKE) --no-print-directory --jobs=2 $(DEMO_BUILT); }
	@echo "demo: 2,304 processes beside a background job on the 3,456 nodes of Kang 2019: some seconds"
	@rm -rf demo
	$(BIN)/odonata run examples/kang2019-interference.toml --alone --set measure.blame=true --out demo/run
	$(BIN)/odonata plot demo/run --kind machine -o demo/machine.png
	$(BIN)/odonata report demo/run -o demo/report.html
	@echo "tables in demo/run, picture in demo/machine.png, report in demo/report.html"

docs: tested $(VENV)/.docs ## Build the documentation site in build/site; run its examples
	$(BIN)/python scripts/examples.py --keep docs/_generated docs/tutorial/*.md
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -c docs -b html . build/site
	@echo "open build/site/index.html"

$(VENV)/.docs: $(INSTALLED) requirements/docs.lock | tested
	$(INSTALL) -r requirements/docs.lock
	@$(COMPILE)
	@touch $@

# Two targets at once, so that no processor waits: clippy beside the installation of packages, and all else beside the
# Python tests, some of which wait.
test: ## All checks: lint, Rust tests, documentation, Python tests; says at the end what was left out
	@mkdir -p build && rm -f $(LEFT_OUT)
	@$(MAKE) --no-print-directory $(TWO_AT_ONCE) tested lint-python test-python lint-rust test-rust test-instructions docs test-slurm lint-stubs lint-web
	@scripts/left_out.sh $(LEFT_OUT)

shim: ## Build the C library of application-aware routing, and the shim for LD_PRELOAD, in target/release
	cargo build --release --locked --quiet -p odonata-decision-c -p odonata-shim
	@echo "target/release/libodonata_decision.so, target/release/libodonata_shim.so: see docs/application-aware.md"

# Tests of properties take the same examples on every machine (tests/conftest.py, .cargo/config.toml). This searches with
# new ones; a failure prints the example, or the seed.
fuzz: $(INSTALLED) tested ## Search with new random examples, ROUNDS=10 times as many as `make test` has
	@for round in $$(seq $(ROUNDS)); do \
	  seed=$$(od -An -N6 -tu8 /dev/urandom | tr -d ' '); echo "round $$round of $(ROUNDS), PROPTEST_RNG_SEED=$$seed"; \
	  $(BIN)/pytest -q -n auto --dist worksteal -m hypothesis --hypothesis-profile=fuzz; \
	  PROPTEST_RNG_SEED=$$seed cargo test --quiet --locked -p odonata-decision -p odonata-programs -p odonata-sim -p odonata-topology; \
	done

fuzz-shim: $(INSTALLED) ## Make 100,000 random socket calls with and without the shim, and compare their results
	FUZZ_SHIM=1 $(BIN)/pytest -q tests/decision/test_shim.py -k random_calls

web: web/node_modules/.installed ## Build the script of reports (web) into the Python package; needs Node.js and npm
	cd web && node build.mjs

web/node_modules/.installed: web/package.json web/package-lock.json web/.npmrc
	cd web && npm ci --ignore-scripts --loglevel=error
	@touch $@

lint: lint-python lint-stubs lint-web lint-rust ## Formatting, lints, types, layers

lint-python: $(INSTALLED)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/mypy tests/user_types.py

# What needs the installed package: its layers, and whether the types of the extension module are those that it has.
lint-stubs: $(INSTALLED) tested
	$(BIN)/lint-imports
	$(BIN)/stubtest odonata._core

lint-rust: $(RUNS)
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings

lint-web: ## Types and lints of web; fails if the script in the package is not what web gives
	@scripts/lint_web.sh

# The extension module has no Rust tests: tests/core goes through Python. It is not excluded, because then its
# dependencies would have other features, and crates that it shares would be compiled twice.
test-rust: $(INSTALLED) | tested ## Tests of the Rust crates
	cargo test --workspace --locked

# The Rust tests build the example that is counted.
test-instructions: $(INSTALLED) tested ## Limits on the instructions of the simulator as the tests build it (needs valgrind)
	cargo test --workspace --locked --quiet --no-run
	$(BIN)/python scripts/test_instructions.py

# With the oldest libraries, and without those for pictures and statistics.
test-oldest: build ## Tests of runs with the oldest versions of the libraries that pyproject.toml allows
	scripts/test_oldest.sh

miri: ## Tests of the code that is not checked by the compiler, under Miri (needs a nightly toolchain with miri)
	@cargo +nightly miri --version >/dev/null 2>&1 || \
	  { echo "error: Miri is not installed: rustup component add --toolchain nightly miri rust-src" >&2; exit 1; }
	MIRIFLAGS=-Zmiri-disable-isolation CARGO_TARGET_DIR=target/miri \
	  cargo +nightly miri test -p odonata-sim --locked --lib --test main -- wheel prefetch outputs::

test-python: $(INSTALLED) tested ## Tests of the Python packages and of the built simulator
	$(BIN)/pytest -n auto --dist worksteal --ignore=tests/cluster/slurm --ignore=tests/cluster/fabric

# In one process: each process would start its own Slurm.
test-slurm: $(INSTALLED) tested ## Tests with a real Slurm of 64 virtual nodes, and one on a contended network; reports what is missing
	$(BIN)/pytest -rs tests/cluster/slurm tests/cluster/fabric

test-fabric: $(INSTALLED) build ## Latency against background on a real, small network: some 50 Slurm jobs, 5 to 15 minutes
	$(BIN)/pytest -rs tests/cluster/fabric/whole.py

system-deps: ## Install Slurm, Open MPI, iperf3, valgrind, Node.js, Chromium, Prometheus and Lua with apt, for some tests (needs root; goes on without)
	@scripts/system_deps.sh

bless: $(INSTALLED) tested ## Accept changed snapshots, schemas and man pages; look at the diff before you commit it
	$(BIN)/python scripts/schemas.py
	$(BIN)/python scripts/man.py
	$(BIN)/pytest -n auto --snapshot-update

fmt: $(INSTALLED) ## Format all code
	@! command -v npm >/dev/null || { $(MAKE) --no-print-directory web/node_modules/.installed && \
	  cd web && node_modules/.bin/biome check --write --reporter=summary .; }
	$(BIN)/ruff check --fix-only --quiet
	$(BIN)/ruff format
	cargo fmt --all

bench: build ## Speed on this machine, and the instruction counts that must not grow
	scripts/bench.sh

# Every entry of `odonata reproduce --list`. The pages go into validation; the rows of the reduced forms do not.
validate: build ## Compare with the published figures of Kang 2019, Zhang 2018 and others; REDUCED=1: a few short runs of each
	@names=$$($(BIN)/odonata reproduce --list | cut -d ' ' -f 1) && for name in $$names; do \
	  echo "odonata reproduce $$name $(REDUCED_FORM)"; $(BIN)/odonata reproduce $$name $(REDUCED_FORM); done
	$(if $(REDUCED),,$(BIN)/odonata reproduce --summary)

audit: ## Licences, advisories and origins of the Rust dependencies (needs cargo-deny)
	cargo deny --locked check

lock: ## Resolve the dependencies of pyproject.toml again and pin them
	scripts/lock.sh

# On Linux, Zig links against the C library of RHEL 8 and of all that is newer.
dist: $(INSTALLED) ## Build a wheel and a source distribution in the folder dist, and check both
	rm -rf dist
ifeq ($(shell uname -s),Linux)
	$(INSTALL) -r requirements/dist.lock
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/maturin build --release --locked --zig --compatibility manylinux_2_28 --out dist
else
	$(BIN)/maturin build --release --locked --out dist
endif
	$(BIN)/maturin sdist --out dist
	PYTHON=$(BIN)/python scripts/check_dist.sh dist/*.whl
	$(BIN)/pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist/from-source dist/*.tar.gz
	PYTHON=$(BIN)/python scripts/check_dist.sh dist/from-source/*.whl
	rm -rf dist/from-source

release: $(INSTALLED) ## Check that versions, changelog, work tree and a built wheel agree; print what to do next; publish nothing
	$(BIN)/python scripts/release.py
	$(MAKE) --no-print-directory dist
	$(BIN)/python scripts/release.py --dist dist

clean: ## Remove everything that make has made
	rm -rf $(VENV) target web/node_modules demo dist python/odonata/_core*.so .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .grimp_cache \
	  validation/studies build docs/_generated docs/reference
	find python tests -name __pycache__ -prune -exec rm -rf {} +
