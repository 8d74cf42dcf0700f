/* commands/list.c - dlspool list
 *
 * Jobs are printed as they are read, so memory does not grow with the spool; only another order
 * than by age keeps each job's sort key.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/nearest.h"
#include "client/archive_view.h"
#include "client/array_tasks.h"
#include "commands/columns.h"
#include "commands/commands.h"
#include "commands/complain.h"
#include "client/decision.h"
#include "client/gather.h"
#include "commands/open.h"
#include "commands/options.h"
#include "client/outlook.h"
#include "commands/print.h"
#include "stages/shared/sweep.h"

enum { USUAL_LIMIT = 50, UNLIMITED = -1 };
static const struct timespec watch_interval = {.tv_sec = 2};

enum sort_by {
    SORT_AGE,
    SORT_NAME,
    SORT_USER,
    SORT_STATE,
    SORT_ELAPSED,
    SORT_STARTED,
    SORT_ENDED,
    SORT_PRIORITY,
    SORTS
};
static const char *const sort_words[SORTS + 1] = {
    "age", "name", "user", "state", "elapsed", "started", "ended", "priority", NULL};

struct sort_key {
    struct job_place place;
    int64_t number;
    char text[40];
};

struct listing {
    const struct spool *spool;
    struct job_filter filter;
    bool all, json, archived, tasks, approvals;
    struct settings settings; /* with `approvals` */
    int limit;                /* of jobs; UNLIMITED: only of those that have ended, unless `all` */
    enum sort_by sort;
    const char *format;
    int64_t now;
    struct arena *plan_arena;
    struct plan_file plan;
    struct waiting_file waiting;
    struct columns *columns;
    size_t printed;
    struct sort_key *keys;
    size_t key_count, key_capacity;
};

/* ---- one job ---- */

static int read_view(const struct listing *listing, const struct job_place *place,
                     struct arena *arena, struct job_view *view)
{
    if (view_read(listing->spool, place, arena, view) && errno != EACCES)
        return -1;
    view_take_waiting(view, &listing->waiting, arena);
    return 0;
}

/* A row for the tasks of an array that are in the same state. */
static void add_tasks(struct listing *listing, struct arena *arena, const struct job_view *view,
                      const struct outlook *outlook)
{
    struct array_tasks tasks;
    array_tasks_find(arena, view, &tasks);
    for (int state = 0; state < JOB_STATES; state++) {
        struct job_view row = *view;
        row.element =
            sweep_shortened(arena, array_tasks_list(arena, &tasks, (enum job_state)state));
        row.situation.state = (enum job_state)state;
        row.tasks = (struct tasks_file){.attempt = 0};
        if (state == JOB_RUNNING || state == JOB_DONE)
            row.why = TEXT("");
        /* Whether the deadline is met depends on those that have not ended. */
        const struct outlook ended = {.reason = TEXT("")};
        bool is_over = state == JOB_DONE || state == JOB_FAILED;
        if (row.element.length)
            columns_add(listing->columns, &row, is_over ? &ended : outlook);
    }
}

static void print_view(struct listing *listing, struct arena *arena, const struct job_view *view)
{
    struct outlook outlook;
    outlook_read(listing->spool, view, &listing->plan, listing->now, &outlook);
    if (listing->json) {
        struct value *tree = view_tree(arena, view);
        outlook_put(arena, tree, view, &outlook, false);
        array_tasks_put(arena, tree, view);
        fputs(listing->printed ? ",\n" : "[", stdout);
        print_json_part(tree);
    } else if (listing->tasks && view->record.array.length) {
        add_tasks(listing, arena, view, &outlook);
    } else {
        columns_add(listing->columns, view, &outlook);
    }
    listing->printed++;
}

static int64_t sort_number(const struct listing *listing, const struct job_view *view)
{
    switch (listing->sort) {
    case SORT_STATE:
        return view->situation.state;
    case SORT_ELAPSED:
        return -view_elapsed(view);
    case SORT_STARTED:
        return -view->situation.started;
    case SORT_ENDED:
        return -view->situation.ended;
    case SORT_PRIORITY:
        return -view->record.priority;
    default:
        return 0;
    }
}

