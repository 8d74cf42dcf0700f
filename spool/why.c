/* spool/why.c - <id>/why: the sentence beside a failed or held job */
#include "spool/why.h"

#include <errno.h>

#include "base/system.h"
#include "spool/spool.h"

void why_format(const struct why *why, struct buffer *out)
{
    buffer_printf(out, "%s\n", why->sentence);
    if (why->detail && *why->detail)
        buffer_printf(out, "\n%s%s", why->detail,
                      text_ends(text_of(why->detail), "\n") ? "" : "\n");
    buffer_printf(out, "\nNext: %s\n", why->next);
}

int why_write(int job, const struct why *why, struct error *error)
{
    struct buffer text = {0};
    why_format(why, &text);
    int result = job_file_replace(job, "why", buffer_text(&text), 0644, error);
    buffer_free(&text);
    return result;
}

int why_remove(int job, struct error *error)
{
    if (sys.unlinkat(job, "why", 0) && errno != ENOENT)
        return error_errno(error, "why could not be removed");
    return 0;
}
