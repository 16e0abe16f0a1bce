# taskschedd: build, demonstrate, test, measure, install. `make help` lists the targets.
#
# On a fresh Debian with Swift, `make demo` and `make test` install the packages that they need.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:

SWIFT ?= swift
DESTDIR ?=
PREFIX ?= /usr
VENV := .venv
# A build fails if a target imports a module that its declaration in Package.swift does not name.
BUILD := $(SWIFT) build --explicit-target-dependency-import-check error
# Debug builds compile each module as a whole, which takes half the time on a fresh clone, and read
# its declarations once: the compiler would otherwise write the module's interface in a process of
# its own. To compile only changed files after the first build, set INCREMENTAL=1 for each call of
# make in a clone: a build with other flags compiles everything again.
INCREMENTAL ?=
WHOLE := $(if $(INCREMENTAL),,-Xswiftc -whole-module-optimization -Xswiftc -disable-batch-mode \
  -Xswiftc -no-emit-module-separately-wmo -Xswiftc -num-threads -Xswiftc 2)
DEBUG := $(BUILD) $(WHOLE)
# These flags make the programs small. Swift links Foundation, with 35 MB of ICU data, because a
# package imports it. The flags omit the libraries of Foundation, so a call that needs Foundation is
# an error of the linker. Nothing calls into the programs, so they export no symbols. lld packs
# relocations, which glibc reads from version 2.36 on. Each function has a section of its own: the
# linker leaves out unused functions, and merges functions with the same code. All but the targets
# with `strictHot` are compiled for size.
FOUNDATION := Foundation CoreFoundation FoundationInternationalization _FoundationICU
SMALL := -Xswiftc -Osize -Xcxx -Os -Xswiftc -Xfrontend -Xswiftc -function-sections \
  -Xswiftc -use-ld=lld -Xlinker --icf=all -Xlinker --no-export-dynamic -Xlinker -z \
  -Xlinker pack-relative-relocs $(foreach library,$(FOUNDATION),-Xswiftc -Xfrontend \
  -Xswiftc -disable-autolink-library -Xswiftc -Xfrontend -Xswiftc $(library))
# Debug builds, which the tests use, check at run time that accesses to a variable do not overlap.
# The installed programs omit the checks, which are 8 % of the instructions of a call.
UNCHECKED := -Xswiftc -enforce-exclusivity=unchecked
# The installed programs must run without Swift. All release builds use the same flags, because
# a build with other flags compiles everything again.
RELEASE := $(BUILD) -c release --static-swift-stdlib $(SMALL) $(UNCHECKED)
# taskctl and the session agent call no C++ that throws, so they need no tables for unwinding the
# stack, which take 2 to 3 MB. Debuggers follow the frame pointers, which Swift keeps.
RELEASE_WITHOUT_TABLES = $(RELEASE) -Xlinker --no-eh-frame-hdr -Xlinker -T \
  -Xlinker $(CURDIR)/scripts/discard-unwind-tables.ld
RELEASE_TASKCTL = $(RELEASE_WITHOUT_TABLES) --product taskctl
RELEASE_SESSION = $(RELEASE_WITHOUT_TABLES) --product taskschedd-session
# The maximum size of each installed program, in MB.
SIZES := taskschedd=20 taskschedd-session=14 taskctl=18

# Debian's packages: to build, and to test and measure.
BUILD_PACKAGES := libsystemd-dev libsqlite3-dev libxcb1-dev libxcb-res0-dev \
  libpulse-dev
DESKTOP_PACKAGES := dunst xvfb dbus-daemon dbus-bin libglib2.0-bin
# Compositors and window managers that run without a screen, and clients of them.
FOCUS_PACKAGES := sway xwayland foot i3-wm openbox x11-utils
AUDIO_PACKAGES := pulseaudio pulseaudio-utils pipewire pipewire-bin pipewire-pulse wireplumber \
  playerctl