static void keep_key(struct listing *listing, const struct job_view *view)
{
    listing->keys = memory_grow(listing->keys, listing->key_count, &listing->key_capacity,
                                sizeof(*listing->keys));
    struct sort_key *key = &listing->keys[listing->key_count++];
    *key = (struct sort_key){.place = view->place, .number = sort_number(listing, view)};
    struct text text = listing->sort == SORT_NAME   ? view->record.name
                       : listing->sort == SORT_USER ? view->record.owner
                                                    : TEXT("");
    snprintf(key->text, sizeof(key->text), "%.*s", (int)text.length, text.length ? text.data : "");
}

/* Jobs with equal keys stay newest first. */
static int compare_keys(const void *a, const void *b)
{
    const struct sort_key *first = a, *second = b;
    int order = first->number < second->number   ? -1
                : first->number > second->number ? 1
                                                 : strcmp(first->text, second->text);
    return order ? order
                 : text_compare(id_token(text_of(second->place.id)),
                                id_token(text_of(first->place.id)));
}

static void print_sorted(struct listing *listing)
{
    struct arena *arena = arena_new();
    if (listing->key_count)
        qsort(listing->keys, listing->key_count, sizeof(*listing->keys), compare_keys);
    for (size_t i = 0; i < listing->key_count; i++) {
        struct job_view view;
        if (read_view(listing, &listing->keys[i].place, arena, &view) == 0)
            print_view(listing, arena, &view);
        arena_reset(arena);
    }
    arena_free(arena);
}

/* ---- all of them ---- */

static bool has_ended(const struct job_place *place)
{
    return place->state == STATE_DONE || place->state == STATE_FAILED;
}

static void tell_left(const struct listing *listing, const struct gathering *gathering)
{
    bool more;
    size_t left = gather_left(gathering, &more);
    bool exact = !listing->filter.mine && !listing->filter.user && !listing->filter.name;
    if (!left && !more)
        return;
    fflush(stdout);
    if (exact && left)
        remark("%s%zu more; --all lists all, --limit or --since more of them",
               more ? "at least " : "", left);
    else
        remark("older jobs were not looked at; --all lists all, --limit or --since more of them");
}

/* Print or collect every selected job.  -1 after a complaint when a directory cannot be read. */
static int go_through(struct listing *listing, struct gathering *gathering)
{
    struct arena *arena = arena_new();
    struct job_place place;
    int result, taken = 0, ended = 0;
    while ((result = gather_next(gathering, &place)) > 0) {
        struct job_view view;
        arena_reset(arena);
        if (read_view(listing, &place, arena, &view) ||
            !job_filter_takes(&listing->filter, &view) ||
            (listing->approvals && !decision_is_wanted(listing->spool, &listing->settings, &view)))
            continue;
        if (listing->sort == SORT_AGE)
            print_view(listing, arena, &view);
        else
            keep_key(listing, &view);
        taken++;
        ended += has_ended(&place);
        if (listing->limit >= 0 && taken >= listing->limit)
            break;
        if (listing->limit < 0 && !listing->all && !listing->filter.age && ended >= USUAL_LIMIT)
            gather_skip_ended(gathering);
    }
    arena_free(arena);
    if (result < 0)
        complain("the jobs could not be read: %s", strerror(errno));
    return result < 0 ? -1 : 0;
}

/* ---- archived jobs ---- */

struct archived_lines {
    struct archived_job *jobs; /* of a part; texts in the arena or the lines */
    size_t count, capacity;
    struct buffer lines;
    struct arena *arena;
};

static int compare_archived(const void *a, const void *b)
{
    const struct archived_job *first = a, *second = b;
    return text_compare(id_token(second->id), id_token(first->id));
}

