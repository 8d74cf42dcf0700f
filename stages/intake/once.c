/* stages/intake/once.c - files that were dropped under a key: one job of all that one user drops */
#include "stages/intake/once.h"

#include "base/clock.h"
#include "base/directory.h"
#include "base/log.h"
#include "spool/jobs.h"
#include "spool/submission_key.h"

/* Milliseconds; while there may be more. */
static const int64_t forget_interval = (int64_t)3600 * 1000, forget_more_interval = 10 * 1000;

/* The hash of the key under which the file was dropped; empty: none. */
static struct text key_of(const struct claim *claim)
{
    struct text stem, hash;
    return submission_key_in_name(text_of(claim->source), &stem, &hash) ? hash : TEXT("");
}

static int match_claim(void *context, const char *name, unsigned char type)
{
    const struct text *token = context;
    struct claim claim;
    (void)type;
    return claim_parse(&claim, name) && text_is(*token, claim.token);
}

/* Is there the claim of which the job was to be made, or the job?  After a loss of power what was written down may be
 * there without the claim, whose file is in incoming/ again.  1, 0, or -1 and a sentence. */
static int is_there(const struct spool *spool, const struct keyed_job *known, struct error *error)
{
    struct text token = id_token(text_of(known->id));
    struct job_place place;
    struct claim job = {.suspect = true}, *jobs[] = {&job};
    int claimed = directory_walk(spool->claims, match_claim, &token);
    if (claimed < 0)
        return error_errno(error, ".claims/ could not be read");
    if (claimed || jobs_find_whole(spool, text_of(known->id), &place))
        return 1;
    text_copy(job.token, sizeof(job.token), token);
    return claims_find_jobs(spool, jobs, 1, error) ? -1 : job.found;
}

int once_look(const struct spool *spool, const struct claim *claim, uid_t uid, struct error *error)
{
    struct text hash = key_of(claim);
    struct keyed_job known;
    if (!hash.length)
        return 0;
    int result = submission_key_read(spool, uid, hash, &known, error);
    if (result)
        return result < 0 ? -1 : 0;
    if (text_is(id_token(text_of(known.id)), claim->token))
        return 0; /* of this claim, before a crash or a failure to make it durable */
    result = is_there(spool, &known, error);
    if (result <= 0)
        return result;
    log_detail("%s was sent again: it is %s", claim->source, known.id);
    return 1;
}

/* Each hour that has files with keys, those of which nobody may ask any more are removed: a part every ten seconds,
 * when somebody has sent so many that others would wait. */
static void forget_old(const struct spool *spool)
{
    static int64_t next; /* of clock_elapsed() */
    int64_t now = clock_elapsed();
    if (now < next)
        return;
    next = now + (submission_key_forget_old(spool) ? forget_interval : forget_more_interval);
}

int once_note(const struct spool *spool, const struct claim *claim, const struct job_record *record,
              struct error *error)
{
    struct text hash = key_of(claim);
    struct keyed_job job;
    if (!hash.length)
        return 0;
    text_copy(job.id, sizeof(job.id), record->id);
    text_copy(job.sha256, sizeof(job.sha256), record->request_sha256);
    if (submission_key_note(spool, record->uid, hash, &job, error))
        return -1;
    forget_old(spool);
    return 0;
}
