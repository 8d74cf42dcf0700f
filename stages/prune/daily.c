/* stages/prune/daily.c - a pass once a day, as a stage; and at once, for `dlspool prune`
 *
 * When the last pass was is in history/archive/pruned, with the rules by which it went: other rules are applied at
 * once.  A clock that was set forward makes everything old: where more time seems to have gone by since the last pass
 * than the clock says that nobody can set, none is made until a day later, when the clock that was set back has been.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "archive/library.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/quantity.h"
#include "spool/eventlog.h"
#include "spool/file.h"
#include "stages/sandbox.h"
#include "stages/prune/inside.h"

enum { FILE_LIMIT = 64 * 1024, FILE_MODE = 0644, RULES_SIZE = 128 };
static const char file_name[] = "pruned";
static const int64_t again_after_failure = (int64_t)3600 * 1000, again_when_locked = 60000;

const char *prune_rule_name(enum prune_rule rule)
{
    static const char *const names[PRUNE_RULES] = {"done", "failed", "output", "size"};
    return names[rule];
}

/* ---- when ---- */

static void print_rules(const struct settings *settings, char text[static RULES_SIZE])
{
    const struct keep_rules *keep = &settings->keep;
    snprintf(text, RULES_SIZE,
             "done:%" PRId64 ",failed:%" PRId64 ",output:%" PRId64 ",size:%" PRId64, keep->done,
             keep->failed, keep->output, keep->size);
}

/* What the file says of the last pass, or of the doubt about the clock in its place. */
struct last_pass {
    int64_t time;     /* INT64_MAX: there was none */
    int64_t elapsed;  /* clock_elapsed() then */
    bool doubted;     /* there was none, as the clock was doubted */
    bool is_to_count; /* for a day: it went by the rules of today, or was none */
};

static struct last_pass read_last(const struct pruner *pruner)
{
    struct last_pass last = {.time = INT64_MAX};
    struct buffer bytes = {0};
    struct event event;
    char rules[RULES_SIZE];
    int archive = parts_open(&pruner->stage.spool, false);
    print_rules(&pruner->stage.settings, rules);
    if (archive >= 0 && file_read_at(archive, file_name, FILE_LIMIT, &bytes, NULL) == 0) {
        struct arena *arena = arena_new();
        struct text rest = buffer_text(&bytes);
        while (eventlog_next(&rest, &event)) {
            last.time = event.time;
            last.elapsed = eventlog_get_number(&event, "elapsed_ms", 0);
            last.doubted = text_is(event.name, "doubted");
            last.is_to_count = last.doubted || text_is(eventlog_get(arena, &event, "rules"), rules);
        }
        arena_free(arena);
    }
    buffer_free(&bytes);
    if (archive >= 0)
        sys.close(archive);
    return last;
}

/* In how many milliseconds a pass is due. */
static int64_t due_in(const struct last_pass *last, int64_t now)
{
    int64_t due = last->is_to_count ? last->time + CLOCK_DAY - now : 0;
    return due < 0 || due > CLOCK_DAY ? 0 : due;
}

/* May the clock have been set forward since the last pass?  After another start of the machine, or by another host,
 * nothing tells, so then no more than a day may have gone by; or a week when the clock was doubted already, as a
 * machine that is off every night must come to a pass. */
static bool is_doubtful(const struct last_pass *last, int64_t now, int64_t elapsed)
{
    const int64_t unequal = (int64_t)3600 * 1000;
    const int64_t most = last->doubted ? 7 * CLOCK_DAY : CLOCK_DAY + unequal;
    if (last->time > now || now - last->time <= most)
        return false;
    int64_t more = now - last->time - (elapsed - last->elapsed);
    return more > unequal || more < -unequal;
}

static void note(struct pruner *pruner, const struct buffer *line)
{
    struct error error;
    if (spool_file_renew(pruner->archive, file_name, buffer_text(line), FILE_MODE, &error))
        log_warn("%s", error.text);
}

static void add_circumstances(const struct pruner *pruner, struct buffer *line)
{
    char rules[RULES_SIZE];
    print_rules(&pruner->stage.settings, rules);
    eventlog_add_number(line, "elapsed_ms", clock_elapsed());
    eventlog_add_string(line, "rules", rules);
}

/* Have no pass made for a day. */
static int note_doubt(struct pruner *pruner, const struct last_pass *last, int64_t now)
{
    struct buffer line = {0};
    char then[CLOCK_TEXT_SIZE];
    if (pruner->archive < 0)
        pruner->archive = parts_open(&pruner->stage.spool, true);
    if (pruner->archive < 0)
        return -1;
    eventlog_start(&line, now, "doubted");
    add_circumstances(pruner, &line);
    eventlog_end(&line);
    note(pruner, &line);
    buffer_free(&line);
    log_warn(
        "nothing is pruned for a day: by the clock more time has gone by since the last pass (%s) than can be "
        "known; if the clock is wrong, set it",
        clock_format(last->time, then));
    return 0;
}

