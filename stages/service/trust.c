/* stages/service/trust.c - can anybody write to a spool whom root must not believe? */
#include "stages/service/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/above.h"
#include "base/file.h"
#include "base/log.h"
#include "spool/seal.h"
#include "stages/users.h"
#include "base/writable.h"

enum { CONFIG_LIMIT = 1 << 16 };

struct trust {
    const struct spool *spool;
    bool has_user; /* `user:` is set, and is somebody */
    uid_t user;
    gid_t group;       /* the primary one of `user:` */
    bool shared;       /* templates.git is a group's, by core.sharedRepository: */
    gid_t shared_with; /* ... this one's */
};

/* A part of the spool that is checked.  One that is missing is skipped. */
static const struct part {
    const char *name;
    bool templates; /* a part of templates.git */
    bool directs; /* it decides what root does, so where records are sealed only root may own it */
} parts[] = {
    {".", false, true},
    {"dlspool.yaml", false, true},
    {"rendered", false, false},
    {"submitted", false, true},
    {"failed", false, false},
    {"held", false, false},
    {"done", false, true},
    {".claims", false, false},
    {".new", false, false},
    {"templates.git", true, true},
    {"templates.git/config", true, false},
    {"templates.git/HEAD", true, false},
    {"templates.git/packed-refs", true, false},
    {"templates.git/refs", true, false},
    {"templates.git/refs/heads", true, false},
    {"templates.git/objects", true, false},
};

static bool is_trusted_user(const struct trust *trust, uid_t uid)
{
    return uid == 0 || (trust->has_user && uid == trust->user);
}

static bool is_trusted_group(const struct trust *trust, const struct part *part, gid_t group)
{
    return group == 0 || (trust->has_user && group == trust->group) ||
           (part->templates && trust->shared && group == trust->shared_with);
}

/* "/var/spool/dlspool/dlspool.yaml" */
static const char *full_path(const struct trust *trust, const struct part *part,
                             char path[static PATH_MAX + 64])
{
    bool whole = strcmp(part->name, ".") == 0;
    snprintf(path, PATH_MAX + 64, "%s%s%s", trust->spool->path, whole ? "" : "/",
             whole ? "" : part->name);
    return path;
}

static int refuse_owner(const struct trust *trust, const struct part *part, uid_t owner,
                        struct error *error)
{
    char path[PATH_MAX + 64];
    struct user user;
    users_find(owner, &user);
    full_path(trust, part, path);
    return error_set(
        error,
        "%s belongs to %s, who could change what root runs for everybody: root serves what "
        "belongs to root or to the user whom `user:` of dlspool.yaml names; chown root %s, or run "
        "dlspool as %s",
        path, user.name, path, user.name);
}

static int refuse_mode(const struct trust *trust, const struct part *part, mode_t mode,
                       const char *who, struct error *error)
{
    char path[PATH_MAX + 64];
    full_path(trust, part, path);
    return error_set(
        error,
        "%s may be written to by %s (its mode is %04o), who could change what root runs for "
        "everybody; chmod go-w %s, or setfacl -b %s where there is an access control list%s",
        path, who, (unsigned)mode & 07777, path, path,
        part->templates ? "; a group that is to push templates is let in with git config "
                          "core.sharedRepository group"
                        : "");
}

static int check_open(const struct trust *trust, const struct part *part, int file,
                      struct error *error)
{
    struct stat status;
    struct writable writable;
    char who[64];
    if (sys.fstat(file, &status) || writable_look(file, &status, &writable))
        return error_errno(error, "%s could not be looked at", part->name);
    /* Files that a push leaves belong to whoever pushed. */
    bool pushed = part->templates && trust->shared && strchr(part->name, '/');
    if (!pushed && !is_trusted_user(trust, status.st_uid))
        return refuse_owner(trust, part, status.st_uid, error);
    if (writable.others)
        return refuse_mode(trust, part, status.st_mode, "other users", error);
    for (size_t i = 0; i < writable.group_count; i++)
        if (!is_trusted_group(trust, part, writable.groups[i])) {
            snprintf(who, sizeof(who), "the members of group %u", (unsigned)writable.groups[i]);
            return refuse_mode(trust, part, status.st_mode, who, error);
        }
    return 0;
}

