# Headlight: `make run` opens the app, `make test` runs every check. Both set up what they need:
# a virtual environment, the pinned requirements and, for tests, a Chromium and a Firefox.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help run class serve desktop wheel sdist installed container test check fuzz messages lint format lock audit docs space screenshots screencast bench browser firefox strace redis clean

PYTHON ?= python3
PORT ?= 8501
VENV := .venv
BIN := $(VENV)/bin
JOEYNMT := .venv-joeynmt
INSEQ := .venv-inseq
TOOLS := .venv-tools
APP_READY := $(VENV)/app.stamp
DEV_READY := $(VENV)/dev.stamp
TOOLS_READY := $(TOOLS)/tools.stamp
SCRIPTS := headlight/viewer/js
ENGINE := headlight/web/js
SITE := docs/_static/live.js
TYPES_READY := $(SCRIPTS)/node_modules/types.stamp
TYPES := $(BIN)/node $(SCRIPTS)/node_modules/typescript/bin/tsc --project
# Install each file by its hash, no package that the lock does not name, and nothing that has to be built here, since a
# build would fetch build tools of any version. Only torch, which has different files on different indexes, is installed
# afterwards from the list with the reasons, when all its dependencies are installed.
PIP := -m pip install --quiet
LOCKED := $(PIP) --require-hashes --no-deps --only-binary :all: --requirement
AUDIT := $(TOOLS)/bin/pip-audit --progress-spinner off --strict --disable-pip
RESOLVE := UV_CUSTOM_COMPILE_COMMAND="make lock" $(TOOLS)/bin/uv pip compile --quiet --config-file tools/lock.toml

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

class: $(APP_READY) ## Teach a class: serve the app to phones on the local network, with a password for you
	@$(BIN)/python -m headlight class

serve: $(APP_READY) ## Serve it to others (HOST=0.0.0.0 PORT=8501, HEADLIGHT_PASSWORD=... or HEADLIGHT_PUBLIC=1)
	@PORT=$(PORT) $(BIN)/python -m tools.production $(OPTIONS)

desktop: $(APP_READY) ## Open the app in its own window
	@$(BIN)/python -m tools.desktop

wheel: $(DEV_READY) ## Build the wheel into dist/
	@rm -rf dist
	@$(BIN)/python -m hatchling build --target wheel > /dev/null

sdist: $(DEV_READY) ## Build the source distribution into dist/, beside the wheel
	@$(BIN)/python -m hatchling build --target sdist > /dev/null

