/* stages/intake/intake.c - incoming/ to rendered/, or to failed/ with a reason
 *
 * Complete files are claimed (renamed into .claims/), turned into jobs a batch at a time, and
 * removed once their jobs are durable.  Claims that a crash left behind are taken up first.
 * This stage reads what strangers wrote: it has no network and no credentials, and confines itself
 * before it reads the first byte.  A job file over which it crashes or stalls is known by its
 * guard (stages/guard.h), retried by itself, and set aside the third time.  Weakness: what is
 * looked at before a file is claimed (watcher/) is not under the guard.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/directory.h"
#include "base/log.h"
#include "spool/submission_key.h"
#include "stages/guard.h"
#include "stages/intake/accept.h"
#include "stages/intake/witness.h"
#include "stages/sandbox.h"
#include "stages/stage.h"
#include "stages/users.h"
#include "watcher/arrivals.h"
#include "watcher/leftovers.h"
#include "watcher/mount.h"

enum {
    MOST_CLAIMS = 1024,  /* held at a time; more wait in incoming/ */
    MOST_NARROWING = 10, /* halvings of that, which leave one */
    FEWEST = 32,         /* in a batch that is made smaller for the time that it takes */
    MOST_HELD = 128      /* claims of one owner that may wait before others' come first */
};
static const int64_t space_interval = 5000;   /* milliseconds between looks for free space */
static const int64_t trouble_interval = 1000; /* ... before going on after an error, */
static const int64_t longest_trouble = 4000;  /* ... and when it lasts */
static const int64_t batch_time = 400;        /* ... that a batch may take: others wait for it */
static const int64_t longest_batch = 1000;    /* ... and may take at most; what is left has turns */
static const int64_t blamed_pause = 1000;     /* ... for each end of intake over a file */
static const int64_t orphan_interval = 5000;  /* ... between looks for claims that are not ours */

struct intake {
    struct stage stage;
    struct repository *repository;
    struct acceptor *acceptor;
    struct arrivals *arrivals;
    struct leftovers *leftovers;
    struct claim *claims[MOST_CLAIMS];
    char *refusals[MOST_CLAIMS]; /* NULL, or why the claim is refused */
    size_t claim_count;
    size_t most;         /* claims in a batch, for the time that they take */
    int64_t trouble;     /* milliseconds until the next attempt; 0: all is well */
    bool paused;         /* there is too little free space */
    int64_t orphan_look; /* of clock_elapsed: when to look for others' claims */
    struct guard *guard;
    char blamed[TOKEN_LENGTH + 1]; /* the claim over which the process before this one ended */
    int blamed_tries;
};

static void add_claim(struct intake *intake, const struct claim *claim, const char *refusal)
{
    struct claim *copy = memory_allocate(sizeof(*copy));
    *copy = *claim;
    copy->source = copy->file + (claim->source - claim->file);
    intake->claims[intake->claim_count] = copy;
    intake->refusals[intake->claim_count] = refusal ? memory_copy_string(refusal) : NULL;
    intake->claim_count++;
}

static void remove_claim(struct intake *intake, size_t at)
{
    free(intake->claims[at]);
    free(intake->refusals[at]);
    size_t last = --intake->claim_count;
    intake->claims[at] = intake->claims[last];
    intake->refusals[at] = intake->refusals[last];
}

/* Recovery */

static int forget_unpublished(void *context, const char *name, unsigned char type)
{
    struct intake *intake = context;
    struct error error;
    (void)type;
    if (job_remove(intake->stage.spool.new_jobs, name, &error))
        log_warn(".new/: %s", error.text);
    return 0;
}

/* The process before this one died while it read a job file: count that.  The file is retried after the
 * others, by itself, and quarantined when it has happened too often. */
static void count_blamed(struct intake *intake)
{
    struct guard *guard = intake->guard;
    struct claim claim;
    struct error error;
    if (!guard_blames(guard) || !claim_parse(&claim, guard->name))
        return;
    if (claim.tries < (int)guard->tries)
        claim.tries = (int)guard->tries;
    if (claim_count_try(&intake->stage.spool, &claim, &error))
        log_warn("%s", error.text);
    snprintf(intake->blamed, sizeof(intake->blamed), "%s", claim.token);
    intake->blamed_tries = claim.tries;
    struct error_quote_buffer buffer;
    log_warn("intake ended while it read the job file %s (%d of %d times; then it is quarantined)",
             error_quote(&buffer, claim.source, strlen(claim.source)), claim.tries,
             GUARD_MOST_TRIES);
    if (guard->ends < MOST_NARROWING)
        guard->ends++;
    guard_leave(guard);
}

