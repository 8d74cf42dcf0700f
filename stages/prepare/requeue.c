/* stages/prepare/requeue.c - a job of failed/ or held/ goes to rendered/, or is killed where it waits; one of
 * rendered/ gets another size
 */
#include "stages/prepare/requeue.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "spool/eventlog.h"
#include "stages/shared/change_wait.h"
#include "stages/shared/control_tasks.h"
#include "stages/shared/end_line.h"
#include "stages/shared/hold.h"
#include "stages/shared/resize.h"
#include "stages/shared/duplicate.h"
#include "stages/shared/diagnosis.h"

/* May the executor have a job of rendered/?  It may from the intent on, until the job is rendered again; the
 * submit stage finds out what became of the intent.  So may one whose log does not tell. */
static bool may_be_submitted(int job)
{
    struct buffer log = {0};
    struct event event;
    bool result = true;
    if (!eventlog_read(job, &log, NULL) && eventlog_is_whole(buffer_text(&log))) {
        struct text rest = buffer_text(&log);
        while (eventlog_next(&rest, &event))
            result = text_is(event.name, "rendered") || text_is(event.name, "requeued") ||
                             text_is(event.name, "declined")
                         ? false
                     : text_is(event.name, "intent") || text_is(event.name, "submitted") ? true
                                                                                         : result;
    }
    buffer_free(&log);
    return result;
}

/* Where does the job go?  To held/ when it has to wait there.  False when it stays for now. */
static bool find_destination(const struct settings *settings, int job,
                             const struct job_place *place, const struct job_record *record,
                             const char *cause, enum state *to)
{
    struct control_request request;
    bool held = false;
    int waits =
        place->state == STATE_RENDERED ? 0 : hold_is_due(settings, job, record, &held, &request);
    *to = STATE_RENDERED;
    if (place->state == STATE_FAILED && waits > 0)
        *to = STATE_HELD;
    /* A kill that was requested since the decision is left to the next pass. */
    bool killed =
        strcmp(cause, "asked") != 0 && control_file_pending(job, CONTROL_KILL, &request) != 0;
    return waits >= 0 && !killed && !(place->state == STATE_HELD && held);
}

/* The job's files are written.  Once they are durable, the job moves to `to`. */
static void add_move(struct requeuer *requeuer, const struct job_place *place, int job,
                     enum state to, const char *cause)
{
    requeuer->moves[requeuer->moves_count++] =
        (struct requeue_move){.place = *place, .job = job, .to = to, .cause = cause};
}

/* True when the job's directory is to stay open until the job moves. */
static bool send_back(struct requeuer *requeuer, const struct job_place *place, int job,
                      struct job_record *record, const struct requeue_action *action)
{
    const char *cause = action->cause;
    struct error error;
    enum state to;
    if (!find_destination(&requeuer->renewer.stage->settings, job, place, record, cause, &to))
        return false;
    const struct renewal_order order = {action->from, to, action->cause, action->size};
    enum renewal renewed = renew_job(&requeuer->renewer, job, record, &order, &error);
    if (renewed == RENEW_TROUBLE) {
        /* When only trouble, such as a full disk, prevents it, the request to retry stays. */
        log_warn("%s: cannot be rendered again: %s", place->id, error.text);
        if (!record->request_file.length)
            control_file_clear(job, CONTROL_RETRY, NULL);
        return false;
    }
    if (renewed == RENEW_FAILED) {
        log_detail("%s: cannot go on: %s", place->id, record->failure.reason.data);
        to = STATE_FAILED;
    } else if (renewed == RENEW_HELD) {
        to = STATE_HELD;
    }
    if (to == place->state) {
        control_file_clear(job, CONTROL_RETRY, NULL);
        return false;
    }
    /* Clear the request before the move, or the job would be killed or refused again where it goes. */
    if ((strcmp(cause, "asked") == 0 && (control_file_clear(job, CONTROL_KILL, &error) ||
                                         control_file_clear(job, CONTROL_REFUSE, &error))) ||
        (renewed == RENEW_DONE && record->array.length && control_tasks_clear(job, &error))) {
        log_warn("%s: %s", place->id, error.text);
        return false;
    }
    add_move(requeuer, place, job, to, cause);
    return true;
}

