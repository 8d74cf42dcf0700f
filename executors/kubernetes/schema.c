/* executors/kubernetes/schema.c - are the fields of a Kubernetes object those that there are?
 *
 * The table is read into sorted arrays, so that a field costs a search by halves.  A table that
 * cannot be read is a mistake in the program: then whatever is checked has that as its problem.
 */
#include "executors/kubernetes/schema.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/nearest.h"
#include "base/value_path.h"

/* executors/kubernetes/schema.txt; made by tools/embed at build time. */
extern const unsigned char kubernetes_schema_bytes[];
extern const size_t kubernetes_schema_length;

/* The server whose fields the table has, as its head says. */
#define KUBERNETES_SCHEMA_VERSION "1.36"

enum { MOST_NAMES = 128, DEEPEST = 64 };

enum basic {
    BASIC_TYPE, /* another line of the table */
    BASIC_WORDS,
    BASIC_STRING,
    BASIC_BOOLEAN,
    BASIC_ANY,
    BASIC_INTEGER,
    BASIC_INTEGER32,
    BASIC_NUMBER,
    BASIC_QUANTITY,
    BASIC_INTORSTRING,
    BASIC_TIME,
    BASIC_BASE64
};

static const struct {
    const char *name, *expected;
} basics[] = {
    [BASIC_TYPE] = {"", "an object"},
    [BASIC_WORDS] = {"", "one of"},
    [BASIC_STRING] = {"string", "a string"},
    [BASIC_BOOLEAN] = {"boolean", "true or false"},
    [BASIC_ANY] = {"any", "anything"},
    [BASIC_INTEGER] = {"integer", "a whole number"},
    [BASIC_INTEGER32] = {"integer32", "a whole number of 32 bits"},
    [BASIC_NUMBER] = {"number", "a number"},
    [BASIC_QUANTITY] = {"quantity", "a quantity such as 2, 500m or 16Gi"},
    [BASIC_INTORSTRING] = {"intorstring", "a whole number or a string"},
    [BASIC_TIME] = {"time", "a time such as \"2026-05-01T18:00:00Z\""},
    [BASIC_BASE64] = {"base64", "a string of base64"},
};

enum container { CONTAINER_NONE, CONTAINER_LIST, CONTAINER_MAP };

struct schema_type;

struct schema_field {
    struct text name;
    struct text written; /* of its type, without brackets: a name or A|B|C */
    enum container container;
    enum basic basic;
    const struct schema_type *type; /* for BASIC_TYPE */
    bool required;
};

struct schema_type {
    struct text name;
    struct schema_field *fields; /* sorted by name */
    size_t count;
};

static struct {
    struct arena *arena;
    struct schema_type *types; /* sorted by name */
    size_t count;
    struct error fault; /* empty when the table is good */
} table;

/* ---- the table ---- */

/* Remember the first thing that is wrong with the table itself. */
static void fail_table(const char *what, struct text where)
{
    struct error_quote_buffer quote;
    if (!table.fault.text[0])
        error_set(&table.fault, "the table of fields: %s: %s", what,
                  error_quote(&quote, where.data, where.length));
}

static int compare_types(const void *a, const void *b)
{
    return text_compare(((const struct schema_type *)a)->name,
                        ((const struct schema_type *)b)->name);
}

static int compare_fields(const void *a, const void *b)
{
    return text_compare(((const struct schema_field *)a)->name,
                        ((const struct schema_field *)b)->name);
}

static const struct schema_type *find_type(struct text name)
{
    const struct schema_type wanted = {.name = name};
    return table.count ? bsearch(&wanted, table.types, table.count, sizeof(wanted), compare_types)
                       : NULL;
}

static const struct schema_field *find_field(const struct schema_type *type, struct text name)
{
    const struct schema_field wanted = {.name = name};
    return type->count ? bsearch(&wanted, type->fields, type->count, sizeof(wanted), compare_fields)
                       : NULL;
}

/* name=type, name=[type]!, name={A|B} */
static void read_field(struct text word, struct schema_field *field)
{
    const char *equals = memchr(word.data, '=', word.length);
    if (!equals) {
        fail_table("expected name=type", word);
        return;
    }
    field->name = (struct text){word.data, (size_t)(equals - word.data)};
    struct text type = {equals + 1, word.length - field->name.length - 1};
    field->required = text_ends(type, "!");
    type.length -= field->required;
    if (text_starts(type, "["))
        field->container = CONTAINER_LIST;
    else if (text_starts(type, "{"))
        field->container = CONTAINER_MAP;
    if (field->container != CONTAINER_NONE)
        type = (struct text){type.data + 1, type.length > 1 ? type.length - 2 : 0};
    if (type.length == 0)
        fail_table("expected a type", word);
    field->written = type;
    field->basic = memchr(type.data, '|', type.length) ? BASIC_WORDS : BASIC_TYPE;
    for (size_t i = BASIC_STRING; i < ARRAY_COUNT(basics); i++)
        if (text_is(type, basics[i].name))
            field->basic = (enum basic)i;
}

