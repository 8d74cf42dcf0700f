/* stages/resubmit/held_look.c - reads the files of the jobs of held/ when they have changed */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "request/after.h"
#include "spool/jobs.h"
#include "spool/order_request.h"
#include "stages/guard.h"
#include "stages/resubmit/held_parts.h"
#include "stages/resubmit/news.h"
#include "stages/shared/approval_words.h"
#include "stages/shared/sweep.h"

void held_look_set_id(struct held_jobs *jobs, struct held_condition *condition, struct text id)
{
    held_unheard_set(jobs, condition, false);
    condition->found = id.length > 0;
    if (id.length)
        dependency_await(jobs->dependencies, id, &condition->waits);
    else
        dependency_leave(jobs->dependencies, &condition->waits);
}

const char *held_look_name(const struct held *held)
{
    return (const char *)(held->conditions + held->count);
}

const char *held_job_name(const struct held_condition *condition)
{
    return (const char *)condition->held->conditions + condition->job_at;
}

struct text held_job_id(const struct held_condition *condition)
{
    return dependency_id(&condition->waits);
}

static void forget_approval(struct held *held)
{
    if (!held->approval)
        return;
    free(held->approval->sentence);
    free(held->approval->detail);
    free(held->approval->next);
    free(held->approval->refusal_words);
    free(held->approval);
    held->approval = NULL;
}

void held_look_forget(struct held_jobs *jobs, struct held *held)
{
    for (size_t i = 0; i < held->count; i++) {
        held_unheard_set(jobs, &held->conditions[i], false);
        dependency_leave(jobs->dependencies, &held->conditions[i].waits);
    }
    free(held->conditions);
    free(held->sentence);
    forget_approval(held);
    free(held->kill);
    free(held->tasks);
    held->hold = held->kill = NULL;
    held->tasks = NULL;
    held->sentence = NULL;
    held->conditions = NULL;
    held->count = 0;
}

static struct control_request *copy_request(const struct control_request *request)
{
    struct control_request *copy = memory_allocate(sizeof(*copy));
    *copy = *request;
    return copy;
}

/* Who holds the job: kept once for all jobs of theirs. */
static const struct control_request *holder_of(struct held_jobs *jobs,
                                               const struct control_request *request)
{
    char key[sizeof(request->by) + 16];
    snprintf(key, sizeof(key), "%u %s", (unsigned int)request->uid, request->by);
    struct control_request *holder = names_find(jobs->holders, text_of(key));
    if (!holder) {
        holder = names_add(jobs->holders, text_of(key));
        holder->uid = request->uid;
        memcpy(holder->by, request->by, sizeof(holder->by));
    }
    return holder;
}

/* Was this asked for by a control file?  Not readable is what it cannot be known of now. */
static bool read_request(struct held *held, int job, enum control_verb verb,
                         struct control_request *request)
{
    int pending = control_file_pending(job, verb, request);
    held->readable = held->readable && pending >= 0;
    return pending > 0;
}

/* Put a text, and a zero, where *words points to, and that behind it. */
static char *put_words(char **words, struct text text)
{
    char *put = *words;
    memcpy(put, text.length ? text.data : "", text.length);
    put[text.length] = '\0';
    *words += text.length + 1;
    return put;
}

/* Take the conditions.  One block of memory: the conditions, and after them the job's name, and their words.  A
 * job that was released waits for no other. */
static void take_conditions(struct held_jobs *jobs, struct held *held,
                            const struct job_record *record)
{
    size_t bytes = record->after_count * (sizeof(*held->conditions) + 1) + record->name.length + 1;
    for (size_t i = 0; i < record->after_count; i++)
        bytes += record->after[i].job.length;
    held->count = (uint32_t)record->after_count;
    if (!held->count)
        return;
    held->conditions = memory_allocate(bytes);
    char *words = (char *)(held->conditions + held->count);
    put_words(&words, record->name);
    for (size_t i = 0; i < held->count; i++) {
        struct held_condition *condition = &held->conditions[i];
        const struct awaited *awaited = &record->after[i];
        enum condition kind = AFTER_OK;
        after_condition_find(awaited->condition, &kind);
        condition->condition = kind;
        condition->held = held;
        condition->job_at = (uint32_t)(put_words(&words, awaited->job) - (char *)held->conditions);
        if (awaited->id.length && !record->released)
            dependency_await(jobs->dependencies, awaited->id, &condition->waits);
    }
}

