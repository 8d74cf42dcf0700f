/* commands/init.c - dlspool init DIR: make a spool
 *
 * Directories, dlspool.yaml, and templates.git with the templates of this version as its first
 * commit and the hook that checks pushes.  Existing files are left alone, so running it again
 * completes a spool and never overwrites anything.
 */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/put.h"
#include "commands/commands.h"
#include "commands/complain.h"
#include "commands/embedded.h"
#include "commands/init_templates.h"
#include "commands/open.h"
#include "commands/options.h"
#include "commands/print.h"
#include "spool/file.h"
#include "spool/settings.h"
#include "spool/spool.h"

enum { SETTINGS_MODE = 0644, HOOK_MODE = 0755 };

/* Append `text` with every `from` replaced by `to`. */
static void add_replaced(struct buffer *out, struct text text, const char *from, const char *to)
{
    size_t length = strlen(from);
    const char *hit;
    while ((hit = memmem(text.data, text.length, from, length))) {
        size_t before = (size_t)(hit - text.data);
        buffer_add(out, text.data, before);
        buffer_add_string(out, to);
        text.data += before + length;
        text.length -= before + length;
    }
    buffer_add_text(out, text);
}

static int write_new(int directory, const char *name, struct text bytes, mode_t mode,
                     struct error *error)
{
    struct error problem;
    if (spool_file_create(directory, name, bytes, mode, &problem) == 0)
        return 0;
    if (errno == EEXIST)
        return 0;
    return error_set(error, "%s", problem.text);
}

static int write_settings(int root, const char *executor, const char *user, struct error *error)
{
    struct buffer with_executor = {0}, bytes = {0};
    char line[160];
    snprintf(line, sizeof(line), "\nexecutor: \"%s\"\n", executor);
    add_replaced(&with_executor, embedded_find("dlspool.yaml"), "\nexecutor: local\n", line);
    snprintf(line, sizeof(line), "\nuser: \"%s\"\n", user);
    add_replaced(&bytes, buffer_text(&with_executor), "\nuser: \"\"\n", line);
    int result = write_new(root, "dlspool.yaml", buffer_text(&bytes), SETTINGS_MODE, error);
    buffer_free(&with_executor);
    buffer_free(&bytes);
    return result;
}

static int install_hook(const char *repository, struct error *error)
{
    char path[PATH_MAX + 64], self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    self[length > 0 ? length : 0] = '\0';
    snprintf(path, sizeof(path), "%s/hooks", repository);
    if (mkdir(path, 0755) && errno != EEXIST)
        return error_errno(error, "%s could not be made", path);
    int hooks = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (hooks < 0)
        return error_errno(error, "%s could not be opened", path);
    struct buffer bytes = {0};
    add_replaced(&bytes, embedded_find("hooks/pre-receive"), "@DLSPOOL@", self);
    int result = write_new(hooks, "pre-receive", buffer_text(&bytes), HOOK_MODE, error);
    buffer_free(&bytes);
    close(hooks);
    return result;
}

static int make_templates(const char *path, bool upgrade, struct error *error)
{
    char repository[PATH_MAX + 32];
    struct stat status;
    snprintf(repository, sizeof(repository), "%s/templates.git", path);
    bool exists = !stat(repository, &status);
    if (exists && upgrade && init_templates_upgrade(repository, error))
        return -1;
    if (!exists && init_templates_create(repository, error))
        return -1;
    return install_hook(repository, error);
}