# A real player. Its plug-in makes it a media player on the session bus.
MPV_PACKAGES := mpv mpv-mpris
LOCATION_PACKAGES := gpsd geoclue-2.0
TEST_PACKAGES := systemd libpam-systemd dbus python3 python3-venv procps tzdata iproute2 \
  python3-dbusmock mandoc modemmanager $(DESKTOP_PACKAGES) $(FOCUS_PACKAGES) \
  $(AUDIO_PACKAGES) $(LOCATION_PACKAGES)
BENCH_PACKAGES := gcc libc6-dev libsystemd-dev dbus python3

.PHONY: help
help: ## Show the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

.PHONY: setup
setup: ## Install missing build dependencies
	@scripts/install-packages $(BUILD_PACKAGES)

.PHONY: test-setup
test-setup: setup $(VENV)/ready
$(VENV)/ready: scripts/requirements.txt
	@scripts/install-packages $(TEST_PACKAGES)
	python3 -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check -r scripts/requirements.txt
	touch $@

.PHONY: build
build: setup ## Build for debugging (INCREMENTAL=1)
	$(DEBUG)

.PHONY: interfaces
interfaces: setup ## Write the Swift types of the .varlink files
	$(DEBUG) --product generate-interfaces
	.build/debug/generate-interfaces .

.PHONY: release
release: setup ## Build the installed programs
	$(RELEASE) --product taskschedd
	$(RELEASE_SESSION)
	$(RELEASE_TASKCTL)
	@scripts/check-programs .build/release $(SIZES)

.PHONY: demo
demo: build ## Show the main features: background time, expiration, suspension, resume, kill
	@scripts/demo

.PHONY: demo-voip
demo-voip: build ## Show a suspended telephone application that receives calls, stays connected and is relaunched
	@scripts/install-packages $(DESKTOP_PACKAGES)
	@scripts/demo-voip

.PHONY: demo-desktop
demo-desktop: build ## Show a desktop whose focus decides which programs run
	@scripts/install-packages $(DESKTOP_PACKAGES) $(FOCUS_PACKAGES)
	@scripts/demo-desktop

# The audio server of demo-audio, bench-audio and bench-tracks.
SERVER ?= pulseaudio
.PHONY: demo-audio
demo-audio: build ## Show background players, media commands and a phone call (SERVER=pulseaudio or pipewire)
	@scripts/install-packages $(AUDIO_PACKAGES) $(MPV_PACKAGES) procps dbus-daemon modemmanager \
	  libglib2.0-bin
	@scripts/demo-audio $(SERVER)

.PHONY: demo-location
demo-location: build ## Show a navigator in the background and an application that is launched at a place
	@scripts/install-packages gpsd systemd python3
	@scripts/demo-location

# Runs one process for each CPU. A seed takes about 0.2 s of CPU time.
SEEDS ?= 10000
FIRST ?= 1
.PHONY: simulate
simulate: setup ## Simulate the scheduler (SEEDS=10000 FIRST=1) and check that canaries are caught
	$(RELEASE_TASKCTL)
	.build/release/taskctl simulate --seeds 100 --first $(FIRST) --canary all
	.build/release/taskctl simulate --seeds $(SEEDS) --first $(FIRST)

