/* web/job_form.c - the form in which a job is described field by field, and the job file that becomes of it */
#include "web/job_form.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/yaml.h"
#include "web/html.h"

enum { ROLES = 3, ROLE_FIELDS = 5, NAME_SIZE = 24, FIELD_SIZE = 128 };

/* Fields of the job file that take a word. */
static const struct {
    const char *name, *label, *hint;
} words[] = {
    {"name", "Name", "digits"},
    {"program", "Program: a directory or a file", "/home/ann/digits"},
    {"entry", "Boot file in it", "train.py"},
    {"version", "Version of the library", "any"},
    {"dataset", "Data", "/data/digits"},
    {"output", "Results go to", "/home/ann/results"},
    {"queue", "Queue", ""},
    {"gpu_type", "Type of GPU", "any"},
    {"time_limit", "Time limit", "2h"},
    {"deadline", "Deadline", "+6h"},
};

/* Fields of a role; the first is its name. */
static const char *const role_fields[ROLE_FIELDS] = {"role", "count", "cpus", "memory", "gpus"};
static const char *const role_labels[ROLE_FIELDS] = {"Role", "Tasks", "CPUs", "Memory", "GPUs"};

/* The roles of a job type, as the form first has them. */
static const struct {
    const char *type, *roles[ROLES];
} shapes[] = {
    {"single", {"main"}},        {"notebook", {"main"}},          {"array", {"main"}},
    {"distributed", {"worker"}}, {"elastic", {"worker"}},         {"serving", {"server"}},
    {"ps", {"ps", "worker"}},    {"mpi", {"launcher", "worker"}}, {"roles", {"main"}},
};

static const char *role_of(const struct job_kind *kind, size_t index)
{
    static const char *const with_scheduler[ROLES] = {"scheduler", "server", "worker"};
    if (text_is(kind->type, "ps") && text_contains(kind->words, TEXT("scheduler")))
        return with_scheduler[index];
    for (size_t i = 0; i < ARRAY_COUNT(shapes); i++)
        if (text_is(kind->type, shapes[i].type))
            return shapes[i].roles[index];
    return NULL;
}

/* ---- the form ---- */

/* What a line of the sentence, "PLACE: FIELD: WORDS", says of the field; empty: nothing. */
static struct text fault_of(struct text said, const char *field)
{
    struct text line;
    size_t length = strlen(field);
    while (said.length && text_next(&said, '\n', &line)) {
        const char *end = memmem(line.data, line.length, ": ", 2);
        size_t place = end ? (size_t)(end - line.data) + 2 : line.length;
        struct text rest = {line.data + place, line.length - place};
        if (text_starts(rest, field) && rest.length > length && rest.data[length] == ':')
            return text_trim((struct text){rest.data + length + 1, rest.length - length - 1});
    }
    return TEXT("");
}

static void add_input(struct buffer *out, const char *name, const char *label, const char *hint,
                      int size, struct text value, struct text fault)
{
    buffer_printf(out, "<label>%s<input name=\"%s\" size=\"%d\" placeholder=\"%s\" value=\"", label,
                  name, size, hint);
    html_text(out, value);
    buffer_add_string(out,
                      fault.length ? "\" aria-invalid=\"true\"> <span class=\"fault\">" : "\">");
    html_text(out, fault);
    buffer_add_string(out, fault.length ? "</span></label>\n" : "</label>\n");
}

static void add_area(struct buffer *out, const char *name, const char *label, struct text value)
{
    buffer_printf(out,
                  "<p><label>%s<textarea class=\"short\" name=\"%s\" cols=\"80\" "
                  "spellcheck=\"false\">\n",
                  label, name);
    html_text(out, value);
    buffer_add_string(out, "</textarea></label></p>\n");
}

/* What is said of a field of a role: tasks.ROLE.cpus. */
static struct text role_fault(const struct form *sent, struct text said, size_t index,
                              const char *name)
{
    char role[NAME_SIZE], field[FIELD_SIZE];
    if (!sent)
        return TEXT("");
    snprintf(role, sizeof(role), "%s%zu", role_fields[0], index);
    struct text key = text_trim(form_get(sent, role));
    snprintf(field, sizeof(field), "tasks.%.*s%s%s", (int)key.length, key.data,
             strcmp(name, role_fields[0]) == 0 ? "" : ".",
             strcmp(name, role_fields[0]) == 0 ? "" : name);
    return fault_of(said, field);
}