static int read_part(struct archived_lines *part_lines, int archive, const struct part *part,
                     struct error *error)
{
    struct archived_job job;
    buffer_clear(&part_lines->lines);
    arena_reset(part_lines->arena);
    part_lines->count = 0;
    if (parts_read_index(archive, part, &part_lines->lines, error))
        return -1;
    struct text rest = buffer_text(&part_lines->lines);
    while (index_next(&rest, part_lines->arena, &job)) {
        part_lines->jobs = memory_grow(part_lines->jobs, part_lines->count, &part_lines->capacity,
                                       sizeof(*part_lines->jobs));
        part_lines->jobs[part_lines->count++] = job;
    }
    if (part_lines->count)
        qsort(part_lines->jobs, part_lines->count, sizeof(*part_lines->jobs), compare_archived);
    return 0;
}

/* The selected jobs of a part; false when there are enough. */
static bool print_part(struct listing *listing, const struct archived_lines *lines,
                       const struct part *part, int most)
{
    struct arena *arena = arena_new();
    for (size_t i = 0; i < lines->count && (most < 0 || listing->printed < (size_t)most); i++) {
        struct job_view view;
        archive_view(part, &lines->jobs[i], arena, &view);
        if (job_filter_may_take(&listing->filter, &view.place) &&
            job_filter_takes(&listing->filter, &view))
            print_view(listing, arena, &view);
        arena_reset(arena);
    }
    arena_free(arena);
    return most < 0 || listing->printed < (size_t)most;
}

/* Print the archived jobs, by the day of their end, the newest first.  -1 and a sentence. */
static int print_parts(struct listing *listing, int archive, struct error *error)
{
    struct part *parts;
    size_t count;
    int result = 0;
    bool more = true;
    int most = listing->limit >= 0 ? listing->limit : listing->all ? UNLIMITED : USUAL_LIMIT;
    struct archived_lines lines = {.arena = arena_new()};
    char first[CLOCK_TEXT_SIZE] = "";
    if (listing->filter.since)
        clock_date(listing->filter.since, first);
    if (parts_list(archive, &parts, &count))
        return error_errno(error, "history/archive/ could not be read");
    size_t at = 0;
    for (; at < count && more && !result && strcmp(parts[at].day, first) >= 0; at++) {
        result = read_part(&lines, archive, &parts[at], error);
        more = !result && print_part(listing, &lines, &parts[at], most);
    }
    if (!result && !more && listing->limit < 0) {
        fflush(stdout);
        remark("older archived jobs were not looked at; --all lists all, --limit more of them");
    }
    buffer_free(&lines.lines);
    arena_free(lines.arena);
    free(lines.jobs);
    free(parts);
    return result;
}

static int print_archived(struct listing *listing)
{
    struct error error;
    int archive = parts_open(listing->spool, false);
    int result = 0;
    listing->now = clock_now();
    listing->plan = (struct plan_file){.time = 0};
    if (archive >= 0) {
        result = print_parts(listing, archive, &error);
        sys.close(archive);
    } else if (errno != ENOENT) {
        result = error_errno(&error, "history/archive/ could not be opened");
    }
    if (listing->json)
        puts(listing->printed ? "]" : "[]");
    else
        columns_flush(listing->columns);
    if (result)
        complain("%s", error.text);
    return result ? STATUS_FAILED : STATUS_DONE;
}

static int print_listing(struct listing *listing)
{
    if (listing->archived)
        return print_archived(listing);
    struct gathering *gathering = gather_open(listing->spool, &listing->filter);
    if (!gathering) {
        complain("the jobs could not be read: %s", strerror(errno));
        return STATUS_FAILED;
    }
    listing->now = clock_now();
    listing->printed = listing->key_count = 0;
    listing->plan_arena = arena_new();
    plan_file_read(listing->spool, listing->plan_arena, &listing->plan, NULL);
    waiting_read(listing->spool, &listing->waiting);
    int result = go_through(listing, gathering);
    if (listing->sort != SORT_AGE)
        print_sorted(listing);
    if (listing->json)
        puts(listing->printed ? "]" : "[]");
    else
        columns_flush(listing->columns);
    tell_left(listing, gathering);
    gather_close(gathering);
    arena_free(listing->plan_arena);
    return result ? STATUS_FAILED : STATUS_DONE;
}

