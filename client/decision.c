/* client/decision.c - an approver decides about a job that waits for that: the control file for it */
#include "client/decision.h"

#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/system.h"
#include "client/drop_file.h"
#include "stages/shared/approval.h"
#include "stages/shared/control.h"
#include "stages/users.h"

bool decision_is_wanted(const struct spool *spool, const struct settings *settings,
                        const struct job_view *view)
{
    if (view->place.state != STATE_HELD || !view->readable || !view->record.wants.length ||
        approval_may_decide(settings, &view->record, getuid(), "", NULL))
        return false;
    int job = job_open(spool, &view->place);
    bool waits = job >= 0 && approval_is_due(settings, &view->record, job) != 0;
    if (job >= 0)
        sys.close(job);
    return waits;
}

int decision_check(const struct settings *settings, const struct job_view *view,
                   enum control_verb verb, struct error *error)
{
    struct user user;
    users_find(getuid(), &user);
    return !control_allows(verb, &view->place, &view->record, error) ||
                   approval_may_decide(settings, &view->record, getuid(), user.name, error)
               ? -1
               : 0;
}

/* A refusal is written as JSON, which keeps any words as they are. */
static int write_refusal(struct arena *arena, const struct job_record *record, const char *reason,
                         struct buffer *line, struct error *error)
{
    struct value *tree = value_object(arena), *parts = value_object(arena);
    value_put(arena, parts, "job", value_text(arena, record->id));
    value_put(arena, parts, "text", value_string(arena, reason));
    value_put(arena, tree, "refuse", parts);
    int result = json_write(line, tree, false, error);
    buffer_add_byte(line, '\n');
    return result;
}

int decision_drop(const struct spool *spool, struct arena *arena, const struct job_view *view,
                  const char *reason, struct error *error)
{
    char name[NAME_MAX + 1];
    struct buffer line = {0};
    int result = 0;
    if (reason)
        result = write_refusal(arena, &view->record, reason, &line, error);
    else
        buffer_printf(&line, "approve: {job: %s, manifest: %s}\n", view->record.id.data,
                      view->record.first_manifest_sha256.data);
    if (!result)
        result = drop_file(spool, reason ? "refuse" : "approve", reason ? ".json" : ".yaml",
                           buffer_text(&line), name, error);
    buffer_free(&line);
    return result;
}

int decision_check_reason(const char *reason, struct error *error)
{
    size_t length = reason ? strlen(reason) : 0;
    if (length && strpbrk(reason, "\r\n"))
        return error_set(error, "found several lines, expected one that says why");
    if (length && length <= CONTROL_WORDS_LONGEST)
        return 0;
    return error_set(error, "found %zu bytes, expected one line of 1 to %d that says why", length,
                     CONTROL_WORDS_LONGEST);
}
