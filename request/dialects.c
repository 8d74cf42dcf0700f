/* request/dialects.c - which dialect a job file is written in, and reading it
 *
 * Two questions, in this order.  The syntax (YAML, JSON, batch script) is told from the first
 * bytes and the ending of the name, and gives a tree.  The dialect is told from the fields of that
 * tree; each has a line in the table below, and what it reads is the same struct description.
 */
#include <string.h>

#include "base/json.h"
#include "base/yaml.h"
#include "request/description.h"
#include "request/job.h"
#include "request/script.h"

struct dialect {
    const char *name;           /* for a sentence: "an OpenPAI job file (version 1)" */
    bool (*recognise)(const struct value *root);
    struct description *(*read)(struct reading *reading, const struct value *root);
};

static bool has(const struct value *root, const char *key)
{
    return value_get(root, key) != NULL;
}

static bool is_openpai_1(const struct value *root)
{
    return has(root, "jobName") && has(root, "taskRoles");
}

static bool is_openpai_2(const struct value *root)
{
    return has(root, "protocolVersion");
}

static bool is_dlworkspace(const struct value *root)
{
    return has(root, "jobName") && (has(root, "jobtrainingtype") || has(root, "cmd"));
}

static bool is_anything(const struct value *root)
{
    (void)root;
    return true;
}

/* Dialects without a reader are recognised and refused. */
static const struct dialect dialects[] = {
    {"an OpenPAI job file (version 1)", is_openpai_1, NULL},
    {"an OpenPAI job file (version 2)", is_openpai_2, NULL},
    {"a DLWorkspace job file", is_dlworkspace, NULL},
    {"a job file", is_anything, job_read},
};

static struct description *read_tree(struct reading *reading, const struct value *root)
{
    const struct dialect *dialect = dialects;
    while (!dialect->recognise(root))
        dialect++;
    if (dialect->read)
        return dialect->read(reading, root);
    problem_add(reading, NULL, root->line, root->column,
                "looks like %s; not yet supported, expected the fields name, library, type ...",
                dialect->name);
    return NULL;
}

static bool is_json(struct text source, struct text name)
{
    if (text_ends(name, ".json"))
        return true;
    /* A map in YAML's flow style starts like JSON, so an ending that says YAML is believed. */
    return text_starts(text_trim(source), "{") && !text_ends(name, ".yaml") &&
           !text_ends(name, ".yml");
}

/* The tree of the file's fields, or NULL after a problem. */
static struct value *read_syntax(struct reading *reading, struct text source, struct text name)
{
    if (text_starts(source, "#!"))
        return script_read(reading, source);
    struct error error;
    struct value *root = is_json(source, name)
                             ? json_read(reading->arena, source, reading->file,
                                         &yaml_request_limits, &error)
                             : yaml_read(reading->arena, source, reading->file,
                                         &yaml_request_limits, &error);
    if (!root)
        problem_add_sentence(reading, error.text);
    return root;
}

struct description *request_read(struct arena *arena, struct text source, const char *name,
                                 struct error *error)
{
    struct error_quote_room room;
    struct reading reading;
    struct text file = name && *name ? text_of(name) : TEXT("job file");
    reading_start(&reading, arena, error_quote(&room, file.data, file.length));

    if (text_starts(source, "\xff\xfe") || text_starts(source, "\xfe\xff")) {
        problem_add(&reading, NULL, 0, 0, "found UTF-16, expected text in UTF-8");
        problems_report(&reading, error);
        return NULL;
    }
    if (text_starts(source, "\xef\xbb\xbf")) {
        source.data += 3;
        source.length -= 3;
    }
    struct description *job = NULL;
    struct value *root = read_syntax(&reading, source, file);
    if (root)
        job = read_tree(&reading, root);
    return problems_report(&reading, error) ? NULL : job;
}
