/* stages/prepare/verify.c - is a job's manifest what its request is rendered to?
 *
 * Three processes: the stage asks, `verifier` finds or forks the reader of that user, the reader renders.
 * Readers stay for as long as there is something to ask, a few at a time.
 */
#include "stages/prepare/verify.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "spool/job.h"
#include "stages/guard.h"
#include "stages/helper.h"
#include "stages/prepare/limits.h"
#include "stages/prepare/wanted.h"
#include "stages/sandbox.h"

enum {
    MOST_READERS = 8,
    RECORD_LIMIT = 128 * 1024, /* bytes of a record that can be asked about */
    READER_PATIENCE = 30000,   /* milliseconds for a request; its processor time is limited, too */
    ANSWER_PATIENCE = 60000,
    IDLE_TIME = 10000 /* milliseconds, after which readers end */
};

struct question {
    uid_t uid;
    size_t length; /* of the text after it */
};

struct answer {
    enum verified verified;
    struct error error;
};

struct reader {
    uid_t uid;
    pid_t process; /* 0: free */
    int socket;
    int64_t used; /* of clock_elapsed() */
};

static int verifier = -1; /* the socket to the process; GONE: it does not answer any more */
enum { GONE = -2 };

/* The reader */

/* What a reader keeps from one job to the next, as most jobs are of one commit. */
struct reading {
    struct stage *stage;
    struct arena *arena;
    struct repository *repository;
    char commit[64];
};

/* Read the templates of the commit that the manifest was made from.  It must have been served: whoever can
 * write to templates.git may have added others. */
static enum verified take_commit(struct reading *reading, struct text commit, struct error *error)
{
    struct stage *stage = reading->stage;
    char path[PATH_MAX + 32];
    if (reading->repository && text_is(commit, reading->commit))
        return VERIFY_SAME;
    repository_close(reading->repository);
    reading->repository = NULL;
    struct repository *served = stage_repository(stage, error);
    if (!served)
        return VERIFY_TROUBLE;
    bool known = commit.length < sizeof(reading->commit) && repository_has_commit(served, commit);
    repository_close(served);
    if (!known) {
        error_set(error, "its commit of templates.git is none that was served");
        return VERIFY_DIFFERS;
    }
    memcpy(reading->commit, commit.data, commit.length);
    reading->commit[commit.length] = '\0';
    snprintf(path, sizeof(path), "%s/templates.git", stage->spool.path);
    struct repository *repository = repository_open(path, reading->commit, error);
    if (!repository)
        return VERIFY_TROUBLE;
    repository_read_host(repository, stage->spool.path);
    if (repository_refresh(repository, error)) {
        repository_close(repository);
        return VERIFY_TROUBLE;
    }
    reading->repository = repository;
    return VERIFY_SAME;
}

/* Does the request give this record's manifest, and the other facts that root relies on?  What `limits` of
 * dlspool.yaml decided when the job was accepted is taken from the record: its priority, and its time_limit
 * where the request names none. */
static enum verified compare(struct reading *reading, const struct job_record *record,
                             struct text request, struct error *error)
{
    struct preparation preparation;
    struct job_record again = *record;
    int64_t asked = 0;
    int result =
        prepare_request(reading->arena, request, record->source.data, &again, &preparation);
    struct error unbound;
    if (!result) {
        asked = again.time_limit;
        limits_keep(record, &again, preparation.description);
        result = prepare_manifest(reading->arena, reading->repository, &again, &preparation);
    }
    if (result)
        error_set(error, "it cannot be rendered: %s", preparation.error.text);
    else if (!text_equal(again.manifest_sha256, record->manifest_sha256))
        error_set(error, "manifest.yaml is not what the request is rendered to");
    else if ((asked && asked != record->time_limit) ||
             !text_equal(again.gpu_type, record->gpu_type) ||
             !text_equal(again.units_file, record->units_file) ||
             !text_equal(again.privileges, record->privileges) ||
             !text_equal(again.unlisted, record->unlisted) ||
             wanted_bind(reading->arena, reading->repository, request, &again, &unbound) ||
             !text_equal(again.first_manifest_sha256, record->first_manifest_sha256))
        error_set(error, "job.yaml is not what the request says");
    else
        return VERIFY_SAME;
    return VERIFY_DIFFERS;
}

