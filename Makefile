# ToolHub. `make help` lists what there is; every target does its own set-up.
SHELL := /bin/sh
PORT ?= 8000
HOST ?= 127.0.0.1
FOLDER ?= var/screenshots
PYTHON := .venv/bin/python
ifdef TOOLHUB_DATA
export TOOLHUB_DATA
endif

.DEFAULT_GOAL := help
.PHONY: help setup setup-dev run test check format bench chaos seed seed-large bench-pages screenshots lock openapi

help: ## this list
	@echo "ToolHub: make TARGET"
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | awk -F '\t' '{printf "  %-12s %s\n", $$1, $$2}'

setup:
	@command -v python3 >/dev/null || { echo "Set-up stopped: python3 is missing. Install Python 3.11 or later (Debian: apt install python3 python3-venv)."; exit 1; }
	@bin/setup

setup-dev:
	@command -v python3 >/dev/null || { echo "Set-up stopped: python3 is missing. Install Python 3.11 or later (Debian: apt install python3 python3-venv)."; exit 1; }
	@bin/setup --dev

run: setup ## start the hub (PORT=8000 HOST=127.0.0.1 TOOLHUB_DATA=var); Ctrl-C stops it
	@$(PYTHON) manage.py up --host $(HOST) --port $(PORT)

test: setup-dev ## the whole suite, on every database and broker that is reachable
	@$(PYTHON) tests/run.py $(ARGS)

check: setup-dev ## style, types, templates, layers, migrations, API description
	@$(PYTHON) tests/check.py

format: setup-dev ## put Python and templates in shape
	@.venv/bin/ruff check --fix --quiet . ; .venv/bin/ruff format --quiet . ; .venv/bin/djlint --reformat --quiet templates

bench: setup-dev ## measure speed, start and memory, 15 min at most (ARGS="--arms echo,mcp --beside HEAD~1")
	@$(PYTHON) -m bench $(ARGS)

chaos: setup-dev ## plant faults in a hub under load, and count (ARGS="--seconds 3600")
	@$(PYTHON) -m chaos $(ARGS)

seed-large: setup-dev ## fill a new PostgreSQL database (TOOLHUB_DATABASE_URL) for measuring (ARGS="--runs 1000000")
	@$(PYTHON) manage.py migrate -v0 && $(PYTHON) manage.py seed_large $(ARGS)

bench-pages: setup-dev ## time, queries and size of every page, on what seed-large filled
	@$(PYTHON) manage.py bench_pages --settings bench.settings $(ARGS)

screenshots: setup-dev ## every page in both themes and two widths (FOLDER=var/screenshots ONLY=part of an address)
	@SCREENSHOTS=$(abspath $(FOLDER)) ONLY='$(ONLY)' .venv/bin/pytest -q tests/browser/screenshots.py && echo "Pictures are in $(FOLDER)"

seed: setup ## fill the data folder with a demo world
	@$(PYTHON) manage.py demo_seed

openapi: setup-dev ## write toolhub/openapi.json from the code
	@$(PYTHON) manage.py spectacular --validate --fail-on-warn --format openapi-json --file toolhub/openapi.json

lock: setup-dev ## lock the ranges of pyproject.toml and package.json anew
	@bin/lock