/* Does the job wait for an approval, or was it refused? */
static void look_for_approval(struct held_jobs *jobs, struct held *held, int job,
                              const struct job_record *record)
{
    struct approval approval;
    struct approval_words words;
    struct error reason;
    struct buffer refusal = {0};
    enum approval_answer answer =
        approval_judge(jobs->settings, NULL, record, job, &approval, &reason);
    held->approved = answer == APPROVAL_GIVEN;
    if (answer == APPROVAL_GIVEN || answer == APPROVAL_NOT_WANTED)
        return;
    struct held_approval *wanted = held->approval = memory_allocate(sizeof(*wanted));
    int refused = approval_file_refused(job, &wanted->refusal, &refusal);
    held->readable = held->readable && answer != APPROVAL_UNKNOWN && refused >= 0;
    wanted->is_refused = refused > 0;
    wanted->refusal_words = refused > 0 ? memory_copy_text(buffer_text(&refusal)) : NULL;
    approval_words_make(jobs->settings, record, answer, &reason, &words);
    wanted->sentence = memory_copy_text(buffer_text(&words.sentence));
    wanted->detail = memory_copy_text(buffer_text(&words.detail));
    wanted->next = memory_copy_text(buffer_text(&words.next));
    approval_words_free(&words);
    buffer_free(&refusal);
}

/* Read the job's files.  What cannot be read now is read again by the next pass. */
static void read_held(struct held_jobs *jobs, struct held *held, int job)
{
    struct job_record record;
    struct control_request request;
    struct error error;
    struct text id = held_id(held);
    held_look_forget(jobs, held);
    held_awake_add(jobs, held);
    held->approved = false;
    held->readable = true;
    if (read_request(held, job, CONTROL_HOLD, &request))
        held->hold = holder_of(jobs, &request);
    bool whole = held->hold || !held->readable;
    if (read_request(held, job, CONTROL_KILL, &request))
        held->kill = copy_request(&request);
    int unread = record_read(job, jobs->arena, &record, &error);
    held->readable = held->readable && !unread;
    int64_t begin = unread ? 0 : control_file_until(job, record.begin);
    held->readable = held->readable && begin >= 0;
    held->begin = unread || (!begin && record.begin > clock_now()) ? 0 : record.begin;
    struct held_tasks tasks;
    int kept = unread || whole ? 0 : hold_keep_tasks(job, &record, jobs->arena, &tasks);
    held->readable = held->readable && kept >= 0;
    if (kept > 0) {
        held->hold = holder_of(jobs, &tasks.request);
        held->tasks = memory_copy_text(sweep_shortened(jobs->arena, tasks.tasks));
    }
    if (unread && file_is_damaged(errno)) {
        held_pass_decide(held, HELD_DAMAGED, "%s", error.text);
    } else if (unread) {
        log_warn("%s: in held/, cannot be read at the moment: %s", id.data, error.text);
    } else if (!text_equal(record.id, id)) {
        held_pass_decide(held, HELD_DAMAGED, "job.yaml has the id of another job");
    } else {
        held->readable = held->readable && order_request_take(job, jobs->arena, &record) >= 0;
        held->uid = record.uid;
        held->accepted = record.accepted;
        held->since = record.held ? record.held : record.accepted;
        held->priority = record.priority;
        held->released = record.released != 0;
        take_conditions(jobs, held, &record);
        look_for_approval(jobs, held, job, &record);
    }
    arena_reset(jobs->arena);
}