static bool holds_claim(const struct intake *intake, const struct claim *claim)
{
    for (size_t i = 0; i < intake->claim_count; i++)
        if (strcmp(intake->claims[i]->token, claim->token) == 0)
            return true;
    return false;
}

static int recover_claim(void *context, const char *name, unsigned char type)
{
    struct intake *intake = context;
    struct claim claim;
    (void)type;
    if (intake->claim_count == MOST_CLAIMS)
        return 1; /* the rest is found when these are done */
    if (claim_parse(&claim, name) && !holds_claim(intake, &claim)) {
        claim.suspect = true;
        claim.owner = (uid_t)-1;
        if (strcmp(claim.token, intake->blamed) == 0)
            claim.tries = intake->blamed_tries;
        if (claim.tries > 0 && claim.tries < GUARD_MOST_TRIES)
            claim.look = clock_elapsed() + claim.tries * blamed_pause;
        add_claim(intake, &claim, NULL);
    }
    return 0;
}

/* Recover from a crash: drop unpublished jobs, which are made again from their claims, and remove the claims
 * whose jobs were published. */
static int recover_claims(struct intake *intake, struct error *error)
{
    struct spool *spool = &intake->stage.spool;
    count_blamed(intake);
    if (directory_walk(spool->new_jobs, forget_unpublished, intake) < 0)
        return error_errno(error, ".new/ could not be read");
    if (directory_walk(spool->claims, recover_claim, intake) < 0)
        return error_errno(error, ".claims/ could not be read");
    if (intake->claim_count)
        log_say("%zu files that were claimed before a stop are taken up again",
                intake->claim_count);
    return 0;
}

/* Take up claims of others: a daemon that was presumed dead may have claimed files before it saw that this one
 * had taken over; and there may have been more claims than fit. */
static void take_orphans(struct intake *intake)
{
    int64_t now = clock_elapsed();
    size_t before = intake->claim_count;
    if (now < intake->orphan_look)
        return;
    intake->orphan_look = now + orphan_interval;
    if (directory_walk(intake->stage.spool.claims, recover_claim, intake) < 0)
        log_warn(".claims/ could not be read: %s", strerror(errno));
    if (intake->claim_count > before)
        log_say("%zu files that another daemon had claimed are taken up",
                intake->claim_count - before);
}

/* Taking files */

/* A file that cannot be moved out of incoming/ is renamed there to a hidden name, and a failed job says why. */
static void refuse_unmovable(struct intake *intake, const char *name, struct claim *claim,
                             const struct error *reason)
{
    struct spool *spool = &intake->stage.spool;
    struct error error;
    char hidden[NAME_MAX + 1];
    snprintf(hidden, sizeof(hidden), ".refused-%s", claim->token);
    if (sys.renameat(spool->incoming, name, spool->incoming, hidden))
        log_warn("something in incoming/ can neither be taken nor renamed: %s", reason->text);
    else if (accept_refusal(intake->acceptor, claim, reason, &error))
        log_warn("%s", error.text);
}

/* Count the claims that wait only for intake: files that are still being written to, or for which a batch had no time,
 * must not keep others from being taken.  An owner with many of the former gets no more until some are done. */
static size_t count_calm(struct intake *intake)
{
    size_t calm = 0, changing = 0, held = 0;
    for (size_t i = 0; i < intake->claim_count; i++) {
        changing += intake->claims[i]->changing != 0;
        calm += intake->claims[i]->changing == 0 && !intake->claims[i]->left &&
                !intake->claims[i]->published;
    }
    if (changing < MOST_HELD)
        return calm;
    for (size_t i = 0; i < intake->claim_count; i++, held = 0) {
        for (size_t at = 0; at < intake->claim_count; at++)
            held += intake->claims[at]->changing != 0 &&
                    intake->claims[at]->owner == intake->claims[i]->owner;
        if (held >= MOST_HELD)
            arrivals_rest(intake->arrivals, intake->claims[i]->owner,
                          clock_elapsed() + trouble_interval);
    }
    return calm;
}