# Installs as users would, in two empty environments: without an extra for notebooks, and with the app. The tests then run
# in a network that has only the loopback.
installed: wheel browser ## Install the wheel, and try it without a network
	@rm -rf build/installed
	@for name in notebook app; do $(PYTHON) -m venv build/installed/$$name; done
	@build/installed/notebook/bin/python $(PIP) --constraint requirements.txt dist/*.whl
	@build/installed/app/bin/python $(PIP) --constraint requirements.txt "$$(echo dist/*.whl)[app]"
	@apart=(unshare --map-root-user --net); "$${apart[@]}" true 2>/dev/null \
				|| { apart=(); echo "This system allows no network namespace, so the tests run with the network."; }; \
		"$${apart[@]}" $(BIN)/python -m pytest tests/installed

# pytest caches its rewritten assertions as bytecode: rewriting them takes as long as importing everything else.
test check: export PYTHONDONTWRITEBYTECODE :=

# Three processes, since a test waits half of the time, for a browser or for a process of its own: on two cores the suite takes
# 12 minutes, and 20 with two processes. Each runs whole files, whose tests share a server or a model.
test: lint browser firefox strace redis ## Run every linter and all tests
	@$(BIN)/python -m pytest --ignore tests/installed --numprocesses 3 --dist loadfile --no-loadscope-reorder

# Tests that take seconds, or start processes, each of which imports torch and Streamlit for three seconds, are left to
# `make test`.
check: lint redis ## Run every linter and the tests that need no browser and are not slow
	@$(BIN)/python -m pytest --ignore tests/browser --ignore tests/installed -m "not browser and not slow" --numprocesses 2 --dist loadfile --no-loadscope-reorder

lint: $(DEV_READY) $(TYPES_READY) ## Lint and type-check the Python and the JavaScript, and check the format of the JavaScript
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/oxlint --quiet --config $(SCRIPTS)/.oxlintrc.json $(SCRIPTS) $(ENGINE) $(SITE)
	@$(BIN)/oxfmt --config $(SCRIPTS)/.oxfmtrc.json --check $(SCRIPTS) $(ENGINE) $(SITE)
	@$(TYPES) $(SCRIPTS)/jsconfig.json
	@$(TYPES) $(ENGINE)/jsconfig.json

# Started as the first lines of deploy/Dockerfile say.
container: ## Build the container image, start it, and translate a sentence in it (needs Docker)
	@docker build --file deploy/Dockerfile --tag headlight .
	@docker run --detach --init --memory 4g --read-only --tmpfs /tmp --env HEADLIGHT_PUBLIC=1 \
		--name headlight-trial headlight > /dev/null
	@trap 'docker rm --force headlight-trial > /dev/null' EXIT; \
		for _ in {1..30}; do \
			docker exec headlight-trial python -m tools.healthy http://127.0.0.1:8501 --seconds 30 && exit; \
			sleep 2; \
		done; \
		docker logs headlight-trial; exit 1

messages: $(DEV_READY) ## Bring the catalogues of translations up to date, and say what is left to translate
	@$(BIN)/python -m tools.translations

format: $(DEV_READY) ## Format the JavaScript
	@$(BIN)/oxfmt --config $(SCRIPTS)/.oxfmtrc.json $(SCRIPTS) $(ENGINE) $(SITE)

# Each fuzzer runs for HEADLIGHT_FUZZ_SECONDS with new seeds; a seed that fails is stored in tests/fuzz_seeds, and
# `make test` tries it again. Ten minutes in all.
fuzz: $(DEV_READY) ## Try damaged files and random messages for ten minutes (HEADLIGHT_FUZZ_SECONDS=15)
	@HEADLIGHT_FUZZ_SECONDS=$${HEADLIGHT_FUZZ_SECONDS:-15} timeout --kill-after=10 600 \
		$(BIN)/python -m pytest -m fuzz --numprocesses 2

# Lists that share an environment are resolved together, so that their versions agree; a locked version changes only when
# a list changes.
lock: $(TOOLS_READY) ## Rebuild what follows from the lists: requirements/*.lock, the SBOM, the type checker's lock
	@$(RESOLVE) requirements/bench.txt requirements/dev.txt --output-file requirements/bench.lock
	@$(RESOLVE) requirements.txt --constraints requirements/bench.lock --output-file requirements/app.lock
	@$(RESOLVE) requirements/dev.txt --constraints requirements/bench.lock --output-file requirements/dev.lock
	@$(RESOLVE) requirements/docs.txt --constraints requirements/bench.lock --output-file requirements/docs.lock
	@$(RESOLVE) requirements/joeynmt.txt --output-file requirements/joeynmt.lock
	@$(RESOLVE) requirements/inseq.txt --output-file requirements/inseq.lock
	@$(RESOLVE) requirements/tools.txt --output-file requirements/tools.lock
	@$(TOOLS)/bin/python -m tools.sbom requirements/headlight.cdx.json
	@test ! -x $(BIN)/npm || $(BIN)/npm install --prefix $(SCRIPTS) --package-lock-only --omit-lockfile-registry-resolved

# Strict: a package that cannot be checked counts as unsafe.
audit: $(TOOLS_READY) ## Check the locked versions for known vulnerabilities (needs a network)
	@grep --only-matching '^torch==[^ ]*' requirements.txt > $(TOOLS)/torch.txt
	@$(AUDIT) --no-deps --requirement $(TOOLS)/torch.txt
	@$(AUDIT) --require-hashes $(addprefix --requirement ,$(wildcard requirements/*.lock))

# Its models are small: with one thread each pass takes as long, and a busy machine does not wait for the second.
docs: $(APP_READY) ## Build the site of docs/ into docs/_build
	@$(BIN)/python $(LOCKED) requirements/docs.lock
	@OMP_NUM_THREADS=1 $(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going docs docs/_build

space: $(APP_READY) ## Make the folder of a Hugging Face Space, build/space
	@$(BIN)/python -m tools.space build/space

screenshots: $(DEV_READY) browser ## Draw every page in both themes into docs/images
	@$(BIN)/python -m tools.screenshots

screencast: $(DEV_READY) browser ## Film the app into docs/images/screencast.webp
	@$(BIN)/python -m tools.screencast

bench: $(APP_READY) browser ## Compare with the alternatives, into benchmarks/results
	@$(BIN)/python $(LOCKED) requirements/bench.lock
	@test -x $(JOEYNMT)/bin/python || { $(PYTHON) -m venv $(JOEYNMT) \
		&& $(JOEYNMT)/bin/python $(LOCKED) requirements/joeynmt.lock \
		&& $(JOEYNMT)/bin/python $(PIP) --requirement requirements/joeynmt.txt; } \
		|| { rm -rf $(JOEYNMT); echo "JoeyNMT does not install here; the benchmarks go on without it."; }
	@test -x $(INSEQ)/bin/python || { $(PYTHON) -m venv $(INSEQ) \
		&& $(INSEQ)/bin/python $(LOCKED) requirements/inseq.lock \
		&& $(INSEQ)/bin/python $(PIP) --requirement requirements/inseq.txt; } \
		|| { rm -rf $(INSEQ); echo "Inseq does not install here; the benchmarks go on without it."; }
	@for name in showing start stepping recording memory atlas why class; do $(BIN)/python -m benchmarks $$name; done
	@for name in training decoding quality classroom; do \
		$(BIN)/python -m benchmarks $$name $${HEADLIGHT_MULTI30K:+--multi30k "$$HEADLIGHT_MULTI30K"}; done

browser:
	@command -v chromium chromium-browser google-chrome >/dev/null || { $(call apt_install,chromium); }

firefox:
	@command -v firefox-esr firefox >/dev/null || { $(call apt_install,firefox-esr); }

# Only Linux has it; elsewhere the test that needs it is skipped.
strace:
	@[ "$$(uname)" != Linux ] || command -v strace >/dev/null || { $(call apt_install,strace); }

redis:
	@command -v redis-server >/dev/null || { $(call apt_install,redis-server); }

clean: ## Remove the virtual environment and the caches
	rm -rf $(VENV) $(JOEYNMT) $(TOOLS) $(SCRIPTS)/node_modules .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Headlight needs Python 3.11 or newer: run make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { $(call apt_install,python3-venv); }
	@$(PYTHON) -m venv $(VENV)

# A stamp is newer than the lists that it was installed from, so the second time costs nothing.
$(APP_READY): requirements.txt requirements/app.lock | $(BIN)/pip
	@echo "Installing the requirements of the app"
	@$(BIN)/python $(LOCKED) requirements/app.lock
	@$(BIN)/python $(PIP) --requirement requirements.txt
	@touch $@

$(DEV_READY): requirements/dev.lock $(APP_READY) | $(BIN)/pip
	@echo "Installing the requirements of the tests"
	@$(BIN)/python $(LOCKED) requirements/dev.lock
	@touch $@

# The TypeScript compiler is one program with its libraries: it runs no script when it is installed.
$(TYPES_READY): $(SCRIPTS)/package-lock.json $(DEV_READY)
	@$(BIN)/npm ci --prefix $(SCRIPTS) --ignore-scripts --no-audit --no-fund --loglevel error
	@touch $@

$(TOOLS_READY): requirements/tools.lock
	@$(PYTHON) -m venv $(TOOLS)
	@$(TOOLS)/bin/python $(LOCKED) requirements/tools.lock
	@touch $@
