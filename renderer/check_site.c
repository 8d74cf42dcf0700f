/* renderer/check_site.c - check the parts of site.yaml that dlspool reads */
#include "renderer/check_site.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PORT_LAST = 65535 };

struct rule {
    const char *field;
    bool (*good)(const struct value *value);
    const char *expected;
};

static bool is_text(const struct value *value)
{
    return value->kind == VALUE_STRING;
}

static bool is_place(const struct value *value)
{
    struct text path = value_get_text(value, "path");
    return value_get_text(value, "prefix").length > 0 && text_starts(path, "/");
}

static bool is_places(const struct value *value)
{
    if (value->kind != VALUE_LIST)
        return false;
    for (size_t i = 0; i < value->list.count; i++)
        if (!is_place(value->list.items[i]))
            return false;
    return true;
}

static bool is_unmapped(const struct value *value)
{
    return is_text(value) && (text_is(value->string, "note") || text_is(value->string, "refuse"));
}

static bool is_text_map(const struct value *value)
{
    if (value->kind != VALUE_OBJECT)
        return false;
    for (size_t i = 0; i < value->object.count; i++) {
        enum value_kind kind = value->object.members[i].value->kind;
        if (kind != VALUE_STRING && kind != VALUE_NULL)
            return false;
    }
    return true;
}

static bool is_boolean(const struct value *value)
{
    return value->kind == VALUE_BOOLEAN;
}

/* Does the rule name options, and nothing that no rule has? */
static bool is_option_rule(const struct value *rule)
{
    static const char *const names[] = {"partition",  "account",  "qos",   "reservation",
                                        "constraint", "licenses", "queue", "gpu_type"};
    enum { OPTIONS = 6 };
    bool asks = false;
    if (rule->kind != VALUE_OBJECT)
        return false;
    for (size_t i = 0; i < rule->object.count; i++) {
        const struct member *member = &rule->object.members[i];
        size_t k = 0;
        while (k < ARRAY_COUNT(names) && !text_is(member->key, names[k]))
            k++;
        if (k == ARRAY_COUNT(names) || !is_text(member->value))
            return false;
        asks = asks || k < OPTIONS;
    }
    return asks;
}

static bool is_option_rules(const struct value *value)
{
    if (value->kind != VALUE_LIST)
        return false;
    for (size_t i = 0; i < value->list.count; i++)
        if (!is_option_rule(value->list.items[i]))
            return false;
    return true;
}

static bool is_images(const struct value *value)
{
    if (value->kind == VALUE_BOOLEAN)
        return true;
    for (size_t i = 0; value->kind == VALUE_LIST && i < value->list.count; i++)
        if (!is_text(value->list.items[i]))
            return false;
    return value->kind == VALUE_LIST;
}

static bool is_others(const struct value *value)
{
    return is_text(value) &&
           (text_is(value->string, "refuse") || text_is(value->string, "approve"));
}

static bool is_seconds(const struct value *value)
{
    return value->kind == VALUE_NUMBER && value->number >= 0 && value->number < 1e9 &&
           value->number == floor(value->number);
}

static bool is_range(const struct value *value)
{
    double first = value_get_number(value, "first", 0), last = value_get_number(value, "last", 0);
    return first >= 1 && last <= PORT_LAST && first <= last && first == floor(first) &&
           last == floor(last);
}

static bool is_home(const struct value *value)
{
    return is_text(value) && (text_is(value->string, "user") || text_is(value->string, "none"));
}

/* For executors' sections. */
static const struct rule executor_rules[] = {
    {"home", is_home, "user or none"},
    {NULL, NULL, NULL},
};

static const struct rule image_rules[] = {
    {"allow_user", is_images, "true, false, or a list of names"},
    {"others", is_others, "refuse or approve"},
    {NULL, NULL, NULL},
};

/* For OpenPAI; DLWorkspace has some of these. */
static const struct rule platform_rules[] = {
    {"default_fs", is_text, "a text"},
    {"paths", is_places, "a list of {prefix, path}, each path an absolute one"},
    {"unmapped", is_unmapped, "note or refuse"},
    {"virtual_clusters", is_text_map, "a map to the names of queues, or null"},
    {"gpu_types", is_text_map, "a map to the names of kinds of GPUs"},
    {"auth_files", is_text_map, "a map to the names of Secrets"},
    {"images", is_images, "true, false, or a list of names"},
    {"strict", is_boolean, "true or false"},
    {"registry", is_text, "the name of a registry, or an empty text"},
    {"workdir", is_text, "an absolute path"},
    {"debug", is_seconds, "a whole number of seconds"},
    {NULL, NULL, NULL},
};

/* For the options of #SBATCH and #PBS lines. */
static const struct rule option_rules[] = {
    {"rules", is_option_rules,
     "a list of maps of partition, account, qos, reservation, constraint, licenses, queue and "
     "gpu_type to texts, each with at least one of the first six"},
    {NULL, NULL, NULL},
};

static int report_fault(const struct value *value, const char *above, const char *field,
                        const char *expected, struct error *error)
{
    return error_set(error, "site.yaml:%u:%u: %s%s: expected %s", value->line, value->column, above,
                     field, expected);
}

static int check_section(const struct value *site, const char *name, const struct rule *rules,
                         struct error *error)
{
    const struct value *section = value_get(site, name);
    char above[32];
    if (section && section->kind != VALUE_OBJECT)
        return report_fault(section, "", name, "a map", error);
    snprintf(above, sizeof(above), "%s.", name);
    for (const struct rule *rule = rules; section && rule->field; rule++) {
        const struct value *value = value_get(section, rule->field);
        if (value && !rule->good(value))
            return report_fault(value, above, rule->field, rule->expected, error);
    }
    return 0;
}

int check_site(const struct value *site, struct error *error)
{
    static const struct {
        const char *name;
        const struct rule *rules;
    } sections[] = {
        {"local", executor_rules},   {"kubernetes", executor_rules},  {"slurm", executor_rules},
        {"openpai", platform_rules}, {"dlworkspace", platform_rules}, {"sbatch", option_rules},
        {"pbs", option_rules},       {"images", image_rules},
    };
    const struct value *ports = value_get(site, "ports");
    if (ports && !is_range(ports))
        return report_fault(ports, "", "ports", "{first, last}, numbers from 1 to 65535", error);
    for (size_t i = 0; i < ARRAY_COUNT(sections); i++)
        if (check_section(site, sections[i].name, sections[i].rules, error))
            return -1;
    return 0;
}