static int list_jobs(struct listing *listing, bool watch)
{
    int status;
    do {
        listing->columns = columns_new(listing->format, columns_terminal_width());
        if (!listing->columns)
            return STATUS_USAGE;
        if (watch && isatty(STDOUT_FILENO))
            fputs("\033[H\033[2J", stdout);
        status = print_listing(listing);
        columns_free(listing->columns);
        if (watch && (fflush(stdout) || nanosleep(&watch_interval, NULL)))
            break;
    } while (watch && status == STATUS_DONE);
    free(listing->keys);
    return status;
}

static bool read_sort(const char *word, enum sort_by *sort)
{
    for (int i = 0; i < SORTS; i++)
        if (strcmp(word, sort_words[i]) == 0) {
            *sort = (enum sort_by)i;
            return true;
        }
    struct nearest_hint hint;
    complain("--sort: found \"%s\", expected age, name, user, state, elapsed, started, ended or "
             "priority%s",
             word, nearest_hint(&hint, text_of(word), sort_words));
    return false;
}

int command_list(int argument_count, char **arguments)
{
    const char *sort = "age";
    bool watch = false;
    struct spool spool;
    struct error error;
    struct listing listing = {.spool = &spool, .limit = UNLIMITED};
    const struct option_spec options[] = {
        FILTER_OPTIONS(listing.filter),
        {"since", 0, OPTION_TEXT, &listing.filter.age, "TIME",
         "only jobs that came since then: 90m, 2d, 2026-05-01"},
        {"limit", 'l', OPTION_WHOLE, &listing.limit, "N", "at most so many jobs"},
        {"all", 'a', OPTION_FLAG, &listing.all, NULL, "all jobs, however many have ended"},
        {"archived", 0, OPTION_FLAG, &listing.archived, NULL,
         "jobs that are in archives, by the day of their end, and no others"},
        {"approvals", 0, OPTION_FLAG, &listing.approvals, NULL,
         "only jobs that wait for an approval which you may give"},
        {"sort", 0, OPTION_TEXT, &sort, "WORD",
         "by age (the default), name, user, state, elapsed, started, ended or priority"},
        {"format", 'o', OPTION_TEXT, &listing.format, "COLUMNS",
         "the columns, such as id,state,reason"},
        {"tasks", 0, OPTION_FLAG, &listing.tasks, NULL,
         "of arrays a row for the tasks in each state, such as sweep/0-2,7"},
        {"watch", 0, OPTION_FLAG, &watch, NULL, "list again every two seconds"},
        {"json", 'j', OPTION_FLAG, &listing.json, NULL, "as JSON, a list of objects"},
        {"watch", 'w', OPTION_FLAG, &watch, NULL, NULL},
        {0}};
    const struct verb_usage usage = {
        "list",
        "",
        0,
        0,
        "List the jobs, newest first: all that have not ended, and 50 that have.",
        "Columns: id name state user elapsed queue cpus gpus node tasks scheduler reason age\n"
        "submitted started ended memory priority exit deadline library type directory.  On a terminal,\n"
        "columns that say nothing are left out, and the reason is cut.  Times are by TZ.\n",
        options};
    int operands, status;
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    if (listing.approvals && !listing.filter.state)
        listing.filter.state = "held";
    if (job_filter_prepare(&listing.filter, &error)) {
        complain("%s", error.text);
        return STATUS_USAGE;
    }
    if (!read_sort(sort, &listing.sort))
        return STATUS_USAGE;
    if (listing.approvals && listing.archived) {
        complain("found --approvals and --archived, expected one of them");
        return STATUS_USAGE;
    }
    if (listing.archived && (watch || listing.sort != SORT_AGE)) {
        complain("--archived lists by the day of the end, and once; leave out --%s",
                 watch ? "watch" : "sort");
        return STATUS_USAGE;
    }
    if (open_spool(&spool))
        return STATUS_FAILED;
    if (listing.approvals && settings_read(&listing.settings, &spool, &error)) {
        complain("%s", error.text);
        spool_close(&spool);
        return STATUS_FAILED;
    }
    status = list_jobs(&listing, watch);
    settings_free(&listing.settings);
    spool_close(&spool);
    return status;
}
