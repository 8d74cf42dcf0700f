/* base/yaml.c - YAML text to value trees, through libyaml (writing is in base/yaml_write.c)
 *
 * libyaml turns text into events; the tree, its bounds, and what a plain scalar means are ours.
 * Time is linear in the text: what libyaml does in quadratic time is kept from it.  Recursion
 * follows the nesting of the document, which is bounded.
 */
#include "base/yaml.h"

#include <math.h>
#include <string.h>
#include <yaml.h>

#include "base/utf8.h"
#include "base/yaml_quick.h"
#include "base/yaml_references.h"
#include "base/yaml_scalar.h"
#include "base/yaml_words.h"

const struct yaml_limits yaml_request_limits = {.bytes = 1 << 20, .nodes = 10000, .depth = 32};
const struct yaml_limits yaml_trusted_limits = {.bytes = 16 << 20, .nodes = 1000000, .depth = 100};

enum { MOST_DIRECTIVES = 64 }; /* libyaml compares each %TAG with all before it */

struct reader {
    yaml_parser_t parser;
    struct arena *arena;
    struct text source;
    const char *name;
    struct yaml_origin origin;
    const struct yaml_limits *limits;
    struct yaml_beyond *beyond; /* NULL: only JSON's data model */
    struct yaml_anchors anchors;
    size_t nodes, deepest;
    struct error *error;
};

/* The line in the file of a libyaml mark; lines and columns count from 1. */
static uint32_t line_of(const struct reader *reader, yaml_mark_t mark)
{
    return (uint32_t)mark.line + reader->origin.line;
}

static uint32_t column_of(const struct reader *reader, yaml_mark_t mark)
{
    return (uint32_t)mark.column + (mark.line == 0 ? reader->origin.column : 1);
}

