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
# For small programs. Swift links Foundation, of which the data of ICU are 35 MB, because a package
# imports it: with its libraries left out, a call that needs it is an error of the linker. Nothing
# calls into the programs, so they export no symbol. lld packs relocations; glibc reads them from
# 2.36 on.
FOUNDATION := Foundation CoreFoundation FoundationInternationalization _FoundationICU
SMALL := -Xswiftc -Osize -Xswiftc -use-ld=lld -Xlinker --no-export-dynamic -Xlinker -z \
  -Xlinker pack-relative-relocs $(foreach library,$(FOUNDATION),-Xswiftc -Xfrontend \
  -Xswiftc -disable-autolink-library -Xswiftc -Xfrontend -Xswiftc $(library))
# What is installed must not need Swift on the machine. All release builds have the same flags: with
# others, and without them, everything is compiled anew.
RELEASE := $(BUILD) -c release --static-swift-stdlib $(SMALL)
# The most that is installed of each, in MB.
SIZES := taskschedd=20 taskctl=20
TEST := scripts/run-tests $(SWIFT) test --explicit-target-dependency-import-check error

# Debian's packages: to build, and to test and measure.
BUILD_PACKAGES := libsystemd-dev libsqlite3-dev
DESKTOP_PACKAGES := dunst xvfb dbus-daemon dbus-bin libglib2.0-bin
TEST_PACKAGES := systemd libpam-systemd dbus python3 python3-venv procps tzdata iproute2 \
  python3-dbusmock $(DESKTOP_PACKAGES)
BENCH_PACKAGES := gcc libc6-dev libsystemd-dev dbus python3

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
	$(RELEASE) --product taskschedd
	$(RELEASE) --product taskctl
	@scripts/check-programs .build/release $(SIZES)

.PHONY: demo
demo: build ## Show the main job: granted, warned, suspended, resumed, killed
	@scripts/demo

.PHONY: demo-voip
demo-voip: build ## Show a phone that sleeps: called, woken, kept alive, relaunched
	@scripts/install-packages $(DESKTOP_PACKAGES)
	@scripts/demo-voip

# Seeds that decide all, in as many processes as there are processors. A seed costs some 15 ms.
SEEDS ?= 10000
FIRST ?= 1
.PHONY: simulate
simulate: setup ## Run the policy in a made-up world (SEEDS=10000 FIRST=1), and catch its canaries
	$(RELEASE) --product taskctl
	.build/release/taskctl simulate --seeds 100 --first $(FIRST) --canary all
	.build/release/taskctl simulate --seeds $(SEEDS) --first $(FIRST)

# One page for each subcommand, made from the help that the programs print.
MANUALS := .build/manuals
.PHONY: manuals
manuals: release ## Write the manual pages to .build/manuals
	rm -rf $(MANUALS)
	mkdir -p $(MANUALS)
	# Not by the parser's plugin: that builds the whole package once more, without RELEASE's flags, and
	# with other flags the next `make bench` would build everything anew.
	$(RELEASE) --product generate-manual
	for program in taskctl taskschedd; do \
	  .build/release/generate-manual .build/release/$$program --multi-page \
	    --output-directory $(MANUALS); \
	done
	$(MAKE) keep-manuals

# The parser's own `help` has a page, too, for each command.
.PHONY: keep-manuals
keep-manuals:
	find $(MANUALS) -name '*.1' ! -name 'taskschedd*.1' ! -name 'taskctl*.1' -delete
	rm -f $(MANUALS)/taskctl.help.1 $(MANUALS)/taskctl.*.help.1

.PHONY: test
test: test-setup ## Everything that CI runs
	$(BUILD) --build-tests
	# Some tests of the client await Swift tasks, which would stand in line behind all tests that
	# block their thread; so they run by themselves.
	$(TEST) --skip-build --filter TaskSchedulerClientTests
	$(TEST) --skip-build --skip TaskSchedulerClientTests
	$(MAKE) fuzz-smoke

