/* stages/shared/quarantine.c - a job whose own files are damaged */
#include "stages/shared/quarantine.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "spool/eventlog.h"
#include "spool/progress_file.h"

/* Take the facts of the log's first event, `accepted`. */
static void read_accepted(struct text log, struct arena *arena, struct job_record *record)
{
    struct event event;
    while (eventlog_next(&log, &event)) {
        if (!text_is(event.name, "accepted"))
            continue;
        struct text source = eventlog_get(arena, &event, "file");
        struct text owner = eventlog_get(arena, &event, "owner");
        int64_t uid = eventlog_get_number(&event, "uid", -1);
        /* eventlog_get() may return a part of the log, which is freed before the record. */
        if (utf8_valid(source))
            record->source = arena_text(arena, source.data, source.length);
        if (utf8_valid(owner))
            record->owner = arena_text(arena, owner.data, owner.length);
        record->uid = uid >= 0 && uid <= UINT32_MAX ? (uid_t)uid : (uid_t)-1;
        record->accepted = event.time;
        return;
    }
}

bool quarantine_recover(int job, const char *id, struct arena *arena, struct job_record *record)
{
    struct buffer log = {0};
    struct eventlog_fold fold = {0};
    struct progress progress = {.attempt = 0};
    *record = (struct job_record){
        .id = text_of(arena_string(arena, id)),
        .uid = (uid_t)-1,
        .gid = (gid_t)-1,
        .dlspool = TEXT(DLSPOOL_VERSION),
        .failure.exit_code = -1,
    };
    if (eventlog_read(job, &log, NULL) == 0) {
        read_accepted(buffer_text(&log), arena, record);
        eventlog_fold(buffer_text(&log), &fold);
    }
    buffer_free(&log);
    record->attempt = fold.attempt;
    if (progress_file_read(job, &progress, NULL) == 0 && progress.attempt > record->attempt)
        record->attempt = progress.attempt;
    bool known = record->attempt > 0;
    if (!known)
        record->attempt = 1;
    return known;
}

void quarantine_salvage(int job, const char *id, struct arena *arena, struct job_record *record)
{
    quarantine_recover(job, id, arena, record);
    /* Keep the damaged record under another name; it may be missing. */
    sys.renameat(job, "job.yaml", job, "job.yaml.damaged");
}

int quarantine_write(int job, const char *id, struct arena *arena, struct job_record *record,
                     const struct error *problem, struct error *error)
{
    struct job_record salvaged;
    struct diagnosis diagnosis;
    if (!record) {
        record = &salvaged;
        quarantine_salvage(job, id, arena, record);
    }
    diagnosis_damaged(&diagnosis, id, problem);
    return diagnosis_write(&diagnosis, job, record, false, clock_now(), error);
}
