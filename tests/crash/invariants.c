/* tests/crash/invariants.c - what must hold, whatever happened */
#include "tests/crash/invariants.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.h"
#include "spool/eventlog.h"
#include "spool/jobs.h"
#include "spool/record.h"
#include "spool/settings.h"
#include "spool/subscription.h"
#include "spool/usage.h"
#include "stages/shared/decayed_use.h"
#include "tests/crash/scheduler.h"
#include "tests/crash/tree.h"

struct checking {
    struct check *check;
    struct spool spool;
    struct arena *arena;
    int jobs[MOST_DROPPED]; /* how many jobs each dropped file has become */
    struct scheduled *tokens;
    size_t token_count;
    enum finding finding;
};

static enum finding found(struct checking *checking, enum finding finding, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static enum finding found(struct checking *checking, enum finding finding, const char *format, ...)
{
    va_list arguments;
    if (checking->finding)
        return checking->finding;
    va_start(arguments, format);
    vsnprintf(checking->check->why, WHY_SIZE, format, arguments);
    va_end(arguments);
    return checking->finding = finding;
}

static int which_dropped(const struct scene *scene, struct text source)
{
    for (int i = 0; i < scene->count; i++)
        if (text_is(source, scene->dropped[i].file))
            return i;
    return -1;
}

/* Files */

static void check_mode(struct checking *checking, const char *path, mode_t mode, bool needed)
{
    struct stat status;
    if (lstat(path, &status)) {
        if (needed)
            found(checking, FOUND_WRONG, "%s is missing", path);
    } else if ((status.st_mode & 07777) != mode) {
        found(checking, FOUND_WRONG, "%s has mode %o instead of %o", path,
              (unsigned int)status.st_mode & 07777, (unsigned int)mode);
    }
}

/* A why that quotes what the job printed is for those who may read that. */
static mode_t mode_of_why(const char *path)
{
    struct stat status;
    if (lstat(path, &status))
        return 0644;
    struct buffer why = tree_read(path);
    bool quotes = text_contains(buffer_text(&why), TEXT("\nThe last lines that "));
    buffer_free(&why);
    return quotes ? 0640 : 0644;
}

static void check_modes(struct checking *checking, const char *job)
{
    static const struct {
        const char *name;
        mode_t mode;
        bool needed;
    } files[] = {{"", 0755, true},
                 {"job.yaml", 0644, true},
                 {"log", 0644, true},
                 {"request.yaml", 0640, false},
                 {"manifest.yaml", 0640, false},
                 {"output", 0755, false},
                 {"kill", 0644, false}};
    char path[TREE_PATH_SIZE];
    for (size_t i = 0; i < ARRAY_COUNT(files); i++) {
        snprintf(path, sizeof(path), "%s/%s", job, files[i].name);
        mode_t mode = strcmp(files[i].name, "why") == 0 ? mode_of_why(path) : files[i].mode;
        check_mode(checking, path, mode, files[i].needed);
    }
}

static struct buffer read_part(const char *job, const char *name)
{
    char path[TREE_PATH_SIZE];
    snprintf(path, sizeof(path), "%s/%s", job, name);
    return tree_read(path);
}

/* What quotes the job's output is for those who may read that. */
static void check_why_mode(struct checking *checking, const char *job)
{
    char path[TREE_PATH_SIZE];
    struct buffer why = read_part(job, "why");
    bool quotes = why.length && strstr(why.data, "another line");
    snprintf(path, sizeof(path), "%s/why", job);
    check_mode(checking, path, quotes ? 0640 : 0644, false);
    buffer_free(&why);
}

/* Nobody tells anybody here: so what its owner is to be told is there as soon as the job is. */
static void check_messages(struct checking *checking, const char *id)
{
    struct subscription subscription;
    struct error error;
    int directory = subscription_open_directory(&checking->spool);
    char path[TREE_PATH_SIZE];
    if (directory < 0 ||
        subscription_read(directory, id, checking->arena, &subscription, &error) != 0 ||
        subscription.events != 1u << MESSAGE_END)
        found(checking, FOUND_LOST, "messages/%s does not say what its owner wants to be told", id);
    snprintf(path, sizeof(path), "%s/messages/%s", checking->check->world->spool, id);
    check_mode(checking, path, 0640, true);
    if (directory >= 0)
        sys.close(directory);
}

static void check_request(struct checking *checking, const char *job, const struct dropped *dropped)
{
    struct buffer request = read_part(job, "request.yaml");
    if (!text_is(buffer_text(&request), dropped->bytes))
        found(checking, FOUND_WRONG, "%s/request.yaml is not what was dropped", job);
    buffer_free(&request);
}

static void check_manifest(struct checking *checking, const char *job,
                           const struct job_record *record)
{
    struct buffer manifest = read_part(job, "manifest.yaml");
    char digest[SHA256_HEX_SIZE];
    sha256_hex(buffer_text(&manifest), digest);
    if (!text_is(record->manifest_sha256, digest))
        found(checking, FOUND_WRONG, "%s/manifest.yaml is not the one that job.yaml names", job);
    for (size_t i = 0; i < checking->token_count; i++) {
        const struct scheduled *token = &checking->tokens[i];
        if (text_is(record->id, token->id) && token->attempt == record->attempt &&
            strcmp(token->sha256, digest) != 0)
            found(checking, FOUND_WRONG, "the scheduler got another manifest for %s", token->id);
    }
    buffer_free(&manifest);
}

static void check_log(struct checking *checking, const char *job, const struct job_place *place)
{
    struct buffer log = read_part(job, "log");
    struct text rest = buffer_text(&log);
    struct event event;
    enum state state;
    const char *final = place->state == STATE_DONE ? "finished" : "failed";
    bool ends = false;
    if (!eventlog_next(&rest, &event) || !text_is(event.name, "accepted"))
        found(checking, FOUND_WRONG, "%s/log does not begin with `accepted`", job);
    while (eventlog_next(&rest, &event))
        ends = ends || text_is(event.name, final);
    if (!ends)
        found(checking, FOUND_WRONG, "%s/log has no final event", job);
    if (!eventlog_state(buffer_text(&log), &state) || state != place->state)
        found(checking, FOUND_WRONG, "%s/log does not say that the job is there", job);
    buffer_free(&log);
}

static void check_output(struct checking *checking, const char *job)
{
    struct buffer output = read_part(job, "output/main-0.log");
    if (!text_is(buffer_text(&output), scheduler_output))
        found(checking, FOUND_WRONG, "%s/output/main-0.log is not what the task printed", job);
    buffer_free(&output);
}

/* What it waited for, or failed by, was before it was submitted the last time. */
static void check_no_why(struct checking *checking, const char *job)
{
    char path[TREE_PATH_SIZE];
    snprintf(path, sizeof(path), "%s/why", job);
    if (access(path, F_OK) == 0 && !checking->check->littered)
        found(checking, FOUND_WRONG, "%s has a why left", job);
}

/* The scheduler */

static int runs_of(const struct checking *checking, struct text id)
{
    int runs = 0;
    for (size_t i = 0; i < checking->token_count; i++)
        if (text_is(id, checking->tokens[i].id))
            runs += checking->tokens[i].runs;
    return runs;
}

static void check_tokens(struct checking *checking)
{
    for (size_t i = 0; i < checking->token_count; i++) {
        const struct scheduled *token = &checking->tokens[i];
        if (token->runs > 1)
            found(checking, FOUND_DOUBLED, "%s, attempt %d was run %d times", token->id,
                  token->attempt, token->runs);
        if (token->foreign)
            found(checking, FOUND_WRONG, "%s, attempt %d was submitted with two manifests",
                  token->id, token->attempt);
    }
}

/* The accounts */

/* An id without its token. */
static struct text id_name(const char *id)
{
    struct text whole = text_of(id);
    whole.length -= id_token(whole).length + 1;
    return whole;
}

/* A job that is, or was made from, the damaged one. */
static bool is_damaged(const struct checking *checking, const char *id)
{
    const char *damaged = checking->check->damaged;
    return damaged && text_equal(id_name(id), id_name(damaged));
}

struct accounts {
    struct checking *checking;
    int *lines; /* of each token */
};

static int take_account(void *context, const struct usage *usage)
{
    const struct accounts *accounts = context;
    struct checking *checking = accounts->checking;
    for (size_t i = 0; i < checking->token_count; i++) {
        const struct scheduled *token = &checking->tokens[i];
        if (text_is(usage->id, token->id) && usage->attempt == token->attempt) {
            accounts->lines[i]++;
            return 0;
        }
    }
    found(checking, FOUND_WRONG,
          "the accounts have %.*s, attempt %d, which the scheduler never had",
          (int)usage->id.length, usage->id.data, usage->attempt);
    return 0;
}

/* Each attempt that the scheduler has run is in the accounts, and counts once. */
static void check_accounts(struct checking *checking)
{
    struct accounts accounts = {
        checking, memory_allocate((checking->token_count + 1) * sizeof(*accounts.lines))};
    struct error error;
    if (usage_scan(&checking->spool, 0, take_account, &accounts, &error))
        found(checking, FOUND_WRONG, "the accounts: %s", error.text);
    for (size_t i = 0; i < checking->token_count; i++) {
        const struct scheduled *token = &checking->tokens[i];
        bool damaged = is_damaged(checking, token->id);
        if (token->runs && accounts.lines[i] != 1 && !(damaged && accounts.lines[i] == 0))
            found(checking, accounts.lines[i] ? FOUND_DOUBLED : FOUND_LOST,
                  "%s, attempt %d is in the accounts %d times", token->id, token->attempt,
                  accounts.lines[i]);
    }
    free(accounts.lines);
}

/* What the only user has used, in milliseconds of a GPU. */
static void take_user(void *context, const struct decayed_user *user)
{
    *(double *)context += user->used;
}

static double used_by_all(struct checking *checking, const struct fair_share *share)
{
    struct decayed_use *use = decayed_use_new(&checking->spool, share);
    struct error error;
    double used = 0;
    if (decayed_use_look(use, &error))
        found(checking, FOUND_WRONG, "what users have used: %s", error.text);
    decayed_use_walk(use, take_user, &used);
    decayed_use_free(use);
    return used;
}

/* What is kept of the users' shares, if anything, is what the accounts say. */
static void check_shares(struct checking *checking)
{
    struct settings settings;
    struct error error;
    char path[TREE_PATH_SIZE];
    if (settings_read(&settings, &checking->spool, &error)) {
        found(checking, FOUND_WRONG, "%s", error.text);
        return;
    }
    double kept = used_by_all(checking, &settings.shares);
    snprintf(path, sizeof(path), "%s/history/shares", checking->check->world->spool);
    unlink(path);
    double used = used_by_all(checking, &settings.shares);
    if (used <= 0 || fabs(kept - used) > used / 1000000)
        found(checking, FOUND_WRONG, "by history/shares users used %f, and by the accounts %f",
              kept, used);
    settings_free(&settings);
}

/* A job */

struct wanted {
    enum state state;
    const char *reason; /* in failed/ */
    int least_runs, most_runs;
};

static const struct wanted all_wanted[] = {
    [KIND_GOOD] = {STATE_DONE, NULL, 1, 1},
    [KIND_FLAKY] = {STATE_DONE, NULL, 2, 2},
    [KIND_SHAKY] = {STATE_DONE, NULL, 2, 2},
    [KIND_BAD] = {STATE_FAILED, "BadRequest", 0, 0},
    [KIND_LONG] = {STATE_FAILED, "Killed", 0, 1},
    [KIND_AFTER] = {STATE_DONE, NULL, 1, 1},
    [KIND_LOST] = {STATE_FAILED, "Dependency", 0, 0},
    [KIND_GROWS] = {STATE_DONE, NULL, 1, 1},
    [KIND_MOVES] = {STATE_DONE, NULL, 2, 2},
    [KIND_YIELDS] = {STATE_DONE, NULL, 2, 2},
    [KIND_WIDE] = {STATE_DONE, NULL, 1, 1},
    [KIND_TIGHT] = {STATE_DONE, NULL, 1, 1},
    [KIND_ASKS] = {STATE_DONE, NULL, 1, 1},
    [KIND_DENIED] = {STATE_FAILED, "NotApproved", 0, 0},
    [KIND_RAISED] = {STATE_DONE, NULL, 1, 1},
    [KIND_TOKEN] = {STATE_FAILED, "BadFile", 0, 0},
    [KIND_REVOKED] = {STATE_FAILED, "BadFile", 0, 0},
    [KIND_AGAIN] = {STATE_DONE, NULL, 1, 1},
    [KIND_STANDS] = {STATE_DONE, NULL, 1, 1},
    [KIND_BORROWS] = {STATE_DONE, NULL, 2, 2},
    [KIND_OWNS] = {STATE_DONE, NULL, 1, 1},
};

/* The time of the first or the last of the events with that name, or `otherwise`. */
static int64_t time_of(struct checking *checking, const struct job_place *place, const char *name,
                       bool last, int64_t otherwise)
{
    char buffer[PLACE_TEXT_SIZE], job[1024];
    struct event event;
    snprintf(job, sizeof(job), "%s/%s", checking->check->world->spool,
             job_place_text(place, buffer));
    struct buffer log = read_part(job, "log");
    struct text rest = buffer_text(&log);
    int64_t result = otherwise;
    bool met = false;
    while (eventlog_next(&rest, &event)) {
        if (text_is(event.name, name) && (last || !met)) {
            result = event.time;
            met = true;
        }
    }
    buffer_free(&log);
    return result;
}

/* It was not submitted before what it waits for had come. */
static void check_order(struct checking *checking, const struct job_place *place,
                        const struct job_record *record)
{
    int64_t begun = time_of(checking, place, "intent", false, INT64_MAX);
    for (size_t i = 0; i < record->after_count; i++) {
        struct job_place other;
        struct error error;
        bool well = text_is(record->after[i].condition, "afterok");
        if (jobs_find(&checking->spool, record->after[i].id, &other, &error))
            found(checking, FOUND_WRONG, "%s waited for %.*s: %s", record->id.data,
                  (int)record->after[i].job.length, record->after[i].job.data, error.text);
        else if (time_of(checking, &other, well ? "finished" : "failed", true, INT64_MAX) > begun)
            found(checking, FOUND_WRONG, "%s was submitted before %s had ended", record->id.data,
                  other.id);
    }
}

/* It was approved before it was submitted. */
static void check_approved(struct checking *checking, const struct job_place *place)
{
    if (time_of(checking, place, "approve", false, INT64_MAX) >
        time_of(checking, place, "intent", false, INT64_MAX))
        found(checking, FOUND_WRONG, "%s was submitted before it was approved", place->id);
}

/* Its why says in which words it was refused. */
static void check_denied(struct checking *checking, const char *job)
{
    struct buffer why = read_part(job, "why");
    if (!text_contains(buffer_text(&why), TEXT(DENIED_IN)))
        found(checking, FOUND_LOST, "%s/why does not say in which words it was refused", job);
    buffer_free(&why);
}

/* That it was put on top is in its record; the priority that was asked for is, and in the manifest, which the scheduler was given. */
static void check_raised(struct checking *checking, const char *job,
                         const struct job_record *record)
{
    char line[32];
    struct buffer manifest = read_part(job, "manifest.yaml");
    snprintf(line, sizeof(line), "\npriority: \"%d\"\n", RAISED_TO);
    if (record->priority != RAISED_TO)
        found(checking, FOUND_LOST, "%s has priority %d", job, record->priority);
    else if (!record->top)
        found(checking, FOUND_LOST, "%s is not on top", job);
    else if (!text_contains(buffer_text(&manifest), text_of(line)))
        found(checking, FOUND_WRONG, "%s/manifest.yaml has another priority", job);
    buffer_free(&manifest);
}

/* It has had the size that it was to have, once, and no request for another is left. */
static void check_size(struct checking *checking, const char *job, enum kind kind,
                       const struct job_record *record)
{
    char path[TREE_PATH_SIZE];
    int64_t rendered = kind == KIND_MOVES || kind == KIND_WIDE ? 2000 : 1000;
    int64_t given = kind == KIND_GROWS ? 2000 : 0;
    /* By the time that it is taken up again the plan may not wait for that any more. */
    if (kind == KIND_WIDE && !checking->check->undisturbed && record->size == 1000)
        rendered = 1000;
    snprintf(path, sizeof(path), "%s/resize", job);
    /* It had ended before it could be written down that it was given more, which nobody can tell. */
    if (kind == KIND_GROWS && !checking->check->undisturbed && record->resizes == 0)
        given = 0;
    else if (record->resizes != (kind != KIND_WIDE))
        found(checking, FOUND_WRONG, "%s was resized %d times", job, record->resizes);
    if (kind != KIND_YIELDS && (record->size != rendered || record->size_now != given))
        found(checking, FOUND_WRONG, "%s was rendered at %lld and given %lld", job,
              (long long)record->size, (long long)record->size_now);
    if (record->size_next)
        found(checking, FOUND_WRONG, "%s is to have another size yet", job);
    if (access(path, F_OK) == 0 && !checking->check->littered)
        found(checking, FOUND_WRONG, "%s has a request left", job);
}

static void check_ended_job(struct checking *checking, const char *job,
                            const struct job_place *place, const struct job_record *record,
                            const struct dropped *dropped)
{
    const struct wanted *wanted = &all_wanted[dropped->kind];
    int runs = runs_of(checking, record->id);
    if (checking->check->refusals && place->state == STATE_FAILED && record->failed &&
        text_is(record->failure.reason, "BadFile") && runs == 0)
        return;
    /* Its owner gave it up, as the file of the other was refused. */
    if (checking->check->refusals && place->state == STATE_FAILED && record->failed &&
        (dropped->kind == KIND_BORROWS || dropped->kind == KIND_OWNS) &&
        text_is(record->failure.reason, "Killed") && runs <= 1)
        return;
    /* What it waits for may have been refused so, or the file that says what was decided. */
    bool waits_on = record->after_count || dropped->kind == KIND_DENIED;
    if (checking->check->refusals && place->state == STATE_HELD && waits_on && runs == 0)
        return;
    if (place->state != wanted->state)
        found(checking, FOUND_LOST, "%s ended in %s/: %.*s", record->id.data,
              spool_state_name(place->state), (int)record->failure.reason.length,
              record->failed ? record->failure.reason.data : "");
    else if (wanted->reason && !text_is(record->failure.reason, wanted->reason))
        found(checking, FOUND_WRONG, "%s failed with %.*s instead of %s", record->id.data,
              (int)record->failure.reason.length, record->failure.reason.data, wanted->reason);
    if (runs > wanted->most_runs)
        found(checking, FOUND_DOUBLED, "%s was run %d times", record->id.data, runs);
    if (runs < wanted->least_runs)
        found(checking, FOUND_LOST, "%s was run %d times", record->id.data, runs);
    check_log(checking, job, place);
    if (wanted->state == STATE_DONE) {
        check_output(checking, job);
        check_no_why(checking, job);
    }
    if (dropped->kind == KIND_AFTER)
        check_order(checking, place, record);
    if (dropped->kind == KIND_ASKS)
        check_approved(checking, place);
    if (dropped->kind == KIND_DENIED)
        check_denied(checking, job);
    if (dropped->kind == KIND_RAISED)
        check_raised(checking, job, record);
    if (dropped->kind >= KIND_GROWS && dropped->kind <= KIND_WIDE)
        check_size(checking, job, dropped->kind, record);
    if (dropped->kind == KIND_BORROWS)
        check_size(checking, job, KIND_YIELDS, record);
}

/* It has come to its proper end, or is in failed/ with a reason, and was not run too often. */
static void check_damaged_job(struct checking *checking, const char *job,
                              const struct job_place *place)
{
    struct job_record record;
    struct error error;
    int which = 0;
    while (which < checking->check->scene->count &&
           strncmp(checking->check->scene->dropped[which].bytes + strlen("name: "), place->id,
                   id_name(place->id).length) != 0)
        which++;
    if (which == checking->check->scene->count)
        harness_failed("%s is no job of this scene", place->id);
    const struct wanted *wanted = &all_wanted[checking->check->scene->dropped[which].kind];
    bool proper = place->state == wanted->state && place->state == STATE_DONE;
    int directory = job_open(&checking->spool, place);
    bool readable = record_read(directory, checking->arena, &record, &error) == 0;
    close(directory);
    checking->jobs[which] = 1;
    if (!proper && place->state != STATE_FAILED)
        found(checking, FOUND_WRONG, "%s is still there", job);
    else if (!proper && (!readable || !record.failed || !record.failure.reason.length))
        found(checking, FOUND_WRONG, "%s/job.yaml does not say why it failed", job);
    if (runs_of(checking, text_of(place->id)) > wanted->most_runs)
        found(checking, FOUND_DOUBLED, "%s was run %d times", job,
              runs_of(checking, text_of(place->id)));
}

/* Tokens */

static bool is_token(enum kind kind)
{
    return kind == KIND_TOKEN || kind == KIND_REVOKED;
}

static bool waits(const struct checking *checking, const char *directory, const char *file,
                  size_t before);

static bool has_note(const struct check *check, const char *name)
{
    char path[TREE_PATH_SIZE];
    snprintf(path, sizeof(path), "%s/%s.note", check->world->outside, name);
    return access(path, F_OK) == 0;
}

/* A token that was dropped is in one place: it waits, or counts, or its owner has seen it in tokens/ and revoked it.
 * Nothing of it is a job. */
static void check_token(struct checking *checking, int which)
{
    const struct check *check = checking->check;
    const struct dropped *dropped = &check->scene->dropped[which];
    char hash[TOKEN_HASH_LENGTH + 1], path[TREE_PATH_SIZE];
    bool waiting = waits(checking, "incoming", dropped->file, 0) ||
                   waits(checking, ".claims", dropped->file, TOKEN_LENGTH);
    bool may_be_gone = dropped->kind == KIND_REVOKED && has_note(check, "revoking");
    bool revoked = dropped->kind == KIND_REVOKED && has_note(check, "revoked");
    snprintf(path, sizeof(path), "%s/tokens/%s", check->world->spool, dropped_token(dropped, hash));
    struct buffer bytes = tree_read(path);
    if (bytes.data && (waiting || checking->jobs[which]))
        found(checking, FOUND_DOUBLED, "%s is a token and something else besides", dropped->file);
    if (bytes.data && !text_is(buffer_text(&bytes), dropped->bytes))
        found(checking, FOUND_WRONG, "tokens/%s is not what was dropped", hash);
    if (check->ended && bytes.data && revoked && !check->refusals)
        found(checking, FOUND_LOST, "tokens/%s counts, although it was revoked", hash);
    checking->jobs[which] += bytes.data || (may_be_gone && !waiting && !checking->jobs[which]);
    buffer_free(&bytes);
}

static void check_tokens_of_users(struct checking *checking)
{
    for (int i = 0; i < checking->check->scene->count; i++)
        if (is_token(checking->check->scene->dropped[i].kind))
            check_token(checking, i);
}

/* What was asked for is asked for again after trouble, and is refused when the job has ended meanwhile. */
static bool is_late_control(const struct checking *checking, const struct job_place *place,
                            const struct job_record *record)
{
    return !checking->check->undisturbed && place->state == STATE_FAILED &&
           (text_is(record->source, "hold.yaml") || text_is(record->source, "release.yaml"));
}

static int check_job(void *context, const struct job_place *place)
{
    struct checking *checking = context;
    struct job_record record;
    struct error error;
    char buffer[PLACE_TEXT_SIZE], job[1024];
    snprintf(job, sizeof(job), "%s/%s", checking->check->world->spool,
             job_place_text(place, buffer));
    if (is_damaged(checking, place->id)) {
        check_damaged_job(checking, job, place);
        return 0;
    }
    int directory = job_open(&checking->spool, place);
    int result = directory < 0 ? -1 : record_read(directory, checking->arena, &record, &error);
    if (directory >= 0)
        close(directory);
    if (result) {
        found(checking, FOUND_LOST, "%s/job.yaml cannot be read", job);
        return 0;
    }
    int which = which_dropped(checking->check->scene, record.source);
    bool refused = checking->check->refusals && place->state == STATE_FAILED;
    if (which < 0 && is_late_control(checking, place, &record))
        return 0;
    if (which < 0 && refused &&
        (text_starts(record.source, "kill-") || text_starts(record.source, "refuse-") ||
         text_is(record.source, "revoke.yaml")))
        return 0;
    if (which < 0) {
        found(checking, FOUND_WRONG, "%s was made from %s, which nobody dropped", job,
              record.source.data);
        return 0;
    }
    const struct dropped *dropped = &checking->check->scene->dropped[which];
    checking->jobs[which]++;
    if (is_token(dropped->kind) && !refused)
        found(checking, FOUND_WRONG, "%s was made of a token", job);
    check_modes(checking, job);
    check_why_mode(checking, job);
    if (record.request_file.length)
        check_request(checking, job, dropped);
    if (!text_is(record.id, place->id))
        found(checking, FOUND_WRONG, "%s/job.yaml has the id of another job", job);
    if (dropped->kind == KIND_FLAKY && record.request_file.length)
        check_messages(checking, place->id);
    if (checking->check->ended && record.manifest_sha256.length)
        check_manifest(checking, job, &record);
    if (checking->check->ended)
        check_ended_job(checking, job, place, &record, dropped);
    return 0;
}

/* The door */

static bool waits(const struct checking *checking, const char *directory, const char *file,
                  size_t before)
{
    char path[TREE_PATH_SIZE];
    snprintf(path, sizeof(path), "%s/%s", checking->check->world->spool, directory);
    struct tree_names names = tree_list(path);
    bool result = false;
    for (size_t i = 0; i < names.count; i++) {
        struct text name = text_of(names.names[i]);
        result = result || (name.length > before && text_ends(name, file));
    }
    tree_list_free(&names);
    return result;
}

/* Files that are one submission have become one job: then that is what each of them has become. */
static void join_submissions(struct checking *checking)
{
    const struct scene *scene = checking->check->scene;
    int jobs = 0;
    for (int i = 0; i < scene->count; i++)
        jobs += scene->dropped[i].kind == KIND_AGAIN ? checking->jobs[i] : 0;
    for (int i = 0; i < scene->count; i++)
        if (scene->dropped[i].kind == KIND_AGAIN)
            checking->jobs[i] = jobs;
}

static void check_dropped(struct checking *checking)
{
    const struct scene *scene = checking->check->scene;
    for (int i = 0; i < scene->count; i++) {
        const char *file = scene->dropped[i].file;
        if (checking->jobs[i] > 1)
            found(checking, FOUND_DOUBLED, "%s has become %d jobs", file, checking->jobs[i]);
        if (checking->jobs[i] == 0 &&
            (checking->check->ended || (!waits(checking, "incoming", file, 0) &&
                                        !waits(checking, ".claims", file, TOKEN_LENGTH))))
            found(checking, FOUND_LOST, "%s is nowhere", file);
    }
}

static void check_empty(struct checking *checking, const char *directory)
{
    char path[TREE_PATH_SIZE];
    snprintf(path, sizeof(path), "%s/%s", checking->check->world->spool, directory);
    struct tree_names names = tree_list(path);
    for (size_t i = 0; i < names.count; i++)
        if (!text_starts(text_of(names.names[i]), ".refused-"))
            found(checking, FOUND_WRONG, "%s is left in %s/", names.names[i], directory);
    tree_list_free(&names);
}

static void check_places(struct checking *checking)
{
    static const struct {
        const char *name;
        mode_t mode;
    } places[] = {{"incoming", 03777}, {"rendered", 0755}, {"submitted", 0755}, {"failed", 0755},
                  {"done", 0755},      {".claims", 0700},  {".new", 0700}};
    char path[TREE_PATH_SIZE];
    for (size_t i = 0; i < ARRAY_COUNT(places); i++) {
        snprintf(path, sizeof(path), "%s/%s", checking->check->world->spool, places[i].name);
        check_mode(checking, path, places[i].mode, true);
    }
    if (!checking->check->ended)
        return;
    check_empty(checking, "incoming");
    check_empty(checking, ".claims");
    check_empty(checking, ".new");
}

enum finding invariants_check(struct check *check)
{
    struct checking checking = {.check = check};
    struct error error;
    check->why[0] = '\0';
    if (spool_open(&checking.spool, check->world->spool, &error))
        return found(&checking, FOUND_LOST, "%s", error.text);
    checking.arena = arena_new();
    checking.tokens = scheduler_list(check->world->outside, &checking.token_count);
    check_tokens(&checking);
    for (int state = 0; state < STATE_COUNT; state++)
        if (jobs_walk(&checking.spool, (enum state)state, check_job, &checking))
            found(&checking, FOUND_WRONG, "%s/ could not be read",
                  spool_state_name((enum state)state));
    if (check->ended) {
        check_accounts(&checking);
        if (check->scene->dropped[0].kind == KIND_RAISED)
            check_shares(&checking);
    }
    check_tokens_of_users(&checking);
    join_submissions(&checking);
    check_dropped(&checking);
    check_places(&checking);
    free(checking.tokens);
    arena_free(checking.arena);
    spool_close(&checking.spool);
    return checking.finding;
}