KILLS ?= 1000
CLIENTS ?= 200
SEED ?=
CHAOS_OPTIONS = --kills $(KILLS) --clients $(CLIENTS) $(if $(SEED),--seed $(SEED)) \
  $(if $(LOG),--log $(LOG))
.PHONY: chaos
chaos: test-setup ## Kill the daemon again and again under load (KILLS=1000, CLIENTS=200, SEED=, LOG=)
	$(RELEASE) --product taskschedd
	$(RELEASE) --product taskctl
	$(RELEASE) --product chaos
	@.build/release/chaos $(CHAOS_OPTIONS)

PREVIOUS := .build/previous
.PHONY: upgrade
upgrade: test-setup ## The same, but begun by another commit's daemon, upgraded half way (FROM=)
	@git rev-parse --quiet --verify "$(FROM)^{commit}" >/dev/null || \
	  { echo "make upgrade: FROM= is the commit to upgrade from, not '$(FROM)'" >&2; exit 2; }
	$(RELEASE) --product taskschedd
	$(RELEASE) --product taskctl
	$(RELEASE) --product chaos
	mkdir -p $(PREVIOUS)
	git -C $(CURDIR) archive "$(FROM)" | tar -x -C $(PREVIOUS) --recursive-unlink
	$(RELEASE) --package-path $(PREVIOUS) --product taskschedd
	@.build/release/chaos $(CHAOS_OPTIONS) --previous $(PREVIOUS)/.build/release/taskschedd

# libFuzzer with the sanitizers of addresses and, in C and C++, of undefined behaviour: Swift has
# traps of its own for that, and its compiler takes one list of sanitizers only.
FUZZER := .build/fuzz/build/debug/fuzz
UNDEFINED := -fsanitize=undefined -fno-sanitize=vptr,function -fno-sanitize-recover=undefined \
  -fsanitize-ignorelist=$(CURDIR)/Fuzz/ignore.txt
FUZZ_BUILD = FUZZ=1 $(BUILD) --product fuzz --scratch-path .build/fuzz/build \
  --sanitize=address --sanitize=fuzzer -Xswiftc -sanitize=fuzzer,address -Xswiftc -use-ld=lld \
  -Xswiftc -O -Xswiftc -assert-config -Xswiftc Debug \
  $(foreach flag,-O1 $(UNDEFINED),-Xcxx $(flag)) $(foreach flag,$(UNDEFINED),-Xcc $(flag))
MINUTES ?= 60
JOBS ?= $(shell nproc)

.PHONY: fuzz
fuzz: test-setup ## Look for inputs that break a promise (MINUTES=60, TARGET=name, JOBS=cores)
	Fuzz/probe fuzzer,address
	$(FUZZ_BUILD)
	@python3 Fuzz/run.py $(FUZZER) --minutes $(MINUTES) --jobs $(JOBS) \
	  $(foreach target,$(TARGET),--target $(target))

# A few seconds of each target, from what is kept.
.PHONY: fuzz-smoke
fuzz-smoke: test-setup
	@if reason=$$(Fuzz/probe fuzzer,address 2>&1); then \
	  $(FUZZ_BUILD) && python3 Fuzz/run.py $(FUZZER) --seconds 3 --jobs $(JOBS); \
	else \
	  echo "SKIPPED: a run of the fuzzer: $$reason"; \
	fi

.PHONY: tsan
tsan: setup ## Run the client library's tests under the thread sanitizer
	@scripts/tsan

BENCH_PROGRAMS := $(addprefix .build/benchmarks/,round-trip echo-server dbus-service flood herd stop-time socket-wake)
BENCH_FLAGS := $(if $(QUICK),--quick) $(if $(JSON),--json)