static int fail_at(struct reader *reader, yaml_mark_t mark, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int fail_at(struct reader *reader, yaml_mark_t mark, const char *format, ...)
{
    char sentence[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    return error_set(reader->error, "%s:%u:%u: %s", reader->name, line_of(reader, mark),
                     column_of(reader, mark), sentence);
}

/* The mark of the byte at `offset`, with the column in characters.  libyaml does not give one
 * for errors of its reader, which fails before it counts. */
static yaml_mark_t mark_of_byte(const struct reader *reader, size_t offset)
{
    yaml_mark_t mark = {0};
    for (size_t i = 0; i < offset && i < reader->source.length; i++) {
        unsigned char byte = (unsigned char)reader->source.data[i];
        if (byte == '\n') {
            mark.line++;
            mark.column = 0;
        } else {
            mark.column += (byte & 0xc0) != 0x80;
        }
    }
    return mark;
}

/* Report bytes that libyaml's reader does not accept as text. */
static int fail_unreadable(struct reader *reader)
{
    const yaml_parser_t *parser = &reader->parser;
    struct text source = reader->source;
    if (parser->problem && strstr(parser->problem, "control characters"))
        return fail_at(reader, mark_of_byte(reader, parser->problem_offset),
                       "found the control character U+%04X, expected text; inside double quotes "
                       "it can be written as an escape",
                       (unsigned)parser->problem_value);
    size_t at = 0, sequence;
    while (at < source.length && (sequence = utf8_sequence(source.data + at, source.length - at)))
        at += sequence;
    return fail_at(reader, mark_of_byte(reader, at),
                   "found bytes that are not UTF-8, expected UTF-8 text");
}

/* Get the next event.  An error of libyaml is reported in plain words, at its place in the file. */
static int next_event(struct reader *reader, yaml_event_t *event)
{
    if (yaml_parser_parse(&reader->parser, event))
        return 0;
    const yaml_parser_t *parser = &reader->parser;
    if (parser->error == YAML_READER_ERROR)
        return fail_unreadable(reader);
    /* At the end of a text without a final line end libyaml is one line ahead of it. */
    yaml_mark_t mark = parser->problem_mark, end = mark_of_byte(reader, reader->source.length);
    if (mark.line > end.line)
        mark = end;
    struct yaml_trouble trouble = {
        .source = reader->source,
        .problem = parser->problem,
        .context = parser->context,
        .at = {mark.line, mark.column},
        .began = {mark.line, mark.column},
    };
    if (parser->context)
        trouble.began = (struct yaml_place){parser->context_mark.line, parser->context_mark.column};
    struct yaml_place place;
    char words[YAML_WORDS_SIZE];
    yaml_words(&trouble, words, &place);
    mark.line = place.line;
    mark.column = place.column;
    return fail_at(reader, mark, "not well-formed YAML: %s", words);
}

static struct value *read_node(struct reader *reader, yaml_event_t *event, size_t depth);

#define TAGS "tag:yaml.org,2002:"

static const struct {
    const char *tag;
    enum value_kind kind;
} known_tags[] = {
    {TAGS "str", VALUE_STRING},   {TAGS "int", VALUE_NUMBER}, {TAGS "float", VALUE_NUMBER},
    {TAGS "bool", VALUE_BOOLEAN}, {TAGS "null", VALUE_NULL},  {TAGS "seq", VALUE_LIST},
    {TAGS "map", VALUE_OBJECT},
};

/* Does the tag allow a node of this event?  *kind is the kind that it means. */
static bool tag_fits(yaml_event_type_t event, const char *tag, enum value_kind *kind)
{
    for (size_t i = 0; i < ARRAY_COUNT(known_tags); i++) {
        if (strcmp(tag, known_tags[i].tag) != 0)
            continue;
        *kind = known_tags[i].kind;
        if (*kind == VALUE_LIST)
            return event == YAML_SEQUENCE_START_EVENT;
        if (*kind == VALUE_OBJECT)
            return event == YAML_MAPPING_START_EVENT;
        return event == YAML_SCALAR_EVENT;
    }
    return false;
}

/* The value of a scalar: by its tag where it has one, otherwise by its style and text. */
static struct value *interpret_scalar(struct reader *reader, const yaml_event_t *event,
                                      struct text t)
{
    const char *tag = (const char *)event->data.scalar.tag;
    enum value_kind kind;
    if (!tag)
        return event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE
                   ? yaml_scalar_plain(reader->arena, t)
                   : value_text(reader->arena, t);
    if (!tag_fits(YAML_SCALAR_EVENT, tag, &kind) || kind == VALUE_STRING)
        return value_text(reader->arena, t);
    struct value *value = yaml_scalar_plain(reader->arena, t);
    if (value->kind == kind && !(strcmp(tag, TAGS "int") == 0 && fmod(value->number, 1) != 0))
        return value;
    /* The value is not quoted, since it may be a secret. */
    fail_at(reader, event->start_mark, "the value is not what its tag !!%s says",
            tag + sizeof(TAGS) - 1);
    return NULL;
}

static struct value *read_scalar(struct reader *reader, const yaml_event_t *event)
{
    struct text t = arena_text(reader->arena, (const char *)event->data.scalar.value,
                               event->data.scalar.length);
    struct value *value = interpret_scalar(reader, event, t);
    if (value && value->kind == VALUE_NUMBER && !isfinite(value->number)) {
        struct error_quote_buffer buffer;
        fail_at(reader, event->start_mark,
                "found %s, expected a finite number; put it in quotes if it is text",
                error_quote(&buffer, t.data, t.length));
        return NULL;
    }
    return value;
}

static struct value *read_list(struct reader *reader, size_t depth)
{
    struct value *list = value_list(reader->arena);
    for (;;) {
        yaml_event_t event;
        if (next_event(reader, &event))
            return NULL;
        if (event.type == YAML_SEQUENCE_END_EVENT) {
            yaml_event_delete(&event);
            return list;
        }
        struct value *item = read_node(reader, &event, depth + 1);
        if (!item)
            return NULL;
        value_append(reader->arena, list, item);
    }
}

/* Handle a feature that JSON's data model lacks: an error, or with `beyond` only noted, the
 * first one. */
static int go_beyond(struct reader *reader, yaml_mark_t mark, const char *sentence)
{
    if (!reader->beyond)
        return fail_at(reader, mark, "%s", sentence);
    if (!reader->beyond->sentence)
        *reader->beyond =
            (struct yaml_beyond){sentence, line_of(reader, mark), column_of(reader, mark)};
    return 0;
}

static const char own_tags[] = "tag:yaml.org,2002:";

static int check_tag(struct reader *reader, const yaml_event_t *event, const char *tag)
{
    enum value_kind kind;
    if (go_beyond(reader, event->start_mark,
                  "tags (!name) are not accepted; write the value without it"))
        return -1;
    if (strcmp(tag, "!") == 0 || tag_fits(event->type, tag, &kind))
        return 0;
    /* It may be a password that begins with !, so only YAML's own tags are quoted. */
    const char *known = strncmp(tag, own_tags, strlen(own_tags)) == 0 ? tag : "!";
    return fail_at(reader, event->start_mark,
                   "the tag %.40s is not accepted here; write the value without it, or in "
                   "quotation marks if it is a text",
                   known);
}

/* Count `nodes` more values, up to that depth, against the limits. */
static int count_nodes(struct reader *reader, yaml_mark_t mark, size_t nodes, size_t depth)
{
    reader->nodes += nodes;
    if (depth > reader->deepest)
        reader->deepest = depth;
    if (reader->nodes > reader->limits->nodes)
        return fail_at(reader, mark, "more than %zu values; a file may hold at most that many",
                       reader->limits->nodes);
    if (depth > reader->limits->depth)
        return fail_at(reader, mark, "nested more than %zu deep; a file may nest at most that deep",
                       reader->limits->depth);
    return 0;
}

static const char *anchor_of(const yaml_event_t *event, const char **tag)
{
    const yaml_char_t *anchor = NULL;
    *tag = NULL;
    if (event->type == YAML_SCALAR_EVENT) {
        anchor = event->data.scalar.anchor;
        *tag = (const char *)event->data.scalar.tag;
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        anchor = event->data.sequence_start.anchor;
        *tag = (const char *)event->data.sequence_start.tag;
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        anchor = event->data.mapping_start.anchor;
        *tag = (const char *)event->data.mapping_start.tag;
    }
    return (const char *)anchor;
}

/* Count the node that `event` starts, and refuse kinds of nodes that are not accepted. */
static int check_node(struct reader *reader, const yaml_event_t *event, size_t depth)
{
    yaml_mark_t mark = event->start_mark;
    const char *tag, *anchor = anchor_of(event, &tag);
    if (event->type == YAML_ALIAS_EVENT &&
        go_beyond(reader, mark, "aliases (*name) are not accepted; write the value out"))
        return -1;
    if (anchor && go_beyond(reader, mark, "anchors (&name) are not accepted; write the value out"))
        return -1;
    if (tag && check_tag(reader, event, tag))
        return -1;
    return count_nodes(reader, mark, 1, depth);
}

static bool is_merge_key(const yaml_event_t *event)
{
    return event->type == YAML_SCALAR_EVENT &&
           event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && event->data.scalar.length == 2 &&
           memcmp(event->data.scalar.value, "<<", 2) == 0;
}

/* Read the key in `event`, and delete the event. */
static int read_key(struct reader *reader, yaml_event_t *event, size_t depth, struct text *key)
{
    yaml_mark_t mark = event->start_mark;
    int result = check_node(reader, event, depth);
    if (!result && event->type != YAML_SCALAR_EVENT)
        result = fail_at(reader, mark, "a key is %s; a key must be a word",
                         event->type == YAML_ALIAS_EVENT ? "an alias" : "a list or an object");
    if (!result && is_merge_key(event))
        result = go_beyond(reader, mark, "merge keys (<<) are not accepted; write the fields out");
    if (!result)
        *key = arena_text(reader->arena, (const char *)event->data.scalar.value,
                          event->data.scalar.length);
    yaml_event_delete(event);
    return result;
}

/* Add an explicit member, at `mark`.  It replaces a merged one with the same key. */
static int add_member(struct reader *reader, yaml_mark_t mark, struct value *object,
                      struct value *merged, struct text key, struct value *value)
{
    struct error_quote_buffer buffer;
    struct member *member = value_member(object, key);
    if (member && !yaml_references_take_merged(reader->arena, merged, key))
        return fail_at(reader, mark, "the key \"%s\" is given twice; it was first given in line %u",
                       error_quote(&buffer, key.data, key.length), member->line);
    if (member)
        member->value = value;
    else
        member = value_add(reader->arena, object, key, value);
    member->line = line_of(reader, mark);
    member->column = column_of(reader, mark);
    return 0;
}

/* Read the members of a map up to its end.  A merge key (<<) adds members whose keys are not
 * set. */
static struct value *read_object(struct reader *reader, size_t depth)
{
    struct value *object = value_object(reader->arena), *merged = NULL;
    for (;;) {
        yaml_event_t event;
        if (next_event(reader, &event))
            return NULL;
        if (event.type == YAML_MAPPING_END_EVENT) {
            yaml_event_delete(&event);
            return object;
        }
        yaml_mark_t mark = event.start_mark;
        bool merge = is_merge_key(&event);
        struct text key;
        if (read_key(reader, &event, depth + 1, &key) || next_event(reader, &event))
            return NULL;
        struct value *value = read_node(reader, &event, depth + 1);
        if (!value || (!merge && add_member(reader, mark, object, merged, key, value)))
            return NULL;
        if (merge && !merged)
            merged = value_object(reader->arena);
        if (merge && !yaml_references_merge(reader->arena, object, merged, value)) {
            fail_at(reader, mark, "a merge key (<<) has no map, and no list of maps");
            return NULL;
        }
    }
}

/* The value of the alias in `event`, counted against the limits as if it were written out. */
static struct value *read_alias(struct reader *reader, const yaml_event_t *event, size_t depth)
{
    const char *name = (const char *)event->data.alias.anchor;
    const struct yaml_anchor *anchor = yaml_references_find_anchor(&reader->anchors, text_of(name));
    if (!anchor) /* it may be a password that begins with * */
        fail_at(reader, event->start_mark,
                "the alias here stands for nothing: no value before it has that name as its anchor "
                "(&); a text that begins with * stands in quotation marks");
    else if (!count_nodes(reader, event->start_mark, anchor->nodes - 1, depth + anchor->height - 1))
        return anchor->value;
    return NULL;
}

/* The value that `event` starts has an anchor; `nodes` had been counted, and `deepest` reached,
 * before it. */
static void keep_anchor(struct reader *reader, const char *name, struct value *value, size_t nodes,
                        size_t depth)
{
    struct yaml_anchor anchor = {
        .value = value, .nodes = reader->nodes - nodes, .height = reader->deepest - depth + 1};
    yaml_references_set_anchor(&reader->anchors, arena_text(reader->arena, name, strlen(name)),
                               anchor);
}

/* Read the node that `event` starts, and delete the event. */
static struct value *read_node(struct reader *reader, yaml_event_t *event, size_t depth)
{
    struct value *value = NULL;
    yaml_mark_t mark = event->start_mark;
    size_t nodes = reader->nodes, deepest = reader->deepest;
    const char *tag, *anchor = anchor_of(event, &tag);
    reader->deepest = depth;
    if (!check_node(reader, event, depth)) {
        if (event->type == YAML_SCALAR_EVENT)
            value = read_scalar(reader, event);
        else if (event->type == YAML_SEQUENCE_START_EVENT)
            value = read_list(reader, depth);
        else if (event->type == YAML_MAPPING_START_EVENT)
            value = read_object(reader, depth);
        else
            value = read_alias(reader, event, depth);
    }
    if (value && event->type != YAML_ALIAS_EVENT) {
        value->line = line_of(reader, mark);
        value->column = column_of(reader, mark);
    }
    if (value && anchor)
        keep_anchor(reader, anchor, value, nodes, depth);
    if (deepest > reader->deepest)
        reader->deepest = deepest;
    yaml_event_delete(event);
    return value;
}

/* Read the document that `event` (a document start) opens, up to its end. */
static struct value *read_document(struct reader *reader, yaml_event_t *event)
{
    bool tags = event->data.document_start.tag_directives.start !=
                event->data.document_start.tag_directives.end;
    yaml_mark_t mark = event->start_mark;
    yaml_event_delete(event);
    if (tags) {
        fail_at(reader, mark, "%%TAG directives are not accepted");
        return NULL;
    }
    if (next_event(reader, event))
        return NULL;
    struct value *value = read_node(reader, event, 1);
    if (!value || next_event(reader, event))
        return NULL;
    yaml_event_delete(event); /* the document's end */
    return value;
}

/* Read all documents into a list; with `only_one` a second document is an error. */
static struct value *read_stream(struct reader *reader, bool only_one)
{
    struct value *documents = value_list(reader->arena);
    for (;;) {
        yaml_event_t event;
        if (next_event(reader, &event))
            return NULL;
        if (event.type == YAML_STREAM_START_EVENT) {
            yaml_event_delete(&event);
            continue;
        }
        if (event.type == YAML_STREAM_END_EVENT) {
            yaml_event_delete(&event);
            return documents;
        }
        if (only_one && documents->list.count == 1) {
            fail_at(reader, event.start_mark,
                    "a second document starts here; a file holds one document");
            yaml_event_delete(&event);
            return NULL;
        }
        struct value *document = read_document(reader, &event);
        if (!document)
            return NULL;
        value_append(reader->arena, documents, document);
    }
}

/* libyaml gathers all %TAG lines before it says that a document starts, in quadratic time: count
 * them first.  A line break is also one of the Unicode breaks, which end in these bytes. */
static int check_directives(struct reader *reader)
{
    static const char breaks[] = "\n\r\x85\xa8\xa9\xbf";
    const char *at = reader->source.data, *end = at + reader->source.length;
    size_t count = 0;
    while (at < end && (at = memmem(at, (size_t)(end - at), "%TAG", 4))) {
        bool starts_line = at == reader->source.data || memchr(breaks, at[-1], sizeof(breaks) - 1);
        if (starts_line && ++count > MOST_DIRECTIVES)
            return fail_at(reader, mark_of_byte(reader, (size_t)(at - reader->source.data)),
                           "%%TAG directives are not accepted");
        at += 4;
    }
    return 0;
}

/* Read the documents of a text within the limits into a list.  NULL and a sentence on failure. */
static struct value *read_text(struct arena *arena, struct text source, const char *name,
                               struct yaml_origin origin, const struct yaml_limits *limits,
                               bool only_one, struct yaml_beyond *beyond, struct error *error)
{
    if (source.length > limits->bytes) {
        error_set(error, "%s: %zu bytes; at most %zu are read", name, source.length, limits->bytes);
        return NULL;
    }
    struct reader reader = {.arena = arena,
                            .source = source.data ? source : TEXT(""),
                            .name = name,
                            .origin = origin,
                            .limits = limits,
                            .beyond = beyond,
                            .anchors = {.arena = arena},
                            .error = error};
    if (check_directives(&reader))
        return NULL;
    if (!yaml_parser_initialize(&reader.parser)) {
        error_set(error, "%s: no memory for a YAML parser", name);
        return NULL;
    }
    yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)reader.source.data,
                                 reader.source.length);
    struct value *documents = read_stream(&reader, only_one);
    yaml_parser_delete(&reader.parser);
    return documents;
}

