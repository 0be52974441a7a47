# Everything runs in virtual environments made here; only Python >= 3.11, pip and make are needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BENCH := .venv-bench

.PHONY: demo test test-all explore mutants compiler browser aarch64 bench lint docs clean

# one stamp per set of extras, so that each target installs no more than it needs
$(VENV)/.made-%: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing torsor[$*] into $(VENV) ..."
	@$(BIN)/python -m pip install -q --disable-pip-version-check -e ".[$*]"
	@touch $@

$(VENV)/.made: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing torsor into $(VENV) ..."
	@$(BIN)/python -m pip install -q --disable-pip-version-check -e .
	@touch $@

demo: $(VENV)/.made
	@$(BIN)/python -m torsor demo

test: $(VENV)/.made-test $(VENV)/.made-docs compiler browser
	$(BIN)/python -m pytest -n 2 --dist worksteal

# adapters: PyTorch is pinned to a build without CUDA, so that nothing pulls gigabytes
test-all explore: $(VENV)/.made-test $(VENV)/.made-docs $(VENV)/.made-adapters compiler browser aarch64
	TORSOR_NIGHT=$(if $(filter explore,$@),random,1) $(BIN)/python -m pytest -n 2 --dist worksteal

# one operator, sign, index or constant of the algorithms changed at a time; goes on where it stopped (docs/mutation-testing.md)
mutants: $(VENV)/.made-test
	$(BIN)/python -m tools.mutants $(ARGS)

# the tests of exported C need a C compiler
compiler:
	@command -v gcc >/dev/null || { apt-get update -q && apt-get install -y -q gcc libc6-dev; }

# the tests of kernels for aarch64 need its C compiler and an emulator, unless this machine is one
aarch64:
	@test "$$(uname -m)" != x86_64 || { command -v aarch64-linux-gnu-gcc && command -v qemu-aarch64; } >/dev/null || \
	  { apt-get update -q && apt-get install -y -q gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user; }

# the tests of the pages need a browser
browser:
	@command -v chromium >/dev/null || { apt-get update -q && apt-get install -y -q chromium; }

lint: $(VENV)/.made-lint
	$(BIN)/ruff check --no-cache .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.made-docs
	$(BIN)/sphinx-build -W -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

# installed, not editable: what a user runs, with its bytecode compiled
bench:
	@test -x $(BENCH)/bin/python || $(PYTHON) -m venv $(BENCH)
	@$(BENCH)/bin/python -m pip install -q --disable-pip-version-check --upgrade ".[bench,adapters]"
	$(BENCH)/bin/python -P -m pip uninstall -q -y torsor && $(BENCH)/bin/python -m pip install -q --no-deps .
	$(BENCH)/bin/python -m benchmarks $(ARGS)
	$(BENCH)/bin/python -m benchmarks.modern_robotics_contest
	$(BENCH)/bin/python -m benchmarks.symbolic_times
	$(BENCH)/bin/python -m benchmarks.large_chains

clean:
	rm -rf $(VENV) $(BENCH) .mutants docs/_build .pytest_cache .ruff_cache .mypy_cache .hypothesis
