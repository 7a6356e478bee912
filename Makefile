# make run          install the core, start the gateway with the bundled models, draw, keep serving
# make run ONCE=1   the same, then stop; fails if anything failed
# make test         install everything the tests need and run them
# make slow         what takes minutes: train the tiny world in miniature, read thousands of its pictures
# make check        format, lint, types, import contracts, dependencies

PYTHON ?= python3
UV := .tools/bin/uv
VENV := .venv/bin
export UV_PYTHON_DOWNLOADS := never
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help run test slow check format core everything debian apt clean

help:
	@sed -n 's/^# //p' Makefile

run: core
	$(VENV)/maquette up --demo $(if $(ONCE),--once)

test: everything debian
	$(VENV)/python -m pytest $(ARGS)

slow: everything
	OMP_NUM_THREADS=1 $(VENV)/python -m pytest -m slow tests/shapes $(ARGS)

check: everything
	$(VENV)/ruff format --check .
	$(VENV)/ruff check .
	$(VENV)/mypy
	$(VENV)/lint-imports
	$(VENV)/deptry .
	$(VENV)/python -m pytest tests/architecture

format: everything
	$(VENV)/ruff format .
	$(VENV)/ruff check --fix .

# uv comes into a folder of its own, so nothing is needed but Python 3.11 or newer with venv.
$(UV):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Maquette needs Python 3.11 or newer; say which with: make PYTHON=python3.12 …"; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || $(MAKE) --no-print-directory apt PACKAGES=python3-venv
	$(PYTHON) -m venv .tools
	.tools/bin/pip install --quiet uv==0.13.9

# --inexact: a later `make run` leaves in place what `make test` installed.
core: $(UV)
	$(UV) sync --quiet --frozen --inexact --python $(PYTHON)

everything: $(UV)
	$(UV) sync --quiet --frozen --inexact --python $(PYTHON) --group dev --extra engine --extra bench

debian:
	@missing=""; \
	command -v redis-server >/dev/null || missing="$$missing redis-server"; \
	command -v chromium >/dev/null || missing="$$missing chromium fonts-dejavu-core"; \
	command -v node >/dev/null || missing="$$missing nodejs"; \
	command -v npm >/dev/null || missing="$$missing npm"; \
	[ -z "$$missing" ] || $(MAKE) --no-print-directory apt PACKAGES="$$missing"

apt:
	@[ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null || \
		{ echo "Please install: $(PACKAGES)   (on Debian: sudo apt-get install -y $(PACKAGES))"; exit 1; }
	apt-get -qq update
	DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $(PACKAGES) >/dev/null

clean:
	rm -rf .venv .tools .maquette
