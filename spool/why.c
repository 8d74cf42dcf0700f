/* spool/why.c - <id>/why: the sentence beside a failed or held job */
#include "spool/why.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/system.h"
#include "spool/file.h"
#include "spool/spool.h"

enum { WHY_LIMIT = 64 * 1024 }; /* bytes */

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
    int result = spool_file_replace(job, "why", buffer_text(&text), 0644, error);
    buffer_free(&text);
    return result;
}

int why_write_private(int job, const struct why *why, gid_t group, struct error *error)
{
    struct buffer text = {0};
    why_format(why, &text);
    int result = spool_file_replace_private(job, "why", buffer_text(&text), group, error);
    buffer_free(&text);
    return result;
}

/* The start of the last paragraph, or the end. */
static size_t find_next(struct text why)
{
    static const char mark[] = "\nNext: ";
    size_t length = sizeof(mark) - 1;
    for (size_t at = why.length; at >= length; at--)
        if (memcmp(why.data + at - length, mark, length) == 0)
            return at - length;
    return why.length;
}

int why_replace_next(int job, const char *next, struct error *error)
{
    struct buffer old = {0}, new = {0};
    struct stat status;
    int result = -1;
    if (file_read_at(job, "why", WHY_LIMIT, &old, error) ||
        sys.fstatat(job, "why", &status, AT_SYMLINK_NOFOLLOW)) {
        result = errno == ENOENT ? 0 : -1;
        goto done;
    }
    buffer_printf(&new, "%.*s\nNext: %s\n", (int)find_next(buffer_text(&old)), old.data, next);
    result = status.st_mode & S_IROTH
                 ? spool_file_replace(job, "why", buffer_text(&new), 0644, error)
                 : spool_file_replace_private(job, "why", buffer_text(&new), status.st_gid, error);
done:
    buffer_free(&old);
    buffer_free(&new);
    return result;
}

int why_remove(int job, struct error *error)
{
    if (!sys.unlinkat(job, "why", 0) || errno == ENOENT)
        return 0;
    /* A directory has the name. */
    if ((errno == EISDIR || errno == EPERM) && !spool_file_damaged(job, "why"))
        return 0;
    return error_errno(error, "why could not be removed");
}
