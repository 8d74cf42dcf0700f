/* stages/intake/witness.c - a root process beside intake that sees whose file becomes which job, and seals
 * that */
#include "stages/intake/witness.h"

#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "spool/job.h"
#include "spool/seal.h"
#include "stages/helper.h"
#include "stages/intake/owner.h"
#include "stages/prepare/prepare.h"
#include "stages/users.h"

enum { ANSWER_PATIENCE = 20000 }; /* milliseconds */

struct question {
    int approves; /* 1: an approval, not a job */
    char id[ID_SIZE];
    char file[NAME_MAX + 1]; /* in .claims/ */
};

struct answer {
    struct question asked;
    int result; /* 0, or -1 and the error */
    uid_t uid;
    gid_t gid;
    char owner[USER_NAME_SIZE], home[USER_HOME_SIZE];
    char request_sha256[SHA256_HEX_SIZE];
    char seal[SEAL_SIZE];
    struct approval approval; /* in place of all these */
    struct error error;
};

static int witness = -1;           /* the socket to the process */
static uid_t reader = (uid_t)-1;   /* intake's own user */
static struct arena *answer_arena; /* of the process */

/* Check the strings of a question: intake sent them, and it may have been taken over. */
static bool is_question(struct question *question, struct claim *claim)
{
    if (!memchr(question->id, '\0', sizeof(question->id)) ||
        !memchr(question->file, '\0', sizeof(question->file)) || strchr(question->file, '/') ||
        !id_valid(text_of(question->id)) || !claim_parse(claim, question->file))
        return false;
    if (question->approves)
        return true;
    struct text token = id_token(text_of(question->id));
    return memcmp(token.data, claim->token, TOKEN_LENGTH) == 0;
}

/* Read the claim's bytes, as a file of its owner's word, and that is not intake's own user. */
static int read_claim(const struct spool *spool, const struct claim *claim, struct buffer *bytes,
                      struct drop *drop, struct error *error)
{
    struct text shown = text_of(claim->source);
    enum drop_result read = drop_read(spool->claims, claim->file, shown, bytes, drop, error);
    int result = read == DROP_TAKEN ? owner_check(spool, drop, shown, error) : -1;
    if (read == DROP_GONE)
        error_set(error, "the claim is gone");
    if (!result && witness_is_reader(drop->uid))
        result = error_set(error, "the file belongs to the user that reads job files");
    return result ? -1 : 0;
}

/* Does the file say that this job is approved?  With a manifest it must be the record's. */
static int check_words(struct text bytes, const struct job_record *record, struct error *error)
{
    struct text words = text_trim(bytes);
    const char *id = record->id.data, *digest = record->first_manifest_sha256.data;
    if (text_ends(words, "\n..."))
        words = text_trim((struct text){words.data, words.length - 3});
    const struct text forms[] = {
        arena_printf(answer_arena, "approve: %s", id),
        arena_printf(answer_arena, "approve: {job: %s, manifest: %s}", id, digest ? digest : ""),
    };
    for (size_t i = 0; i < ARRAY_COUNT(forms); i++)
        if (text_equal(words, forms[i]))
            return 0;
    return error_set(error,
                     "where jobs are sealed, an approval is written as %s or by: dlspool "
                     "approve %s",
                     forms[0].data, id);
}

static int seal_approval(struct stage *stage, const struct seal_key *key, int job, uid_t uid,
                         struct text bytes, struct answer *answer, struct error *error)
{
    struct job_record record;
    struct user user;
    if (record_read(job, answer_arena, &record, error))
        return -1;
    users_find(uid, &user);
    if (!text_is(record.id, answer->asked.id))
        return error_set(error, "job.yaml has the id of another job");
    if (seal_check(key, &record, error) || check_words(bytes, &record, error) ||
        approval_may_decide(&stage->settings, &record, uid, user.name, error))
        return -1;
    approval_make(&stage->settings, &record, uid, user.name, clock_now(), &answer->approval);
    approval_seal(key, &record, &answer->approval);
    return 0;
}

/* Look at the claim, and at the job that it approves, and seal that. */
static int see_approval(struct stage *stage, const struct seal_key *key, struct answer *answer,
                        struct error *error)
{
    struct claim claim;
    struct buffer bytes = {0};
    struct drop drop;
    struct job_place place = {.state = STATE_HELD};
    if (!is_question(&answer->asked, &claim))
        return error_set(error, "the witness was asked for something that is no claim");
    snprintf(place.id, sizeof(place.id), "%s", answer->asked.id);
    int result = read_claim(&stage->spool, &claim, &bytes, &drop, error);
    int job = result ? -1 : job_open(&stage->spool, &place);
    if (!result && job < 0)
        result = error_errno(error, "the job could not be opened in held/");
    if (!result)
        result = seal_approval(stage, key, job, drop.uid, buffer_text(&bytes), answer, error);
    if (job >= 0)
        sys.close(job);
    buffer_free(&bytes);
    arena_reset(answer_arena);
    return result;
}

