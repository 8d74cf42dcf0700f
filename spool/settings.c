/* spool/settings.c - dlspool.yaml
 *
 * A table of settings: name, kind, where it goes, default, limits.
 */
#include "spool/settings.h"

#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/nearest.h"
#include "base/system.h"
#include "base/value_path.h"
#include "base/yaml.h"

enum { SETTINGS_LIMIT = 256 * 1024 }; /* bytes */

enum setting_kind {
    SETTING_WORD,     /* struct text */
    SETTING_DURATION, /* int64_t milliseconds */
    SETTING_WHOLE,    /* int */
    SETTING_SYNC,
    SETTING_USERS,
    SETTING_BOOLEAN, /* bool */
    SETTING_SECTION, /* its settings are rows of their own: SECTION.NAME */
    SETTING_TREE     /* an executor's own; not looked into here */
};

struct setting {
    const char *name;
    enum setting_kind kind;
    size_t offset;
    double otherwise; /* default: milliseconds, or a number */
    double least, most;
};

#define AT(member) offsetof(struct settings, member)
static const struct setting table[] = {
    {"executor", SETTING_WORD, AT(executor), 0, 0, 0},
    {"user", SETTING_WORD, AT(user), 0, 0, 0},
    {"administrators", SETTING_USERS, 0, 0, 0, 0},
    {"sync", SETTING_SYNC, AT(sync), 0, 0, 0},
    {"scan_interval", SETTING_DURATION, AT(scan_interval), 5000, 100, 600e3},
    {"quiet_time", SETTING_DURATION, AT(quiet_time), 2000, 100, 600e3},
    {"doubtful_time", SETTING_DURATION, AT(doubtful_time), 40000, 1000, 86400e3},
    {"cut_off_time", SETTING_DURATION, AT(cut_off_time), 60000, 1000, 86400e3},
    {"poll_interval", SETTING_DURATION, AT(poll_interval), 500, 50, 600e3},
    {"kill_grace", SETTING_DURATION, AT(kill_grace), 3000, 0, 600e3},
    {"takeover_time", SETTING_DURATION, AT(takeover_time), 60000, 1000, 3600e3},
    {"retry_interval", SETTING_DURATION, AT(retry_interval), 5000, 100, 3600e3},
    {"retry_first", SETTING_DURATION, AT(retry_first), 30000, 100, 86400e3},
    {"retry_longest", SETTING_DURATION, AT(retry_longest), 1800e3, 1000, 7 * 86400e3},
    {"retry_change", SETTING_DURATION, AT(retry_change), 7 * 86400e3, 0, 365 * 86400e3},
    {"probe_interval", SETTING_DURATION, AT(probe_interval), 30000, 100, 3600e3},
    {"after_unknown", SETTING_DURATION, AT(after_unknown), 3600e3, 100, 14 * 86400e3},
    {"batch", SETTING_WHOLE, AT(batch), 512, 1, 1024},
    {"free_percent", SETTING_WHOLE, AT(free_percent), 5, 0, 90},
    {"planner", SETTING_SECTION, 0, 0, 0, 0},
    {"planner.tick", SETTING_DURATION, AT(planner_tick), 5000, 100, 600e3},
    {"planner.dwell", SETTING_DURATION, AT(planner_dwell), 60000, 0, 86400e3},
    {"planner.reserve", SETTING_WHOLE, AT(planner_reserve), 10, 0, 90},
    {"planner.budget", SETTING_WHOLE, AT(planner_budget), 25, 0, 100},
    {"planner.record", SETTING_BOOLEAN, AT(planner_record), 0, 0, 0},
    {"local", SETTING_TREE, 0, 0, 0, 0},
    {"kubernetes", SETTING_TREE, 0, 0, 0, 0},
    {"slurm", SETTING_TREE, 0, 0, 0, 0},
};
#undef AT

enum { SETTING_COUNT = ARRAY_COUNT(table) };

static int wrong(const struct member *member, const char *expected, struct error *error)
{
    struct buffer found = {0};
    value_found_add(&found, member->value);
    error_set(error, "dlspool.yaml:%u:%u: %s: found %s, expected %s", member->value->line,
              member->value->column, member->key.data, found.data, expected);
    buffer_free(&found);
    return -1;
}

