/* stages/intake/new_job.c - what a claimed file becomes: a whole job directory in .new/ */
#include "stages/intake/new_job.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "request/after.h"
#include "request/notes.h"
#include "spool/eventlog.h"
#include "spool/file.h"
#include "stages/intake/once.h"
#include "stages/intake/subscribe.h"
#include "stages/intake/witness.h"
#include "stages/prepare/limits.h"
#include "stages/prepare/prepare.h"
#include "stages/prepare/wanted.h"
#include "stages/shared/control.h"
#include "stages/shared/hold.h"
#include "stages/shared/diagnosis.h"

/* The name for the id of a job that gives none: that of the dropped file, without its ending. */
static struct text name_from_source(const char *source)
{
    struct text name = text_of(source);
    const char *dot = strrchr(source, '.');
    if (dot && dot > source)
        name.length = (size_t)(dot - source);
    return name;
}

/* The record of a job that begins now: who dropped it, when, and the digest of what was dropped. */
static struct job_record start_record(struct acceptor *acceptor, struct acceptance *item,
                                      int64_t now)
{
    struct arena *arena = acceptor->arena;
    item->notes = (struct notes){.count = 0};
    item->hold = false;
    item->subscription = (struct subscription){.events = 0};
    struct job_record record = {
        .uid = item->drop.uid,
        .accepted = now,
        .executor = acceptor->stage->settings.executor,
        .attempt = 1,
        .dlspool = TEXT(DLSPOOL_VERSION),
        .failure.exit_code = -1,
    };
    /* The group is the user's own, never the file's: incoming/ is set-gid, so a file made there
     * has the group of the spool. */
    prepare_owner(arena, &record);
    struct text source = text_of(item->claim->source);
    struct error_quote_buffer buffer;
    record.source =
        utf8_valid(source)
            ? source
            : text_of(arena_string(arena, error_quote(&buffer, source.data, source.length)));
    if (item->readable) {
        char digest[SHA256_HEX_SIZE];
        sha256_hex(buffer_text(&item->bytes), digest);
        record.request_sha256 = arena_text(arena, digest, SHA256_HEX_SIZE - 1);
        record.request_file = text_of(prepare_request_name(buffer_text(&item->bytes)));
    }
    return record;
}

static void set_id(struct acceptance *item, struct job_record *record, struct text name)
{
    id_make(name, item->claim->token, item->id);
    record->id = text_of(item->id);
}

static void add_notes(struct buffer *lines, const struct notes *notes)
{
    for (size_t i = 0; i < notes->count && i < NOTES_MOST; i++) {
        eventlog_start(lines, clock_now(), "note");
        eventlog_add(lines, "field", notes->items[i].field);
        eventlog_add(lines, "text", notes->items[i].sentence);
        eventlog_end(lines);
    }
}

/* Write the events of a new job's first moments. */
static int write_first_events(int job, const struct acceptance *item,
                              const struct job_record *record, bool rendered, struct error *error)
{
    struct buffer lines = {0};
    eventlog_start(&lines, record->accepted, "accepted");
    eventlog_add(&lines, "file", record->source);
    eventlog_add(&lines, "owner", record->owner);
    eventlog_add_number(&lines, "uid", record->uid);
    if (record->request_sha256.length)
        eventlog_add(&lines, "sha256", record->request_sha256);
    if (item->claim->complete)
        eventlog_add(&lines, "complete", text_of(item->claim->complete));
    eventlog_end(&lines);
    add_notes(&lines, &item->notes);
    if (rendered) {
        eventlog_start(&lines, clock_now(), "rendered");
        eventlog_add(&lines, "commit", record->commit);
        eventlog_add(&lines, "template", record->template_path);
        eventlog_add(&lines, "image", record->image);
        eventlog_add_number(&lines, "images_txt_line", record->image_line);
        eventlog_end(&lines);
    }
    int result = spool_file_create(job, "log", buffer_text(&lines), 0644, error);
    buffer_free(&lines);
    return result;
}

