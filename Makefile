# Makefile - build, test, demonstrate, install
#
#   make            build/dlspool
#   make demo       set up what is missing, then run one real training job from drop to done
#   make quick      the tests that say most in three minutes; sets nothing up, and tells what is missing
#   make check      set up what is missing, then run every test
#   make check-long the same and more, before a release: HOURS=1 of fuzzing and of jobs under way
#   make unit       only the unit tests          make tap       only the scripts under tests/t
#   make asan       the unit tests under AddressSanitizer and UndefinedBehaviorSanitizer
#   make crash      every kill, every error, every power cut (some minutes); CRASH="kills power" some
#   make fuzz-corpus  every fuzz target over its corpus, under the same sanitizers
#   make fuzz       fuzz each target for SECONDS=60 with libFuzzer (clang, libclang-rt-14-dev)
#   make mutants    break the code by each of tests/mutants/*.patch, or MUTANTS="name name", and see it caught
#   make bench      measure; prints, asserts nothing.  AGAINST=COMMIT: beside another build, which is built aside, in
#                   turns; BENCH="--journal --past 1000000" and other options of tests/bench/bench
#   make pictures   of each page of dlspool web, light, dark and on a phone, into build/pictures
#   make tables     simulate the traces in DLSPOOL_TRACES; writes the tables of docs/deadlines.md
#   make install    PREFIX=/usr/local DESTDIR= UNITDIR=PREFIX/lib/systemd/system
#   make uninstall  with the same
#   make format     lay all files out          make tags       for editors, with ctags
#   make dist       what is in git, as a tar   make help       this

BUILD   ?= build
PREFIX  ?= /usr/local
VERSION := $(shell cat VERSION)

ROOMS := base job spool archive watcher \
	request request/openpai request/dlworkspace request/sbatch request/dialects renderer/jsone renderer \
	executors executors/http executors/local executors/kubernetes executors/slurm executors/registry \
	planner client web \
	stages stages/shared stages/prepare stages/intake stages/planning stages/submit stages/track stages/resubmit stages/metrics stages/prune stages/preview stages/notify stages/service \
	simulation commands
PACKAGES := yaml-0.1 libgit2 libcurl jansson libseccomp libcrypto
# Of these only headers are needed: base/shared_library.h opens the libraries at need.
OPENED_PACKAGES := libarchive libmicrohttpd

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wold-style-definition -Wpointer-arith -Wcast-qual -Wwrite-strings -Wvla -Wundef \
	-Wformat=2 -Wimplicit-fallthrough -Wnull-dereference -Wdouble-promotion -Werror

CFLAGS   ?= -O2 -g
HARDEN   ?= -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fPIE
HARDEN_LD ?= -pie -Wl,-z,relro,-z,now
CPPFLAGS += -D_GNU_SOURCE -I. -DDLSPOOL_VERSION='"$(VERSION)"' -DDLSPOOL_PREFIX='"$(PREFIX)"'
# NEED(build) or NEED(check): make ends with one sentence where something is missing.
NEED = $(eval MISSING := $(shell CC='$(firstword $(CC))' tools/needs $(1) $(PACKAGES) $(OPENED_PACKAGES)))$(if $(MISSING),$(error $(MISSING)))
# pkg-config is asked once, and not before something is compiled: set-up may still have to install it.
PACKAGE_CFLAGS = $(call NEED,build)$(eval PACKAGE_CFLAGS := $(shell pkg-config --cflags $(PACKAGES) $(OPENED_PACKAGES)))$(PACKAGE_CFLAGS)
PACKAGE_LIBS = $(eval PACKAGE_LIBS := $(shell pkg-config --libs $(PACKAGES)))$(PACKAGE_LIBS)
ALL_CFLAGS = -std=c17 $(WARNINGS) $(HARDEN) $(CFLAGS) $(PACKAGE_CFLAGS)
ALL_LIBS   = $(HARDEN_LD) $(LDFLAGS) $(PACKAGE_LIBS) -lm

