/* executors/local/seccomp_profile.c - which system calls the tasks of jobs may make */
#include "executors/local/seccomp_profile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/json.h"
#include "base/system.h"
#include "executors/local/podman_settings.h"

enum { LARGEST = 1 << 20 }; /* bytes of a profile */

/* Where podman looks, in this order. */
static const char *const profiles[] = {"/etc/containers/seccomp.json",
                                       "/usr/share/containers/seccomp.json"};

/* The calls that make a user namespace.  What clone3 is to make, a filter cannot see: libraries are told
 * that there is no such call, and use clone. */
enum { CLONE, UNSHARE, CLONE3 };
static const char *const makers[] = {[CLONE] = "clone", [UNSHARE] = "unshare", [CLONE3] = "clone3"};

static int find_maker(const struct value *name)
{
    for (int i = 0; i < (int)ARRAY_COUNT(makers); i++)
        if (name->kind == VALUE_STRING && text_is(name->string, makers[i]))
            return i;
    return -1;
}

static size_t count_items(const struct value *value)
{
    return !value                        ? 0
           : value->kind == VALUE_LIST   ? value->list.count
           : value->kind == VALUE_OBJECT ? value->object.count
                                         : 0;
}

/* Does a rule allow calls with any arguments, and in each container? */
static bool is_unconditional(const struct value *rule)
{
    return text_is(value_get_text(rule, "action"), "SCMP_ACT_ALLOW") &&
           !count_items(value_get(rule, "args")) && !count_items(value_get(rule, "includes"));
}

/* Take the makers out of a rule: which these are, by bits. */
static unsigned take_out(struct value *rule)
{
    struct value *names = value_get(rule, "names");
    unsigned taken = 0;
    size_t kept = 0;
    if (!names || names->kind != VALUE_LIST)
        return 0;
    for (size_t i = 0; i < names->list.count; i++) {
        int maker = find_maker(names->list.items[i]);
        if (maker < 0)
            names->list.items[kept++] = names->list.items[i];
        else
            taken |= 1u << maker;
    }
    names->list.count = kept;
    return taken;
}

static struct value *rule_of(struct arena *arena, const char *call, int error)
{
    struct value *rule = value_object(arena), *names = value_list(arena);
    value_append(arena, names, value_string(arena, call));
    value_put(arena, rule, "names", names);
    value_put(arena, rule, "action",
              value_string(arena, error ? "SCMP_ACT_ERRNO" : "SCMP_ACT_ALLOW"));
    if (error)
        value_put(arena, rule, "errnoRet", value_number(arena, error));
    return rule;
}

/* Of a call, the first argument of which is flags, those with CLONE_NEWUSER or without. */
static struct value *rule_by_flag(struct arena *arena, const char *call, bool with)
{
    struct value *rule = rule_of(arena, call, with ? EPERM : 0);
    struct value *arguments = value_list(arena), *flags = value_object(arena);
    value_put(arena, flags, "index", value_number(arena, 0));
    value_put(arena, flags, "op", value_string(arena, "SCMP_CMP_MASKED_EQ"));
    value_put(arena, flags, "value", value_number(arena, CLONE_NEWUSER));
    value_put(arena, flags, "valueTwo", value_number(arena, with ? CLONE_NEWUSER : 0));
    value_append(arena, arguments, flags);
    value_put(arena, rule, "args", arguments);
    return rule;
}

static void add_rules(struct arena *arena, struct value *rules, unsigned taken)
{
    for (unsigned i = CLONE; i <= UNSHARE; i++) {
        if (!(taken & 1u << i))
            continue;
        value_append(arena, rules, rule_by_flag(arena, makers[i], false));
        value_append(arena, rules, rule_by_flag(arena, makers[i], true));
    }
    if (taken & 1u << CLONE3)
        value_append(arena, rules, rule_of(arena, makers[CLONE3], ENOSYS));
}

int seccomp_profile_narrow(struct text source, struct buffer *out, struct error *error)
{
    struct arena *arena = arena_new();
    struct value *profile =
        json_read(arena, source, SECCOMP_PROFILE_FILE, &yaml_trusted_limits, error);
    struct value *rules = value_get(profile, "syscalls");
    int result = -1;
    if (profile && rules && rules->kind == VALUE_LIST) {
        unsigned taken = 0;
        for (size_t i = 0; i < rules->list.count; i++)
            if (is_unconditional(rules->list.items[i]))
                taken |= take_out(rules->list.items[i]);
        add_rules(arena, rules, taken);
        result = json_write(out, profile, false, error);
    } else if (profile) {
        error_set(error, "%s: expected a list `syscalls`", SECCOMP_PROFILE_FILE);
    }
    arena_free(arena);
    return result;
}

/* Read the profile that podman takes by itself. */
static int read_profile(struct buffer *out, struct error *error)
{
    int file = -1;
    const char *path = NULL;
    for (size_t i = 0; i < ARRAY_COUNT(profiles) && file < 0; i++) {
        path = profiles[i];
        file = sys.openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
        if (file < 0 && errno != ENOENT)
            break;
    }
    if (file < 0)
        return error_errno(error, "podman's seccomp profile %s cannot be opened", path);
    int result = file_read_all(file, LARGEST, out, path, error);
    sys.close(file);
    return result;
}

int seccomp_profile_write(int directory, struct error *error)
{
    struct buffer source = {0}, narrow = {0};
    int result = read_profile(&source, error);
    if (!result)
        result = seccomp_profile_narrow(buffer_text(&source), &narrow, error);
    if (!result)
        result = podman_settings_write_file(directory, SECCOMP_PROFILE_FILE, buffer_text(&narrow),
                                            error);
    buffer_free(&source);
    buffer_free(&narrow);
    return result;
}
