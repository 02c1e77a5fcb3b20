# One command each. The environment is made on first use and again when pyproject.toml changes.

SHELL := /bin/bash
MAKEFLAGS += --no-print-directory
.SHELLFLAGS := -eu -o pipefail -c

PYTHON := .venv/bin/python
PYTEST_OPTIONS ?=
SANDBOXED_TESTS := tests/integration tests/escape tests/battery tests/seeds
# Only files that name the mark: to load the others takes 6 s. tests/unit/test_tiers.py sees that none is missed.
ALONE = $(shell grep -lr --include='test_*.py' 'pytest\.mark\.alone' $(SANDBOXED_TESTS))
# Two processes, a file at a time: on two cores this takes half of one process's time. Tests that are marked `alone`
# measure what programs do to the machine, so they run at the end, one after the other. A process that hangs is ended
# (tests/hangs.py) and not started again: the test that hangs would come first in it.
BESIDE := -n 2 --dist loadfile --max-worker-restart 0
# Long files first: tests/tiers.py says in which order.
IN_ORDER := $(BESIDE) --no-loadscope-reorder
# Tests of sandboxes wait for a good part of their time (a lease that ends, a program that sleeps until its time is over):
# a third process uses what the others leave of two cores.
SANDBOXED := $(subst -n 2,-n 3,$(IN_ORDER))
# Which rows of long tables `make test` has, and `make test-rest` has not: by the commit, or DRAW=WORDS.
DRAW ?= $(shell git rev-parse --short HEAD 2>/dev/null || date +%F)
DRAW := $(DRAW)
# `make test-rest TABLES=short`: a few rows of each table that has more, by the same draw, and every function.
TABLES ?= whole
REST = --part=rest --draw=$(DRAW) $(if $(filter short,$(TABLES)),--short-tables)
# mypy (a minute of one core, without its cache) and what the other tests need are made ready beside the unit tests.
# Sessions of pytest one after the other. -k may choose none of a session's tests (5), but not none of all.
SESSIONS = ran= ; run() { $(PYTHON) -m pytest "$$@" $(PYTEST_OPTIONS) && ran=yes || [ $$? = 5 ]; }
# The tests of ts/ that `make test` runs: `may` leaves them out, loudly, where there is no Node.js; `must` fails then.
TS ?= may
SEED ?= 0
MODE ?= sync

BATTERY_COUNT ?= 150
BATTERY_HONEST ?= 600
BATTERY_SEED ?= 1
BATTERY_BUSY ?= 0
BATTERY_SECONDS ?= 7200
FUZZ_INPUTS ?= 1000000
FUZZ_SEED ?= 10
FUZZ_MESSAGES ?= 1000000

.PHONY: help demo demo-train test test-unit test-ts test-rest test-all test-battery test-fuzz test-channels test-oldest lint style types rules bench docs reference setup lock clean
.DEFAULT_GOAL := help

help: ## this list
	@grep -E '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

demo: .venv/.for-use ## run the example's candidate solutions, each in its own sandbox, and print their rewards
	@.venv/bin/harena benchmark run --name demo --scenarios examples/candidate-solutions.yaml \
		--blueprint python-warm --concurrency 200 --timeout 120 --retry-attempts 1

demo-train: .venv/.for-training ## train a small model by execution, beside controls, and judge it; SEED=0, MODE=sync
	@$(PYTHON) examples/train_noisy_teacher.py --seed $(SEED) --mode $(MODE) --compare --out noisy-teacher
	@$(PYTHON) examples/judge_exported_model.py noisy-teacher

test: style ## before each push, ten minutes: lint, unit tests, and a draw of all others
	@$(SESSIONS); $(MAKE) -j 2 types .venv/.for-tests & beside=$$!; trap 'kill $$beside 2>/dev/null || :' EXIT; \
	run tests/unit $(BESIDE); wait $$beside; \
	run tests/conformance tests/component --part=first --draw=$(DRAW) $(IN_ORDER); \
	run $(SANDBOXED_TESTS) --part=first --draw=$(DRAW) $(SANDBOXED); \
	[ -n "$$ran" ]
	@case " $(PYTEST_OPTIONS)" in *" -k"*) ;; *) scripts/test-ts $(TS) ;; esac

test-unit: .venv/.for-development ## what needs no process, no sandbox and no torch, in a minute
	@$(PYTHON) -m pytest -q tests/unit $(BESIDE) $(PYTEST_OPTIONS)

test-ts: .venv/.for-development ## the TypeScript client in ts/ against a real server; needs Node.js 20.5 or newer
	@scripts/test-ts must

test-rest: .venv/.for-tests ## what `make test` has left: other rows (TABLES=short: few), thorough tests, those alone
	@$(SESSIONS); \
	run tests/conformance tests/component $(REST) $(IN_ORDER); \
	run $(SANDBOXED_TESTS) $(REST) -m 'not alone' $(SANDBOXED); \
	run $(ALONE) -m alone; \
	[ -n "$$ran" ]