static void forget(struct held_jobs *jobs, struct held *held)
{
    if (!held)
        return;
    held_look_forget(jobs, held);
    held_awake_remove(jobs, held);
    names_remove(jobs->jobs, held);
}

/* A job could not be looked at, and nothing may tell of it again. */
static void look_soon(struct held_jobs *jobs)
{
    if (jobs->watch)
        watch_expect(jobs->watch);
}

/* Read a job of held/ again if it is new or its directory has changed.  A job over which the stage has died
 * too often is not read. */
static int look_at_held(void *context, const struct job_place *place)
{
    struct held_jobs *jobs = context;
    struct stat status;
    struct guard_before before;
    struct text id = text_of(place->id);
    struct held *held = names_find(jobs->jobs, id);
    held_jobs_doubt(jobs, id);
    if (sys.fstatat(jobs->spool->states[STATE_HELD], place->id, &status, AT_SYMLINK_NOFOLLOW)) {
        if (errno == ENOENT) {
            forget(jobs, held);
            return 0;
        }
        log_warn("%s: in held/, cannot be looked at at the moment: %s", place->id, strerror(errno));
        look_soon(jobs);
        return 0;
    }
    if (!S_ISDIR(status.st_mode))
        return 0;
    if (!held && (held = names_add(jobs->jobs, id))) {
        held->arrived = held->rests = true;
        held_awake_add(jobs, held);
    }
    if (!held) {
        look_soon(jobs); /* more than MOST_HELD jobs: this one is read when others have gone */
        return 0;
    }
    held->met = jobs->pass;
    if (held->changed.tv_sec == status.st_mtim.tv_sec &&
        held->changed.tv_nsec == status.st_mtim.tv_nsec)
        return 0;
    int job = job_open(jobs->spool, place);
    if (job < 0)
        return 0;
    held->changed = (struct timespec){0};
    if (guard_begin(guard_own(), place->id, &before)) {
        held->decision = HELD_WAITS;
        read_held(jobs, held, job);
        guard_return(guard_own(), &before);
    }
    if (held->readable && job_is_settled(&status))
        held->changed = status.st_mtim;
    sys.close(job);
    return 0;
}

/* Forget the jobs that the walk did not meet. */
static void forget_gone(struct held_jobs *jobs)
{
    struct held *next;
    for (struct held *held = names_first(jobs->jobs); held; held = next) {
        next = names_after(held);
        if (held->met != jobs->pass)
            forget(jobs, held);
    }
}

/* Was it read too soon after a change to be sure of it, or was something decided of it that may have changed it? */
static bool is_in_doubt(const struct held *held)
{
    return (!held->changed.tv_sec && !held->changed.tv_nsec) || held->decision != HELD_WAITS;
}

/* Look at those again of which no event may tell, before any other job can be forgotten.  The last takes the place of
 * one that is gone. */
static void look_again(struct held_jobs *jobs)
{
    for (size_t i = jobs->kept; i-- > 0;) {
        struct job_place place = {.state = STATE_HELD};
        struct text id = held_id(jobs->by_age[i]);
        if (!is_in_doubt(jobs->by_age[i]))
            continue;
        memcpy(place.id, id.data, id.length + 1);
        look_at_held(jobs, &place);
    }
}

/* Look at the jobs of which events tell, and at those in doubt.  0 or -1, and whether all were met that are there. */
static int look_at_news(struct held_jobs *jobs, bool *all, struct error *error)
{
    look_again(jobs);
    int visited = news_visit(jobs->watch, STATE_HELD, look_at_held, jobs, error);
    *all = visited > 0;
    return visited < 0 ? -1 : 0;
}

int held_look(struct held_jobs *jobs, struct error *error)
{
    bool all = true;
    jobs->count = 0;
    if (!jobs->watch && jobs_walk(jobs->spool, STATE_HELD, look_at_held, jobs))
        return error_errno(error, "held/ could not be read");
    if (jobs->watch && look_at_news(jobs, &all, error))
        return -1;
    if (all)
        forget_gone(jobs);
    return all;
}