static struct value *read_one(struct arena *arena, struct text source, const char *name,
                              struct yaml_origin origin, const struct yaml_limits *limits,
                              struct yaml_beyond *beyond, struct error *error)
{
    struct value *quickly = yaml_quick_read(arena, source, origin, limits);
    if (quickly)
        return quickly;
    struct value *documents = read_text(arena, source, name, origin, limits, true, beyond, error);
    if (!documents)
        return NULL;
    if (documents->list.count)
        return documents->list.items[0];
    struct value *nothing = value_null(arena);
    nothing->line = origin.line;
    nothing->column = origin.column;
    return nothing;
}

struct value *yaml_read_at(struct arena *arena, struct text source, const char *name,
                           struct yaml_origin origin, const struct yaml_limits *limits,
                           struct error *error)
{
    return read_one(arena, source, name, origin, limits, NULL, error);
}

struct value *yaml_read(struct arena *arena, struct text source, const char *name,
                        const struct yaml_limits *limits, struct error *error)
{
    return read_one(arena, source, name, (struct yaml_origin){1, 1}, limits, NULL, error);
}

struct value *yaml_read_beyond(struct arena *arena, struct text source, const char *name,
                               const struct yaml_limits *limits, struct yaml_beyond *beyond,
                               struct error *error)
{
    *beyond = (struct yaml_beyond){.sentence = NULL};
    return read_one(arena, source, name, (struct yaml_origin){1, 1}, limits, beyond, error);
}

struct value *yaml_read_all(struct arena *arena, struct text source, const char *name,
                            const struct yaml_limits *limits, struct error *error)
{
    return read_text(arena, source, name, (struct yaml_origin){1, 1}, limits, false, NULL, error);
}