/* Take over what the job waits for.  The resubmit stage finds out in held/ which jobs are meant. */
static void take_conditions(struct arena *arena, struct job_record *record,
                            struct preparation *preparation)
{
    const struct description *description = preparation->description;
    char time[CLOCK_TEXT_SIZE];
    record->begin = preparation->begin;
    if (description->begin.given && record->begin <= record->accepted)
        request_notes_add(arena, &preparation->notes, "begin", "%s is over: the job begins at once",
                          clock_format(record->begin, time));
    record->after_count = description->after_count;
    record->after = arena_allocate(arena, (record->after_count + 1) * sizeof(*record->after));
    for (size_t i = 0; i < record->after_count; i++) {
        enum condition condition = description->after[i].condition;
        record->after[i] = (struct awaited){
            .condition = text_of(after_condition_name(condition)),
            .job = condition == AFTER_SINGLETON ? record->name : description->after[i].job,
        };
    }
}

/* Write job.yaml and what belongs to the state that the job begins in. */
static int write_beginning(const struct settings *settings, int job, struct acceptance *item,
                           struct job_record *record, struct diagnosis *diagnosis,
                           struct error *error)
{
    int64_t now = clock_now();
    if (item->hold && control_file_write(job, CONTROL_HOLD, record->owner, record->uid, now, error))
        return -1;
    int due = diagnosis ? 0 : item->hold ? 1 : hold_awaits(settings, job, record);
    if (due < 0)
        return error_set(error, "whether the job is held is unknown at the moment");
    item->state = diagnosis ? STATE_FAILED : due ? STATE_HELD : STATE_RENDERED;
    if (diagnosis)
        return diagnosis_write(diagnosis, job, record, true, now, error);
    return due ? hold_write(settings, job, record, true, now, error)
               : record_create(job, record, error);
}

/* Write a whole job directory below .new/: of a rendered job, or with a diagnosis. */
static int write_job(struct acceptor *acceptor, struct acceptance *item, struct job_record *record,
                     struct text manifest, struct diagnosis *diagnosis, struct error *error)
{
    struct spool *spool = &acceptor->stage->spool;
    if (item->readable && (witness_seal(item->claim, acceptor->arena, record, error) ||
                           once_note(spool, item->claim, record, error)))
        return -1;
    int job = job_create(spool, item->id, error);
    if (job < 0)
        return -1;
    int result = 0;
    if (item->readable)
        result = spool_file_create_private(job, record->request_file.data,
                                           buffer_text(&item->bytes), record->gid, error);
    if (!result && manifest.length)
        result = spool_file_create_private(job, "manifest.yaml", manifest, record->gid, error);
    if (!result)
        result = write_first_events(job, item, record, diagnosis == NULL, error);
    if (!result)
        result = write_beginning(&acceptor->stage->settings, job, item, record, diagnosis, error);
    sys.close(job);
    if (!result && item->subscription.events)
        result = subscription_begin(spool, item->id, &item->subscription, record->gid, error);
    item->fate = result ? ACCEPT_KEEP : ACCEPT_JOB;
    if (result)
        job_discard(spool, item->id);
    return result;
}

int new_job_refuse_file(struct acceptor *acceptor, struct acceptance *item,
                        const struct error *reason, int64_t now, struct error *error)
{
    struct diagnosis diagnosis;
    struct job_record record = start_record(acceptor, item, now);
    set_id(item, &record, name_from_source(item->claim->source));
    diagnosis_refused_file(&diagnosis, reason);
    return write_job(acceptor, item, &record, (struct text){NULL, 0}, &diagnosis, error);
}

static int refuse_request(struct acceptor *acceptor, struct acceptance *item,
                          struct job_record *record, const struct error *reason,
                          struct error *error)
{
    struct diagnosis diagnosis;
    struct error whole;
    set_id(item, record, name_from_source(item->claim->source));
    if (item->claim->cut) {
        error_set(&whole,
                  "%s\nIt does not end with a newline: if it was cut off on its way, drop "
                  "the whole file again",
                  reason->text);
        reason = &whole;
    }
    diagnosis_bad_request(&diagnosis, item->claim->source, reason);
    return write_job(acceptor, item, record, (struct text){NULL, 0}, &diagnosis, error);
}