/* Move a job, and remove the requests that this grants. */
static int move_job(struct requeuer *requeuer, struct requeue_move *move, struct error *error)
{
    struct spool *spool = &requeuer->renewer.stage->spool;
    if (job_move(spool, &move->place, move->to, clock_now(), error) ||
        control_file_clear(move->job, CONTROL_RETRY, error))
        return -1;
    if (move->to == STATE_RENDERED &&
        (control_file_clear(move->job, CONTROL_RELEASE, error) || why_remove(move->job, error)))
        return -1;
    return 0;
}

void requeue_finish(struct requeuer *requeuer)
{
    struct spool *spool = &requeuer->renewer.stage->spool;
    bool touched[STATE_COUNT] = {false};
    struct error error;
    size_t count = requeuer->moves_count;
    bool moves = count > 0;
    if (moves && spool_sync(spool, &error)) {
        log_warn("%s; jobs are requeued once this works", error.text);
        moves = false;
    }
    moves =
        moves && !stage_is_fenced(requeuer->renewer.stage); /* a sync can take as long as a stop */
    for (size_t i = 0; i < count; i++) {
        struct requeue_move *move = &requeuer->moves[i];
        enum state from = move->place.state;
        if (moves && move_job(requeuer, move, &error)) {
            log_warn("%s: %s", move->place.id, error.text);
        } else if (moves) {
            requeuer->requeued += move->to == STATE_RENDERED;
            if (move->to == STATE_FAILED)
                end_line_log(move->job, move->place.id, move->to);
            else
                log_detail("%s: goes to %s/ (%s)", move->place.id, spool_state_name(move->to),
                           move->cause);
        }
        touched[from] = touched[move->to] = moves;
        sys.close(move->job);
    }
    for (int state = 0; state < STATE_COUNT; state++)
        if (touched[state] && spool_sync_state(spool, (enum state)state, &error))
            log_warn("%s", error.text);
    requeuer->moves_count = 0;
}

static void kill_waiting(struct requeuer *requeuer, int job, struct job_record *record)
{
    struct diagnosis diagnosis;
    struct error error;
    struct control_request request;
    if (control_file_pending(job, CONTROL_KILL, &request) != 1)
        return;
    diagnosis_killed(&diagnosis, record->id.data, request.by, request.when);
    if (diagnosis_write(&diagnosis, job, record, false, clock_now(), &error) ||
        spool_sync(&requeuer->renewer.stage->spool, &error))
        log_warn("%s: %s", record->id.data, error.text);
}

static void end_wait(struct requeuer *requeuer, int job, struct job_record *record)
{
    struct error error;
    if (!record->failed || record->failure.when != RETRY_CHANGE)
        return;
    if (change_wait_update(job, record, &requeuer->renewer.stage->settings, clock_now(), &error) ||
        spool_sync(&requeuer->renewer.stage->spool, &error))
        log_warn("%s: %s", record->id.data, error.text);
}

void requeue_job(struct requeuer *requeuer, const struct requeue_action *action)
{
    struct job_place place = {.state = action->from};
    struct job_record record;
    struct error error;
    memcpy(place.id, action->id, sizeof(place.id));
    int job = job_open(&requeuer->renewer.stage->spool, &place);
    if (job < 0)
        return;
    if (stage_is_fenced(requeuer->renewer.stage)) {
        sys.close(job);
        return;
    }
    if (record_read(job, requeuer->renewer.arena, &record, &error)) {
        bool damaged = file_is_damaged(errno);
        log_warn("%s cannot be retried: %s", place.id, error.text);
        if (damaged)
            control_file_clear(job, CONTROL_RETRY, NULL);
    } else if (duplicate_settle(requeuer->renewer.stage, &place, record.accepted)) {
        log_detail("%s: this copy was quarantined", place.id);
    } else if (action->kind == ACTION_KILL) {
        kill_waiting(requeuer, job, &record);
    } else if (action->kind == ACTION_END_WAIT) {
        end_wait(requeuer, job, &record);
    } else if (action->from == STATE_RENDERED && may_be_submitted(job)) {
        log_detail("%s: keeps its size: the executor may have it already", place.id);
    } else if (send_back(requeuer, &place, job, &record, action)) {
        job = -1;
    }
    if (job >= 0)
        sys.close(job);
    arena_reset(requeuer->renewer.arena);
}
