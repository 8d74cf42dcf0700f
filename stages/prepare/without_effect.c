/* stages/prepare/without_effect.c - fields of a job that its template does not read */
#include "stages/prepare/without_effect.h"

#include <string.h>

#include "request/notes.h"

#define RENEW                                                                                      \
    "leave it out, or ask an administrator whether templates.git is older than dlspool (dlspool "  \
    "init --upgrade)"

/* Fields that dlspool itself sees to on one machine, whatever its template does: queues have limits. */
static bool is_kept_by_machine(struct text field)
{
    static const char *const fields[] = {"checkpoint", "gpu_type", "queue", "signal", "time_limit"};
    for (size_t i = 0; i < ARRAY_COUNT(fields); i++)
        if (text_is(field, fields[i]))
            return true;
    return false;
}

static bool has_note(const struct notes *notes, struct text field)
{
    for (size_t i = 0; i < notes->count; i++)
        if (text_equal(notes->items[i].field, field))
            return true;
    return false;
}

/* Does the job need nodes that it may not get? */
static bool is_needed(const struct description *description, struct text field)
{
    return text_is(field, "features") || text_is(field, "exclusive") ||
           (text_is(field, "spread") && text_is(description->spread, "require"));
}

int without_effect_tell(struct arena *arena, const char *executor,
                        const struct description *description, const struct render_result *rendered,
                        struct notes *notes, struct error *error)
{
    bool machine = strcmp(executor, "local") == 0 || strcmp(executor, "null") == 0;
    const char *template = rendered->template_path.data;
    for (size_t i = 0; i < rendered->unread_count; i++) {
        struct text field = rendered->unread[i];
        if (has_note(notes, field) || (machine && is_kept_by_machine(field)))
            continue;
        if (is_needed(description, field))
            return error_set(error,
                             "%s: the template %s of templates.git does not read it, so that the "
                             "job could run where it does not want to; " RENEW,
                             field.data, template);
        if (text_is(field, "debug"))
            request_notes_add(arena, notes, "debug",
                              "no effect here: nothing that ran is kept at the end but what it "
                              "printed, which is in output/");
        else
            request_notes_add(
                arena, notes, field.data,
                "no effect: the template %s of templates.git does not read it; " RENEW, template);
    }
    return 0;
}