static int read_users(struct settings *settings, const struct member *member, struct error *error)
{
    const struct value *list = member->value;
    if (list->kind == VALUE_NULL)
        return 0;
    if (list->kind != VALUE_LIST)
        return wrong(member, "a list of user names", error);
    settings->administrators =
        arena_allocate(settings->arena, (list->list.count + 1) * sizeof(uid_t));
    for (size_t i = 0; i < list->list.count; i++) {
        const struct value *item = list->list.items[i];
        bool name = item->kind == VALUE_STRING && item->string.length == strlen(item->string.data);
        const struct passwd *user = name ? getpwnam(item->string.data) : NULL;
        if (user)
            settings->administrators[settings->administrator_count++] = user->pw_uid;
        else if (item->kind == VALUE_NUMBER && item->number >= 0 && item->number < (uid_t)-1 &&
                 item->number == floor(item->number))
            settings->administrators[settings->administrator_count++] = (uid_t)item->number;
        else
            return wrong(member, "names or numbers of users that this machine knows", error);
    }
    return 0;
}

static int read_duration(const struct setting *setting, const struct member *member, void *at,
                         struct error *error)
{
    int64_t duration;
    const struct value *value = member->value;
    struct text written = value->kind == VALUE_NUMBER ? value->written : value->string;
    bool textual = value->kind == VALUE_STRING || value->kind == VALUE_NUMBER;
    if (textual && duration_parse(written, &duration) == 0 && (double)duration >= setting->least &&
        (double)duration <= setting->most) {
        *(int64_t *)at = duration;
        return 0;
    }
    char least[CLOCK_TEXT_SIZE], most[CLOCK_TEXT_SIZE], expected[160];
    duration_format((int64_t)setting->least, least);
    duration_format((int64_t)setting->most, most);
    snprintf(expected, sizeof(expected), "a duration such as 500ms, 30s or 5m, from %s to %s",
             least, most);
    return wrong(member, expected, error);
}

static int read_setting(struct settings *settings, const struct setting *setting,
                        const struct member *member, struct error *error)
{
    void *at = (char *)settings + setting->offset;
    const struct value *value = member->value;
    char expected[80];
    switch (setting->kind) {
    case SETTING_TREE:
        if (value->kind != VALUE_NULL && value->kind != VALUE_OBJECT)
            return wrong(member, "the executor's settings", error);
        return 0;
    case SETTING_WORD:
        if (value->kind == VALUE_NULL)
            return 0;
        if (value->kind != VALUE_STRING)
            return wrong(member, "a word", error);
        *(struct text *)at = value->string;
        return 0;
    case SETTING_DURATION:
        return read_duration(setting, member, at, error);
    case SETTING_WHOLE:
        snprintf(expected, sizeof(expected), "a whole number from %.0f to %.0f", setting->least,
                 setting->most);
        if (value->kind != VALUE_NUMBER || value->number != floor(value->number) ||
            value->number < setting->least || value->number > setting->most)
            return wrong(member, expected, error);
        *(int *)at = (int)value->number;
        return 0;
    case SETTING_SYNC:
        if (value->kind == VALUE_STRING && text_is(value->string, "filesystem"))
            settings->sync = SYNC_FILESYSTEM;
        else if (value->kind == VALUE_STRING && text_is(value->string, "none"))
            settings->sync = SYNC_NONE;
        else
            return wrong(member, "filesystem or none", error);
        return 0;
    case SETTING_USERS:
        return read_users(settings, member, error);
    case SETTING_BOOLEAN:
        if (value->kind != VALUE_BOOLEAN)
            return wrong(member, "true or false", error);
        *(bool *)at = value->boolean;
        return 0;
    case SETTING_SECTION:
        if (value->kind != VALUE_NULL && value->kind != VALUE_OBJECT)
            return wrong(member, "settings as name: value", error);
        return 0;
    }
    return -1;
}