int new_job_refuse_control(struct acceptor *acceptor, struct acceptance *item,
                           const struct error *reason, int64_t now, struct error *error)
{
    struct diagnosis diagnosis;
    struct job_record record = start_record(acceptor, item, now);
    set_id(item, &record, name_from_source(item->claim->source));
    diagnosis_refused_request(&diagnosis, reason);
    return write_job(acceptor, item, &record, (struct text){NULL, 0}, &diagnosis, error);
}

int new_job_quarantine(struct acceptor *acceptor, struct acceptance *item, int64_t now,
                       struct error *error)
{
    struct diagnosis diagnosis;
    struct stat status;
    item->readable = false;
    item->drop = (struct drop){.uid = (uid_t)-1, .gid = (gid_t)-1};
    if (!sys.fstatat(acceptor->stage->spool.claims, item->claim->file, &status,
                     AT_SYMLINK_NOFOLLOW))
        item->drop.uid = status.st_uid;
    else if (errno != ENOENT)
        return error_errno(error, "%s could not be looked at", item->claim->token);
    struct job_record record = start_record(acceptor, item, now);
    set_id(item, &record, name_from_source(item->claim->source));
    diagnosis_stops(&diagnosis, item->claim->source, "intake", item->claim->tries);
    return write_job(acceptor, item, &record, (struct text){NULL, 0}, &diagnosis, error);
}

/* The request is understood, and cannot be rendered. */
static int refuse_rendering(struct acceptor *acceptor, struct acceptance *item,
                            struct job_record *record, const struct preparation *preparation,
                            int64_t now, struct error *error)
{
    struct diagnosis diagnosis;
    struct circumstances circumstances = {
        .settings = &acceptor->stage->settings,
        .id = item->id,
        .commit = repository_commit(acceptor->repository),
        .now = now,
    };
    diagnosis_render(&diagnosis, &circumstances, preparation->failure, &preparation->error);
    return write_job(acceptor, item, record, (struct text){NULL, 0}, &diagnosis, error);
}

int new_job_make(struct acceptor *acceptor, struct acceptance *item, int64_t now,
                 struct error *error)
{
    struct arena *arena = acceptor->arena;
    struct job_record record = start_record(acceptor, item, now);
    const struct limits limits = {&acceptor->stage->settings, &acceptor->stage->spool, false};
    struct preparation preparation;
    struct diagnosis diagnosis;
    if (prepare_request(arena, buffer_text(&item->bytes), record.source.data, &record,
                        &preparation) == PREPARE_BAD_REQUEST)
        return refuse_request(acceptor, item, &record, &preparation.error, error);
    set_id(item, &record, record.name);
    item->hold = preparation.description->hold;
    item->subscription =
        subscribe_settle(arena, &acceptor->stage->settings.messages,
                         &preparation.description->messages, &record, &preparation.notes);
    take_conditions(arena, &record, &preparation);
    enum prepare_result prepared =
        limits_hold(arena, &limits, acceptor->repository, &record, &preparation);
    enum backlog_answer answer = prepared == PREPARED
                                     ? backlog_ask(acceptor->backlog, &record, &preparation.error)
                                     : BACKLOG_OPEN;
    if (answer != BACKLOG_OPEN) {
        diagnosis_too_many(&diagnosis, item->id, answer == BACKLOG_OVER, &preparation.error);
        return write_job(acceptor, item, &record, (struct text){NULL, 0}, &diagnosis, error);
    }
    if (prepared == PREPARED)
        prepared = prepare_manifest(arena, acceptor->repository, &record, &preparation);
    item->notes = preparation.notes;
    if (prepared != PREPARED && preparation.failure == RENDER_REPOSITORY)
        return 1; /* not the fault of the job file, and it passes */
    if (prepared == PREPARED) {
        backlog_take_wants(acceptor->backlog, arena, &record);
        wanted_settle(arena, &acceptor->stage->settings, &record);
        if (wanted_bind(arena, acceptor->repository, buffer_text(&item->bytes), &record,
                        &preparation.error)) {
            preparation.failure = RENDER_NOT_ALLOWED;
            prepared = PREPARE_NOT_RENDERED;
        }
    }
    if (prepared != PREPARED)
        return refuse_rendering(acceptor, item, &record, &preparation, now, error);
    backlog_add(acceptor->backlog, item->id, &record);
    return write_job(acceptor, item, &record, preparation.rendered.manifest, NULL, error);
}
