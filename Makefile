# taskschedd: build, show, test, measure, install. `make help` lists the targets.
#
# On a fresh Debian with Swift, `make demo` and `make test` do all the set-up themselves.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:

SWIFT ?= swift
DESTDIR ?=
PREFIX ?= /usr
VENV := .venv
# A target may import only what its declaration in Package.swift names.
BUILD := $(SWIFT) build --explicit-target-dependency-import-check error
TEST := $(SWIFT) test --explicit-target-dependency-import-check error

# Debian's packages: to build, and to test and measure.
BUILD_PACKAGES := libsystemd-dev
TEST_PACKAGES := systemd dbus python3 python3-venv procps

.PHONY: help
help: ## Show the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

.PHONY: setup
setup: ## Install what the build needs and the machine lacks
	@scripts/install-packages $(BUILD_PACKAGES)

.PHONY: test-setup
test-setup: setup $(VENV)/ready
$(VENV)/ready: scripts/requirements.txt
	@scripts/install-packages $(TEST_PACKAGES)
	python3 -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check -r scripts/requirements.txt
	touch $@

.PHONY: build
build: setup ## Build for debugging
	$(BUILD)

.PHONY: release
release: setup ## Build what is installed
	$(BUILD) -c release --product taskschedd
	$(BUILD) -c release --product taskctl

.PHONY: demo
demo: build ## Show the main job: granted, warned, suspended, resumed, killed
	@scripts/demo

.PHONY: test
test: test-setup ## Everything that CI runs
	$(BUILD) --build-tests
	$(TEST) --skip-build

.PHONY: clean
clean: ## Remove what was built
	rm -rf .build $(VENV)