test-all: test test-rest ## every test, each once

test-battery: .venv/.for-tests ## thousands of composed programs; BATTERY_COUNT, _HONEST, _SEED, _BUSY=8 (beside others)
	@HARENA_BATTERY_COUNT=$(BATTERY_COUNT) HARENA_BATTERY_HONEST=$(BATTERY_HONEST) HARENA_BATTERY_SEED=$(BATTERY_SEED) \
		HARENA_BATTERY_BUSY=$(BATTERY_BUSY) HARENA_BATTERY_SECONDS=$(BATTERY_SECONDS) \
		$(PYTHON) -m pytest tests/battery -s $(PYTEST_OPTIONS)

test-fuzz: .venv/.for-development ## a million inputs for the parsers of what candidates say; FUZZ_INPUTS, FUZZ_SEED
	@HARENA_FUZZ_INPUTS=$(FUZZ_INPUTS) HARENA_FUZZ_SEED=$(FUZZ_SEED) \
		$(PYTHON) -m pytest tests/unit/scoring/test_parser_fuzz.py --durations=0 $(PYTEST_OPTIONS)

test-channels: .venv/.for-tests ## a million messages from importers, templates and inits, and requests; FUZZ_MESSAGES
	@HARENA_FUZZ_MESSAGES=$(FUZZ_MESSAGES) $(PYTHON) -m pytest --durations=0 --timeout 0 \
		tests/unit/runtime/test_hostile_init.py::test_no_message_of_an_init_does_more_than_end_its_sandbox \
		tests/component/runtime/test_importing.py::test_no_message_of_an_importer_does_more_than_fail \
		tests/component/runtime/test_hostile_templates.py::test_no_message_of_a_template_ends_the_spawner \
		tests/escape/test_api_bodies.py::test_bodies_of_a_fuzzer_are_models_or_mistakes \
		tests/escape/test_api_application.py::test_requests_of_a_fuzzer_leave_nothing_in_the_application \
		tests/escape/test_api_attacker.py::test_requests_of_a_fuzzer_leave_nothing $(PYTEST_OPTIONS)

test-oldest: .venv/.for-development ## fuzz what reads models against the oldest libraries that pyproject.toml allows
	@scripts/oldest-versions $(PYTEST_OPTIONS)

lint: style types rules ## ruff, mypy and the import rules

style: .venv/.for-development
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .

types: .venv/.for-development
	@.venv/bin/mypy

rules: .venv/.for-development
	@$(PYTHON) -m pytest -q tests/unit/test_import_rules.py

bench: .venv/.for-development ## measure harena beside plain Python and bubblewrap; results go to benchmarks/results
	@scripts/system-packages bubblewrap:bwrap util-linux:prlimit
	@$(PYTHON) -m benchmarks all

reference: .venv/.for-development ## write what of docs/reference is made from the code
	@$(PYTHON) scripts/nouns.py
	@$(PYTHON) scripts/config_types.py
	@$(PYTHON) scripts/reference.py

docs: .venv/.for-development ## check links and code in the documentation, and run its examples
	@$(PYTHON) scripts/check_docs.py
	@$(PYTHON) -m pytest -q tests/integration/test_documented_code.py

setup: .venv/.for-development ## make the environment and nothing else

.venv/.for-use: pyproject.toml scripts/setup
	@scripts/setup .
	@touch $@

.venv/.for-training: pyproject.toml scripts/setup
	@scripts/setup '.[train]' torch==2.13.0
	@touch $@ .venv/.for-use

.venv/.for-development: pyproject.toml scripts/setup requirements-dev.lock
	@scripts/setup '.[dev]' --constraint requirements-dev.lock || { \
		echo "the locked versions cannot all be had here: installing the newest that pyproject.toml allows" >&2; \
		scripts/setup '.[dev]'; }
	@touch $@ .venv/.for-use .venv/.for-training

.PHONY: .venv/.for-tests
.venv/.for-tests: .venv/.for-development
	@scripts/system-packages postgresql:pg_ctlcluster gcc-12:gcc-12 binutils:ld skopeo:skopeo curl:curl docker-registry:docker-registry zstd:zstd musl-tools:musl-gcc chromium:chromium umoci:umoci uidmap:newuidmap dpkg-dev:dpkg-scanpackages

lock: .venv/.for-development ## upgrade the development environment, and write requirements-dev.lock anew
	@$(PYTHON) -m pip install --quiet --upgrade --upgrade-strategy eager --editable '.[dev]'
	@{ sed -n '/^#/p' requirements-dev.lock; $(PYTHON) -m pip freeze --exclude-editable | sed -E 's/\+cpu$$//'; } >.lock.new
	@mv .lock.new requirements-dev.lock

clean: ## remove the environment and what tools left behind
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis
