# Two commands do all the set-up: `make run` and `make test`. `make help` lists the rest.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: help run test check lint types contracts wheel screenshots bench tune bench-compiler bench-ui clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "CompileMask needs Python 3.11 or later")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

run: $(STAMP) ## open the workbench on a real mask; without a terminal, print the whole report
	$(BIN)/compilemask open shared_prompt_rm

test: $(STAMP) ## run the tests
	$(BIN)/python -m pytest -q -n 2

lint: $(STAMP) ## formatting and lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP) ## mypy strict
	$(BIN)/mypy

contracts: $(STAMP) ## import directions
	$(BIN)/lint-imports

screenshots: $(STAMP) ## take the pictures of screenshots/ again
	$(BIN)/python screenshots/take.py

bench: $(STAMP) ## the kernel beside its peers on this GPU
	$(BIN)/python -m benchmarks.kernel --backward

tune: $(STAMP) ## launch configurations of the forward kernels on this GPU, fastest first
	$(BIN)/python -m benchmarks.tune

bench-compiler: $(STAMP) ## time and memory of the compiler from 1K to 1M tokens, beside eager create_block_mask
	$(BIN)/python benchmarks/compiler.py

bench-ui: $(STAMP) ## start-up, key to repaint, pan and zoom of the workbench
	$(BIN)/python benchmarks/ui.py

check: lint types contracts test ## everything that CI runs

wheel: $(STAMP) ## build the wheel into dist/
	$(BIN)/python -m build --wheel --no-isolation --outdir dist .

clean: ## remove what make made
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