# The manual pages of programs and files are written by hand, in man/. The pages of the Varlink
# interfaces come from the comments of the interface files.
MANUALS := .build/manuals
INTERFACES := $(wildcard Sources/TaskSchedulerWire/Interfaces/org.taskschedd.*.varlink)
.PHONY: manuals
manuals: ## Write all manual pages to .build/manuals
	rm -rf $(MANUALS)
	install -d $(MANUALS)
	install -m 0644 man/*.[1-8] $(MANUALS)
	for interface in $(INTERFACES); do \
	  awk -f scripts/interface-manual $$interface > \
	    $(MANUALS)/$$(basename $$interface .varlink).5; \
	done

DOCUMENTATION := .build/documentation
.PHONY: documentation
documentation: setup ## Write the reference of the client library, without warnings
	# Uses a separate directory: the flags of DocC's plugin would make the next build compile
	# everything.
	$(SWIFT) package --scratch-path .build/documentation-build \
	  --allow-writing-to-directory $(DOCUMENTATION) generate-documentation \
	  --target TaskSchedulerClient --output-path $(DOCUMENTATION) --warnings-as-errors

.PHONY: test
test: test-setup ## Run all tests, and build the documentation (INCREMENTAL=1)
	@$(MAKE) --no-print-directory --jobs=2 build-tests documentation
	@scripts/run-tests "$$($(BUILD) --show-bin-path)"

# Leaves a CPU idle while it compiles a large module, which the documentation uses meanwhile.
.PHONY: build-tests
build-tests: setup
	$(DEBUG) --build-tests

KILLS ?= 1000
CLIENTS ?= 200
SEED ?=
CHAOS_OPTIONS = --kills $(KILLS) --clients $(CLIENTS) $(if $(SEED),--seed $(SEED)) \
  $(if $(LOG),--log $(LOG))
.PHONY: chaos
chaos: test-setup ## Kill the daemon repeatedly under load (KILLS=1000, CLIENTS=200, SEED=, LOG=)
	$(RELEASE) --product taskschedd
	$(RELEASE_TASKCTL)
	$(RELEASE) --product chaos
	@.build/release/chaos $(CHAOS_OPTIONS)

.PHONY: chaos-desktop
chaos-desktop: KILLS = 100
chaos-desktop: test-setup ## Kill the agent, the daemon, PulseAudio and sway in turn (KILLS=100, SEED=, LOG=)
	$(RELEASE) --product taskschedd
	$(RELEASE_SESSION)
	$(RELEASE_TASKCTL)
	$(RELEASE) --product chaos
	@.build/release/chaos desktop --kills $(KILLS) $(if $(SEED),--seed $(SEED)) $(if $(LOG),--log $(LOG))

PREVIOUS := .build/previous
.PHONY: upgrade
upgrade: test-setup ## Like chaos, starting with the daemon of another commit (FROM=)
	@git rev-parse --quiet --verify "$(FROM)^{commit}" >/dev/null || \
	  { echo "make upgrade: FROM='$(FROM)' is no commit; set FROM= to the earlier commit" >&2; exit 2; }
	$(RELEASE) --product taskschedd
	$(RELEASE_TASKCTL)
	$(RELEASE) --product chaos
	mkdir -p $(PREVIOUS)
	git -C $(CURDIR) archive "$(FROM)" | tar -x -C $(PREVIOUS) --recursive-unlink
	# Builds without the flags of this commit, because an earlier commit may need Foundation.
	$(BUILD) -c release --static-swift-stdlib --package-path $(PREVIOUS) --product taskschedd
	@.build/release/chaos $(CHAOS_OPTIONS) --previous $(PREVIOUS)

# libFuzzer with the address sanitizer. C and C++ code also has the sanitizer of undefined behavior.
# Swift has traps of its own for undefined behavior, and its compiler takes only one list of
# sanitizers.
FUZZER := .build/fuzz/build/debug/fuzz
UNDEFINED := -fsanitize=undefined -fno-sanitize=vptr,function -fno-sanitize-recover=undefined \
  -fsanitize-ignorelist=$(CURDIR)/Fuzz/ignore.txt
FUZZ_BUILD = FUZZ=1 $(DEBUG) --product fuzz \
  --sanitize=address --sanitize=fuzzer -Xswiftc -sanitize=fuzzer,address -Xswiftc -use-ld=lld \
  $(foreach flag,-O1 $(UNDEFINED),-Xcxx $(flag)) $(foreach flag,$(UNDEFINED),-Xcc $(flag))
FUZZ_QUICK := --scratch-path .build/fuzz/build -Xswiftc -O -Xswiftc -assert-config -Xswiftc Debug
MINUTES ?= 60
JOBS ?= $(shell nproc)

.PHONY: fuzz
fuzz: test-setup ## Search for inputs that violate a property (MINUTES=60, TARGET=name, JOBS=cores)
	Fuzz/probe fuzzer,address
	$(FUZZ_BUILD) $(FUZZ_QUICK)
	@python3 Fuzz/run.py $(FUZZER) --minutes $(MINUTES) --jobs $(JOBS) \
	  $(foreach target,$(TARGET),--target $(target))

# Runs each target for a few seconds with the stored inputs. This build is not optimized, because
# the build takes longer than the runs.
FUZZ_SMOKE := .build/fuzz/smoke
.PHONY: fuzz-smoke
fuzz-smoke: test-setup ## Build the fuzzer, and run each target for 3 s, as CI does after the tests
	@if reason=$$(Fuzz/probe fuzzer,address 2>&1); then \
	  $(FUZZ_BUILD) --scratch-path $(FUZZ_SMOKE) && \
	  python3 Fuzz/run.py $(FUZZ_SMOKE)/debug/fuzz --seconds 3 --jobs $(JOBS); \
	else \
	  echo "SKIPPED: a run of the fuzzer: $$reason"; \
	fi

.PHONY: tsan
tsan: setup ## Run the client library's tests under the thread sanitizer
	@scripts/tsan

BENCH_PROGRAMS := $(addprefix .build/benchmarks/,round-trip echo-server dbus-service flood herd stop-time socket-wake)
BENCH_LIBRARIES := -lsystemd
BENCH_FLAGS := $(if $(QUICK),--quick) $(if $(JSON),--json)

.PHONY: bench
bench: bench-setup $(BENCH_PROGRAMS) ## Measure and compare with the targets (QUICK=1, JSON=1)
	@$(RELEASE) --product taskschedd >&2
	@python3 Benchmarks/bench.py $(BENCH_FLAGS) --programs .build/benchmarks \
	  --daemon "$$($(BUILD) -c release --show-bin-path)/taskschedd"

.PHONY: bench-setup
bench-setup: setup
	@scripts/install-packages $(BENCH_PACKAGES) >&2

.build/benchmarks/%: Benchmarks/%.c Benchmarks/wire.c Benchmarks/wire.h | bench-setup
	@mkdir -p $(@D)
	$(CC) -std=gnu17 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -o $@ $< Benchmarks/wire.c \
	  $(BENCH_LIBRARIES) >&2
.build/benchmarks/playback: BENCH_LIBRARIES := -lpulse

# Runs in a small virtual machine. Unpacks its kernel and Debian's earlyoom, because an installation
# would change the boot loader and start a service.
RUNS ?= 20
GROWS ?= eater
SMALL_MACHINE := .build/small-machine
.PHONY: bench-memory
bench-memory: bench-setup ## Compare memory terminations with earlyoom (RUNS=20, GROWS=eater or foreground, JSON=1)
	@scripts/install-packages qemu-system-x86 e2fsprogs >&2
	@$(RELEASE) --product taskschedd >&2
	@[ -x $(SMALL_MACHINE)/usr/bin/earlyoom ] || scripts/unpack-packages $(SMALL_MACHINE) \
	  linux-image-cloud-amd64 busybox-static earlyoom >&2
	@python3 Benchmarks/bench_memory.py --runs $(RUNS) --grows $(GROWS) $(if $(JSON),--json) \
	  --daemon "$$($(BUILD) -c release --show-bin-path)/taskschedd" --unpacked $(SMALL_MACHINE)

# Takes about three minutes after the build.
.PHONY: bench-foreground
bench-foreground: bench-setup .build/benchmarks/lateness ## Measure foreground latency beside busy background processes
	@$(RELEASE) --product taskschedd >&2
	@python3 Benchmarks/foreground.py --programs .build/benchmarks \
	  --daemon "$$($(BUILD) -c release --show-bin-path)/taskschedd"

# Takes about two minutes after the build.
.PHONY: bench-focus
bench-focus: bench-setup .build/benchmarks/focus-wake ## Measure the time from a change of the focus until the application runs (QUICK=1)
	@scripts/install-packages $(FOCUS_PACKAGES) >&2
	@$(RELEASE) --product taskschedd >&2
	@$(RELEASE_SESSION) >&2
	@python3 Benchmarks/focus.py $(if $(QUICK),--quick) --programs .build/benchmarks \
	  --daemon "$$($(BUILD) -c release --show-bin-path)/taskschedd" \
	  --agent "$$($(BUILD) -c release --show-bin-path)/taskschedd-session"

# Takes about 20 minutes after the build.
AUDIO_PROGRAMS := $(addprefix .build/benchmarks/,playback media-command lateness)
.PHONY: bench-audio
bench-audio: bench-setup $(AUDIO_PROGRAMS) ## Measure background players and media commands (SERVER=pulseaudio or pipewire, QUICK=1, JSON=1)
	@scripts/install-packages $(AUDIO_PACKAGES) $(MPV_PACKAGES) >&2
	@$(RELEASE) --product taskschedd >&2
	@$(RELEASE_SESSION) >&2
	@python3 Benchmarks/audio.py $(BENCH_FLAGS) --server $(SERVER) --programs .build/benchmarks \
	  --daemon "$$($(BUILD) -c release --show-bin-path)/taskschedd" \
	  --agent "$$($(BUILD) -c release --show-bin-path)/taskschedd-session"

.PHONY: bench-tracks
bench-tracks: bench-setup ## Let a background player begin a stream each second (MINUTES=60, SERVER=)
	@scripts/install-packages $(AUDIO_PACKAGES) >&2
	@$(RELEASE) --product taskschedd >&2
	@$(RELEASE_SESSION) >&2
	@python3 Benchmarks/tracks.py --server $(SERVER) --minutes $(MINUTES) \
	  --daemon "$$($(BUILD) -c release --show-bin-path)/taskschedd" \
	  --agent "$$($(BUILD) -c release --show-bin-path)/taskschedd-session"

# Runs in virtual time, for half a minute after the build. PICTURE= names a file for the picture.
HOURS ?= 48
PICTURE ?=
.PHONY: wakeups
wakeups: setup ## Compare keep-alive wake-ups with lower bounds and systemd (HOURS=48, JSON=1)
	@$(RELEASE) --product wakeups >&2
	@.build/release/wakeups --hours $(HOURS) $(if $(JSON),--json) \
	  $(if $(PICTURE),--picture $(PICTURE))

# Runs in virtual time, for about a minute after the build.
.PHONY: bench-location
bench-location: setup ## Compare with other schemes how long a receiver runs for regions (JSON=1)
	@$(RELEASE) --product location-week >&2
	@.build/release/location-week $(if $(JSON),--json)

# The files that `make install` writes below DESTDIR. With BUILT=.build/debug, it installs the
# programs of the last `make build` instead of a release.
BUILT ?=
BINARIES = $(or $(BUILT),.build/release)
SYSCONFDIR ?= /etc
BIN = $(DESTDIR)$(PREFIX)/bin
LIB = $(DESTDIR)$(PREFIX)/lib
SHARE = $(DESTDIR)$(PREFIX)/share
DOC = $(SHARE)/doc/taskschedd
PROGRAMS = taskctl taskschedd taskschedd-session
UNITS = taskschedd.service taskschedd.socket taskschedd-release.service
SYSTEM_UNITS = $(UNITS) taskschedd-network.socket taskschedd-gpsd.socket taskschedd-gpsd.service
USER_UNITS = $(UNITS) taskschedd-session.service taskschedd-session-restart.service
SECTIONS = 1 5 8
# Debian's zsh searches this directory. On other systems, set ZSH=zsh/site-functions.
ZSH ?= zsh/vendor-completions
# The documents are installed in directories in which the links between them work.
PAPERS = $(wildcard LICENSE) README.md ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md \
  $(wildcard docs/*.md docs/decisions/*.md) Benchmarks/README.md Benchmarks/wakeups/wakeups.svg
# Units and manual pages contain the paths of files below PREFIX.
PLACE = sed -e 's|/usr/bin/task|$(PREFIX)/bin/task|' \
  -e 's|/usr/share/doc/taskschedd|$(PREFIX)/share/doc/taskschedd|' \
  -e 's|/usr/share/taskschedd/interfaces|$(PREFIX)/share/taskschedd/interfaces|'

# The programs contain all defaults, so the settings file is only an example in the documentation.
# Only the administrator writes files in SYSCONFDIR.
.PHONY: install
install: $(if $(BUILT),,release) manuals ## Install to DESTDIR (default: /) with PREFIX (default: /usr)
	install -d $(BIN) $(LIB)/systemd/system $(LIB)/systemd/user $(LIB)/systemd/catalog \
	  $(LIB)/sysusers.d $(LIB)/tmpfiles.d $(DOC)/examples $(SHARE)/$(ZSH) \
	  $(SHARE)/bash-completion/completions $(SHARE)/fish/vendor_completions.d \
	  $(SHARE)/taskschedd/applications $(SHARE)/taskschedd/interfaces $(DOC)/examples/scenarios \
	  $(DOC)/examples/tracks
	install -m 0755 $(if $(BUILT),,-s) $(addprefix $(BINARIES)/,$(PROGRAMS)) $(BIN)
	for unit in $(SYSTEM_UNITS); do \
	  $(PLACE) systemd/$$unit > $(LIB)/systemd/system/$$unit; \
	done
	for unit in $(USER_UNITS); do \
	  $(PLACE) systemd/user/$$unit > $(LIB)/systemd/user/$$unit; \
	done
	$(PLACE) systemd/catalog/taskschedd.catalog > $(LIB)/systemd/catalog/taskschedd.catalog
	install -m 0644 systemd/sysusers.d/taskschedd.conf $(LIB)/sysusers.d
	install -m 0644 systemd/tmpfiles.d/taskschedd.conf $(LIB)/tmpfiles.d
	for program in $(PROGRAMS); do \
	  $(BIN)/$$program --generate-completion-script bash > \
	    $(SHARE)/bash-completion/completions/$$program; \
	  $(BIN)/$$program --generate-completion-script zsh > $(SHARE)/$(ZSH)/_$$program; \
	  $(BIN)/$$program --generate-completion-script fish > \
	    $(SHARE)/fish/vendor_completions.d/$$program.fish; \
	done
	for section in $(SECTIONS); do \
	  install -d $(SHARE)/man/man$$section; \
	  for page in $(MANUALS)/*.$$section; do \
	    $(PLACE) $$page > $(SHARE)/man/man$$section/$${page##*/}; \
	  done; \
	done
	install -m 0644 $(INTERFACES) $(SHARE)/taskschedd/interfaces
	for paper in $(PAPERS); do install -D -m 0644 $$paper $(DOC)/$$paper; done
	install -m 0644 systemd/taskschedd.toml $(DOC)
	install -m 0644 systemd/examples/*.toml Examples/*.py $(DOC)/examples
	install -m 0644 Examples/scenarios/*.scenario $(DOC)/examples/scenarios
	install -m 0644 Examples/tracks/*.gpx $(DOC)/examples/tracks
	install -d $(addprefix $(DESTDIR)$(SYSCONFDIR)/taskschedd/,taskschedd.toml.d applications)
	@[ -n "$(DESTDIR)" ] || scripts/after-install install

.PHONY: uninstall
uninstall: ## Remove installed files except those in /etc
	@[ -n "$(DESTDIR)" ] || scripts/before-uninstall
	rm -f $(addprefix $(BIN)/,$(PROGRAMS)) $(LIB)/sysusers.d/taskschedd.conf \
	  $(LIB)/tmpfiles.d/taskschedd.conf $(LIB)/systemd/catalog/taskschedd.catalog \
	  $(addprefix $(LIB)/systemd/system/,$(SYSTEM_UNITS)) \
	  $(addprefix $(LIB)/systemd/user/,$(USER_UNITS)) \
	  $(foreach program,$(PROGRAMS),$(SHARE)/bash-completion/completions/$(program) \
	    $(SHARE)/$(ZSH)/_$(program) $(SHARE)/fish/vendor_completions.d/$(program).fish) \
	  $(foreach section,$(SECTIONS),$(addprefix $(SHARE)/man/man$(section)/, \
	    taskctl*.$(section) taskschedd*.$(section) org.taskschedd.*.$(section)))
	rm -rf $(DOC) $(SHARE)/taskschedd/interfaces
	rmdir --ignore-fail-on-non-empty $(SHARE)/taskschedd/applications $(SHARE)/taskschedd
	@[ -n "$(DESTDIR)" ] || scripts/after-install uninstall

.PHONY: clean
clean: ## Remove build results
	rm -rf .build $(VENV) Benchmarks/__pycache__ Package.resolved