/* Claim files of incoming/ that are ready, as many as a batch holds and its time allows.  Nothing is taken
 * once another daemon has the spool. */
static void take_arrivals(struct intake *intake)
{
    struct arrival arrival;
    struct claim claim;
    struct error error;
    bool asked = false; /* whether this daemon still serves the spool */
    size_t calm = count_calm(intake);
    int64_t until = clock_elapsed() + batch_time;
    for (; calm < intake->most && intake->claim_count < MOST_CLAIMS && clock_elapsed() < until &&
           arrivals_next(intake->arrivals, &arrival);
         calm++) {
        if (!asked && stage_is_fenced(&intake->stage))
            return;
        asked = true;
        switch (claim_take(&intake->stage.spool, arrival.name, clock_now(), &claim, &error)) {
        case DROP_TAKEN:
            claim.owner = arrival.owner;
            claim.cut = arrival.cut;
            claim.complete = arrival.complete;
            add_claim(intake, &claim, arrival.refuse ? arrival.why.text : NULL);
            break;
        case DROP_REFUSED:
            refuse_unmovable(intake, arrival.name, &claim, &error);
            break;
        case DROP_GONE:
            break;
        default:
            log_warn("%s; it is retried", error.text);
            break;
        }
    }
}

static bool is_doubtful(const struct claim *claim)
{
    return claim->tries > 0 && claim->tries < GUARD_MOST_TRIES;
}

struct claim_turn {
    struct claim *claim;
    const char *refusal;
    size_t rank; /* how many of its owner's come before it */
};

static int compare_turns(const void *a, const void *b)
{
    const struct claim_turn *first = a, *second = b;
    if (first->rank != second->rank)
        return first->rank < second->rank ? -1 : 1;
    return strcmp(first->claim->token, second->claim->token);
}

/* Owners take turns, as a batch may have no time for all claims; the files of one owner are taken in the order in which
 * they were claimed, since one may be a request to hold a job and the next to release it.  Returns how many have
 * turns. */
static size_t sort_turns(const struct intake *intake, struct claim_turn *turns)
{
    struct {
        uid_t owner;
        size_t count;
    } owners[MOST_CLAIMS];
    size_t count = 0, owner_count = 0;
    for (size_t i = 0; i < intake->claim_count; i++)
        if (!intake->claims[i]->published)
            turns[count++] =
                (struct claim_turn){.claim = intake->claims[i], .refusal = intake->refusals[i]};
    qsort(turns, count, sizeof(*turns), compare_turns);
    for (size_t i = 0; i < count; i++) {
        uid_t owner = turns[i].claim->owner;
        size_t at = 0;
        while (at < owner_count && owners[at].owner != owner)
            at++;
        if (at == owner_count) {
            owners[owner_count].owner = owner;
            owners[owner_count++].count = 0;
        }
        turns[i].rank = owners[at].count++;
    }
    qsort(turns, count, sizeof(*turns), compare_turns);
    return count;
}

/* Choose the claims to accept together.  A claim over which intake has died before is tried by itself; and
 * after such a death, which undid all that was not yet durable, batches are smaller. */
static size_t choose_due(const struct intake *intake, struct claim **claims, const char **refusals)
{
    struct claim_turn turns[MOST_CLAIMS];
    size_t count = 0, batch = intake->most;
    int64_t now = clock_elapsed();
    size_t turn_count = sort_turns(intake, turns);
    if (intake->guard)
        batch >>= intake->guard->ends;
    if (batch == 0)
        batch = 1;
    for (size_t i = 0; i < turn_count && count < batch; i++) {
        struct claim *claim = turns[i].claim;
        if (claim->look > now)
            continue;
        if (is_doubtful(claim)) {
            claims[0] = claim;
            refusals[0] = turns[i].refusal;
            return 1;
        }
        claims[count] = claim;
        refusals[count++] = turns[i].refusal;
    }
    return count;
}

/* Make batches smaller when one took long, since files that come meanwhile wait for it, and larger again when
 * they are quick. */