static enum verified render_again(struct reading *reading, struct text text, struct error *error)
{
    struct job_place place = {.state = STATE_RENDERED};
    struct job_record record;
    struct buffer request = {0};
    if (record_parse(reading->arena, text, &record, error))
        return VERIFY_DIFFERS;
    snprintf(place.id, sizeof(place.id), "%s", record.id.data);
    int job = job_open(&reading->stage->spool, &place);
    if (job < 0) {
        error_errno(error, "it could not be opened");
        return VERIFY_TROUBLE;
    }
    enum verified verified = VERIFY_SAME;
    if (prepare_read(job, &record, &request, error))
        verified = file_is_damaged(errno) ? VERIFY_DIFFERS : VERIFY_TROUBLE;
    if (verified == VERIFY_SAME)
        verified = take_commit(reading, record.commit, error);
    if (verified == VERIFY_SAME)
        verified = compare(reading, &record, buffer_text(&request), error);
    sys.close(job);
    buffer_free(&request);
    return verified;
}

static void answer_as_reader(int socket, struct stage *stage)
{
    static char text[RECORD_LIMIT + 1];
    struct reading reading = {.stage = stage, .arena = arena_new()};
    struct answer answer = {.verified = VERIFY_TROUBLE};
    struct guard *guard = guard_new(&answer.error);
    bool unready =
        !guard || guard_limit(guard, &answer.error) ||
        sandbox_enter(&stage->spool, stage->settings.user, SANDBOX_VERIFY, &answer.error);
    for (ssize_t length; (length = recv(socket, text, sizeof(text) - 1, 0)) > 0;) {
        text[length] = '\0';
        guard_enter(guard, "a request", 0);
        if (!unready)
            answer.verified =
                render_again(&reading, (struct text){text, (size_t)length}, &answer.error);
        guard_leave(guard);
        arena_reset(reading.arena);
        if (send(socket, &answer, sizeof(answer), MSG_NOSIGNAL) < 0)
            break;
    }
    _exit(0);
}

/* The verifier */

static void end_reader(struct reader *reader)
{
    if (!reader->process)
        return;
    close(reader->socket);
    kill(reader->process, SIGKILL);
    while (waitpid(reader->process, NULL, 0) < 0 && errno == EINTR)
        continue;
    reader->process = 0;
}

/* A new reader closes the sockets of the others, through which it could answer for them. */
struct reader_start {
    struct reader *readers;
    int verifier_socket;
    struct stage *stage;
};

static void run_reader(int socket, void *context)
{
    struct reader_start *start = context;
    close(start->verifier_socket);
    for (size_t i = 0; i < MOST_READERS; i++)
        if (start->readers[i].process)
            close(start->readers[i].socket);
    answer_as_reader(socket, start->stage);
}

/* The reader of that user; NULL and a sentence when there can be none. */
static struct reader *find_reader(struct reader *readers, int socket, uid_t uid,
                                  struct stage *stage, struct error *error)
{
    struct reader *oldest = &readers[0];
    for (size_t i = 0; i < MOST_READERS; i++) {
        if (readers[i].process && readers[i].uid == uid)
            return &readers[i];
        if (!readers[i].process || (oldest->process && readers[i].used < oldest->used))
            oldest = &readers[i];
    }
    int reader_socket;
    struct reader_start start = {readers, socket, stage};
    end_reader(oldest);
    pid_t process;
    if (helper_start("reader", "renders it again", run_reader, &start, &reader_socket, &process,
                     error))
        return NULL;
    *oldest = (struct reader){.uid = uid, .process = process, .socket = reader_socket};
    return oldest;
}

