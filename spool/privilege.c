/* spool/privilege.c - `privileges` of dlspool.yaml */
#include "spool/privilege.h"

#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/path.h"

enum { MOST_ROWS = 100, MOST_ITEMS = 100, NAME_LONGEST = 63 };

static const char *const capability_names[] = {
    "AUDIT_CONTROL",   "AUDIT_READ",   "AUDIT_WRITE",
    "BLOCK_SUSPEND",   "BPF",          "CHECKPOINT_RESTORE",
    "CHOWN",           "DAC_OVERRIDE", "DAC_READ_SEARCH",
    "FOWNER",          "FSETID",       "IPC_LOCK",
    "IPC_OWNER",       "KILL",         "LEASE",
    "LINUX_IMMUTABLE", "MAC_ADMIN",    "MAC_OVERRIDE",
    "MKNOD",           "NET_ADMIN",    "NET_BIND_SERVICE",
    "NET_BROADCAST",   "NET_RAW",      "PERFMON",
    "SETFCAP",         "SETGID",       "SETPCAP",
    "SETUID",          "SYSLOG",       "SYS_ADMIN",
    "SYS_BOOT",        "SYS_CHROOT",   "SYS_MODULE",
    "SYS_NICE",        "SYS_PACCT",    "SYS_PTRACE",
    "SYS_RAWIO",       "SYS_RESOURCE", "SYS_TIME",
    "SYS_TTY_CONFIG",  "WAKE_ALARM",   NULL};

static bool is_capability(struct text name)
{
    for (size_t i = 0; capability_names[i]; i++)
        if (text_is(name, capability_names[i]))
            return true;
    return false;
}

static int read_capability(const struct section *section, const struct value *item,
                           struct text *capability)
{
    struct nearest_hint hint;
    char what[256];
    struct text name = section_is_plain(item) ? item->string : TEXT("");
    if (text_starts(name, "CAP_"))
        name = (struct text){name.data + 4, name.length - 4};
    *capability = arena_text(section->arena, name.data, name.length);
    if (is_capability(name))
        return 0;
    snprintf(what, sizeof(what), "a capability of Linux such as IPC_LOCK%s",
             nearest_hint(&hint, name, capability_names));
    return section_expected(section, item, "capabilities", what);
}

static int read_device(const struct section *section, const struct value *item, struct text *device)
{
    static const char what[] = "the absolute path of a device, such as /dev/fuse";
    if (!section_is_plain(item) || !text_starts(item->string, "/dev/"))
        return section_expected(section, item, "devices", what);
    return section_path(section, item, "devices", device);
}

typedef int read_item(const struct section *section, const struct value *item, struct text *into);

static int read_list(const struct section *section, const struct value *list, const char *field,
                     read_item *read, const struct text **texts, size_t *count)
{
    if (list->kind != VALUE_LIST || list->list.count > MOST_ITEMS)
        return section_expected(section, list, field, "a list of at most 100");
    struct text *items = arena_allocate(section->arena, (list->list.count + 1) * sizeof(*items));
    for (size_t i = 0; i < list->list.count; i++)
        if (read(section, list->list.items[i], &items[i]))
            return -1;
    *texts = items;
    *count = list->list.count;
    return 0;
}

static int read_capabilities(const struct section *section, const struct value *list)
{
    struct grant *grant = &((struct privilege *)section->target)->grant;
    return read_list(section, list, "capabilities", read_capability, &grant->capabilities,
                     &grant->capability_count);
}

static int read_devices(const struct section *section, const struct value *list)
{
    struct grant *grant = &((struct privilege *)section->target)->grant;
    return read_list(section, list, "devices", read_device, &grant->devices, &grant->device_count);
}

static int read_approve(const struct section *section, const struct value *value)
{
    bool *approve = &((struct privilege *)section->target)->approve;
    bool yes = section_is_plain(value) && text_is(value->string, "yes");
    if (value->kind != VALUE_BOOLEAN && !yes &&
        !(section_is_plain(value) && text_is(value->string, "no")))
        return section_expected(section, value, "approve", "yes or no");
    *approve = yes || (value->kind == VALUE_BOOLEAN && value->boolean);
    return 0;
}

static const struct section_field table[] = {
    {"capabilities", .read = read_capabilities},
    {"devices", .read = read_devices},
    {"host_network", SECTION_BOOLEAN, offsetof(struct privilege, grant.host_network), .what = NULL},
    {"approve", .read = read_approve},
};

static bool is_name(struct text name)
{
    for (size_t i = 0; i < name.length; i++) {
        char c = name.data[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (i && (c == '-' || c == '_'))))
            return false;
    }
    return name.length && name.length <= NAME_LONGEST;
}