static void size_batch(struct intake *intake, size_t count, int64_t took)
{
    size_t batch = (size_t)intake->stage.settings.batch;
    if (took > batch_time)
        intake->most = count * (size_t)batch_time / (size_t)took;
    else if (took < batch_time / 2)
        intake->most *= 2;
    if (intake->most < FEWEST)
        intake->most = FEWEST;
    if (intake->most > batch)
        intake->most = batch;
}

/* No claim of the batch became a job, for example because of a full disk or a quota, which cannot always be
 * seen: retry, with growing delays. */
static void back_off(struct intake *intake, struct claim **claims, size_t count)
{
    int64_t now = clock_elapsed();
    size_t calm = 0;
    for (size_t i = 0; i < count; i++)
        calm += claims[i]->changing == 0;
    if (calm == 0)
        return;
    intake->trouble = intake->trouble ? 2 * intake->trouble : trouble_interval;
    if (intake->trouble > longest_trouble)
        intake->trouble = longest_trouble;
    for (size_t i = 0; i < count; i++)
        if (!claims[i]->changing)
            claims[i]->look = now + intake->trouble;
}

static void forget_gone(struct intake *intake)
{
    for (size_t i = intake->claim_count; i > 0; i--)
        if (intake->claims[i - 1]->gone)
            remove_claim(intake, i - 1);
}

/* Accept the claims that are due.  Returns how many of them have become what they ask for. */
static size_t accept_due(struct intake *intake)
{
    struct claim *claims[MOST_CLAIMS];
    const char *refusals[MOST_CLAIMS];
    struct error error;
    size_t finished = 0, chosen = choose_due(intake, claims, refusals), count = chosen;
    if (count == 0)
        return 0;
    int64_t began = clock_elapsed();
    int result =
        accept_claims(intake->acceptor, claims, refusals, &count, began + longest_batch, &error);
    for (size_t i = 0; i < chosen; i++)
        claims[i]->left = i >= count;
    if (result) {
        log_warn("%s; what was dropped is kept and retried", error.text);
        back_off(intake, claims, count);
        return 0;
    }
    size_batch(intake, count, clock_elapsed() - began);
    if (intake->guard && intake->guard->ends)
        intake->guard->ends--;
    for (size_t i = 0; i < count; i++)
        finished += claims[i]->published || claims[i]->gone;
    forget_gone(intake);
    if (finished == 0)
        back_off(intake, claims, count);
    else
        intake->trouble = 0;
    return finished;
}

/* How much of the file system is free, in percent: of its space or of its inodes, whichever is
 * less.  Some file systems count no inodes. */
static double free_percent(const struct statvfs *status, const char **of)
{
    double space =
        status->f_blocks ? 100.0 * (double)status->f_bavail / (double)status->f_blocks : 100.0;
    double inodes =
        status->f_files ? 100.0 * (double)status->f_favail / (double)status->f_files : 100.0;
    *of = inodes < space ? "inodes of the file system are" : "file system is";
    return inodes < space ? inodes : space;
}

/* Is there space to accept anything?  Logs it when that changes. */
static bool space_is_left(struct intake *intake)
{
    struct statvfs status;
    const char *of;
    if (sys.fstatvfs(intake->stage.spool.root, &status))
        return true;
    double percent = free_percent(&status, &of);
    bool paused = percent < intake->stage.settings.free_percent;
    if (paused && !intake->paused)
        log_warn("only %.1f %% of the %s free, less than free_percent: incoming/ waits", percent,
                 of);
    else if (!paused && intake->paused)
        log_say("%.1f %% of the %s free again: incoming/ is served", percent, of);
    intake->paused = paused;
    return !paused;
}

static int64_t next_look(struct intake *intake)
{
    /* While a batch waits to be retried, nothing more is taken. */
    bool full = count_calm(intake) >= intake->most;
    int64_t until = full ? INT64_MAX : arrivals_due(intake->arrivals);
    if (intake->orphan_look < until)
        until = intake->orphan_look;
    if (leftovers_due(intake->leftovers) < until)
        until = leftovers_due(intake->leftovers);
    for (size_t i = 0; i < intake->claim_count; i++)
        if (intake->claims[i]->look < until)
            until = intake->claims[i]->look;
    return until;
}