/* What a reader says is shown to people, and the reader may have been taken over. */
static void clean_answer(struct answer *answer)
{
    char *text = answer->error.text;
    if (answer->verified != VERIFY_SAME && answer->verified != VERIFY_TROUBLE)
        answer->verified = VERIFY_DIFFERS;
    text[sizeof(answer->error.text) - 1] = '\0';
    for (size_t i = 0; text[i]; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            text[i] = ' ';
}

/* Ask a reader.  Intake could read the request, so a reader that ends over it, or takes too long, counts as
 * VERIFY_DIFFERS. */
static void ask_reader(struct reader *reader, struct text text, struct answer *answer)
{
    struct pollfd ready = {.fd = reader->socket, .events = POLLIN};
    reader->used = clock_elapsed();
    if (send(reader->socket, text.data, text.length, MSG_NOSIGNAL) == (ssize_t)text.length &&
        poll(&ready, 1, READER_PATIENCE) > 0 &&
        recv(reader->socket, answer, sizeof(*answer), 0) == (ssize_t)sizeof(*answer)) {
        clean_answer(answer);
        return;
    }
    end_reader(reader);
    answer->verified = VERIFY_DIFFERS;
    error_set(&answer->error, "the process that rendered it again ended, or took too long");
}

/* Pass each question to the reader of its user, and the answer back, without looking into either.  Readers
 * with nothing to do for a while are ended. */
static void answer_as_verifier(int socket, void *context)
{
    struct stage *stage = context;
    static struct {
        struct question question;
        char text[RECORD_LIMIT];
    } asked;
    struct reader readers[MOST_READERS] = {{.process = 0}};
    struct pollfd ready = {.fd = socket, .events = POLLIN};
    explicit_bzero(&stage->key, sizeof(stage->key));
    guard_free(guard_own()); /* the stage's, which a reader is not to write to */
    for (;;) {
        struct answer answer = {.verified = VERIFY_TROUBLE};
        if (poll(&ready, 1, IDLE_TIME) == 0) {
            for (size_t i = 0; i < MOST_READERS; i++)
                end_reader(&readers[i]);
            continue;
        }
        ssize_t length = recv(socket, &asked, sizeof(asked), 0);
        if (length <= (ssize_t)sizeof(asked.question))
            break;
        struct reader *reader =
            find_reader(readers, socket, asked.question.uid, stage, &answer.error);
        if (reader)
            ask_reader(reader, (struct text){asked.text, asked.question.length}, &answer);
        if (send(socket, &answer, sizeof(answer), MSG_NOSIGNAL) < 0)
            break;
    }
    for (size_t i = 0; i < MOST_READERS; i++)
        end_reader(&readers[i]);
}

int verify_start(struct stage *stage, struct error *error)
{
    if (!stage->key.needed)
        return 0;
    return helper_start("verifier", "renders again", answer_as_verifier, stage, &verifier, NULL,
                        error);
}

/* Asking */

/* Send the record, whose manifest is asked about.  -1 and a sentence. */
static int send_question(const struct job_record *record, struct error *error)
{
    struct buffer bytes = {0};
    /* A manifest depends neither on what the job waits for nor on why it failed. */
    struct job_record asked = *record;
    asked.after_count = 0;
    asked.failed = false;
    struct question question = {.uid = record->uid};
    buffer_add_text(&bytes, (struct text){(const char *)&question, sizeof(question)});
    int unwritten = record_format(&asked, &bytes, error);
    question.length = bytes.length - sizeof(question);
    memcpy(bytes.data, &question, sizeof(question));
    bool sent = !unwritten && question.length < RECORD_LIMIT &&
                send(verifier, bytes.data, bytes.length, MSG_NOSIGNAL) == (ssize_t)bytes.length;
    buffer_free(&bytes);
    return sent ? 0 : error_set(error, "what is to be rendered again could not be sent");
}

enum verified verify_job(struct stage *stage, const struct job_record *record, struct error *error)
{
    struct pollfd ready = {.fd = verifier, .events = POLLIN};
    struct answer answer;
    if (verifier == -1)
        return VERIFY_SAME;
    if (verifier == GONE || send_question(record, error))
        return VERIFY_TROUBLE;
    if (poll(&ready, 1, ANSWER_PATIENCE) <= 0 ||
        recv(verifier, &answer, sizeof(answer), 0) != (ssize_t)sizeof(answer)) {
        /* A late answer would be taken for the answer to another question. */
        close(verifier);
        verifier = GONE;
        stage->failed = true;
        error_set(error, "the process that renders again does not answer");
        return VERIFY_TROUBLE;
    }
    *error = answer.error;
    return answer.verified;
}
