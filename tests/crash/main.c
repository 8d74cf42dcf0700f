/* tests/crash/main.c - every crash, every error, every power cut
 *
 * usage: crash [TEST...]     all tests, or those named; TAP on standard output
 *
 * Run by `make crash`.  CRASH_VERBOSE=1 comments on every finding, not only the first few.  With
 * CRASH_SCENE='access tokens' kills, errors and power try the scenes alone whose titles have these words.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/array.h"
#include "tests/crash/harness.h"

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argument_count, char **arguments)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } tests[] = {{"kills", test_kills},   {"errors", test_errors},  {"power", test_power},
                 {"damage", test_damage}, {"stalls", test_stalls},  {"takeover", test_takeover},
                 {"prune", test_prune},   {"metrics", test_metrics}};
    double began = seconds();
    umask(0); /* modes must be right without its help */
    harness_start();
    for (size_t i = 0; i < ARRAY_COUNT(tests); i++) {
        int wanted = argument_count == 1;
        for (int k = 1; k < argument_count; k++)
            wanted += strcmp(arguments[k], tests[i].name) == 0;
        if (!wanted)
            continue;
        double test_began = seconds();
        tests[i].run();
        tap_comment("%s: %.0f s", tests[i].name, seconds() - test_began);
    }
    harness_end();
    tap_comment("all: %.0f s", seconds() - began);
    return tap_done();
}