static int64_t intake_round(struct stage *stage)
{
    struct intake *intake = (struct intake *)stage;
    struct error error;
    if (!space_is_left(intake))
        return clock_elapsed() + space_interval;
    take_orphans(intake);
    leftovers_check(intake->leftovers, stage->spool.incoming, clock_elapsed());
    /* Between batches, look for files that were dropped meanwhile. */
    do {
        if (arrivals_collect(intake->arrivals, &error)) {
            log_warn("%s", error.text);
            stage->failed = arrivals_lost(intake->arrivals);
        }
        take_arrivals(intake);
    } while (accept_due(intake) && space_is_left(intake) && stage_wait(stage, -1, 0));
    accept_settle(intake->acceptor);
    forget_gone(intake);
    int64_t until = next_look(intake);
    /* A claim that has to be looked at again waits for a moment at least. */
    return until <= clock_elapsed() && intake->claim_count ? clock_elapsed() + 1 : until;
}

static int intake_descriptor(const struct stage *stage)
{
    const struct intake *intake = (const struct intake *)stage;
    return intake->paused ? -1 : arrivals_descriptor(intake->arrivals);
}

static int intake_confine(struct stage *stage, struct error *error)
{
    if (witness_start(stage, error) || users_start(error) ||
        guard_limit(((struct intake *)stage)->guard, error))
        return -1;
    return sandbox_enter(&stage->spool, stage->settings.user, SANDBOX_INTAKE, error);
}

static void intake_close(struct stage *stage)
{
    struct intake *intake = (struct intake *)stage;
    while (intake->claim_count)
        remove_claim(intake, 0);
    arrivals_close(intake->arrivals);
    leftovers_free(intake->leftovers);
    accept_free(intake->acceptor);
    repository_close(intake->repository);
    stage_close(stage);
    free(intake);
}

/* Does the file have a name as dlspool gives it, with the hash of a key, or with a token made within a day of now?
 * (Clocks of hosts differ.) */
static bool is_named_by_us(struct text name)
{
    struct text token, stem;
    if (submission_key_in_name(name, &stem, &token))
        return true;
    if (!id_token_in_file_name(name, &token))
        return false;
    int64_t age = clock_now() - id_time(token);
    return age > -CLOCK_DAY && age < CLOCK_DAY;
}

/* Open the stage: recover what an earlier process had claimed, then watch incoming/.  On NFS a file must be
 * quiet for longer before it is taken, as its writers cannot be seen. */
static struct stage *intake_open(const char *directory, struct error *error)
{
    struct intake *intake = memory_allocate(sizeof(*intake));
    struct stage *stage = &intake->stage;
    if (stage_open(stage, "intake", directory, error)) {
        free(intake);
        return NULL;
    }
    /* Where writers cannot be seen, files must be quiet for longer. */
    bool local = mount_is_local(stage->spool.incoming);
    struct settle_settings settle = local ? settle_local : settle_remote;
    settle.quiet = local || stage->settings.quiet_time > settle.quiet ? stage->settings.quiet_time
                                                                      : settle.quiet;
    settle.doubtful_quiet = local ? settle.quiet : stage->settings.doubtful_time;
    if (settle.doubtful_quiet < settle.quiet)
        settle.doubtful_quiet = settle.quiet;
    settle.cut_patience = settle.empty_patience = stage->settings.cut_off_time;
    settle.only_complete = stage->settings.only_complete;
    struct arrivals_settings settings = {
        .watch.interval = stage->settings.scan_interval,
        .settle = &settle,
        .published = is_named_by_us,
    };
    intake->guard = guard_own();
    intake->leftovers = leftovers_new("incoming", stage->settings.cut_off_time);
    intake->most = (size_t)stage->settings.batch;
    intake->orphan_look = clock_elapsed() + orphan_interval;
    intake->repository = stage_repository(stage, error);
    if (!intake->repository)
        goto fail;
    intake->acceptor = accept_new(stage, intake->repository);
    if (recover_claims(intake, error))
        goto fail;
    intake->arrivals = arrivals_open(stage->spool.incoming, "incoming", &settings, error);
    if (intake->arrivals)
        return stage;
fail:
    intake_close(stage);
    return NULL;
}

const struct stage_operations intake_stage = {
    .name = "intake",
    .open = intake_open,
    .confine = intake_confine,
    .round = intake_round,
    .descriptor = intake_descriptor,
    .close = intake_close,
};
