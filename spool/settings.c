/* spool/settings.c - dlspool.yaml
 *
 * A table of settings: name, kind, where it goes, default, limits.
 */
#include "spool/settings.h"

#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/section.h"
#include "base/yaml.h"
#include "job/messages.h"

enum { SETTINGS_LIMIT = 256 * 1024 }; /* bytes */
enum { PRIORITY_MOST = 100 };         /* the largest priority of a job file */

static int read_users(const struct section *section, const struct value *list)
{
    struct settings *settings = section->target;
    if (list->kind != VALUE_LIST)
        return section_expected(section, list, "administrators", "a list of user names");
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
            return section_expected(section, item, "administrators",
                                    "the name or number of a user that this machine knows");
    }
    return 0;
}

/* Read the range of `priority` for users, or for administrators. */
static int read_range(const struct section *section, const struct value *list, const char *field,
                      struct priority_range *range)
{
    double ends[2] = {1, 0};
    bool numbers = list->kind == VALUE_LIST && list->list.count == 2;
    for (size_t i = 0; i < 2 && numbers; i++) {
        const struct value *item = list->list.items[i];
        numbers = item->kind == VALUE_NUMBER && item->number == floor(item->number);
        ends[i] = numbers ? item->number : 0;
    }
    if (!numbers || ends[0] < -PRIORITY_MOST || ends[0] > 0 || ends[1] < 0 ||
        ends[1] > PRIORITY_MOST)
        return section_expected(
            section, list, field,
            "the lowest and the highest, whole numbers from -100 to 100 such as [-100, 0] "
            "with 0, the default, among them");
    *range = (struct priority_range){(int)ends[0], (int)ends[1]};
    return 0;
}

static int read_users_range(const struct section *section, const struct value *list)
{
    struct settings *settings = section->target;
    return read_range(section, list, "limits.priority.users", &settings->limits.users);
}

static int read_administrators_range(const struct section *section, const struct value *list)
{
    struct settings *settings = section->target;
    return read_range(section, list, "limits.priority.administrators",
                      &settings->limits.administrators);
}

static int read_rows(const struct section *section, const struct value *list)
{
    struct settings *settings = section->target;
    return limit_row_read_all(section, list, &settings->limits.rows, &settings->limits.row_count);
}

static int read_weights(const struct section *section, const struct value *list)
{
    struct settings *settings = section->target;
    return fair_share_read_rows(section, list, &settings->shares);
}

static int read_classes(const struct section *section, const struct value *list)
{
    struct settings *settings = section->target;
    return priority_class_read_all(section, list, &settings->priority_classes);
}

static int read_privileges(const struct section *section, const struct value *map)
{
    return privilege_read_all(section, map, &((struct settings *)section->target)->privileges);
}

static int read_approvers(const struct section *section, const struct value *list)
{
    return approvers_read(section, list, &((struct settings *)section->target)->approvers);
}

static int read_hosts(const struct section *section, const struct value *list)
{
    return web_settings_read_hosts(section, list, &((struct settings *)section->target)->web.hosts);
}

static int read_proxies(const struct section *section, const struct value *list)
{
    return web_settings_read_proxies(section, list,
                                     &((struct settings *)section->target)->web.proxies);
}

static int read_sync(const struct section *section, const struct value *value)
{
    struct settings *settings = section->target;
    bool none = value->kind == VALUE_STRING && text_is(value->string, "none");
    if (!none && (value->kind != VALUE_STRING || !text_is(value->string, "filesystem")))
        return section_expected(section, value, "sync", "filesystem or none");
    settings->sync = none ? SYNC_NONE : SYNC_FILESYSTEM;
    return 0;
}

static int read_message_command(const struct section *section, const struct value *value)
{
    static const char what[] =
        "a program by its absolute path and its arguments, such as [/usr/sbin/sendmail, -t, -i]";
    struct message_settings *messages = &((struct settings *)section->target)->messages;
    if (value->kind != VALUE_LIST)
        return section_expected(section, value, "notify.command", what);
    const char **words = arena_allocate(section->arena, (value->list.count + 1) * sizeof(*words));
    for (size_t i = 0; i < value->list.count; i++) {
        const struct value *word = value->list.items[i];
        if (!section_is_plain(word) || (i == 0 && !text_starts(word->string, "/")))
            return section_expected(section, word, "notify.command", what);
        words[i] = word->string.data;
    }
    messages->command = value->list.count ? words : NULL;
    return 0;
}

static int read_webhook(const struct section *section, const struct value *value)
{
    bool plain = section_is_plain(value) && !memchr(value->string.data, ' ', value->string.length);
    if (!plain || (value->string.length && !text_starts(value->string, "https://") &&
                   !text_starts(value->string, "http://") && !text_starts(value->string, "/")))
        return error_set(section->error, /* not quoted: who has it may post there */
                         "dlspool.yaml:%u: notify.webhook: found something else, expected a URL "
                         "such as https://chat.example.org/hooks/x, or the absolute path of a file "
                         "that holds one",
                         value->line);
    ((struct settings *)section->target)->messages.webhook = value->string;
    return 0;
}