static size_t count_bytes(struct text text, char byte)
{
    size_t count = 0;
    for (size_t i = 0; i < text.length; i++)
        count += text.data[i] == byte;
    return count;
}

/* "Type: field=type ..." with the lines that continue it. */
static void read_type(struct text lines, struct schema_type *type)
{
    const char *colon = memchr(lines.data, ':', lines.length);
    if (!colon) {
        fail_table("expected Type: fields", lines);
        return;
    }
    type->name = (struct text){lines.data, (size_t)(colon - lines.data)};
    struct text rest = {colon + 1, lines.length - type->name.length - 1}, line, word;
    type->fields =
        arena_allocate(table.arena, (count_bytes(rest, '=') + 1) * sizeof(*type->fields));
    while (text_next(&rest, '\n', &line))
        while (text_next(&line, ' ', &word))
            if (word.length)
                read_field(word, &type->fields[type->count++]);
    qsort(type->fields, type->count, sizeof(*type->fields), compare_fields);
}

/* Cut a line and those after it that start with a blank off the front. */
static bool next_entry(struct text *rest, struct text *entry)
{
    struct text line;
    do {
        if (!text_next(rest, '\n', &line))
            return false;
    } while (line.length == 0 || line.data[0] == '#');
    *entry = line;
    while (rest->length && rest->data[0] == ' ' && text_next(rest, '\n', &line))
        entry->length = (size_t)(line.data + line.length - entry->data);
    return true;
}

static void link_types(void)
{
    for (size_t i = 0; i < table.count; i++)
        for (size_t j = 0; j < table.types[i].count; j++) {
            struct schema_field *field = &table.types[i].fields[j];
            if (field->basic != BASIC_TYPE)
                continue;
            field->type = find_type(field->written);
            if (!field->type)
                fail_table("no such type", field->written);
        }
}

static void load_table(void)
{
    if (table.arena)
        return;
    const struct text source = {(const char *)kubernetes_schema_bytes, kubernetes_schema_length};
    struct text rest = source, entry;
    size_t count = 0;
    while (next_entry(&rest, &entry))
        count++;
    table.arena = arena_new();
    table.types = arena_allocate(table.arena, (count + 1) * sizeof(*table.types));
    rest = source;
    while (next_entry(&rest, &entry))
        read_type(entry, &table.types[table.count++]);
    qsort(table.types, table.count, sizeof(*table.types), compare_types);
    link_types();
}

/* ---- problems ---- */

/* Append "LINE:COLUMN: PLACE: SENTENCE" to the problems or, of a field that only a newer server may
 * know, to `newer`; beyond the first few a problem is only counted. */
static void add_problem(struct schema_problems *problems, bool newer,
                        const struct value_path *place, uint32_t line, uint32_t column,
                        const char *format, va_list arguments)
{
    struct buffer *out = newer ? &problems->newer : &problems->text;
    if ((*(newer ? &problems->newer_count : &problems->count))++ >= SCHEMA_PROBLEMS_SHOWN)
        return;
    if (out->length)
        buffer_add_byte(out, '\n');
    if (line)
        buffer_printf(out, "%u:%u: ", line, column);
    value_path_add(out, place);
    buffer_add_string(out, place ? ": " : "");
    buffer_vprintf(out, format, arguments);
}

void kubernetes_schema_problem(struct schema_problems *problems, const struct value *at,
                               const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_problem(problems, false, NULL, at ? at->line : 0, at ? at->column : 0, format, arguments);
    va_end(arguments);
}

static void __attribute__((format(printf, 6, 7)))
add_sentence(struct schema_problems *problems, bool newer, const struct value_path *place,
             uint32_t line, uint32_t column, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_problem(problems, newer, place, line, column, format, arguments);
    va_end(arguments);
}

static void add_expected(struct schema_problems *problems, const struct value_path *place,
                         const struct value *value, const char *what)
{
    struct buffer found = {0};
    value_path_add_found(&found, value);
    add_sentence(problems, false, place, value->line, value->column, "found %s, expected %s%s",
                 found.data, what, value->kind == VALUE_NULL ? "; leave the field out" : "");
    buffer_free(&found);
}