static int read_row(const struct section *section, const struct member *member,
                    struct privilege *row)
{
    char name[NAME_LONGEST + 16];
    if (!is_name(member->key))
        return error_set(section->error,
                         "dlspool.yaml:%u: privileges: found a name that has other characters than "
                         "small letters, digits, - and _, or more than %d",
                         member->line, NAME_LONGEST);
    snprintf(name, sizeof(name), "privileges.%.*s", (int)member->key.length, member->key.data);
    const struct section inner = {arena_string(section->arena, name), row, section->arena,
                                  section->error};
    static const char what[] = "what it gives: capabilities, devices or host_network: true";
    *row = (struct privilege){.name = member->key, .approve = true};
    if (member->value->kind != VALUE_OBJECT)
        return section_expected(&inner, member->value, "", what);
    if (section_read(&inner, member->value, table, ARRAY_COUNT(table)))
        return -1;
    const struct grant *grant = &row->grant;
    if (!grant->capability_count && !grant->device_count && !grant->host_network)
        return section_expected(&inner, member->value, "", what);
    return 0;
}

int privilege_read_all(const struct section *section, const struct value *map,
                       struct privileges *privileges)
{
    *privileges = (struct privileges){.count = 0};
    if (map->kind != VALUE_OBJECT || map->object.count > MOST_ROWS)
        return section_expected(section, map, "privileges",
                                "at most 100 names such as rdma: {capabilities: [IPC_LOCK]}");
    privileges->rows =
        arena_allocate(section->arena, (map->object.count + 1) * sizeof(*privileges->rows));
    for (size_t i = 0; i < map->object.count; i++)
        if (read_row(section, &map->object.members[i], &privileges->rows[i]))
            return -1;
    privileges->count = map->object.count;
    return 0;
}

const struct privilege *privilege_find(const struct privileges *privileges, struct text name)
{
    for (size_t i = 0; i < privileges->count; i++)
        if (text_equal(privileges->rows[i].name, name))
            return &privileges->rows[i];
    return NULL;
}

/* Add what is not there yet. */
static void add_texts(struct text *into, size_t *count, const struct text *texts, size_t more)
{
    for (size_t i = 0; i < more; i++) {
        size_t at = 0;
        while (at < *count && !text_equal(into[at], texts[i]))
            at++;
        if (at == *count)
            into[(*count)++] = texts[i];
    }
}

static int refuse_name(const struct privileges *privileges, struct text name, struct error *error)
{
    struct error_quote_buffer quoted, listed;
    struct buffer names = {0};
    for (size_t i = 0; i < privileges->count; i++)
        buffer_printf(&names, "%s%s", i ? ", " : "", privileges->rows[i].name.data);
    error_quote(&listed, names.data ? names.data : "", names.length);
    error_set(error,
              "privileged: found \"%s\", which is no privilege of this site; privileges of "
              "dlspool.yaml, which an administrator can change, %s%s",
              error_quote(&quoted, name.data, name.length),
              privileges->count ? "names " : "names none", listed.text);
    buffer_free(&names);
    return -1;
}

int privilege_unite(struct arena *arena, const struct privileges *privileges, struct text names,
                    struct grant *grant, struct error *error)
{
    struct text rest = names, name;
    size_t capabilities = 0, devices = 0;
    *grant = (struct grant){.host_network = false};
    for (size_t i = 0; i < privileges->count; i++) {
        capabilities += privileges->rows[i].grant.capability_count;
        devices += privileges->rows[i].grant.device_count;
    }
    struct text *into = arena_allocate(arena, (capabilities + devices + 1) * sizeof(*into));
    grant->capabilities = into;
    grant->devices = into + capabilities;
    while (rest.length && text_next(&rest, ' ', &name)) {
        const struct privilege *row = privilege_find(privileges, name);
        if (!row)
            return refuse_name(privileges, name, error);
        add_texts(into, &grant->capability_count, row->grant.capabilities,
                  row->grant.capability_count);
        add_texts(into + capabilities, &grant->device_count, row->grant.devices,
                  row->grant.device_count);
        grant->host_network = grant->host_network || row->grant.host_network;
    }
    return 0;
}

void privilege_describe(const struct grant *grant, struct buffer *out)
{
    const char *comma = "";
    for (size_t i = 0; i < grant->capability_count; i++, comma = ", ")
        buffer_printf(out, "%scapability %s", comma, grant->capabilities[i].data);
    for (size_t i = 0; i < grant->device_count; i++, comma = ", ")
        buffer_printf(out, "%sdevice %s", comma, grant->devices[i].data);
    if (grant->host_network)
        buffer_printf(out, "%sthe machine's network", comma);
}
