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

#include "spool/seal.h"
#include "stages/helper.h"
#include "stages/intake/owner.h"
#include "stages/prepare/prepare.h"
#include "stages/users.h"

enum { ANSWER_PATIENCE = 20000 }; /* milliseconds */

struct question {
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
    struct text token = id_token(text_of(question->id));
    return memcmp(token.data, claim->token, TOKEN_LENGTH) == 0;
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
    struct text shown = text_of(claim.source);
    enum drop_result read = drop_read(spool->claims, claim.file, shown, &bytes, &drop, error);
    int result = read == DROP_TAKEN ? owner_check(spool, &drop, shown, error) : -1;
    if (read == DROP_GONE)
        error_set(error, "the claim is gone");
    if (!result && witness_is_reader(drop.uid))
        result = error_set(error, "the file belongs to the user that reads job files");
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
        answer.result = unready ? -1 : see_claim(&stage->spool, &key, &answer, &answer.error);
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

bool witness_is_reader(uid_t uid)
{
    return reader != (uid_t)-1 && uid == reader;
}

int witness_seal(const struct claim *claim, struct arena *arena, struct job_record *record,
                 struct error *error)
{
    struct question question = {.id = ""};
    struct answer answer;
    if (witness < 0)
        return 0;
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