/* Could a field that the table does not have give a pod more rights than the policy lets it have? */
static bool may_give_rights(const struct schema_type *type, struct text field)
{
    static const char *const governed[] = {"SecurityContext", "PodSecurityContext", "Capabilities",
                                           "Volume"};
    for (size_t i = 0; i < ARRAY_COUNT(governed); i++)
        if (text_is(type->name, governed[i]))
            return true;
    return text_starts(field, "host");
}

/* Could it be a field of any server? */
static bool is_field_name(struct text name)
{
    for (size_t i = 0; i < name.length; i++)
        if (!((name.data[i] >= 'a' && name.data[i] <= 'z') ||
              (i && name.data[i] >= 'A' && name.data[i] <= 'Z') ||
              (i && name.data[i] >= '0' && name.data[i] <= '9')))
            return false;
    return name.length > 0;
}

/* A name that resembles one of the type's is a mistake in writing; any other may be that of a newer server. */
static void unknown_field(struct schema_problems *problems, const struct value_path *place,
                          const struct schema_type *type, const struct member *member)
{
    const char *names[MOST_NAMES + 1] = {NULL};
    struct arena *arena = arena_new();
    for (size_t i = 0; i < type->count && i < MOST_NAMES; i++)
        names[i] = arena_text(arena, type->fields[i].name.data, type->fields[i].name.length).data;
    struct nearest_hint hint;
    nearest_hint(&hint, member->key, names);
    bool newer = !hint.text[0] && is_field_name(member->key) && !may_give_rights(type, member->key);
    add_sentence(problems, newer, place, member->line, member->column, "unknown field%s",
                 newer
                     ? "; Kubernetes " KUBERNETES_SCHEMA_VERSION
                       " has none of that name, and a server that does not know it refuses the job"
                     : hint.text);
    arena_free(arena);
}

/* ---- leaves ---- */

static size_t digits_at(struct text text, size_t at)
{
    size_t count = 0;
    while (at + count < text.length && text.data[at + count] >= '0' && text.data[at + count] <= '9')
        count++;
    return count;
}

/* e or E, perhaps a sign, digits. */
static bool is_exponent(struct text text)
{
    if (text.length < 2 || (text.data[0] != 'e' && text.data[0] != 'E'))
        return false;
    size_t at = text.data[1] == '-' || text.data[1] == '+' ? 2 : 1;
    return at < text.length && digits_at(text, at) == text.length - at;
}

bool kubernetes_schema_read_quantity(struct text text, double *number)
{
    static const struct {
        const char *suffix;
        double factor;
    } suffixes[] = {{"", 1},        {"m", 1e-3},    {"k", 1e3},     {"M", 1e6},
                    {"G", 1e9},     {"T", 1e12},    {"P", 1e15},    {"E", 1e18},
                    {"u", 1e-6},    {"n", 1e-9},    {"Ki", 0x1p10}, {"Mi", 0x1p20},
                    {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"Pi", 0x1p50}, {"Ei", 0x1p60}};
    size_t at = text.length && (text.data[0] == '-' || text.data[0] == '+') ? 1 : 0;
    size_t whole = digits_at(text, at), fraction = 0;
    at += whole;
    if (at < text.length && text.data[at] == '.') {
        fraction = digits_at(text, at + 1);
        at += 1 + fraction;
    }
    if (whole + fraction == 0)
        return false;
    struct text suffix = {text.data + at, text.length - at};
    *number = strtod(text.data, NULL); /* with the exponent, where it has one */
    for (size_t i = 0; i < ARRAY_COUNT(suffixes); i++) {
        if (!text_is(suffix, suffixes[i].suffix))
            continue;
        *number *= suffixes[i].factor;
        return true;
    }
    return is_exponent(suffix);
}

static bool is_base64(struct text text)
{
    size_t end = text.length;
    if (end % 4)
        return false;
    for (int i = 0; i < 2 && end && text.data[end - 1] == '='; i++)
        end--;
    for (size_t i = 0; i < end; i++) {
        char c = text.data[i];
        if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
              c == '+' || c == '/'))
            return false;
    }
    return true;
}

static bool is_whole(const struct value *value, double bound)
{
    return value->kind == VALUE_NUMBER && floor(value->number) == value->number &&
           value->number >= -bound && value->number < bound;
}

static bool is_one_of(struct text word, struct text words)
{
    struct text each;
    while (text_next(&words, '|', &each))
        if (text_equal(word, each) || (word.length == 0 && text_is(each, "\"\"")))
            return true;
    return false;
}

