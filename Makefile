# Headlight: `make run` opens the app, `make test` runs every check. Both set up all that they need:
# a virtual environment, the pinned requirements and, for tests, a Chromium.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help run serve desktop test lint screenshots bench browser clean

PYTHON ?= python3
PORT ?= 8501
VENV := .venv
BIN := $(VENV)/bin
JOEYNMT := .venv-joeynmt
APP_READY := $(VENV)/app.stamp
DEV_READY := $(VENV)/dev.stamp

# $(call apt_install,packages): as root or through sudo; otherwise say what is missing.
define apt_install
	echo "Installing $(1)"; \
	if [ "$$(id -u)" = 0 ]; then as_root=""; else as_root="sudo"; fi; \
	command -v apt-get >/dev/null && { [ -z "$$as_root" ] || command -v sudo >/dev/null; } \
		|| { echo "Please install $(1) with your system's package manager, then run make again." >&2; exit 1; }; \
	{ $$as_root apt-get update -qq && $$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $(1) >/dev/null; } \
		|| { echo "Could not install $(1). Please install it by hand, then run make again." >&2; exit 1; }
endef

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1|/' | awk -F'|' '{printf "make %-12s %s\n", $$1, $$2}'

run: $(APP_READY) ## Open the app in the browser (PORT=8501)
	@$(BIN)/streamlit run app.py --server.port $(PORT)

serve: $(APP_READY) ## Serve it to others (HOST=0.0.0.0 PORT=8501, HEADLIGHT_PASSWORD=... or HEADLIGHT_PUBLIC=1)
	@PORT=$(PORT) $(BIN)/python -m tools.production $(OPTIONS)

desktop: $(APP_READY) ## Open the app in a window of its own
	@$(BIN)/python -m tools.desktop

# Two processes: half of the time a browser test waits. Each takes whole files, whose tests share a server or a model.
test: lint browser ## Run ruff, mypy and all tests
	@$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder

lint: $(DEV_READY) ## Run ruff and mypy
	@$(BIN)/ruff check .
	@$(BIN)/mypy

screenshots: $(DEV_READY) browser ## Draw every page in both themes into docs/images
	@$(BIN)/python -m tools.screenshots

bench: $(APP_READY) browser ## Measure beside the peers, into benchmarks/results
	@$(BIN)/python -m pip install --quiet --requirement requirements-bench.txt
	@test -x $(JOEYNMT)/bin/python || { $(PYTHON) -m venv $(JOEYNMT) \
		&& $(JOEYNMT)/bin/python -m pip install --quiet --requirement requirements-joeynmt.txt; } \
		|| { rm -rf $(JOEYNMT); echo "JoeyNMT does not install here; the benchmarks go on without it."; }
	@for name in showing start stepping recording memory atlas; do $(BIN)/python -m benchmarks $$name; done
	@for name in training decoding quality beside classroom; do \
		$(BIN)/python -m benchmarks $$name $${HEADLIGHT_MULTI30K:+--multi30k "$$HEADLIGHT_MULTI30K"}; done

browser:
	@command -v chromium chromium-browser google-chrome >/dev/null || { $(call apt_install,chromium); }

clean: ## Remove the virtual environment and the caches
	rm -rf $(VENV) $(JOEYNMT) .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Headlight needs Python 3.11 or newer: run make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { $(call apt_install,python3-venv); }
	@$(PYTHON) -m venv $(VENV)

# A stamp is newer than the list that it was installed from, so the second time costs nothing.
$(APP_READY): requirements.txt | $(BIN)/pip
	@echo "Installing the requirements of the app"
	@$(BIN)/python -m pip install --quiet --requirement requirements.txt
	@touch $@

$(DEV_READY): requirements-dev.txt requirements-train.txt requirements-import.txt $(APP_READY) | $(BIN)/pip
	@echo "Installing the requirements of the tests"
	@$(BIN)/python -m pip install --quiet --requirement requirements-dev.txt
	@touch $@
