# Makefile - build, test, demonstrate, install
#
#   make            build/dlspool
#   make demo       set up what is missing, then run one real training job from drop to done
#   make check      set up what is missing, then run every test
#   make unit       only the unit tests          make tap       only the scripts under tests/t
#   make asan       the unit tests under AddressSanitizer and UndefinedBehaviorSanitizer
#   make bench      measure; prints, asserts nothing
#   make install    PREFIX=/usr/local DESTDIR=

BUILD   ?= build
PREFIX  ?= /usr/local
VERSION := $(shell cat VERSION)

ROOMS := base spool watcher request renderer executors stages commands
PACKAGES := yaml-0.1 libgit2 libcurl jansson libseccomp libcrypto

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wold-style-definition -Wpointer-arith -Wcast-qual -Wwrite-strings -Wvla -Wundef \
	-Wformat=2 -Wimplicit-fallthrough -Wnull-dereference -Wdouble-promotion -Werror

CFLAGS   ?= -O2 -g
HARDEN   ?= -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fPIE
HARDEN_LD ?= -pie -Wl,-z,relro,-z,now
CPPFLAGS += -D_GNU_SOURCE -I. -DDLSPOOL_VERSION='"$(VERSION)"' -DDLSPOOL_PREFIX='"$(PREFIX)"'
ALL_CFLAGS = -std=c17 $(WARNINGS) $(HARDEN) $(CFLAGS) $(shell pkg-config --cflags $(PACKAGES))
ALL_LIBS   = $(HARDEN_LD) $(LDFLAGS) $(shell pkg-config --libs $(PACKAGES)) -lm

SOURCES := $(foreach room,$(ROOMS),$(wildcard $(room)/*.c))
OBJECTS := $(SOURCES:%.c=$(BUILD)/%.o)
LIBRARY_OBJECTS := $(filter-out $(BUILD)/commands/main.o,$(OBJECTS))
UNIT_SOURCES := $(wildcard tests/unit/*_test.c)
UNIT_TESTS := $(UNIT_SOURCES:tests/unit/%.c=$(BUILD)/tests/%)

all: $(BUILD)/dlspool

$(BUILD)/dlspool: $(OBJECTS)
	$(CC) -o $@ $(OBJECTS) $(ALL_LIBS)

$(BUILD)/%.o: %.c VERSION Makefile
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# The library as one archive, so that a unit test links what it uses.
$(BUILD)/libdlspool.a: $(LIBRARY_OBJECTS)
	@rm -f $@
	ar rcs $@ $(LIBRARY_OBJECTS)

$(BUILD)/tests/%: tests/unit/%.c $(BUILD)/libdlspool.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -MF $@.d -o $@ $< $(BUILD)/libdlspool.a -lcmocka $(ALL_LIBS)

unit-tests: $(UNIT_TESTS)

-include $(OBJECTS:.o=.d) $(UNIT_TESTS:%=%.d)

.PHONY: all unit-tests
