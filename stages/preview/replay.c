/* stages/preview/replay.c - renders an old job at another commit, without changing it */
#include "stages/preview/replay.h"

#include <errno.h>

#include "base/system.h"
#include "stages/prepare/limits.h"

static enum replay_found judge_unreadable(const struct spool *spool, const struct job_place *place,
                                          struct error *error)
{
    int reason = errno;
    char buffer[PLACE_TEXT_SIZE];
    struct stat status;
    int job = job_open(spool, place);
    bool gone = job < 0 && errno == ENOENT;
    if (job >= 0)
        gone = sys.fstat(job, &status) || status.st_nlink == 0;
    if (job >= 0)
        sys.close(job);
    bool forbidden = !gone && (reason == EACCES || reason == EPERM);
    if (forbidden)
        error_set(error,
                  "%s: you may not read what its owner wrote; root, the spool's user and the "
                  "owner's group may",
                  job_place_text(place, buffer));
    else
        error_prefix(error, "%s", job_place_text(place, buffer));
    return gone ? REPLAY_GONE : forbidden ? REPLAY_FORBIDDEN : REPLAY_DAMAGED;
}

/* Read the record and the request of a job, or find out why it cannot be rendered again. */
static enum replay_found read_open(const struct spool *spool, int job, struct arena *arena,
                                   struct replay *replay, struct error *error)
{
    struct job_record *record = &replay->record;
    const struct job_place *place = &replay->place;
    struct buffer request = {0};
    if (record_read(job, arena, record, error))
        return judge_unreadable(spool, place, error);
    if (!text_is(record->id, place->id)) {
        struct error_quote_buffer buffer;
        error_set(
            error, "job.yaml is that of %s: the directory was renamed or copied",
            error_quote(&buffer, record->id.length ? record->id.data : "", record->id.length));
        errno = EBADMSG;
        return judge_unreadable(spool, place, error);
    }
    if (!record->request_file.length) {
        error_set(error, "%s was not made from a job file", place->id);
        return REPLAY_NO_REQUEST;
    }
    if (record->failed && text_is(record->failure.reason, "StopsReader")) {
        error_set(error,
                  "%s was quarantined, because reading its job file ended the process; it is "
                  "not read again",
                  place->id);
        return REPLAY_SET_ASIDE;
    }
    int result = prepare_read(job, record, &request, error);
    if (!result)
        replay->request = arena_text(arena, request.data ? request.data : "", request.length);
    buffer_free(&request);
    return result ? judge_unreadable(spool, place, error) : REPLAY_READ;
}

enum replay_found preview_replay_read(const struct spool *spool, const struct job_place *place,
                                      struct arena *arena, struct replay *replay,
                                      struct error *error)
{
    *replay = (struct replay){.place = *place};
    int job = job_open(spool, place);
    if (job < 0) {
        error_errno(error, "the job could not be opened");
        return judge_unreadable(spool, place, error);
    }
    enum replay_found found = read_open(spool, job, arena, replay, error);
    sys.close(job);
    return found;
}

int preview_replay_understand(struct arena *arena, struct replay *replay,
                              enum replay_secrets secrets, struct preparation *preparation)
{
    struct job_record *record = &replay->record;
    const char *source = record->source.length ? record->source.data : record->request_file.data;
    const struct job_record before = *record;
    if (prepare_request(arena, replay->request, source, record, preparation) != PREPARED)
        return -1;
    limits_keep(&before, record, preparation->description);
    if (secrets == REPLAY_MASKED)
        description_mask(preparation->description);
    return 0;
}

void preview_replay_render(struct arena *arena, const struct replay *replay,
                           const struct preparation *understood, struct repository *repository,
                           struct text executor, struct replay_rendering *rendering)
{
    struct preparation preparation = *understood;
    struct job_record *record = &rendering->record;
    *record = replay->record;
    record->executor = executor;
    if (record->attempt < 1)
        record->attempt = 1;
    rendering->rendered = prepare_manifest(arena, repository, record, &preparation) == PREPARED;
    rendering->manifest = preparation.rendered.manifest;
    rendering->tree = preparation.rendered.tree;
    rendering->error = preparation.error;
}