.PHONY: bench
bench: bench-setup $(BENCH_PROGRAMS) ## Measure against the targets (QUICK=1: less, JSON=1: for programs)
	@$(RELEASE) --product taskschedd >&2
	@python3 Benchmarks/bench.py $(BENCH_FLAGS) --programs .build/benchmarks \
	  --daemon "$$($(BUILD) -c release --show-bin-path)/taskschedd"

.PHONY: bench-setup
bench-setup: setup
	@scripts/install-packages $(BENCH_PACKAGES) >&2

.build/benchmarks/%: Benchmarks/%.c Benchmarks/wire.c Benchmarks/wire.h | bench-setup
	@mkdir -p $(@D)
	$(CC) -std=gnu17 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -o $@ $< Benchmarks/wire.c -lsystemd >&2

# In a small machine of its own. Its kernel and Debian's earlyoom are unpacked and not installed: no
# boot loader hears of the one, and nobody's of the other is started or stopped.
RUNS ?= 20
GROWS ?= eater
SMALL_MACHINE := .build/small-machine
.PHONY: bench-memory
bench-memory: bench-setup ## Who is ended for memory, and how soon, beside earlyoom (RUNS=20, GROWS=eater or foreground, JSON=1)
	@scripts/install-packages qemu-system-x86 e2fsprogs >&2
	@$(RELEASE) --product taskschedd >&2
	@[ -x $(SMALL_MACHINE)/usr/bin/earlyoom ] || scripts/unpack-packages $(SMALL_MACHINE) \
	  linux-image-cloud-amd64 busybox-static earlyoom >&2
	@python3 Benchmarks/bench_memory.py --runs $(RUNS) --grows $(GROWS) $(if $(JSON),--json) \
	  --daemon "$$($(BUILD) -c release --show-bin-path)/taskschedd" --unpacked $(SMALL_MACHINE)

# About three minutes after the build.
.PHONY: bench-foreground
bench-foreground: bench-setup .build/benchmarks/lateness ## How late a foreground is beside busy background processes
	@$(RELEASE) --product taskschedd >&2
	@python3 Benchmarks/foreground.py --programs .build/benchmarks \
	  --daemon "$$($(BUILD) -c release --show-bin-path)/taskschedd"

# In virtual time, half a minute after the build. PICTURE= names a file for the picture.
HOURS ?= 48
PICTURE ?=
.PHONY: wakeups
wakeups: setup ## Count keep-alive's wake-ups beside lower bounds and systemd's (HOURS=48, JSON=1)
	@$(RELEASE) --product wakeups >&2
	@.build/release/wakeups --hours $(HOURS) $(if $(JSON),--json) \
	  $(if $(PICTURE),--picture $(PICTURE))

# What `make install` writes, below DESTDIR. With BUILT=.build/debug it installs what `make build`
# built, without building.
BUILT ?=
BINARIES = $(or $(BUILT),.build/release)
SYSCONFDIR ?= /etc
BIN = $(DESTDIR)$(PREFIX)/bin
LIB = $(DESTDIR)$(PREFIX)/lib
SHARE = $(DESTDIR)$(PREFIX)/share
DOC = $(SHARE)/doc/taskschedd
UNITS = system user
# zsh looks here in Debian; elsewhere, say ZSH=zsh/site-functions.
ZSH ?= zsh/vendor-completions
PAPERS = $(wildcard README.md ARCHITECTURE.md CHANGELOG.md LICENSE)
# Units and manuals name files that lie below PREFIX.
PLACE = sed -e 's|/usr/bin/task|$(PREFIX)/bin/task|' \
  -e 's|/usr/share/doc/taskschedd|$(PREFIX)/share/doc/taskschedd|'

