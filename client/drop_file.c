/* client/drop_file.c - drops a file into incoming/ atomically */
#include "client/drop_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/file.h"

enum { STEM_LENGTH = 100 };

int drop_file(const struct spool *spool, const char *stem, const char *ending, struct text bytes,
              char name[static NAME_MAX + 1], struct error *error)
{
    char token[TOKEN_LENGTH + 1];
    id_token_make(clock_now(), token);
    snprintf(name, NAME_MAX + 1, "%.*s-%s%s", STEM_LENGTH, stem, token, ending);
    return drop_file_as(spool, name, bytes, error);
}

int drop_file_as(const struct spool *spool, const char *name, struct text bytes,
                 struct error *error)
{
    char token[TOKEN_LENGTH + 1], hidden[NAME_MAX + 1];
    int result = -1;
    id_token_make(clock_now(), token);
    snprintf(hidden, sizeof(hidden), ".%s.tmp", token);
    int file = sys.openat(spool->incoming, hidden,
                          O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (file < 0)
        return error_errno(error, "a file could not be made in %s/incoming", spool->path);
    /* The umask must not keep a daemon that is not root from reading it. */
    if (sys.fchmod(file, 0644)) {
        error_errno(error, "the file's mode could not be set");
        sys.close(file);
        goto done;
    }
    if (file_write_all(file, bytes, name, error)) {
        sys.close(file);
        goto done;
    }
    if (sys.fsync(file)) {
        error_errno(error, "%s could not be made durable", name);
        sys.close(file);
        goto done;
    }
    if (sys.close(file)) {
        error_errno(error, "%s could not be written", name);
        goto done;
    }
    if (file_rename(spool->incoming, hidden, spool->incoming, name)) {
        error_errno(error, "%s could not be put in place", name);
        goto done;
    }
    result = 0;
done:
    if (result)
        sys.unlinkat(spool->incoming, hidden, 0);
    return result;
}

const char *drop_file_ending(struct text bytes)
{
    return text_starts(bytes, "#!") ? ".sh" : text_starts(bytes, "{") ? ".json" : ".yaml";
}