static void note_pass(struct pruner *pruner)
{
    struct buffer line = {0};
    const struct prune_report *report = &pruner->report;
    eventlog_start(&line, pruner->now, "pass");
    add_circumstances(pruner, &line);
    for (int i = 0; i < PRUNE_RULES; i++)
        eventlog_add_number(&line, prune_rule_name((enum prune_rule)i), report->rules[i].jobs);
    eventlog_add_number(&line, "waited_for", report->waited_for);
    eventlog_add_number(&line, "archived_bytes", report->archived_bytes);
    eventlog_end(&line);
    note(pruner, &line);
    buffer_free(&line);
}

/* ---- passes ---- */

static int make_pass(struct pruner *pruner, struct error *error)
{
    int lock;
    int result = stage_lock_pass(&pruner->stage, ".prune.lock", &lock, error);
    if (result)
        return result;
    result = prune_pass_make(pruner, error);
    if (!result && !pruner->report.stopped)
        note_pass(pruner);
    sys.close(lock);
    return result;
}

static void say_pass(const struct prune_report *report)
{
    char size[QUANTITY_TEXT_SIZE], archived[QUANTITY_TEXT_SIZE];
    const struct prune_count *rules = report->rules;
    int64_t jobs = rules[PRUNE_DONE].jobs + rules[PRUNE_FAILED].jobs + rules[PRUNE_SIZE].jobs;
    int64_t bytes = 0;
    for (int i = 0; i < PRUNE_RULES; i++)
        bytes += rules[i].bytes;
    if (jobs || rules[PRUNE_OUTPUT].jobs)
        log_say("%" PRId64 " job%s archived and removed, and the output of %" PRId64
                " removed: %s freed, archives of %s written",
                jobs, jobs == 1 ? " was" : "s were", rules[PRUNE_OUTPUT].jobs,
                quantity_format_bytes(bytes, size),
                quantity_format_bytes(report->archived_bytes, archived));
}

static int64_t prune_round(struct stage *stage)
{
    struct pruner *pruner = (struct pruner *)stage;
    struct error error;
    int64_t now = clock_elapsed(), time = clock_now();
    if (now < pruner->next)
        return pruner->next;
    const struct last_pass last = read_last(pruner);
    pruner->next = now + due_in(&last, time);
    if (now < pruner->next || stage_is_fenced(stage))
        return pruner->next;
    if (is_doubtful(&last, time, now)) {
        pruner->next = now + (note_doubt(pruner, &last, time) ? again_after_failure : CLOCK_DAY);
        return pruner->next;
    }
    int result = make_pass(pruner, &error);
    if (result < 0)
        log_warn("%s", error.text);
    else if (!result)
        say_pass(&pruner->report);
    pruner->next = clock_elapsed() + (result < 0   ? again_after_failure
                                      : result > 0 ? again_when_locked
                                                   : CLOCK_DAY);
    return pruner->next;
}

static void prune_close(struct stage *stage)
{
    struct pruner *pruner = (struct pruner *)stage;
    if (pruner->removed >= 0)
        sys.close(pruner->removed);
    if (pruner->archive >= 0)
        sys.close(pruner->archive);
    waited_free(pruner->waited);
    arena_free(pruner->arena);
    free(pruner->slice);
    stage_close(stage);
    free(pruner);
}

static struct stage *prune_open(const char *directory, struct error *error)
{
    struct pruner *pruner = memory_allocate(sizeof(*pruner));
    if (stage_open(&pruner->stage, "prune", directory, error)) {
        free(pruner);
        return NULL;
    }
    pruner->arena = arena_new();
    pruner->archive = pruner->removed = -1;
    return &pruner->stage;
}

/* It can wait for all others.  The disk's priority follows from this, and is not made lower: what it removes may be
 * in the journal transaction that a stage's sync waits for.
 *
 * It stays root where root serves: jobs of done/ are root's then.  What it needs and cannot open or make when it is
 * confined is opened and made before. */
static int prune_confine(struct stage *stage, struct error *error)
{
    enum { LAST = 19 };
    int lock, archive;
    setpriority(PRIO_PROCESS, 0, LAST);
    if (!library_open(error))
        log_warn("%s", error->text);
    archive = parts_open(&stage->spool, true);
    if (archive >= 0)
        sys.close(archive);
    if (stage_lock_pass(stage, ".prune.lock", &lock, error) == 0)
        sys.close(lock);
    return sandbox_enter(&stage->spool, TEXT(""), SANDBOX_PRUNE, error);
}

static int prune_descriptor(const struct stage *stage)
{
    (void)stage;
    return -1;
}

const struct stage_operations prune_stage = {
    .name = "prune",
    .open = prune_open,
    .confine = prune_confine,
    .round = prune_round,
    .descriptor = prune_descriptor,
    .close = prune_close,
};

int prune_once(const char *directory, bool dry, struct prune_report *report, struct error *error)
{
    struct stage *stage = prune_open(directory, error);
    if (!stage)
        return -1;
    struct pruner *pruner = (struct pruner *)stage;
    pruner->dry = dry;
    if (dry)
        pruner->archive = parts_open(&stage->spool, false);
    int result = dry                                             ? prune_pass_make(pruner, error)
                 : spool_check_service(&stage->spool, error) < 0 ? -1
                                                                 : make_pass(pruner, error);
    if (result > 0)
        result = error_set(error, "another pass is under way; `dlspool prune` waits for none");
    *report = pruner->report;
    prune_close(stage);
    return result;
}