SOURCES := $(foreach room,$(ROOMS),$(wildcard $(room)/*.c))
OBJECTS := $(SOURCES:%.c=$(BUILD)/%.o) $(BUILD)/embedded.o $(BUILD)/schema_table.o $(BUILD)/host_script.o $(BUILD)/web_style.o $(BUILD)/web_script.o $(BUILD)/web_openapi.o

# What `dlspool init` puts into a new spool travels inside the program.
TEMPLATES := $(shell find templates -type f | LC_ALL=C sort)
EMBEDDED  := $(TEMPLATES) images.txt etc/dlspool.yaml etc/hooks/pre-receive
EMBED_AS  := $(foreach t,$(TEMPLATES),templates.git/$(t:templates/%=%)=$(t)) \
	templates.git/images.txt=images.txt dlspool.yaml=etc/dlspool.yaml \
	hooks/pre-receive=etc/hooks/pre-receive
LIBRARY_OBJECTS := $(filter-out $(BUILD)/commands/main.o,$(OBJECTS))
UNIT_SOURCES := $(wildcard tests/unit/*_test.c)
UNIT_TESTS := $(UNIT_SOURCES:tests/unit/%.c=$(BUILD)/tests/%)
# These take longest, and `quick` leaves them out.
LONG_TESTS := $(foreach t,local_once watcher_arrivals local_submit structure check libraries slurm_script slurm_failure slurm_executor \
	slurm_look submit_fates kubernetes_submit kubernetes_track local_run kubernetes_once local_turns,$(BUILD)/tests/$(t)_test)
# In `check` these run without the sanitizers: the first start processes all the time, and one with the sanitizers
# takes up to a tenth of a second to copy; the last two count bytes; the others compute for long.  `check-long` runs
# them with.
PLAIN_TESTS := $(foreach t,local_turns local_once local_submit check libraries slurm_script submit_fates policies fairness shares \
	kubernetes_templates structure held memory,$(BUILD)/tests/$(t)_test)

all:
	$(call NEED,build)
	+@$(PARALLEL) $(BUILD)/dlspool

# Suites build what they need with a make of their own, which uses every processor unless -j was given: two of
# them at once would write the same files.
PROCESSORS := $(shell nproc)
JOBS = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j $(PROCESSORS))
PARALLEL = $(MAKE) --no-print-directory $(JOBS)
ifneq ($(filter-out $(BUILD)/% %-tests %-targets,$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif

$(BUILD)/dlspool: $(OBJECTS)
	@echo '  LD  $@'; $(CC) -o $@ $(OBJECTS) $(ALL_LIBS)

# One process for a file, as starting one takes a tenth of what compiling takes: no shell, and directories are
# made before.
define COMPILE
	@$(info $()  CC  $<)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<
endef

.SECONDEXPANSION:
$(BUILD)/%/:
	@mkdir -p $@

$(BUILD)/%.o: %.c VERSION Makefile | $$(@D)/
	$(COMPILE)

$(BUILD)/embedded.c: $(EMBEDDED) tools/embed Makefile
	@mkdir -p $(@D)
	@tools/embed $(EMBED_AS) > $@.new && mv $@.new $@

$(BUILD)/schema_table.c: executors/kubernetes/schema.txt tools/embed
	@mkdir -p $(@D)
	@tools/embed --bytes kubernetes_schema $< > $@.new && mv $@.new $@

# What dlspool run asks this machine's Python.
$(BUILD)/host_script.c: etc/host-libraries.py tools/embed
	@mkdir -p $(@D)
	@tools/embed --bytes host_script $< > $@.new && mv $@.new $@

$(BUILD)/web_style.c: web/style.css tools/embed
	@mkdir -p $(@D)
	@tools/embed --bytes web_style $< > $@.new && mv $@.new $@

$(BUILD)/web_script.c: web/page.js tools/embed
	@mkdir -p $(@D)
	@tools/embed --bytes web_script $< > $@.new && mv $@.new $@

$(BUILD)/web_openapi.c: web/openapi.yaml tools/embed
	@mkdir -p $(@D)
	@tools/embed --bytes web_openapi $< > $@.new && mv $@.new $@

$(BUILD)/embedded.o $(BUILD)/schema_table.o $(BUILD)/host_script.o $(BUILD)/web_style.o $(BUILD)/web_script.o $(BUILD)/web_openapi.o: $(BUILD)/%.o: $(BUILD)/%.c
	@echo '  CC  $<'; $(CC) $(CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<

# The library as one archive, so that a unit test links what it uses.
$(BUILD)/libdlspool.a: $(LIBRARY_OBJECTS)
	@rm -f $@
	@ar qcs $@ $(LIBRARY_OBJECTS)

# What is compiled and linked for tests alone is to be ready soon: not optimized, and by the quicker linker where
# it is there.
GOLD := $(shell command -v ld.gold >/dev/null && echo -fuse-ld=gold)
UNIT_OBJECTS := $(UNIT_SOURCES:%.c=$(BUILD)/%.o)
$(UNIT_OBJECTS): override CFLAGS += -O0 -U_FORTIFY_SOURCE -Wno-format-truncation

$(UNIT_TESTS): $(BUILD)/tests/%: $(BUILD)/tests/unit/%.o $(BUILD)/libdlspool.a
	@mkdir -p $(@D)
	@echo '  LD  $@'; $(CC) $(GOLD) -o $@ $< $(BUILD)/libdlspool.a -lcmocka $(ALL_LIBS)

unit-tests: $(UNIT_TESTS)

# One program that drives the stages with a table of system calls of its own.
CRASH_SOURCES := $(wildcard tests/crash/*.c)
CRASH_OBJECTS := $(CRASH_SOURCES:tests/crash/%.c=$(BUILD)/tests/crash-objects/%.o)
$(CRASH_OBJECTS): $(BUILD)/tests/crash-objects/%.o: tests/crash/%.c VERSION Makefile | $$(@D)/
	$(COMPILE)
$(BUILD)/tests/crash: $(CRASH_OBJECTS) $(BUILD)/libdlspool.a
	@mkdir -p $(@D)
	@echo '  LD  $@'; $(CC) -o $@ $(CRASH_OBJECTS) $(BUILD)/libdlspool.a $(ALL_LIBS)

# A fuzz target with what feeds it: runner.c, or what FUZZ_MAIN says.
FUZZ_MAIN ?= tests/fuzz/runner.c
FUZZ_SOURCES := $(wildcard tests/fuzz/*_fuzz.c)
FUZZ_TARGETS := $(FUZZ_SOURCES:tests/fuzz/%_fuzz.c=$(BUILD)/fuzz/%)

FUZZ_OBJECTS := $(FUZZ_SOURCES:%.c=$(BUILD)/%.o) $(FUZZ_MAIN:%.c=$(BUILD)/%.o)

$(FUZZ_TARGETS): $(BUILD)/fuzz/%: $(BUILD)/tests/fuzz/%_fuzz.o $(FUZZ_MAIN:%.c=$(BUILD)/%.o) $(BUILD)/libdlspool.a
	@mkdir -p $(@D)
	@echo '  LD  $@'; $(CC) $(GOLD) -o $@ $(filter-out %.a,$^) $(BUILD)/libdlspool.a $(ALL_LIBS)

fuzz-targets: $(FUZZ_TARGETS)

# Made on the way to a test, and kept: a change of the library links tests again, and compiles none.
.SECONDARY: $(UNIT_OBJECTS) $(CRASH_OBJECTS) $(FUZZ_OBJECTS)

-include $(OBJECTS:.o=.d) $(UNIT_OBJECTS:.o=.d) $(CRASH_OBJECTS:.o=.d) $(FUZZ_OBJECTS:.o=.d)

# The two commands.  Set-up comes first and in a make of its own: pkg-config may not be there yet.
demo:
	@tools/setup demo
	+@$(PARALLEL) all
	@tools/demo

# Quick scripts first, as they wait more than they compute, beside the compiling of what comes after them.
# The quick unit tests run once in it, with the sanitizers.
check:
	@tools/setup check
	@tests/web/fetch-packages $(BUILD)/npm || echo 'Without them tests/t/361-browser.t is skipped.'
	+@$(PARALLEL) $(BUILD)/dlspool
	+@$(call BESIDE,$(ASAN_PARALLEL) $(filter %_test,$(ASAN_TESTS)) fuzz-targets && \
	    $(PARALLEL) $(BUILD)/tests/crash $(PLAIN_TESTS),$(PROVE_ALL) $(EARLY_SCRIPTS))
	@FUZZ_MUTATIONS=25 $(MAKE) --no-print-directory BESIDES='tests/crash/run $(PLAIN_TESTS) $(ASAN_TESTS)' \
	    LEFT_OUT='$(EARLY_SCRIPTS) $(LONG_SCRIPTS)' tap
	@echo 'Left to make check-long: $(notdir $(LONG_SCRIPTS))'

# What `check` leaves out: LONG_SCRIPTS; how often: crash points, bytes that may be damaged, cases; unit tests
# without the sanitizers; and the sanitizers for PLAIN_TESTS.
HOURS ?= 1
check-long:
	@tools/setup check
	@tests/web/fetch-packages $(BUILD)/npm
	@tools/setup fuzz
	@LONGEST=86400 DLSPOOL_CASES=60000 CRASH_EVERY=1 MODEL_MORE=1 NFS_MORE=1 STORM=30000 BACKLOG=100000 HISTORY=200000 DAY_JOBS=2000 DAY_RUSH=40 $(MAKE) --no-print-directory unit asan tap crash
	@LONGEST=86400 DLSPOOL_EVERY_BYTE=1 $(PROVE) $(BUILD)/tests/local_once_test
	@$(MAKE) --no-print-directory mutants
	@$(MAKE) --no-print-directory SECONDS=$$(($(HOURS) * 3600 / $(words $(FUZZ_TARGETS)))) fuzz
	@$(MAKE) --no-print-directory SECONDS=$$(($(HOURS) * 3600)) soak

PROVE := tests/prove
# Tests know nothing of one another, and many of them wait: they run side by side, the longest first.
TOGETHER := $$(($(PROCESSORS) + 1))
MANY_MORE := $$(($(PROCESSORS) + 2))
PROVE_ALL := $(PROVE) -j $(TOGETHER)

# Three minutes with compiling: what needs no container, no cluster and no file server, and says most of a change.
QUICK_TESTS = $(filter-out $(LONG_TESTS),$(UNIT_TESTS))
QUICK_SCRIPTS := $(wildcard $(foreach n,010 100 110 120 220 300 310 900,tests/t/$(n)-*.t))
# What else runs while the unit tests are compiled in `check`.
EARLY_SCRIPTS := $(QUICK_SCRIPTS) $(wildcard $(foreach n,020 105 112 115 170 172 210 230 910,tests/t/$(n)-*.t))
# Before a release only: they take longest, and have found nothing that others did not find since what they are
# about was built (docs/developer.md).
LONG_SCRIPTS := $(wildcard $(foreach n,426 590 710 810 820,tests/t/$(n)-*.t))

# BESIDE(COMPILE,RUN): scripts wait more than they compute, so they run while others are compiled.
BESIDE = { $(1); } >$(BUILD)/compiled 2>&1 & compiling=$$!; export DLSPOOL=$(abspath $(BUILD))/dlspool; \
    $(2); ran=$$?; wait $$compiling || { cat $(BUILD)/compiled; exit 1; }; [ $$ran = 0 ]
quick:
	$(call NEED,check)
	+@$(PARALLEL) $(BUILD)/dlspool
	+@$(call BESIDE,$(PARALLEL) $(QUICK_TESTS),$(PROVE_ALL) $(QUICK_SCRIPTS))
	@$(PROVE) -j $(MANY_MORE) $(QUICK_TESTS)

unit:
	$(call NEED,check)
	+@$(PARALLEL) unit-tests
	@$(PROVE_ALL) $(UNIT_TESTS)

# The unit tests once more, and the fuzz targets' corpora, with the sanitizers watching.
ASAN := -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all -fno-omit-frame-pointer
# Lines without variables: a quarter less of the time.
ASAN_MAKE = $(MAKE) --no-print-directory BUILD=$(BUILD)/asan CFLAGS='-O1 -g1 $(ASAN)' HARDEN= \
	HARDEN_LD= LDFLAGS='$(ASAN)'
ASAN_PARALLEL = $(ASAN_MAKE) $(JOBS)
ASAN_TESTS = $(patsubst $(BUILD)/%,$(BUILD)/asan/%,$(filter-out $(PLAIN_TESTS),$(UNIT_TESTS) $(FUZZ_TARGETS)))
asan:
	$(call NEED,check)
	+@$(ASAN_MAKE) unit
	+@$(ASAN_MAKE) fuzz-runs

fuzz-corpus:
	+@$(ASAN_MAKE) fuzz-runs

fuzz-runs:
	+@$(PARALLEL) fuzz-targets
	@$(PROVE_ALL) $(FUZZ_TARGETS)

# For real.  gcc's build judges the warnings.  ONLY=name for one target.
SECONDS ?= 60
FUZZER := address,undefined,float-cast-overflow -fno-sanitize-recover=all -fno-omit-frame-pointer
fuzz:
	@$(MAKE) --no-print-directory CC=clang WARNINGS=-w BUILD=$(BUILD)/fuzzer FUZZ_MAIN= HARDEN= \
	    HARDEN_LD= CFLAGS='-O1 -g -fsanitize=fuzzer-no-link,$(FUZZER)' \
	    LDFLAGS='-fsanitize=fuzzer,$(FUZZER)' fuzz-targets
	@tests/fuzz/fuzz $(BUILD)/fuzzer $(SECONDS) $(ONLY)

crash:
	$(call NEED,check)
	+@$(PARALLEL) $(BUILD)/tests/crash
	@LONGEST=86400 $(PROVE) -v $(BUILD)/tests/crash :: $(CRASH)

# Scripts have files, ports and schedulers of their own, and mostly wait: more run than there are processors.
# BESIDES are other tests that run with them, so that no processor waits while a few long ones come to their end.
# Scripts that say `# Runs alone:` in their head count on having the processors, and come after.
SCRIPTS := $(wildcard tests/t/*.t)
TAKEN = $(filter-out $(LEFT_OUT),$(SCRIPTS))
ALONE = $(shell grep -l '^. Runs alone:' $(TAKEN))
tap:
	$(call NEED,check)
	+@$(PARALLEL) $(BUILD)/dlspool
	@export DLSPOOL=$(abspath $(BUILD))/dlspool CRASH_PROGRAM=$(abspath $(BUILD))/tests/crash NPM_PACKAGES=$(abspath $(BUILD))/npm; \
	    export FAILURES=$(BUILD)/failures; rm -f $$FAILURES; \
	    $(PROVE) -f -j $(if $(BESIDES),$(MANY_MORE),$(TOGETHER)) $(BESIDES) $(filter-out $(ALONE),$(TAKEN)); together=$$?; \
	    $(PROVE) -f $(ALONE) && [ $$together = 0 ] || { echo 'Failed in all:'; cat $$FAILURES; exit 1; }

# The pages as people see them.
pictures:
	@tools/setup check
	@tests/web/fetch-packages $(BUILD)/npm
	+@$(PARALLEL) $(BUILD)/dlspool
	@DLSPOOL=$(abspath $(BUILD))/dlspool NPM_PACKAGES=$(abspath $(BUILD))/npm PICTURES=$(abspath $(BUILD))/pictures \
	    $(PROVE) tests/t/361-browser.t
	@ls $(BUILD)/pictures

# Tests are tested: the code is broken in a copy, build/mutants/tree.
mutants:
	@CC='$(CC)' tests/mutants/run $(MUTANTS)

# A benchmark of a part, which links like a unit test.
$(BUILD)/bench/%: tests/bench/%.c $(BUILD)/libdlspool.a
	@mkdir -p $(@D)
	@echo '  CC  $<'; $(CC) $(CPPFLAGS) $(ALL_CFLAGS) -o $@ $< $(BUILD)/libdlspool.a -lcmocka $(ALL_LIBS)

# With AGAINST only what two builds have in common: the table of the null executor.
ifdef AGAINST
bench: $(BUILD)/dlspool
	@against=$$(CC='$(CC)' tests/bench/aside '$(AGAINST)') && \
	    DLSPOOL=$(CURDIR)/$(BUILD)/dlspool tests/bench/bench --against "$$against" --label '$(AGAINST)' $(BENCH)
else
bench: $(BUILD)/dlspool $(BUILD)/bench/kubernetes_bench $(BUILD)/bench/slurm_bench $(BUILD)/bench/requests
	@DLSPOOL=$(CURDIR)/$(BUILD)/dlspool tests/bench/bench $(BENCH)
	@$(BUILD)/bench/kubernetes_bench
	@DLSPOOL=$(CURDIR)/$(BUILD)/dlspool tests/bench/kubernetes $(CURDIR)/$(BUILD)/bench/kubernetes_bench $(filter --journal,$(BENCH))
	@DLSPOOL=$(CURDIR)/$(BUILD)/dlspool tests/bench/slurm $(CURDIR)/$(BUILD)/bench/slurm_bench
	@DLSPOOL=$(CURDIR)/$(BUILD)/dlspool tests/bench/podman
	@DLSPOOL=$(CURDIR)/$(BUILD)/dlspool tests/bench/web $(CURDIR)/$(BUILD)/bench/requests
endif

# SECONDS of jobs all the time, with kills in the middle of work, one every ten seconds.
soak: $(BUILD)/dlspool
	@rm -rf $(BUILD)/soak
	@DLSPOOL=$(CURDIR)/$(BUILD)/dlspool tests/bench/soak --seconds $(SECONDS) --spool $(BUILD)/soak/spool

tables: $(BUILD)/dlspool
	@tools/tables $(abspath $(BUILD))/dlspool

# What goes where is told by tools/installed, a line for each file; a package may have units elsewhere.
UNITDIR ?= $(PREFIX)/lib/systemd/system
INSTALLED = tools/installed $(BUILD) $(PREFIX) $(UNITDIR)

$(BUILD)/%@.service: etc/%.service FORCE
	@mkdir -p $(@D)
	@sed 's|@PREFIX@|$(PREFIX)|' $< > $@.new && mv $@.new $@

install: $(BUILD)/dlspool $(BUILD)/dlspool@.service $(BUILD)/dlspool-web@.service
	$(INSTALLED) | while read -r mode source target; do \
	    install -D -m $$mode $$source $(DESTDIR)$$target || exit 1; done

# The spools, the user and the directories of tmpfiles.d stay.
uninstall:
	$(INSTALLED) | while read -r mode source target; do rm -f $(DESTDIR)$$target || exit 1; done
	$(INSTALLED) --directories | while read -r directory; do \
	    rmdir $(DESTDIR)$$directory 2>/dev/null || true; done

FORCE:

# With the version that tests/t/900-layers.t asks for.
format:
	@find . -path ./$(BUILD) -prune -o \( -name '*.c' -o -name '*.h' \) -print | xargs clang-format-14 -i

# What is in git, as a tar of its own: dlspool-VERSION.tar.gz.
dist:
	@mkdir -p $(BUILD)
	@git archive --prefix=dlspool-$(VERSION)/ -o $(BUILD)/dlspool-$(VERSION).tar.gz HEAD
	@echo $(BUILD)/dlspool-$(VERSION).tar.gz

tags:
	@ctags -R --languages=C --exclude=$(BUILD) .

help:
	@sed -n '/^$$/q; s/^# \{0,1\}//p' Makefile

clean:
	rm -rf $(BUILD)

.PHONY: all unit-tests demo quick check check-long unit asan crash tap fuzz-targets fuzz-runs fuzz-corpus fuzz mutants bench pictures soak tables install \
	uninstall format dist tags help clean FORCE