static void add_role(struct buffer *out, const struct job_kind *kind, const struct form *sent,
                     struct text said, size_t index)
{
    static const char *const usual[ROLE_FIELDS] = {NULL, "1", "1", "1Gi", "0"};
    const char *role = role_of(kind, index);
    char name[NAME_SIZE];
    buffer_printf(out, "<fieldset><legend>Role %zu%s</legend>\n", index + 1,
                  index ? ", may be left empty" : "");
    for (size_t i = 0; i < ROLE_FIELDS; i++) {
        snprintf(name, sizeof(name), "%s%zu", role_fields[i], index);
        struct text value = sent ? form_get(sent, name) : text_of(!role ? "" : i ? usual[i] : role);
        add_input(out, name, role_labels[i], "", 8, value,
                  role_fault(sent, said, index, role_fields[i]));
    }
    buffer_add_string(out, "</fieldset>\n");
}

void job_form_add(struct buffer *out, const struct job_kind *kind, const struct form *sent,
                  struct text said)
{
    buffer_add_string(out, "<form method=\"post\" action=\"/new\">\n"
                           "<input type=\"hidden\" name=\"library\" value=\"");
    html_text(out, kind->library);
    buffer_add_string(out, "\"><input type=\"hidden\" name=\"type\" value=\"");
    html_text(out, kind->type);
    buffer_add_string(out, "\">\n<fieldset><legend>");
    html_text(out, kind->words.length ? kind->words : kind->library);
    buffer_add_string(out, "</legend>\n");
    for (size_t i = 0; i < ARRAY_COUNT(words); i++)
        add_input(out, words[i].name, words[i].label, words[i].hint, 20,
                  sent ? form_get(sent, words[i].name) : TEXT(""), fault_of(said, words[i].name));
    if (text_is(kind->type, "array"))
        add_input(out, "array", "Indexes", "0-9", 20, sent ? form_get(sent, "array") : TEXT("0-9"),
                  fault_of(said, "array"));
    buffer_add_string(out, "</fieldset>\n");
    for (size_t i = 0; i < ROLES; i++)
        add_role(out, kind, sent, said, i);
    add_area(out, "args", "Arguments, one a line", sent ? form_get(sent, "args") : TEXT(""));
    add_area(out, "script", "A script, in place of a program",
             sent ? form_get(sent, "script") : TEXT(""));
    buffer_add_string(out,
                      "<p><button name=\"do\" value=\"compose\">Make the job file</button></p>\n"
                      "</form>\n");
}

/* ---- the job file ---- */

/* A number where it is one, so that YAML does not quote it. */
static struct value *read_amount(struct arena *arena, struct text text)
{
    char *end;
    struct text copy = arena_text(arena, text.data, text.length);
    double number = strtod(copy.data, &end);
    bool is_number = copy.length && end == copy.data + copy.length && copy.data[0] >= '0' &&
                     copy.data[0] <= '9' && copy.length < 10;
    return is_number ? value_number(arena, number) : value_text(arena, copy);
}

static void put_lines(struct arena *arena, struct value *job, struct text lines)
{
    struct value *list = value_list(arena);
    struct text line;
    while (lines.length && text_next(&lines, '\n', &line))
        if (text_trim(line).length)
            value_append(arena, list, value_text(arena, text_trim(line)));
    value_put(arena, job, "args", list);
}

static void put_role(struct arena *arena, struct value *tasks, const struct form *sent,
                     size_t index)
{
    char name[NAME_SIZE];
    struct value *role = value_object(arena);
    snprintf(name, sizeof(name), "%s%zu", role_fields[0], index);
    struct text key = text_trim(form_get(sent, name));
    if (!key.length)
        return;
    for (size_t i = 1; i < ROLE_FIELDS; i++) {
        snprintf(name, sizeof(name), "%s%zu", role_fields[i], index);
        struct text value = text_trim(form_get(sent, name));
        if (value.length && !(i == ROLE_FIELDS - 1 && text_is(value, "0")))
            value_put(arena, role, role_fields[i], read_amount(arena, value));
    }
    value_set(arena, tasks, key, role);
}

static void put_word(struct arena *arena, struct value *job, const char *name, struct text word)
{
    if (text_trim(word).length)
        value_put(arena, job, name, value_text(arena, text_trim(word)));
}

void job_form_write(struct arena *arena, const struct form *sent, struct buffer *out)
{
    struct value *job = value_object(arena), *tasks = value_object(arena);
    put_word(arena, job, "name", form_get(sent, "name"));
    put_word(arena, job, "library", form_get(sent, "library"));
    put_word(arena, job, "type", form_get(sent, "type"));
    for (size_t i = 1; i < ARRAY_COUNT(words); i++)
        put_word(arena, job, words[i].name, form_get(sent, words[i].name));
    put_word(arena, job, "array", form_get(sent, "array"));
    if (text_trim(form_get(sent, "args")).length)
        put_lines(arena, job, form_get(sent, "args"));
    if (text_trim(form_get(sent, "script")).length)
        value_put(arena, job, "script", value_text(arena, form_get(sent, "script")));
    for (size_t i = 0; i < ROLES; i++)
        put_role(arena, tasks, sent, i);
    value_put(arena, job, "tasks", tasks);
    yaml_write(out, job, NULL);
}