static int read_addresses(const struct section *section, const struct value *value)
{
    struct settings *settings = section->target;
    bool any = value->kind == VALUE_STRING && text_is(value->string, "any");
    if (!any && (value->kind != VALUE_STRING || !text_is(value->string, "own")))
        return section_expected(section, value, "notify.addresses", "own or any");
    settings->messages.any_address = any;
    return 0;
}

static bool is_queue(struct text name)
{
    return name.length == 0 || text_is_label(name, 63);
}

static bool is_domain(struct text domain)
{
    char address[300];
    int length = snprintf(address, sizeof(address), "a@%.*s", (int)domain.length, domain.data);
    return domain.length == 0 || (domain.length < sizeof(address) - 2 &&
                                  message_address_is_valid((struct text){address, (size_t)length}));
}

static bool is_address(struct text address)
{
    return address.length == 0 || message_address_is_valid(address);
}

/* The textfile collector of node_exporter reads no other files. */
static bool is_metric_file(struct text file)
{
    return file.length == 0 || (text_starts(file, "/") && text_ends(file, ".prom"));
}

/* clang-format off */
#define AT(member) offsetof(struct settings, member)
static const struct section_field table[] = {
    {"executor", SECTION_TEXT, AT(executor), .what = "a word"},
    {"user", SECTION_TEXT, AT(user), .what = "a word"},
    {"administrators", .read = read_users},
    {"approvers", .read = read_approvers},
    {"privileges", .read = read_privileges},
    {"sync", .read = read_sync},
    {"scan_interval", SECTION_DURATION, AT(scan_interval), 5000, 100, 600000, .what = NULL},
    {"quiet_time", SECTION_DURATION, AT(quiet_time), 2000, 100, 600000, .what = NULL},
    {"doubtful_time", SECTION_DURATION, AT(doubtful_time), 40000, 1000, 86400000, .what = NULL},
    {"cut_off_time", SECTION_DURATION, AT(cut_off_time), 60000, 1000, 86400000, .what = NULL},
    {"only_complete", SECTION_BOOLEAN, AT(only_complete), .what = NULL},
    {"poll_interval", SECTION_DURATION, AT(poll_interval), 500, 50, 600000, .what = NULL},
    {"kill_grace", SECTION_DURATION, AT(kill_grace), 3000, 0, 600000, .what = NULL},
    {"takeover_time", SECTION_DURATION, AT(takeover_time), 60000, 1000, 3600000, .what = NULL},
    {"retry_interval", SECTION_DURATION, AT(retry_interval), 5000, 100, 3600000, .what = NULL},
    {"retry_first", SECTION_DURATION, AT(retry_first), 30000, 100, 86400000, .what = NULL},
    {"retry_longest", SECTION_DURATION, AT(retry_longest), 1800000, 1000, 7 * 86400000, .what = NULL},
    {"transient_retries", SECTION_COUNT, AT(transient_retries), 100, 1, 10000, .what = NULL},
    {"retry_change", SECTION_DURATION, AT(retry_change), 7 * 86400000, 0, 31536000000, .what = NULL},
    {"probe_interval", SECTION_DURATION, AT(probe_interval), 30000, 100, 3600000, .what = NULL},
    {"after_unknown", SECTION_DURATION, AT(after_unknown), 3600000, 100, 14 * 86400000, .what = NULL},
    {"batch", SECTION_COUNT, AT(batch), 512, 1, 1024, .what = NULL},
    {"free_percent", SECTION_COUNT, AT(free_percent), 5, 0, 90, .what = NULL},
    {"priority_classes", .read = read_classes},
    {"limits", SECTION_INNER, .what = NULL},
    {"limits.priority", SECTION_INNER, .what = NULL},
    {"limits.priority.users", .read = read_users_range},
    {"limits.priority.administrators", .read = read_administrators_range},
    {"limits.time_limit", SECTION_DURATION, AT(limits.time_limit), 0, 1000, 315360000000, .what = NULL},
    {"limits.waiting", SECTION_COUNT, AT(limits.waiting), 0, 0, 1000000, .what = NULL},
    {"limits.turn", SECTION_DURATION, AT(limits.turn), 600000, 0, 86400000, .what = NULL},
    {"limits.default_queue", SECTION_TEXT, AT(limits.default_queue), .valid = is_queue,
     .what = "the name of a queue: 1 to 63 small letters, digits and inner hyphens"},
    {"limits.rows", .read = read_rows},
    {"shares", SECTION_INNER, .what = NULL},
    {"shares.half_life", SECTION_DURATION, AT(shares.half_life), 86400000, 60000, 31536000000, .what = NULL},
    {"shares.gpu", SECTION_COUNT, AT(shares.gpu), 8, 1, 1000, .what = NULL},
    {"shares.weights", .read = read_weights},
    {"keep", SECTION_INNER, .what = NULL},
    {"keep.done", SECTION_DURATION, AT(keep.done), 0, 3600000, 315360000000, .what = NULL},
    {"keep.failed", SECTION_DURATION, AT(keep.failed), 0, 3600000, 315360000000, .what = NULL},
    {"keep.output", SECTION_DURATION, AT(keep.output), 0, 3600000, 315360000000, .what = NULL},
    {"keep.size", SECTION_BYTES, AT(keep.size), .what = "a size such as 500G or 2Ti"},
    {"notify", SECTION_INNER, .what = NULL},
    {"notify.command", .read = read_message_command},
    {"notify.webhook", .read = read_webhook},
    {"notify.domain", SECTION_TEXT, AT(messages.domain), .valid = is_domain,
     .what = "a domain such as example.org"},
    {"notify.from", SECTION_TEXT, AT(messages.from), .valid = is_address,
     .what = "an address such as dlspool@example.org"},
    {"notify.addresses", .read = read_addresses},
    {"notify.timeout", SECTION_DURATION, AT(messages.timeout), 60000, 100, 3600000, .what = NULL},
    {"notify.retry", SECTION_DURATION, AT(messages.retry), 10000, 100, 3600000, .what = NULL},
    {"notify.give_up", SECTION_DURATION, AT(messages.give_up), 3 * 86400000, 1000, 31536000000, .what = NULL},
    {"metrics", SECTION_INNER, .what = NULL},
    {"metrics.file", SECTION_TEXT, AT(metrics.file), .valid = is_metric_file,
     .what = "an absolute path that ends in .prom, such as /var/lib/prometheus/node-exporter/dlspool.prom"},
    {"metrics.interval", SECTION_DURATION, AT(metrics.interval), 15000, 1000, 3600000, .what = NULL},
    {"metrics.users", SECTION_BOOLEAN, AT(metrics.users), .what = NULL},
    {"web", SECTION_INNER, .what = NULL},
    {"web.socket", SECTION_PATH, AT(web.socket), .what = NULL},
    {"web.listen", SECTION_TEXT, AT(web.listen), .valid = web_settings_is_address,
     .what = "an address and a port such as 127.0.0.1:8080"},
    {"web.hosts", .read = read_hosts},
    {"web.proxies", .read = read_proxies},
    {"web.least_uid", SECTION_COUNT, AT(web.least_uid), 1000, 1, INT32_MAX, .what = NULL},
    {"web.idle", SECTION_DURATION, AT(web.idle), 300000, 100, 86400000, .what = NULL},
    {"web.token_longest", SECTION_DURATION, AT(web.token_longest), 30 * 86400000L, 0, 31536000000, .what = NULL},
    {"planner", SECTION_INNER, .what = NULL},
    {"planner.tick", SECTION_DURATION, AT(planner_tick), 5000, 100, 600000, .what = NULL},
    {"planner.dwell", SECTION_DURATION, AT(planner_dwell), 60000, 0, 86400000, .what = NULL},
    {"planner.reserve", SECTION_COUNT, AT(planner_reserve), 10, 0, 90, .what = NULL},
    {"planner.budget", SECTION_COUNT, AT(planner_budget), 25, 0, 100, .what = NULL},
    {"planner.record", SECTION_BOOLEAN, AT(planner_record), .what = NULL},
    {"local", SECTION_TREE, .what = NULL},
    {"kubernetes", SECTION_TREE, .what = NULL},
    {"slurm", SECTION_TREE, .what = NULL},
};
#undef AT
/* clang-format on */