# Every default is built in: the file of the settings is a page to copy from, among the papers, and
# what lies in SYSCONFDIR is the administrator's alone.
.PHONY: install
install: $(if $(BUILT),,release) ## Install below DESTDIR (none), at PREFIX (/usr)
	install -d $(BIN) $(LIB)/systemd/system $(LIB)/systemd/user $(LIB)/systemd/catalog \
	  $(LIB)/sysusers.d $(LIB)/tmpfiles.d $(DOC)/examples $(SHARE)/$(ZSH) \
	  $(SHARE)/bash-completion/completions $(SHARE)/fish/vendor_completions.d \
	  $(SHARE)/taskschedd/applications $(SHARE)/taskschedd/interfaces $(DOC)/examples/scenarios
	install -m 0755 $(if $(BUILT),,-s) $(BINARIES)/taskschedd $(BINARIES)/taskctl $(BIN)
	for unit in taskschedd.service taskschedd.socket taskschedd-release.service; do \
	  $(PLACE) systemd/$$unit > $(LIB)/systemd/system/$$unit; \
	  $(PLACE) systemd/user/$$unit > $(LIB)/systemd/user/$$unit; \
	done
	$(PLACE) systemd/catalog/taskschedd.catalog > $(LIB)/systemd/catalog/taskschedd.catalog
	install -m 0644 systemd/sysusers.d/taskschedd.conf $(LIB)/sysusers.d
	install -m 0644 systemd/tmpfiles.d/taskschedd.conf $(LIB)/tmpfiles.d
	for program in taskctl taskschedd; do \
	  $(BIN)/$$program --generate-completion-script bash > \
	    $(SHARE)/bash-completion/completions/$$program; \
	  $(BIN)/$$program --generate-completion-script zsh > $(SHARE)/$(ZSH)/_$$program; \
	  $(BIN)/$$program --generate-completion-script fish > \
	    $(SHARE)/fish/vendor_completions.d/$$program.fish; \
	done
	[ -n "$(BUILT)" ] || $(MAKE) manuals
	install -d $(SHARE)/man/man1
	[ -n "$(BUILT)" ] || install -m 0644 $(MANUALS)/*.1 $(SHARE)/man/man1
	install -m 0644 Sources/TaskSchedulerWire/Interfaces/*.varlink $(SHARE)/taskschedd/interfaces
	install -m 0644 $(PAPERS) systemd/taskschedd.toml $(DOC)
	install -m 0644 systemd/examples/*.toml Examples/*.py $(DOC)/examples
	install -m 0644 Examples/scenarios/*.scenario $(DOC)/examples/scenarios
	install -d $(addprefix $(DESTDIR)$(SYSCONFDIR)/taskschedd/,taskschedd.toml.d applications)
	@[ -n "$(DESTDIR)" ] || scripts/after-install

.PHONY: uninstall
uninstall: ## Remove what install wrote; what is in /etc stays
	rm -f $(BIN)/taskschedd $(BIN)/taskctl $(LIB)/sysusers.d/taskschedd.conf \
	  $(LIB)/tmpfiles.d/taskschedd.conf $(LIB)/systemd/catalog/taskschedd.catalog \
	  $(foreach kind,$(UNITS),$(LIB)/systemd/$(kind)/taskschedd.service \
	    $(LIB)/systemd/$(kind)/taskschedd.socket \
	    $(LIB)/systemd/$(kind)/taskschedd-release.service) \
	  $(foreach program,taskctl taskschedd,$(SHARE)/bash-completion/completions/$(program) \
	    $(SHARE)/$(ZSH)/_$(program) $(SHARE)/fish/vendor_completions.d/$(program).fish) \
	  $(SHARE)/man/man1/taskschedd*.1 \
	  $(SHARE)/man/man1/taskctl*.1
	rm -rf $(DOC) $(SHARE)/taskschedd/interfaces
	rmdir --ignore-fail-on-non-empty $(SHARE)/taskschedd/applications $(SHARE)/taskschedd
	@[ -n "$(DESTDIR)" ] || scripts/after-install

.PHONY: clean
clean: ## Remove what was built
	rm -rf .build $(VENV) Benchmarks/__pycache__ Package.resolved