static int give_path(const char *path, const char *name, bool whole, const char *owner,
                     struct error *error)
{
    char full[PATH_MAX + 64];
    int status = 0;
    snprintf(full, sizeof(full), "%s/%s", path, name);
    pid_t child = fork();
    if (child == 0) {
        execlp("chown", "chown", "-h", owner, full, whole ? "-R" : (char *)NULL, (char *)NULL);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
        return error_set(error, "%s could not be given to %s", full, owner);
    return 0;
}

/* Check the user before anything is made: the settings must not name an unknown one. */
static int check_user(const char *user, struct error *error)
{
    struct error_quote_buffer buffer;
    const char *letters = "abcdefghijklmnopqrstuvwxyz0123456789_-";
    bool plain = strspn(user, letters) == strlen(user) && !strchr("-0123456789", user[0]);
    if (!*user || getpwnam(user))
        return 0;
    if (!plain)
        return error_set(error, "--user: this machine knows no user \"%s\"",
                         error_quote(&buffer, user, strlen(user)));
    return error_set(
        error,
        "--user: this machine knows no user \"%s\"; make it, and run this again: useradd "
        "--system --user-group --no-create-home --home-dir /nonexistent --shell "
        "/usr/sbin/nologin %s",
        user, user);
}

/* Hand the directories that job files and jobs go through to the user as whom the daemon reads them.  What says
 * what root does stays root's: the spool's directory itself, settings, templates, and the directories of jobs
 * that the executor has had. */
static int give_to_user(const char *path, const char *user, struct error *error)
{
    static const char *const parts[] = {"incoming", ".claims", ".new",
                                        "rendered", "failed",  "held"};
    const struct passwd *entry = getpwnam(user);
    if (!entry)
        return error_set(error, "the user %s is gone", user);
    char owner[32];
    snprintf(owner, sizeof(owner), "%u:%u", entry->pw_uid, entry->pw_gid);
    for (size_t i = 0; i < ARRAY_COUNT(parts); i++)
        if (give_path(path, parts[i], false, owner, error))
            return -1;
    return 0;
}

/* Give files that root has added to somebody's templates.git to its owner. */
static int give_templates_back(const char *path, struct error *error)
{
    char full[PATH_MAX + 64], owner[32];
    struct stat status;
    snprintf(full, sizeof(full), "%s/templates.git", path);
    if (geteuid() != 0 || stat(full, &status) || status.st_uid == 0)
        return 0;
    snprintf(owner, sizeof(owner), "%u:%u", status.st_uid, status.st_gid);
    return give_path(path, "templates.git", true, owner, error);
}

static int make_spool(const char *path, const char *executor, const char *user, bool upgrade,
                      struct error *error)
{
    struct spool spool;
    if (spool_create(path, error) || spool_open(&spool, path, error))
        return -1;
    int result = write_settings(spool.root, executor, user, error);
    if (!result)
        result = make_templates(spool.path, upgrade, error);
    if (!result && upgrade)
        result = give_templates_back(spool.path, error);
    if (!result && *user)
        result = give_to_user(spool.path, user, error);
    if (!result)
        result = spool_sync(&spool, error);
    spool_close(&spool);
    return result;
}

/* Print the spool as it is now: existing settings count, not the requested ones. */
static int print_spool(const char *path, bool made, struct error *error)
{
    struct spool spool;
    struct settings settings;
    if (spool_open(&spool, path, error))
        return -1;
    int result = settings_read(&settings, &spool, error);
    if (!result) {
        struct arena *arena = arena_new();
        struct value *tree = value_object(arena);
        char templates[PATH_MAX + 32];
        snprintf(templates, sizeof(templates), "%s/templates.git", spool.path);
        struct repository *repository = open_templates(templates, "HEAD", true, NULL);
        struct repository *vendor = open_templates(templates, "vendor", true, NULL);
        put_text(arena, tree, "spool", text_of(spool.path));
        value_put(arena, tree, "made", value_boolean(arena, made));
        put_text(arena, tree, "executor", settings.executor);
        put_text(arena, tree, "commit", text_of(repository ? repository_commit(repository) : ""));
        put_text(arena, tree, "vendor", text_of(vendor ? repository_commit(vendor) : ""));
        print_json(tree);
        repository_close(repository);
        repository_close(vendor);
        arena_free(arena);
    }
    settings_free(&settings);
    spool_close(&spool);
    return result;
}

int command_init(int argument_count, char **arguments)
{
    const char *executor = "local", *user = "";
    bool upgrade = false, json = false;
    const struct option_spec options[] = {
        {"executor", 'e', OPTION_TEXT, &executor, "NAME",
         "where jobs run: local, kubernetes, slurm or null"},
        {"user", 'u', OPTION_TEXT, &user, "USER",
         "who runs what reads users' files, where root serves"},
        {"upgrade", 0, OPTION_FLAG, &upgrade, NULL,
         "put this version's templates on the branch vendor of templates.git"},
        {"json", 'j', OPTION_FLAG, &json, NULL, "as JSON, an object"},
        {0}};
    const struct verb_usage usage = {
        "init",
        "[DIR]",
        0,
        1,
        "Make a spool: its directories, dlspool.yaml, and templates.git with the first templates.",
        "DIR is the spool's directory when -s does not name it.  What is there already is left\n"
        "alone.\n",
        options};
    int operands, status;
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    if (strcmp(executor, "local") != 0 && strcmp(executor, "kubernetes") != 0 &&
        strcmp(executor, "slurm") != 0 && strcmp(executor, "null") != 0) {
        complain("--executor: found \"%s\", expected local, kubernetes, slurm or null", executor);
        return STATUS_USAGE;
    }
    const char *path = operands ? arguments[1] : option_spool;
    struct error error;
    struct stat there;
    char settings[PATH_MAX + 32];
    snprintf(settings, sizeof(settings), "%s/dlspool.yaml", path);
    bool made = stat(settings, &there) != 0;
    if (check_user(user, &error) || make_spool(path, executor, user, upgrade, &error) ||
        (json && print_spool(path, made, &error))) {
        complain("%s", error.text);
        return STATUS_FAILED;
    }
    if (!json)
        printf("%s is a spool now. Start it with `dlspool -s %s run`; drop job files into "
               "%s/incoming.\n",
               path, path, path);
    return STATUS_DONE;
}