/* Look at the claim, and seal the facts. */
static int see_claim(const struct spool *spool, const struct seal_key *key, struct answer *answer,
                     struct error *error)
{
    struct claim claim;
    struct buffer bytes = {0};
    struct drop drop;
    struct job_record record = {.id = text_of(answer->asked.id)};
    if (!is_question(&answer->asked, &claim))
        return error_set(error, "the witness was asked for something that is no claim of that job");
    int result = read_claim(spool, &claim, &bytes, &drop, error);
    if (!result) {
        sha256_hex(buffer_text(&bytes), answer->request_sha256);
        record.uid = answer->uid = drop.uid;
        record.request_sha256 = text_of(answer->request_sha256);
        prepare_owner(answer_arena, &record);
        answer->gid = record.gid;
        snprintf(answer->owner, sizeof(answer->owner), "%s", record.owner.data);
        snprintf(answer->home, sizeof(answer->home), "%s", record.home.data);
        seal_make(key, &record, answer->seal);
    }
    buffer_free(&bytes);
    arena_reset(answer_arena);
    return result ? -1 : 0;
}

static void answer_questions(int socket, void *context)
{
    struct stage *stage = context;
    struct seal_key key;
    struct answer answer;
    struct error error = {""};
    int unready = seal_read_key(&stage->spool, stage->settings.user, &key, &error);
    answer_arena = arena_new();
    for (;;) {
        memset(&answer, 0, sizeof(answer));
        if (recv(socket, &answer.asked, sizeof(answer.asked), 0) != (ssize_t)sizeof(answer.asked))
            return;
        answer.error = error;
        answer.result = unready ? -1
                        : answer.asked.approves
                            ? see_approval(stage, &key, &answer, &answer.error)
                            : see_claim(&stage->spool, &key, &answer, &answer.error);
        if (send(socket, &answer, sizeof(answer), MSG_NOSIGNAL) < 0)
            return;
    }
}

int witness_start(struct stage *stage, struct error *error)
{
    if (!seal_is_needed(stage->settings.user))
        return 0;
    const struct passwd *entry = getpwnam(stage->settings.user.data);
    if (entry)
        reader = entry->pw_uid;
    return helper_start("witness", "sees whose files are", answer_questions, stage, &witness, NULL,
                        error);
}

/* -1 and a sentence when there is no answer in time. */
static int ask_witness(const struct question *question, struct answer *answer, struct error *error)
{
    struct pollfd ready = {.fd = witness, .events = POLLIN};
    if (send(witness, question, sizeof(*question), MSG_NOSIGNAL) < 0)
        return error_errno(error, "the witness could not be asked");
    while (poll(&ready, 1, ANSWER_PATIENCE) > 0) {
        ssize_t length = recv(witness, answer, sizeof(*answer), 0);
        if (length != (ssize_t)sizeof(*answer))
            return error_set(error, "the witness is gone");
        /* Ignore an answer to an earlier question that came too late. */
        if (memcmp(&answer->asked, question, sizeof(*question)) == 0)
            return 0;
    }
    return error_set(error, "the witness does not answer");
}

bool witness_is_needed(void)
{
    return witness >= 0;
}

int witness_approve(void *claim, const char *id, struct approval *approval, struct error *error)
{
    struct question question;
    struct answer answer;
    memset(&question, 0, sizeof(question));
    question.approves = 1;
    snprintf(question.id, sizeof(question.id), "%s", id);
    snprintf(question.file, sizeof(question.file), "%s", ((const struct claim *)claim)->file);
    if (ask_witness(&question, &answer, error))
        return -1;
    if (answer.result)
        return error_set(error, "%s: %s", id, answer.error.text);
    if (answer.approval.uid != approval->uid)
        return error_set(error, "%s: the file's owner has changed meanwhile", id);
    *approval = answer.approval;
    return 0;
}

bool witness_is_reader(uid_t uid)
{
    return reader != (uid_t)-1 && uid == reader;
}

int witness_seal(const struct claim *claim, struct arena *arena, struct job_record *record,
                 struct error *error)
{
    struct question question;
    struct answer answer;
    if (witness < 0)
        return 0;
    memset(&question, 0, sizeof(question)); /* with what lies between its members */
    snprintf(question.id, sizeof(question.id), "%s", record->id.data);
    snprintf(question.file, sizeof(question.file), "%s", claim->file);
    if (ask_witness(&question, &answer, error))
        return -1;
    if (answer.result)
        return error_set(error, "%s: %s", record->id.data, answer.error.text);
    if (answer.uid != record->uid || answer.gid != record->gid ||
        !text_is(record->owner, answer.owner) || !text_is(record->home, answer.home) ||
        !text_is(record->request_sha256, answer.request_sha256))
        return error_set(error, "%s: the file, or its owner, has changed meanwhile",
                         record->id.data);
    record->seal = arena_text(arena, answer.seal, SEAL_SIZE - 1);
    return 0;
}