static int check_part(const struct trust *trust, const struct part *part, struct error *error)
{
    int file =
        sys.openat(trust->spool->root, part->name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0);
    if (file < 0 && (errno == ENOENT || errno == ENOTDIR || (errno == EACCES && geteuid() != 0)))
        return 0;
    if (file < 0)
        return error_errno(error, "%s/%s could not be opened", trust->spool->path, part->name);
    int result = check_open(trust, part, file, error);
    sys.close(file);
    return result;
}

/* Does this value of core.sharedRepository let the group write? */
static bool lets_group_write(const char *value)
{
    static const char *const words[] = {"group", "true", "1", "all", "world", "everybody", "2"};
    enum { OCTAL = 8, GROUP_WRITES = 0020 };
    for (size_t i = 0; i < ARRAY_COUNT(words); i++)
        if (strcasecmp(value, words[i]) == 0)
            return true;
    return value[0] == '0' && strtol(value, NULL, OCTAL) & GROUP_WRITES;
}

/* Which group core.sharedRepository lets in: that of the repository's directory. */
static void learn_sharing(struct trust *trust)
{
    struct buffer config = {0};
    struct stat status;
    struct text line;
    int directory =
        sys.openat(trust->spool->root, "templates.git", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (directory < 0)
        return;
    if (sys.fstat(directory, &status) == 0 &&
        file_read_at(directory, "config", CONFIG_LIMIT, &config, NULL) == 0) {
        char name[64], value[64];
        for (struct text rest = buffer_text(&config);
             rest.length && text_next(&rest, '\n', &line);) {
            char copy[128];
            snprintf(copy, sizeof(copy), "%.*s", (int)line.length, line.data);
            if (sscanf(copy, " %63[a-zA-Z] = %63s", name, value) == 2 &&
                strcasecmp(name, "sharedrepository") == 0)
                trust->shared = lets_group_write(value);
        }
        trust->shared_with = status.st_gid;
    }
    buffer_free(&config);
    sys.close(directory);
}

bool trust_is_for_root(const struct spool *spool, const struct settings *settings)
{
    return spool->owner == 0 || settings->user.length > 0;
}

int trust_check(const struct spool *spool, const struct settings *settings, struct error *error)
{
    struct trust trust = {.spool = spool};
    const struct passwd *entry = settings->user.length ? getpwnam(settings->user.data) : NULL;
    if (entry) {
        trust.has_user = true;
        trust.user = entry->pw_uid;
        trust.group = entry->pw_gid;
    }
    learn_sharing(&trust);
    for (size_t i = 0; i < ARRAY_COUNT(parts); i++)
        if (check_part(&trust, &parts[i], error))
            return -1;
    return above_check(spool->root, "the spool", &trust.user, trust.has_user, error);
}

void trust_warn(const struct spool *spool, const struct settings *settings)
{
    struct trust trust = {.spool = spool};
    char path[PATH_MAX + 64];
    struct stat status;
    if (!seal_is_needed(settings->user))
        return;
    const struct passwd *entry = getpwnam(settings->user.data);
    for (size_t i = 0; entry && i < ARRAY_COUNT(parts); i++)
        if (parts[i].directs &&
            !sys.fstatat(spool->root, parts[i].name, &status, AT_SYMLINK_NOFOLLOW) &&
            status.st_uid == entry->pw_uid)
            log_warn(
                "%s belongs to %s, as whom job files are read, so whoever takes that over by a job "
                "file decides what root does: chown %s root '%s'",
                full_path(&trust, &parts[i], path), settings->user.data,
                parts[i].templates ? "-R" : "-h", path);
    struct error error;
    if (entry && above_check(spool->root, "the spool", NULL, 0, &error))
        log_warn("%s", error.text);
}
