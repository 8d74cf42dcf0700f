/* web/keyed_submission.c - POST of a job file with a header Idempotency-Key: one job, however often it is sent */
#include "web/keyed_submission.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/system.h"
#include "client/drop_file.h"
#include "spool/submission_key.h"
#include "web/jobs_api.h"
#include "web/posted_job.h"

enum { LONGEST_KEY = 255, LONGEST_BODY = 1024 * 1024 }; /* bytes */
static const int64_t look_interval = 50,
                     patience = 5000; /* milliseconds until intake has taken a file */

/* Kept while it is asked again whether there is a job. */
struct keyed {
    char hash[SHA256_HEX_SIZE];
    char sha256[SHA256_HEX_SIZE]; /* of the body */
    char name[NAME_MAX + 1];      /* of the file in incoming/ */
    bool sent_before;
    int64_t until; /* of clock_elapsed() */
};

/* The key without its quotes; false when it can be none. */
static bool read_key(struct text *key)
{
    if (key->length > 1 && text_starts(*key, "\"") && text_ends(*key, "\""))
        *key = (struct text){key->data + 1, key->length - 2};
    for (size_t i = 0; i < key->length; i++)
        if (key->data[i] < '!' || key->data[i] > '~' || key->data[i] == '"')
            return false;
    return key->length && key->length <= LONGEST_KEY;
}

static void refuse_other_body(struct exchange *exchange)
{
    exchange_reply_problem(exchange, HTTP_UNPROCESSABLE,
                           "Idempotency-Key: another job file was sent under this key less than a "
                           "day ago; take a new key for each job");
}

/* The job that the submission has become, of which intake has told.  False: none yet. */
static bool find_job(struct exchange *exchange, const struct keyed_job *job, struct job_view *view)
{
    struct error ignored;
    exchange->parts[0] = arena_text(exchange->arena, job->id, strlen(job->id));
    return jobs_api_look_anywhere(exchange, view, &ignored) == HTTP_OK;
}

static void look_for_job(struct exchange *exchange)
{
    struct keyed *keyed = exchange->kept;
    struct keyed_job job;
    struct job_view view;
    struct error error;
    bool known =
        submission_key_read(exchange->spool, getuid(), text_of(keyed->hash), &job, &error) == 0;
    bool found = known && find_job(exchange, &job, &view);
    bool late = clock_elapsed() >= keyed->until;
    if ((found || late) && known && !text_is(text_of(job.sha256), keyed->sha256)) {
        refuse_other_body(exchange);
    } else if (found) {
        posted_job_tell(exchange, keyed->sent_before ? HTTP_OK : HTTP_CREATED, &view);
    } else if (late) {
        posted_job_tell_dropped(exchange, keyed->name);
    } else {
        exchange->again = look_for_job;
        exchange->again_at = clock_elapsed() + look_interval;
    }
}

enum waiting { NOT_THERE, SAME_BODY, OTHER_BODY, OF_ANOTHER };

/* What is in incoming/ under the name? */
static enum waiting look_at_file(struct exchange *exchange, const char *name)
{
    struct stat status;
    struct buffer bytes = {0};
    struct error error;
    if (sys.fstatat(exchange->spool->incoming, name, &status, AT_SYMLINK_NOFOLLOW))
        return NOT_THERE;
    if (status.st_uid != getuid())
        return OF_ANOTHER;
    if (file_read_at(exchange->spool->incoming, name, LONGEST_BODY, &bytes, &error))
        return errno == ENOENT ? NOT_THERE : OTHER_BODY;
    bool same = text_equal(buffer_text(&bytes), exchange->body);
    buffer_free(&bytes);
    return same ? SAME_BODY : OTHER_BODY;
}

/* Does a file of this key wait?  Its ending is that of the type with which it was sent. */
static enum waiting look_for_file(struct exchange *exchange, struct keyed *keyed)
{
    static const char *const endings[] = {".yaml", ".json", ".sh"};
    enum waiting waiting = NOT_THERE;
    char name[NAME_MAX + 1];
    for (size_t i = 0; i < ARRAY_COUNT(endings) && waiting == NOT_THERE; i++) {
        submission_key_name("page", keyed->hash, endings[i], name);
        waiting = look_at_file(exchange, name);
    }
    return waiting;
}

/* Has it become a job already?  -1 after a reply. */
static int is_job(struct exchange *exchange, const struct keyed *keyed)
{
    struct keyed_job job;
    struct job_view view;
    struct error error;
    int known = submission_key_read(exchange->spool, getuid(), text_of(keyed->hash), &job, &error);
    if (known < 0)
        exchange_reply_problem(exchange, HTTP_INTERNAL_ERROR, error.text);
    return known < 0 ? -1 : known == 0 && find_job(exchange, &job, &view);
}

/* Drop the body, unless it was sent before and is there.  False after a reply. */
static bool drop_unless_sent(struct exchange *exchange, struct keyed *keyed)
{
    struct error error;
    int job = is_job(exchange, keyed);
    enum waiting waiting = job ? NOT_THERE : look_for_file(exchange, keyed);
    keyed->sent_before = job > 0 || waiting == SAME_BODY;
    if (job < 0)
        return false;
    if (waiting == OTHER_BODY)
        refuse_other_body(exchange);
    else if (waiting == OF_ANOTHER)
        exchange_reply_problem(exchange, HTTP_CONFLICT,
                               "Idempotency-Key: in incoming/ there is a file of this key that is "
                               "another user's; take a new key");
    else if (!keyed->sent_before &&
             (!posted_job_check(exchange, exchange->body, &error) ||
              drop_file_as(exchange->spool, keyed->name, exchange->body, &error)))
        exchange_reply_fault(exchange, HTTP_BAD_REQUEST, error.text);
    else
        return true;
    return false;
}

void keyed_submission_begin(struct exchange *exchange, struct text key, const char *ending)
{
    struct keyed *keyed = arena_allocate(exchange->arena, sizeof(*keyed));
    if (!read_key(&key)) {
        exchange_reply_problem(exchange, HTTP_BAD_REQUEST,
                               "Idempotency-Key: expected 1 to 255 letters, digits and signs "
                               "without spaces, such as a UUID");
        return;
    }
    *keyed = (struct keyed){.until = clock_elapsed() + patience};
    submission_key_hash(getuid(), key, keyed->hash);
    sha256_hex(exchange->body, keyed->sha256);
    submission_key_name("page", keyed->hash, ending, keyed->name);
    exchange->kept = keyed;
    if (drop_unless_sent(exchange, keyed))
        look_for_job(exchange);
}