static void set_defaults(struct settings *settings)
{
    for (int i = 0; i < SETTING_COUNT; i++) {
        void *at = (char *)settings + table[i].offset;
        if (table[i].kind == SETTING_DURATION)
            *(int64_t *)at = (int64_t)table[i].otherwise;
        else if (table[i].kind == SETTING_WHOLE)
            *(int *)at = (int)table[i].otherwise;
    }
    settings->executor = TEXT("local");
}

/* `executor: null` means the executor of that name; so YAML's null does. */
static void read_null_executor(struct settings *settings)
{
    const struct value *executor = value_get(settings->tree, "executor");
    if (executor && executor->kind == VALUE_NULL)
        settings->executor = TEXT("null");
}

static int unknown(const struct member *member, const char *section, struct error *error)
{
    const char *names[SETTING_COUNT + 1] = {NULL};
    struct error_quote_buffer buffer;
    size_t count = 0, length = strlen(section);
    for (int i = 0; i < SETTING_COUNT; i++)
        if (strncmp(table[i].name, section, length) == 0 && !strchr(table[i].name + length, '.'))
            names[count++] = table[i].name + length;
    struct nearest_hint hint;
    return error_set(error, "dlspool.yaml:%u:%u: there is no setting \"%s%s\"%s", member->line,
                     member->column, section,
                     error_quote(&buffer, member->key.data, member->key.length),
                     nearest_hint(&hint, member->key, names));
}

/* The row of a setting that stands in that section ("planner.", or "" for none), or NULL. */
static const struct setting *find_row(const char *section, struct text key)
{
    size_t length = strlen(section);
    for (int i = 0; i < SETTING_COUNT; i++)
        if (strncmp(table[i].name, section, length) == 0 && text_is(key, table[i].name + length) &&
            !memchr(key.data, '.', key.length))
            return &table[i];
    return NULL;
}

static int read_members(struct settings *settings, const struct value *tree, const char *section,
                        struct error *error)
{
    for (size_t i = 0; i < tree->object.count; i++) {
        const struct member *member = &tree->object.members[i];
        const struct setting *row = find_row(section, member->key);
        char inner[32];
        if (!row)
            return unknown(member, section, error);
        if (read_setting(settings, row, member, error))
            return -1;
        if (row->kind != SETTING_SECTION || member->value->kind != VALUE_OBJECT)
            continue;
        snprintf(inner, sizeof(inner), "%s.", row->name);
        if (read_members(settings, member->value, inner, error))
            return -1;
    }
    return 0;
}

static int read_tree(struct settings *settings, struct error *error)
{
    const struct value *tree = settings->tree;
    if (tree->kind == VALUE_NULL)
        return 0;
    if (tree->kind != VALUE_OBJECT)
        return error_set(error, "dlspool.yaml: found %s, expected settings as name: value",
                         value_kind_name(tree->kind));
    if (read_members(settings, tree, "", error))
        return -1;
    read_null_executor(settings);
    if (settings->user.length && !getpwnam(settings->user.data))
        return wrong(value_member(tree, TEXT("user")), "a user that this machine knows", error);
    return 0;
}

int settings_parse(struct settings *settings, struct text source, struct error *error)
{
    *settings = (struct settings){.arena = arena_new()};
    set_defaults(settings);
    sha256_hex(source, settings->sha256);
    settings->tree =
        yaml_read(settings->arena, source, "dlspool.yaml", &yaml_trusted_limits, error);
    int result = settings->tree ? read_tree(settings, error) : -1;
    if (result)
        settings_free(settings);
    return result;
}

int settings_read(struct settings *settings, const struct spool *spool, struct error *error)
{
    struct buffer bytes = {0};
    *settings = (struct settings){0};
    int result = file_read_at(spool->root, "dlspool.yaml", SETTINGS_LIMIT, &bytes, error);
    if (!result)
        result = settings_parse(settings, buffer_text(&bytes), error);
    buffer_free(&bytes);
    return result;
}

void settings_free(struct settings *settings)
{
    arena_free(settings->arena);
    *settings = (struct settings){0};
}

bool settings_is_administrator(const struct settings *settings, const struct spool *spool,
                               uid_t uid)
{
    if (uid == 0 || uid == spool->owner)
        return true;
    for (size_t i = 0; i < settings->administrator_count; i++)
        if (settings->administrators[i] == uid)
            return true;
    return false;
}
