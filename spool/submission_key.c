/* spool/submission_key.c - keys/: which job a submission has become that is made once, however often it is sent */
#include "spool/submission_key.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/directory.h"
#include "base/file.h"
#include "spool/file.h"
#include "spool/handed_directory.h"

enum { LONGEST_FILE = 256, STEM_LENGTH = 100 }; /* bytes */
static const int64_t longest_forgetting = 500;  /* milliseconds */

static const char directory_name[] = "keys", mark[] = "-once-";
enum { HASH_LENGTH = SHA256_HEX_SIZE - 1, MARK_LENGTH = sizeof(mark) - 1 };

/* ---- names ---- */

void submission_key_hash(uid_t uid, struct text key, char hash[static SHA256_HEX_SIZE])
{
    struct buffer bytes = {0};
    buffer_printf(&bytes, "%u ", (unsigned int)uid);
    buffer_add_text(&bytes, key);
    sha256_hex(buffer_text(&bytes), hash);
    buffer_free(&bytes);
}

void submission_key_name(const char *stem, const char *hash, const char *ending,
                         char name[static NAME_MAX + 1])
{
    snprintf(name, NAME_MAX + 1, "%.*s%s%s%s", STEM_LENGTH, stem, mark, hash, ending);
}

bool submission_key_in_name(struct text name, struct text *stem, struct text *hash)
{
    const char *dot = name.length ? memrchr(name.data, '.', name.length) : NULL;
    size_t end = dot ? (size_t)(dot - name.data) : name.length;
    if (end < HASH_LENGTH + MARK_LENGTH)
        return false;
    *hash = (struct text){name.data + end - HASH_LENGTH, HASH_LENGTH};
    *stem = (struct text){name.data, end - HASH_LENGTH - MARK_LENGTH};
    return memcmp(hash->data - MARK_LENGTH, mark, MARK_LENGTH) == 0 && sha256_is_hex(*hash);
}

static void name_file(uid_t uid, struct text hash, char name[static NAME_MAX + 1])
{
    snprintf(name, NAME_MAX + 1, "%u-%.*s", (unsigned int)uid, (int)hash.length, hash.data);
}

/* ---- keys/ ---- */

int submission_key_make_directory(const struct spool *spool, uid_t user, gid_t group,
                                  struct error *error)
{
    return handed_directory_make(spool, directory_name, user, group, error);
}

/* "ID SHA256\n" */
static bool parse(struct text line, struct keyed_job *job)
{
    struct text id, sha256;
    bool whole = text_ends(line, "\n");
    line.length -= whole;
    if (!whole || !text_next(&line, ' ', &id) || !id_valid(id) || !text_next(&line, ' ', &sha256) ||
        !sha256_is_hex(sha256))
        return false;
    text_copy(job->id, sizeof(job->id), id);
    text_copy(job->sha256, sizeof(job->sha256), sha256);
    return true;
}

static bool is_old(const struct stat *status)
{
    return clock_now() - (int64_t)status->st_mtim.tv_sec * 1000 > SUBMISSION_KEY_KEPT;
}

/* A file that a loss of power has left without its bytes tells of a job that nobody has seen: as if there was none. */
static int read_note(int directory, const char *name, struct keyed_job *job, struct error *error)
{
    struct buffer bytes = {0};
    struct stat status;
    int result = 1;
    if (sys.fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW))
        return errno == ENOENT ? 1 : error_errno(error, "keys/%s could not be looked at", name);
    if (is_old(&status))
        return 1;
    if (file_read_at(directory, name, LONGEST_FILE, &bytes, error))
        result = file_is_damaged(errno) ? 1 : -1;
    else if (parse(buffer_text(&bytes), job))
        result = 0;
    buffer_free(&bytes);
    return result;
}

int submission_key_read(const struct spool *spool, uid_t uid, struct text hash,
                        struct keyed_job *job, struct error *error)
{
    char name[NAME_MAX + 1];
    int directory = handed_directory_open(spool, directory_name);
    if (directory < 0)
        return errno == ENOENT ? 1 : error_errno(error, "keys/ could not be opened");
    name_file(uid, hash, name);
    int result = read_note(directory, name, job, error);
    sys.close(directory);
    return result;
}

struct forgetting {
    int directory;
    int64_t until; /* of clock_elapsed() */
};

static int remove_old(void *context, const char *name, unsigned char type)
{
    const struct forgetting *forgetting = context;
    struct stat status;
    (void)type;
    if (clock_elapsed() > forgetting->until)
        return 1;
    if (sys.fstatat(forgetting->directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        is_old(&status))
        sys.unlinkat(forgetting->directory, name, 0);
    return 0;
}

bool submission_key_forget_old(const struct spool *spool)
{
    struct forgetting forgetting = {.directory = handed_directory_open(spool, directory_name),
                                    .until = clock_elapsed() + longest_forgetting};
    if (forgetting.directory < 0)
        return true;
    int result = directory_walk(forgetting.directory, remove_old, &forgetting);
    sys.close(forgetting.directory);
    return result <= 0;
}

int submission_key_note(const struct spool *spool, uid_t uid, struct text hash,
                        const struct keyed_job *job, struct error *error)
{
    struct buffer line = {0};
    char name[NAME_MAX + 1];
    int directory = handed_directory_open(spool, directory_name);
    if (directory < 0)
        return error_errno(error, "keys/ could not be opened");
    name_file(uid, hash, name);
    buffer_printf(&line, "%s %s\n", job->id, job->sha256);
    int result = spool_file_renew(directory, name, buffer_text(&line), 0644, error);
    buffer_free(&line);
    sys.close(directory);
    return result;
}