static int read_tree(struct settings *settings, struct error *error)
{
    const struct section section = {"", settings, settings->arena, error};
    const struct value *tree = settings->tree;
    settings->limits.users = (struct priority_range){-PRIORITY_MOST, 0};
    settings->limits.administrators = (struct priority_range){-PRIORITY_MOST, PRIORITY_MOST};
    if (section_read(&section, tree, table, ARRAY_COUNT(table)))
        return -1;
    const struct value *executor = value_get(tree, "executor");
    /* `executor: null` means the executor of that name; so YAML's null does. */
    if (executor && executor->kind == VALUE_NULL)
        settings->executor = TEXT("null");
    else if (!settings->executor.length)
        settings->executor = TEXT("local");
    if (settings->messages.command && settings->messages.webhook.length)
        return error_set(error,
                         "dlspool.yaml:%u: notify.webhook: found beside notify.command, expected "
                         "one of them",
                         value_get(value_get(tree, "notify"), "webhook")->line);
    if (settings->user.length && !getpwnam(settings->user.data))
        return section_expected(&section, value_get(tree, "user"), "user",
                                "a user that this machine knows");
    return 0;
}

int settings_parse(struct settings *settings, struct text source, struct error *error)
{
    *settings = (struct settings){.arena = arena_new()};
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

bool settings_has_messages(const struct settings *settings)
{
    return settings->messages.command || settings->messages.webhook.length;
}

void settings_free(struct settings *settings)
{
    arena_free(settings->arena);
    *settings = (struct settings){0};
}

bool settings_prunes(const struct settings *settings)
{
    const struct keep_rules *keep = &settings->keep;
    return keep->done || keep->failed || keep->output || keep->size;
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
