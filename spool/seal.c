/* spool/seal.c - signs facts of a job that a root process has checked */
#include "spool/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/file.h"

enum { KEY_MODE = 0600 };
static const char key_name[] = ".seal-key", new_name[] = ".seal-key.new";

bool seal_is_needed(struct text user)
{
    if (user.length == 0 || geteuid() != 0)
        return false;
    const struct passwd *entry = getpwnam(user.data);
    return !entry || entry->pw_uid != 0;
}

/* Is the key root's own?  The owner of the spool's directory can replace the file, but not by
 * one that is root's alone. */
static int check_key(const struct stat *status, struct error *error)
{
    if (!S_ISREG(status->st_mode) || status->st_uid != 0 || status->st_nlink != 1 ||
        (status->st_mode & 07777) != KEY_MODE || status->st_size != SEAL_KEY_SIZE)
        return error_set(error, "%s is not a file of %d bytes that only root can read (mode 0600)",
                         key_name, SEAL_KEY_SIZE);
    return 0;
}

static int read_key(int file, struct seal_key *key, struct error *error)
{
    struct stat status;
    if (sys.fstat(file, &status))
        return error_errno(error, "%s could not be looked at", key_name);
    if (check_key(&status, error))
        return -1;
    if (sys.pread(file, key->bytes, sizeof(key->bytes), 0) != (ssize_t)sizeof(key->bytes))
        return error_errno(error, "%s could not be read", key_name);
    return 0;
}

int seal_read_key(const struct spool *spool, struct text user, struct seal_key *key,
                  struct error *error)
{
    *key = (struct seal_key){.needed = seal_is_needed(user)};
    if (!key->needed)
        return 0;
    int file = sys.openat(spool->root, key_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    if (file < 0)
        return error_errno(error, "%s could not be opened", key_name);
    int result = read_key(file, key, error);
    sys.close(file);
    return result;
}

static int write_key(int file, struct error *error)
{
    char drawn[SEAL_KEY_SIZE];
    if (getrandom(drawn, sizeof(drawn), 0) != (ssize_t)sizeof(drawn))
        return error_errno(error, "no random number could be drawn");
    int result = file_write_all(file, (struct text){drawn, sizeof(drawn)}, new_name, error);
    explicit_bzero(drawn, sizeof(drawn));
    if (!result && sys.fsync(file))
        result = error_errno(error, "%s could not be made durable", new_name);
    return result;
}

int seal_make_key(struct spool *spool, struct error *error)
{
    struct stat status;
    if (!sys.fstatat(spool->root, key_name, &status, AT_SYMLINK_NOFOLLOW))
        return check_key(&status, error);
    if (errno != ENOENT)
        return error_errno(error, "%s could not be looked at", key_name);
    if (sys.unlinkat(spool->root, new_name, 0) && errno != ENOENT)
        return error_errno(error, "%s could not be removed", new_name);
    int file = sys.openat(spool->root, new_name,
                          O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, KEY_MODE);
    if (file < 0)
        return error_errno(error, "%s could not be made", new_name);
    int result = write_key(file, error);
    if (sys.close(file) && !result)
        result = error_errno(error, "%s could not be written", new_name);
    if (!result && file_rename(spool->root, new_name, spool->root, key_name))
        result = error_errno(error, "%s could not be put in its place", key_name);
    return result ? result : spool_sync_directory(spool, spool->root, spool->path, error);
}

/* Append a text after its length, so that no two records give the same bytes. */
static void add_text(struct buffer *out, struct text text)
{
    buffer_printf(out, "%zu ", text.length);
    buffer_add_text(out, text);
    buffer_add_byte(out, '\n');
}

static void sign(const struct seal_key *key, struct buffer *bytes, char seal[static SEAL_SIZE])
{
    sha256_hmac_hex((struct text){(const char *)key->bytes, sizeof(key->bytes)}, buffer_text(bytes),
                    seal);
    buffer_free(bytes);
}

void seal_make(const struct seal_key *key, const struct job_record *record,
               char seal[static SEAL_SIZE])
{
    struct buffer bytes = {0};
    buffer_printf(&bytes, "dlspool owner 1\n%ju %ju\n", (uintmax_t)record->uid,
                  (uintmax_t)record->gid);
    add_text(&bytes, record->id);
    add_text(&bytes, record->owner);
    add_text(&bytes, record->home);
    add_text(&bytes, record->request_sha256);
    sign(key, &bytes, seal);
}

void seal_make_manifest(const struct seal_key *key, const struct job_record *record,
                        char seal[static SEAL_SIZE])
{
    struct buffer bytes = {0};
    buffer_printf(&bytes, "dlspool manifest 2\n%d %jd\n", record->attempt,
                  (intmax_t)record->time_limit);
    add_text(&bytes, record->id);
    add_text(&bytes, record->seal);
    add_text(&bytes, record->manifest_sha256);
    add_text(&bytes, record->gpu_type);
    add_text(&bytes, record->units_file);
    if (record->privileges.length)
        add_text(&bytes, record->privileges);
    sign(key, &bytes, seal);
}

void seal_make_approval(const struct seal_key *key, struct text approval,
                        char seal[static SEAL_SIZE])
{
    struct buffer bytes = {0};
    buffer_add_string(&bytes, "dlspool approval 1\n");
    add_text(&bytes, approval);
    sign(key, &bytes, seal);
}

bool seal_equal(const char *made, struct text found)
{
    unsigned char differs = 0;
    if (found.length != SEAL_SIZE - 1)
        return false;
    for (size_t i = 0; i < found.length; i++)
        differs |= (unsigned char)(made[i] ^ found.data[i]);
    return differs == 0;
}

int seal_check(const struct seal_key *key, const struct job_record *record, struct error *error)
{
    char seal[SEAL_SIZE];
    if (!key->needed)
        return 0;
    if (!record->seal.length)
        return error_set(error, "job.yaml has no seal: nothing shows whose job this is");
    seal_make(key, record, seal);
    if (!record->request_sha256.length || !seal_equal(seal, record->seal))
        return error_set(error, "the seal in job.yaml is not that of its id, owner and request");
    return 0;
}
