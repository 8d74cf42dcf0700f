/* commands/follow_jobs.c - wait for jobs, as `wait` and `submit --wait` do */
#include "commands/follow_jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/duration.h"
#include "commands/complain.h"
#include "commands/options.h"
#include "client/outlook.h"
#include "commands/pick.h"
#include "commands/print.h"
#include "client/view.h"
#include "spool/jobs.h"
#include "stages/lease.h"

static const struct timespec look_interval = {.tv_nsec = 100 * 1000000};
/* Milliseconds: why a job waits is not shown before PATIENCE, since most start within it; the
 * other two are between looks at the lease, and between updates of the progress. */
enum { PATIENCE = 1500, LEASE_INTERVAL = 2000, PROGRESS_INTERVAL = 1000 };

struct following {
    const struct spool *spool;
    const struct follow_options *options;
    const char *const *ids;
    size_t count, left;
    bool *ended;
    struct follow_said *said;
    int64_t begun, lease_looked, progress_shown;
    bool progress; /* a line of progress is on the terminal */
    int status;
};

/* ---- messages about jobs that have not ended ---- */

static void clear_progress(struct following *following)
{
    if (following->progress)
        fputs("\r\033[K", stderr);
    following->progress = false;
}

static void show_progress(struct following *following)
{
    char time[CLOCK_TEXT_SIZE];
    int64_t now = clock_elapsed();
    if (following->options->quiet || !isatty(STDERR_FILENO) ||
        now - following->progress_shown < PROGRESS_INTERVAL)
        return;
    following->progress_shown = now;
    fprintf(stderr, "\r\033[K%zu of %zu ended, after %s", following->count - following->left,
            following->count, duration_format((now - following->begun) / 1000 * 1000, time));
    fflush(stderr);
    following->progress = true;
}

static void say_situation(const struct spool *spool, const struct job_place *place)
{
    struct job_view view;
    struct waiting_file waiting;
    struct arena *arena = arena_new();
    if (view_read(spool, place, arena, &view) == 0 && view.situation.state != JOB_RUNNING &&
        view.situation.state != JOB_STOPPING) {
        waiting_read(spool, &waiting);
        view_take_waiting(&view, &waiting, arena);
        struct text sentence = view_sentence(&view);
        remark("%s has not started yet, it is %s%s%.*s", place->id,
               job_state_name(view.situation.state), sentence.length ? ": " : "",
               (int)sentence.length, sentence.data);
    }
    arena_free(arena);
}

void follow_jobs_say_waiting(const struct spool *spool, const char *id, struct follow_said *said)
{
    struct job_place place;
    int64_t now = clock_elapsed();
    if (!said->since)
        said->since = now;
    if (said->said || now - said->since < PATIENCE)
        return;
    said->said = true;
    if (jobs_find_whole(spool, text_of(id), &place))
        say_situation(spool, &place);
}

static bool is_unserved(const struct spool *spool)
{
    char who[LEASE_TEXT_SIZE];
    return lease_present(spool, who) == 0;
}

/* Warn once when no daemon serves the spool.  Not at the first look: one may just be restarting. */
static void look_for_daemon(struct following *following)
{
    int64_t now = clock_elapsed();
    struct follow_said *said = &following->said[0];
    if (said->unserved || now - following->lease_looked < LEASE_INTERVAL)
        return;
    bool first = following->lease_looked == 0;
    following->lease_looked = now;
    if (first || !is_unserved(following->spool))
        return;
    said->unserved = true;
    clear_progress(following);
    remark("no daemon serves %s; what is waited for goes on when `dlspool run` is started",
           following->spool->path);
}

/* ---- ends ---- */

static void tell_end(const struct following *following, struct arena *arena,
                     const struct job_view *view)
{
    char path[PLACE_TEXT_SIZE];
    struct text sentence = view_sentence(view);
    if (following->options->json) {
        print_json(outlook_job(following->spool, arena, view));
    } else if (!following->options->quiet) {
        printf("%s%s", job_place_text(&view->place, path), sentence.length ? ": " : "");
        print_text(sentence);
        putchar('\n');
    }
    fflush(stdout);
}

static void take_end(struct following *following, const struct job_view *view)
{
    if (view->place.state == STATE_DONE || following->status != STATUS_DONE)
        return;
    int code = view->record.failure.exit_code;
    following->status =
        following->options->exit_status && code > 0 && code < 256 ? code : STATUS_JOB_FAILED;
}

/* Has the job ended?  -1 after a complaint when it is gone. */
static int look_at_job(struct following *following, size_t i)
{
    struct job_place place;
    struct job_view view;
    if (jobs_find_whole(following->spool, text_of(following->ids[i]), &place) &&
        place.state != STATE_FAILED)
        return 0;
    if (pick_job(following->spool, following->ids[i], &place) != STATUS_DONE)
        return -1;
    struct arena *arena = arena_new();
    int ended = view_read(following->spool, &place, arena, &view) ? 0 : view_has_ended(&view);
    if (ended) {
        clear_progress(following);
        tell_end(following, arena, &view);
        take_end(following, &view);
    }
    arena_free(arena);
    return ended;
}

static void look_at_all(struct following *following)
{
    for (size_t i = 0; i < following->count; i++) {
        int result = following->ended[i] ? 0 : look_at_job(following, i);
        if (result) {
            following->ended[i] = true;
            following->left--;
        } else if (!following->ended[i] && !following->options->quiet) {
            follow_jobs_say_waiting(following->spool, following->ids[i], &following->said[i]);
        }
        if (result < 0 && following->status == STATUS_DONE)
            following->status = STATUS_NOT_FOUND;
    }
}

static void tell_timeout(struct following *following)
{
    clear_progress(following);
    complain("%zu %s not ended yet", following->left,
             following->left == 1 ? "job has" : "jobs have");
    if (following->status == STATUS_DONE)
        following->status = is_unserved(following->spool) ? STATUS_UNSERVED : STATUS_TIMEOUT;
}

int follow_jobs(const struct spool *spool, const char *const *ids, size_t count,
                const struct follow_options *options)
{
    struct following following = {.spool = spool,
                                  .options = options,
                                  .ids = ids,
                                  .count = count,
                                  .left = count,
                                  .begun = clock_elapsed()};
    following.ended = memory_allocate((count + 1) * sizeof(*following.ended));
    following.said = memory_allocate((count + 1) * sizeof(*following.said));
    for (;;) {
        look_at_all(&following);
        if (!following.left || (options->any && following.left < count))
            break;
        if (options->timeout && clock_elapsed() >= following.begun + options->timeout) {
            tell_timeout(&following);
            break;
        }
        look_for_daemon(&following);
        show_progress(&following);
        nanosleep(&look_interval, NULL);
    }
    clear_progress(&following);
    free(following.ended);
    free(following.said);
    return following.status;
}
