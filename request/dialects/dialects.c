/* request/dialects/dialects.c - which dialect a job file is written in, and reading it
 *
 * Two questions, in this order.  The first bytes and the suffix of the name tell the syntax (YAML,
 * JSON, batch script), which gives a tree.  The fields of that tree tell the dialect.  Each dialect
 * has a row in the table below, and all fill the same struct description.
 */
#include "request/dialects/dialects.h"

#include <string.h>

#include "base/file_kind.h"
#include "base/json.h"
#include "base/yaml.h"
#include "request/dialects/foreign.h"
#include "request/dlworkspace/draft.h"
#include "request/dlworkspace/postjob.h"
#include "request/job.h"
#include "request/openpai/v1.h"
#include "request/openpai/v2.h"
#include "request/sbatch/script.h"

struct dialect {
    bool (*recognise)(const struct value *root);
    struct description *(*read)(struct reading *reading, const struct value *root);
    bool comments; /* its JSON may hold comments, // ... */
    bool beyond;   /* its YAML may hold anchors, merge keys, and tags */
    bool foreign;  /* another system's dialect */
};

/* Read a native job, unless the file belongs to a system whose jobs are not supported. */
static struct description *read_job(struct reading *reading, const struct value *root)
{
    return foreign_tree(reading, root) ? NULL : request_job_read(reading, root);
}

static bool is_anything(const struct value *root)
{
    (void)root;
    return true;
}

/* The first dialect that recognises the file reads it. */
static const struct dialect dialects[] = {
    {openpai_v1_recognise, openpai_v1_read, true, false, true},
    {openpai_v2_recognise, openpai_v2_read, false, true, true},
    {dlworkspace_postjob_recognise, dlworkspace_postjob_read, false, false, true},
    {dlworkspace_draft_recognise, dlworkspace_draft_read, false, false, true},
    {is_anything, read_job, false, false, false},
};

/* Syntax found in the file that not every dialect accepts. */
struct syntax {
    struct text source;
    const char *comment;       /* where the first one of a JSON file starts, or NULL */
    struct yaml_beyond beyond; /* in YAML */
    bool script;               /* then with: */
    struct batch batch;
};

static void refuse_comments(struct reading *reading, const struct syntax *syntax)
{
    uint32_t line = 1, column = 1;
    for (const char *at = syntax->source.data; at < syntax->comment; at++) {
        line += *at == '\n';
        column = *at == '\n' ? 1 : column + 1;
    }
    problems_add(reading, NULL, line, column,
                 "found a comment, expected JSON, which has none; in YAML it starts with #");
}

static struct description *read_tree(struct reading *reading, const struct value *root,
                                     struct syntax *syntax)
{
    const struct dialect *dialect = dialects;
    while (!dialect->recognise(root))
        dialect++;
    if (syntax->comment && !dialect->comments)
        refuse_comments(reading, syntax);
    if (syntax->beyond.sentence && !dialect->beyond)
        problems_add(reading, NULL, syntax->beyond.line, syntax->beyond.column, "%s",
                     syntax->beyond.sentence);
    struct description *job = dialect->read(reading, root);
    if (!job)
        return NULL;
    job->foreign = dialect->foreign;
    if (syntax->script)
        batch_apply(&syntax->batch, job);
    return job;
}

static bool is_json(struct text source, struct text name)
{
    if (text_ends(name, ".json"))
        return true;
    /* A map in YAML's flow style starts like JSON, so the suffix .yaml decides. */
    return text_starts(json_after_comments(source), "{") && !text_ends(name, ".yaml") &&
           !text_ends(name, ".yml");
}

/* The tree of the file's fields, or NULL after a problem. */
/* Add a problem for a file that is named .json but does not begin like JSON; true then. */
static bool is_miscalled(struct reading *reading, struct text source, struct text name)
{
    struct text bare = text_trim(json_after_comments(source));
    if (!text_ends(name, ".json") || bare.length == 0 ||
        source.length > yaml_request_limits.bytes || memchr("{[\"", bare.data[0], 3))
        return false;
    problems_add(reading, NULL, 1, 1,
                 "found text that does not begin with {, expected JSON, as the file's name ends in "
                 ".json; call it .yaml if it is YAML");
    return true;
}

static struct value *read_syntax(struct reading *reading, struct text source, struct text name,
                                 struct syntax *syntax)
{
    syntax->script = text_starts(source, "#!");
    if (syntax->script)
        return script_read(reading, source, &syntax->batch);
    struct error error;
    bool json = is_json(source, name);
    if ((!json && foreign_text(reading, source, name)) || is_miscalled(reading, source, name))
        return NULL;
    if (json) {
        syntax->source = source;
        source = json_blank_comments(reading->arena, source, &syntax->comment);
    }
    struct value *root =
        json ? json_read(reading->arena, source, reading->file, &yaml_request_limits, &error)
             : yaml_read_beyond(reading->arena, source, reading->file, &yaml_request_limits,
                                &syntax->beyond, &error);
    if (!root)
        problems_add_sentence(reading, error.text);
    return root;
}

/* A job's name from the file's: without directory and suffix, with `-` for bytes that names cannot
 * have. */
static struct text stem_of(struct arena *arena, struct text name)
{
    enum { LONGEST = 63 };
    const char *slash = name.length ? memrchr(name.data, '/', name.length) : NULL;
    if (slash)
        name = (struct text){slash + 1, name.length - (size_t)(slash + 1 - name.data)};
    const char *dot = name.length ? memrchr(name.data, '.', name.length) : NULL;
    if (dot && dot > name.data)
        name.length = (size_t)(dot - name.data);
    char *stem = arena_allocate(arena, LONGEST + 1);
    size_t length = 0;
    for (size_t i = 0; i < name.length && length < LONGEST; i++) {
        char c = name.data[i];
        bool first = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (first || (length && memchr("._-", c, 3)))
            stem[length++] = c;
        else if (length && stem[length - 1] != '-')
            stem[length++] = '-';
    }
    while (length && stem[length - 1] == '-')
        length--;
    return length ? (struct text){stem, length} : TEXT("job");
}

struct description *dialects_read(struct arena *arena, struct text source, const char *name,
                                  struct error *error)
{
    struct error_quote_buffer buffer;
    struct reading reading;
    struct text file = name && *name ? text_of(name) : TEXT("job file");
    problems_start(&reading, arena, error_quote(&buffer, file.data, file.length));

    const char *kind = file_kind(source);
    if (kind) {
        problems_add(&reading, NULL, 0, 0, "found %s", kind);
        problems_report(&reading, error);
        return NULL;
    }
    if (text_starts(source, "\xef\xbb\xbf")) {
        source.data += 3;
        source.length -= 3;
    }
    reading.source = source;
    reading.stem = stem_of(arena, file);
    struct description *job = NULL;
    struct syntax syntax = {.comment = NULL};
    struct value *root = read_syntax(&reading, source, file, &syntax);
    if (root)
        job = read_tree(&reading, root, &syntax);
    return problems_report(&reading, error) ? NULL : job;
}