/* Is the value, which is no object of another type, one that the field takes? */
static bool leaf_fits(const struct schema_field *field, const struct value *value)
{
    int64_t time;
    double number;
    bool string = value->kind == VALUE_STRING;
    switch (field->basic) {
    case BASIC_ANY:
        return true;
    case BASIC_STRING:
        return string;
    case BASIC_BOOLEAN:
        return value->kind == VALUE_BOOLEAN;
    case BASIC_INTEGER:
        return is_whole(value, 0x1p53);
    case BASIC_INTEGER32:
        return is_whole(value, 0x1p31);
    case BASIC_NUMBER:
        return value->kind == VALUE_NUMBER;
    case BASIC_QUANTITY:
        return value->kind == VALUE_NUMBER ||
               (string && kubernetes_schema_read_quantity(value->string, &number));
    case BASIC_INTORSTRING:
        return string || is_whole(value, 0x1p31);
    case BASIC_TIME:
        return string && clock_parse(value->string, &time) == 0;
    case BASIC_BASE64:
        return string && is_base64(value->string);
    case BASIC_WORDS:
        return string && is_one_of(value->string, field->written);
    case BASIC_TYPE:
        break;
    }
    return false;
}

static void leaf_problem(struct schema_problems *problems, const struct value_path *place,
                         const struct schema_field *field, const struct value *value)
{
    if (field->basic != BASIC_WORDS) {
        add_expected(problems, place, value, basics[field->basic].expected);
        return;
    }
    struct buffer words = {0};
    struct text rest = field->written, word, next;
    for (bool first = true; text_next(&rest, '|', &word); first = false) {
        struct text after = rest;
        bool last = !text_next(&after, '|', &next);
        buffer_add_string(&words, first ? "" : last ? " or " : ", ");
        buffer_add_text(&words, word);
    }
    add_expected(problems, place, value, words.data ? words.data : "");
    buffer_free(&words);
}

/* ---- the walk ---- */

static int depth_of(const struct value_path *place)
{
    return place ? 1 + depth_of(place->above) : 0;
}

static void check_object(const struct schema_type *type, const struct value *value,
                         const struct value_path *place, struct schema_problems *problems);

static void check_item(const struct schema_field *field, const struct value *value,
                       const struct value_path *place, struct schema_problems *problems)
{
    if (field->basic == BASIC_TYPE)
        check_object(field->type, value, place, problems);
    else if (!leaf_fits(field, value))
        leaf_problem(problems, place, field, value);
}

static void check_field(const struct schema_field *field, const struct value *value,
                        const struct value_path *place, struct schema_problems *problems)
{
    if (field->container == CONTAINER_NONE) {
        check_item(field, value, place, problems);
    } else if (field->container == CONTAINER_LIST) {
        if (value->kind != VALUE_LIST) {
            add_expected(problems, place, value, "a list");
            return;
        }
        for (size_t i = 0; i < value->list.count; i++) {
            struct value_path item = {.above = place, .index = i};
            check_item(field, value->list.items[i], &item, problems);
        }
    } else {
        if (value->kind != VALUE_OBJECT) {
            add_expected(problems, place, value, "an object");
            return;
        }
        for (size_t i = 0; i < value->object.count; i++) {
            const struct member *member = &value->object.members[i];
            struct value_path item = {.above = place, .name = member->key};
            check_item(field, member->value, &item, problems);
        }
    }
}

static void check_object(const struct schema_type *type, const struct value *value,
                         const struct value_path *place, struct schema_problems *problems)
{
    if (value->kind != VALUE_OBJECT) {
        add_expected(problems, place, value, "an object");
        return;
    }
    if (depth_of(place) > DEEPEST) {
        add_sentence(problems, false, place, value->line, value->column, "too deep");
        return;
    }
    for (size_t i = 0; i < value->object.count; i++) {
        const struct member *member = &value->object.members[i];
        const struct schema_field *field = find_field(type, member->key);
        struct value_path inner = {.above = place, .name = member->key};
        if (field)
            check_field(field, member->value, &inner, problems);
        else
            unknown_field(problems, &inner, type, member);
    }
    for (size_t i = 0; i < type->count; i++) {
        const struct schema_field *field = &type->fields[i];
        struct value_path inner = {.above = place, .name = field->name};
        if (field->required && !value_member(value, field->name))
            add_sentence(problems, false, &inner, value->line, value->column, "missing");
    }
}

void kubernetes_schema_check(const char *type, const struct value *tree, const char *path,
                             struct schema_problems *problems)
{
    load_table();
    const struct schema_type *found = find_type(text_of(type));
    struct value_path place = {.name = text_of(path)};
    if (table.fault.text[0])
        kubernetes_schema_problem(problems, tree, "%s", table.fault.text);
    else if (!found)
        kubernetes_schema_problem(problems, tree, "%s: the table has no type %s", path, type);
    else
        check_object(found, tree, *path ? &place : NULL, problems);
}
