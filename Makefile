# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The commands of Medley; each installs what it needs and the machine lacks.
#
#   make              build the release preset
#   make demo         the main job, end to end: a photograph (PHOTO=FILE, PNG or JPEG) through three
#                     processes and an OpenMP team; what it writes is in build/release/demo
#   make test         all tests: units, conformance, models, bare machines, 1,000 random kills,
#                     200 simulated seeds per structure
#   make bench        all benchmarks beside their peers, and what programs for Cortex-M take of code
#                     and RAM, as a page with pictures, build/bench/report.html, and as Markdown,
#                     report.md; under 20 minutes. make bench-short: the same, provisional and
#                     without Cortex-M, under 2 minutes
#   make matrix       MCAPI's matrix: kinds, locked and lock-free, cores, threads and processes, as
#                     tables and pictures in build/release/matrix; beside what the model predicts
#   make soak         sanitizers over everything, all tests with clang, fuzzers for a minute each,
#                     10 million transactions through each shipped topology, 100,000 random
#                     kills, 10,000 simulated seeds per structure, a kill after every instruction
#                     of every operation; an hour or more
#   make suites       gcc's own test suite of OpenMP on gcc's library and on ours, as a table and in
#                     build/suites/results.json; 5 minutes, later runs 2
#   make docs         the reference of all functions, and the documents, as pages:
#                     build/docs/html/index.html
#   make test-cross   the unit tests for other processors, under qemu-user
#   make check        formatter, linter, sanitizers, fuzzers for a minute each
#   make install      into PREFIX (default /usr/local), DESTDIR honoured; under sudo it builds
#                     nothing: make && sudo make install
#   make uninstall    removes what make install laid into PREFIX, whatever version
#   make deb          Debian packages, in build/deb/packages
#   make clean        removes build/, with all that was built and measured
#   make help         this
PREFIX ?= /usr/local
CMAKE_BUILD = cmake --build
JOBS := $(shell nproc)

.PHONY: all demo test bench bench-short matrix soak suites docs test-cross check install uninstall deb help \
    clean setup-%

all: build/release/stamp

setup-%:
	@scripts/setup.sh $*

.PHONY: build/release/stamp
build/release/stamp: setup-build
	@rm -f $@
	@cmake --preset release -DMEDLEY_TESTS=OFF -DCMAKE_INSTALL_PREFIX=$(PREFIX) >/dev/null
	@$(CMAKE_BUILD) build/release
	@touch $@

# By the environment: a name may have any letter.
demo: export DEMO_PHOTO = $(value PHOTO)
demo: setup-demo build/release/stamp
	@scripts/demo.sh build/release $${DEMO_PHOTO:+"$$DEMO_PHOTO"}

test: setup-test
	cmake --preset dev
	$(CMAKE_BUILD) build/dev
	@scripts/test.sh build/dev -j $(JOBS)

bench bench-short: setup-bench
	@cmake --preset bench >/dev/null
	@$(CMAKE_BUILD) build/bench
	@scripts/bench.sh $(if $(filter bench-short,$@),--short) build/bench

matrix: setup-matrix build/release/stamp
	@scripts/matrix.py build/release/tools/medley/medley build/release/matrix
	@build/release/tools/medley/medley model --matrix build/release/matrix/matrix.json \
	    --folder build/release/matrix

soak: setup-check
	scripts/soak.sh

suites: setup-suites build/release/stamp
	@scripts/suites.py build/release/openmp

docs: setup-docs
	@scripts/docs.sh build/docs
	@echo build/docs/html/index.html

test-cross: setup-cross
	scripts/test-cross.sh

check: setup-check
	scripts/check.sh

# Who asked sudo for root, unless that was root. What root makes in that user's tree would be in the
# way of the user's next make: it builds nothing there, and gives back what it wrote.
USER_OF_SUDO := $(if $(filter 0,$(shell id -u)),$(filter-out 0,$(SUDO_UID)))

install: $(if $(USER_OF_SUDO),,build/release/stamp)
	@if [ ! -f build/release/stamp ]; then \
	    echo "make install: nothing whole is built here, and under sudo nothing will be;" \
	         "run make first, without sudo" >&2; exit 1; fi
	@DESTDIR="$(DESTDIR)" scripts/install.sh build/release "$(PREFIX)"
	@$(if $(USER_OF_SUDO),chown -h $(SUDO_UID):$(SUDO_GID) build/release/install_manifest.txt)

uninstall:
	@DESTDIR="$(DESTDIR)" scripts/install.sh --remove "$(PREFIX)"

deb: setup-deb
	@cmake --preset deb >/dev/null
	@$(CMAKE_BUILD) build/deb
	@rm -rf build/deb/packages
	@umask 022 && $(CMAKE_BUILD) build/deb --target package >build/deb/package.log 2>&1 || \
	    { cat build/deb/package.log >&2; exit 1; }
	@ls build/deb/packages/*.deb

help:
	@sed -n '2,/^[^#]/ s/^# \{0,1\}//p' Makefile

clean:
	rm -rf build
