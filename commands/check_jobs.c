/* commands/check_jobs.c - checks the jobs of a spool
 *
 * docs/administrator.md ("When something is wrong") says how the stages handle each kind of damage.
 */
#include "commands/check_jobs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/directory.h"
#include "base/file.h"
#include "base/names.h"
#include "base/sha256.h"
#include "spool/pause.h"
#include "spool/eventlog.h"
#include "spool/jobs.h"
#include "spool/record.h"

enum { FILE_LIMIT = 16 << 20, MOST_JOBS = 1 << 24 }; /* bytes; jobs */
static const int64_t settled_after = 60000;          /* milliseconds without an event in the log */

struct seen { /* where an id was found first */
    enum state state;
    char date[16];
};

struct checker {
    const struct spool *spool;
    struct findings *findings;
    struct check_jobs_result *result;
    struct names *seen;
    struct arena *arena;
    struct buffer lines; /* findings about the present job */
    size_t problems;     /* how many of these are problems */
    const struct job_place *place;
    int job;
};

static void add_finding(struct checker *checker, bool problem, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void add_finding(struct checker *checker, bool problem, const char *format, ...)
{
    char buffer[PLACE_TEXT_SIZE], sentence[ERROR_TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    buffer_printf(&checker->lines, "%s: %s%s\n", job_place_text(checker->place, buffer),
                  problem ? "" : "warning: ", sentence);
    checker->problems += problem;
}

/* Read a file of the job.  A file that the caller may not read is skipped; any other failure is
 * a problem. */
static bool read_part(struct checker *checker, const char *name, struct buffer *bytes)
{
    struct error error;
    if (file_read_at(checker->job, name, FILE_LIMIT, bytes, &error) == 0)
        return true;
    if (errno != EACCES)
        add_finding(checker, true, "%s", error.text);
    return false;
}

static void check_digest(struct checker *checker, const char *name, struct text expected)
{
    struct buffer bytes = {0};
    char digest[SHA256_HEX_SIZE];
    if (expected.length && read_part(checker, name, &bytes)) {
        sha256_hex(buffer_text(&bytes), digest);
        if (!text_is(expected, digest))
            add_finding(checker, true,
                        "%s is not what was written: found SHA-256 %.12s..., expected "
                        "%.12s... as in job.yaml",
                        name, digest, expected.data);
    }
    buffer_free(&bytes);
}

/* How many lines are not events.  A last line without its end does not count: a crash may have
 * cut it. */
static size_t count_bad_lines(struct text log)
{
    size_t lines = 0, events = 0;
    struct event event;
    for (size_t i = 0; i < log.length; i++)
        lines += log.data[i] == '\n' && i > 0 && log.data[i - 1] != '\n';
    while (eventlog_next(&log, &event))
        events++;
    return lines - events;
}

/* Compare the job's log with itself and with the directory that the job is in. */
static void check_log(struct checker *checker)
{
    struct buffer log = {0};
    struct stat status;
    struct event event = {0};
    enum state state;
    if (!read_part(checker, "log", &log)) {
        buffer_free(&log);
        return;
    }
    struct text rest = buffer_text(&log);
    if (!eventlog_next(&rest, &event) || !text_is(event.name, "accepted"))
        add_finding(checker, true,
                    "log does not begin with the event `accepted`: its beginning is lost");
    size_t bad = count_bad_lines(buffer_text(&log));
    if (bad)
        add_finding(checker, true, "%zu %s of log %s no event", bad, bad == 1 ? "line" : "lines",
                    bad == 1 ? "is" : "are");
    /* A stage appends the event before it moves the job, so a recent event may be ahead of the
     * directory. */
    bool settled = !fstatat(checker->job, "log", &status, AT_SYMLINK_NOFOLLOW) &&
                   clock_now() - (int64_t)status.st_mtime * 1000 > settled_after;
    if (settled && eventlog_state(buffer_text(&log), &state) && state != checker->place->state)
        add_finding(checker, true,
                    "log says that the job belongs into %s/: it was moved by hand, or "
                    "events are lost",
                    spool_state_name(state));
    buffer_free(&log);
}

/* Report a quarantined job with the first line of its `why`. */
static void say_quarantined(struct checker *checker, const char *what)
{
    struct buffer why = {0};
    struct error_quote_buffer buffer;
    size_t length = 0;
    if (file_read_at(checker->job, "why", FILE_LIMIT, &why, NULL) == 0)
        while (length < why.length && why.data[length] != '\n')
            length++;
    add_finding(checker, false, "was quarantined (%s): %s", what,
                error_quote(&buffer, why.data ? why.data : "", length));
    buffer_free(&why);
}

static bool has_why(const struct checker *checker)
{
    struct stat status;
    return !fstatat(checker->job, "why", &status, AT_SYMLINK_NOFOLLOW) && S_ISREG(status.st_mode) &&
           status.st_size > 0;
}

static void check_failure(struct checker *checker, const struct job_record *record)
{
    static const char *const aside[] = {"DamagedRecord", "StopsReader"};
    if (!record->failed) {
        add_finding(checker, true,
                    "job.yaml does not say why the job failed: it was moved by hand");
        return;
    }
    if (!has_why(checker))
        add_finding(checker, true, "why is missing or empty; the reason in job.yaml is %.*s",
                    (int)record->failure.reason.length, record->failure.reason.data);
    for (size_t i = 0; i < ARRAY_COUNT(aside); i++)
        if (text_is(record->failure.reason, aside[i]))
            say_quarantined(checker, aside[i]);
}

static void check_files(struct checker *checker)
{
    struct job_record record;
    struct error error;
    char name[32];
    if (record_read(checker->job, checker->arena, &record, &error)) {
        if (errno != EACCES)
            add_finding(checker, true, "%s", error.text);
        check_log(checker);
        return;
    }
    if (!text_is(record.id, checker->place->id))
        add_finding(checker, true, "job.yaml is that of %s: the directory was renamed or copied",
                    record.id.data);
    snprintf(name, sizeof(name), "%.*s", (int)record.request_file.length,
             record.request_file.length ? record.request_file.data : "");
    check_log(checker);
    if (name[0])
        check_digest(checker, name, record.request_sha256);
    check_digest(checker, "manifest.yaml", record.manifest_sha256);
    if (checker->place->state == STATE_FAILED)
        check_failure(checker, &record);
    if (checker->place->state == STATE_HELD && !has_why(checker))
        add_finding(checker, true, "why is missing or empty");
}

static bool is_there(const struct spool *spool, const struct job_place *place)
{
    int job = job_open(spool, place);
    if (job >= 0)
        sys.close(job);
    return job >= 0 || errno != ENOENT;
}

static void check_duplicate(struct checker *checker)
{
    const struct job_place *place = checker->place;
    struct text id = text_of(place->id);
    struct seen *seen = names_find(checker->seen, id);
    if (!seen && (seen = names_add(checker->seen, id))) {
        seen->state = place->state;
        snprintf(seen->date, sizeof(seen->date), "%s", place->date);
        return;
    }
    if (!seen || (seen->state == place->state && strcmp(seen->date, place->date) == 0))
        return;
    char buffer[PLACE_TEXT_SIZE];
    struct job_place other = *place;
    other.state = seen->state;
    memcpy(other.date, seen->date, sizeof(other.date));
    if (is_there(checker->spool, &other))
        add_finding(checker, true, "the job is also in %s: one of the two is a copy",
                    job_place_text(&other, buffer));
}

/* Show progress on a terminal, since many jobs take long; 0 removes the line at the end. */
static void show_progress(size_t jobs)
{
    enum { OFTEN = 500 };
    static bool shown;
    if (jobs % OFTEN || (!jobs && !shown) || !isatty(STDERR_FILENO))
        return;
    shown = jobs > 0;
    fputs("\r\033[K", stderr);
    if (shown)
        fprintf(stderr, "%zu jobs looked at", jobs);
}

/* Check one job, and report what is wrong unless it has moved on meanwhile. */
static int check_job(void *context, const struct job_place *place)
{
    struct checker *checker = context;
    struct error_quote_buffer buffer;
    checker->place = place;
    checker->problems = 0;
    buffer_clear(&checker->lines);
    checker->job = job_open(checker->spool, place);
    if (checker->job < 0 && errno == ENOENT)
        return 0;
    checker->result->jobs++;
    show_progress(checker->result->jobs);
    if (checker->job < 0 && errno != EACCES)
        add_finding(checker, true, "is no directory that can be opened: %s",
                    error_quote(&buffer, strerror(errno), strlen(strerror(errno))));
    if (checker->job >= 0) {
        check_duplicate(checker);
        check_files(checker);
        sys.close(checker->job);
    }
    /* The findings count only if the job is still there: a moving job may look damaged. */
    if (checker->lines.length && is_there(checker->spool, place)) {
        findings_lines(checker->findings, buffer_text(&checker->lines));
        checker->result->problems += checker->problems;
    }
    arena_reset(checker->arena);
    return 0;
}

/* Entries of a directory of jobs that are not jobs; jobs_walk() skips them. */
struct unexpected {
    struct checker *checker;
    enum state state;
};

static int check_name(void *context, const char *name, unsigned char type)
{
    struct unexpected *unexpected = context;
    struct error_quote_buffer buffer;
    bool day = unexpected->state == STATE_DONE;
    bool right = day ? strlen(name) == 10 : id_valid(text_of(name));
    if (right && (type == DT_DIR || type == DT_UNKNOWN))
        return 0;
    if (unexpected->state == STATE_RENDERED && strcmp(name, PAUSE_FILE) == 0)
        return 0;
    findings_say(unexpected->checker->findings, "%s/: \"%s\" is no %s: %s",
                 spool_state_name(unexpected->state), error_quote(&buffer, name, strlen(name)),
                 day ? "day" : "job",
                 right ? "found something else than a directory" : "dlspool passes over it");
    unexpected->checker->result->problems++;
    return 0;
}

/* Warn about job files that ended the intake process while it read them. */
static int check_claim(void *context, const char *name, unsigned char type)
{
    struct error_quote_buffer buffer;
    (void)type;
    if (strlen(name) > TOKEN_LENGTH + 3 && name[TOKEN_LENGTH] == '+')
        findings_say(
            context,
            ".claims/: warning: intake has ended %c times while it read the job file "
            "\"%s\"",
            name[TOKEN_LENGTH + 1],
            error_quote(&buffer, name + TOKEN_LENGTH + 3, strlen(name) - TOKEN_LENGTH - 3));
    return 0;
}

int check_jobs(const struct spool *spool, struct findings *findings,
               struct check_jobs_result *result, struct error *error)
{
    struct checker checker = {.spool = spool,
                              .findings = findings,
                              .result = result,
                              .arena = arena_new(),
                              .seen = names_new(MOST_JOBS, sizeof(struct seen))};
    int failed = 0;
    *result = (struct check_jobs_result){0};
    for (int i = 0; i < STATE_COUNT && !failed; i++) {
        struct unexpected unexpected = {&checker, (enum state)i};
        if (directory_walk(spool->states[i], check_name, &unexpected) ||
            jobs_walk(spool, (enum state)i, check_job, &checker))
            failed = error_errno(error, "%s/ could not be read", spool_state_name((enum state)i));
    }
    if (!failed && spool->claims >= 0)
        directory_walk(spool->claims, check_claim, findings);
    show_progress(0);
    buffer_free(&checker.lines);
    names_free(checker.seen);
    arena_free(checker.arena);
    return failed;
}
