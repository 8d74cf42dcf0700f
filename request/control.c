/* request/control.c - control files: what to do to a job
 *
 * Most dropped files are job files, so a file that is too long or contains no verb is recognised as
 * not a control file without parsing.
 */
#include "request/control.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/nearest.h"
#include "base/sha256.h"
#include "base/yaml.h"
#include "request/field_tables.h"
#include "request/values.h"

enum {
    CONTROL_LONGEST = 1024, /* bytes of a control file, comments included */
    ID_SHORTEST = 3,        /* bytes of a job's id */
    ID_LONGEST = 63,
    WORD_LONGEST = 63,
    VALUE_MOST = 1000000,
};

static const struct {
    const char *name;
    enum control_verb verb;
} verbs[] = {
    {"kill", CONTROL_KILL},       {"retry", CONTROL_RETRY},       {"hold", CONTROL_HOLD},
    {"release", CONTROL_RELEASE}, {"pause", CONTROL_PAUSE},       {"resume", CONTROL_RESUME},
    {"top", CONTROL_TOP},         {"priority", CONTROL_PRIORITY}, {"approve", CONTROL_APPROVE},
    {"refuse", CONTROL_REFUSE},   {"token", CONTROL_TOKEN},       {"revoke", CONTROL_REVOKE},
};

enum { VERB_COUNT = ARRAY_COUNT(verbs) };

static const struct yaml_limits control_limits = {CONTROL_LONGEST, 16, 4};

const char *request_control_name(enum control_verb verb)
{
    if (verb == CONTROL_SUSPEND)
        verb = CONTROL_HOLD; /* one of its kinds */
    for (size_t i = 0; i < VERB_COUNT; i++)
        if (verbs[i].verb == verb)
            return verbs[i].name;
    return "none";
}

static bool mentions_verb(struct text source)
{
    for (size_t i = 0; i < VERB_COUNT; i++)
        if (text_contains(source, text_of(verbs[i].name)))
            return true;
    return false;
}

static int find_verb(struct text key)
{
    for (int i = 0; i < VERB_COUNT; i++)
        if (text_is(key, verbs[i].name))
            return i;
    return -1;
}

/* Does the text start with a verb and a colon, so that its syntax errors are reported as a control
 * file's? */
static bool starts_with_verb(struct text source)
{
    static const char ornaments[] = "{\"' \t\r\n";
    while (source.length && memchr(ornaments, source.data[0], sizeof(ornaments) - 1)) {
        source.data++;
        source.length--;
    }
    for (size_t i = 0; i < VERB_COUNT; i++) {
        size_t length = strlen(verbs[i].name);
        if (text_starts(source, verbs[i].name) && source.length > length &&
            memchr(":\"' ", source.data[length], 4))
            return true;
    }
    return false;
}

void request_control_split(struct text word, struct text *job, struct text *tasks)
{
    *job = word;
    *tasks = (struct text){"", 0};
    for (size_t i = 1; i < word.length; i++) {
        bool bracket = word.data[i] == '[' && word.data[word.length - 1] == ']';
        if (word.data[i] != '/' && !bracket)
            continue;
        *job = (struct text){word.data, i};
        *tasks = (struct text){word.data + i + 1, word.length - i - 1 - bracket};
        return;
    }
}

static bool is_id(struct text id)
{
    if (id.length < ID_SHORTEST || id.length > ID_LONGEST || id.data[0] == '-')
        return false;
    for (size_t i = 0; i < id.length; i++) {
        char c = id.data[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'))
            return false;
    }
    return true;
}

/* The member whose key is a verb, if the map has no field of a job: then it is a control file. NULL
 * otherwise. */
static const struct member *control_member(const struct value *root)
{
    if (root->kind != VALUE_OBJECT)
        return NULL;
    for (size_t i = 0; i < root->object.count; i++) {
        struct text key = root->object.members[i].key;
        if (find_verb(key) < 0 && fields_find(&job_fields, key))
            return NULL;
    }
    for (size_t i = 0; i < root->object.count; i++)
        if (find_verb(root->object.members[i].key) >= 0)
            return &root->object.members[i];
    return NULL;
}

static bool is_of_token(enum control_verb verb)
{
    return verb == CONTROL_TOKEN || verb == CONTROL_REVOKE;
}

/* Is it about the spool, not about a job? */
static bool is_of_spool(enum control_verb verb)
{
    return verb == CONTROL_PAUSE || verb == CONTROL_RESUME || is_of_token(verb);
}

/* Words for people, on one line. */
static bool are_words(struct text words)
{
    for (size_t i = 0; i < words.length; i++)
        if ((unsigned char)words.data[i] < ' ' || words.data[i] == 0x7f)
            return false;
    return words.length <= CONTROL_WORDS_LONGEST;
}

/* `hold: {job: ID, keep_memory: true}`: replace *value by the id, and *verb by CONTROL_SUSPEND where it is kept.
 * False when it is an object of another form. */
static bool open_hold(const struct value **value, enum control_verb *verb)
{
    const struct value *object = *value;
    if (*verb != CONTROL_HOLD || object->kind != VALUE_OBJECT)
        return object->kind != VALUE_OBJECT;
    const struct value *keep = value_get(object, "keep_memory");
    *value = value_get(object, "job");
    if (keep && keep->kind == VALUE_BOOLEAN && keep->boolean)
        *verb = CONTROL_SUSPEND;
    return *value && object->object.count == (keep ? 2 : 1) &&
           (!keep || keep->kind == VALUE_BOOLEAN);
}

bool request_control_is_value(struct text word)
{
    return values_is_word(word, WORD_LONGEST);
}

/* Read `{job: ID, value: 5}` of priority. */
static void read_priority_request(struct reading *reading, const struct value_path *path,
                                  const struct value *value, struct control *control)
{
    const struct value *job = value->kind == VALUE_OBJECT ? value_get(value, "job") : NULL;
    const struct value *wanted = job ? value_get(value, "value") : NULL;
    bool whole = wanted && wanted->kind == VALUE_NUMBER && wanted->number >= -VALUE_MOST &&
                 wanted->number <= VALUE_MOST && floor(wanted->number) == wanted->number;
    bool word = wanted && wanted->kind == VALUE_STRING && request_control_is_value(wanted->string);
    if (!wanted || value->object.count != 2 || (!whole && !word) ||
        !values_scalar_text(job, false, &control->id) || !is_id(control->id))
        problems_expected(reading, path, value,
                          "a job's id and its new priority, such as {job: digits-1m7y5dm13etbd, "
                          "value: -5}");
    else
        control->value =
            word ? wanted->string : arena_printf(reading->arena, "%d", (int)wanted->number);
}

static bool is_digest(struct text text)
{
    for (size_t i = 0; i < text.length; i++)
        if (!((text.data[i] >= '0' && text.data[i] <= '9') ||
              (text.data[i] >= 'a' && text.data[i] <= 'f')))
            return false;
    return text.length == SHA256_HEX_SIZE - 1;
}

/* Read `approve: ID`, `approve: {job: ID, manifest: DIGEST}` or `refuse: {job: ID, text: WORDS}` into *control. */
static void read_decision(struct reading *reading, const struct value_path *path,
                          const struct value *value, struct control *control)
{
    bool approves = control->verb == CONTROL_APPROVE;
    const struct value *job = value->kind == VALUE_OBJECT ? value_get(value, "job") : value;
    const struct value *more = value_get(value, approves ? "manifest" : "text");
    struct text *into = approves ? &control->manifest : &control->words;
    bool good = job && values_scalar_text(job, false, &control->id) && is_id(control->id);
    if (value->kind == VALUE_OBJECT)
        good = good && value->object.count == 1u + (more != NULL);
    if (more)
        good = good && values_scalar_text(more, true, into);
    if (approves)
        good = good && (!more || is_digest(*into));
    else
        good = good && into->length && are_words(*into);
    if (!good && approves)
        problems_expected(reading, path, value,
                          "a job's id, or {job: ID, manifest: SHA-256 of its manifest}");
    else if (!good)
        problems_expected(reading, path, value,
                          "{job: ID, text: WHY}, with one line of at most %d bytes",
                          CONTROL_WORDS_LONGEST);
}

/* Read the verb's member into *control.  -1 and a sentence when it is faulty. */
static int read_control(struct reading *reading, const struct value *root,
                        const struct member *member, struct control *control, struct error *error)
{
    struct value_path path = {.name = member->key};
    enum control_verb verb = verbs[find_verb(member->key)].verb;
    const struct value *value = member->value;
    bool opened = open_hold(&value, &verb);
    struct text word = {"", 0}, id = word, tasks = word;
    struct control decision = {.verb = verb};
    bool decides = verb == CONTROL_APPROVE || verb == CONTROL_REFUSE;
    bool spool = is_of_spool(verb);
    bool scalar =
        opened && ((spool && value->kind == VALUE_NULL) || values_scalar_text(value, spool, &word));
    request_control_split(word, &id, &tasks);
    if (root->object.count > 1)
        problems_add(reading, &path, member->line, member->column,
                     "found beside other fields, expected it alone: a control file asks for one "
                     "thing");
    else if (verb == CONTROL_PRIORITY)
        read_priority_request(reading, &path, member->value, control);
    else if (decides)
        read_decision(reading, &path, member->value, &decision);
    else if (spool && (!scalar || !are_words(word)))
        problems_expected(reading, &path, member->value, "one line of at most %d bytes%s",
                          CONTROL_WORDS_LONGEST, is_of_token(verb) ? "" : " that says why");
    else if (!spool && (!scalar || !is_id(id)))
        problems_expected(reading, &path, member->value,
                          "a job's id: %d to %d small letters, digits and hyphens%s", ID_SHORTEST,
                          ID_LONGEST, opened ? "" : ", or for hold {job: ID, keep_memory: true}");
    else if (!spool && !tasks.length && id.length < word.length)
        problems_expected(reading, &path, member->value,
                          "a job's id, a slash, and indexes of its tasks such as 0-5,9");
    else if (verb == CONTROL_SUSPEND && tasks.length)
        problems_add(reading, &path, member->line, member->column,
                     "found single tasks beside keep_memory, expected a job");
    if (problems_report(reading, error))
        return -1;
    if (verb == CONTROL_PRIORITY)
        control->verb = CONTROL_PRIORITY;
    else
        *control = decides ? decision
                   : spool ? (struct control){.verb = verb, .words = word}
                           : (struct control){.verb = verb, .id = id, .tasks = tasks};
    return 0;
}

int request_control_read(struct arena *arena, struct text source, const char *name,
                         struct control *control, struct error *error)
{
    *control = (struct control){.verb = CONTROL_NONE};
    if (text_starts(source, "\xef\xbb\xbf")) {
        source.data += 3;
        source.length -= 3;
    }
    if (source.length > CONTROL_LONGEST || text_starts(source, "#!") || !mentions_verb(source))
        return 0;

    struct error_quote_buffer buffer;
    struct text file = name && *name ? text_of(name) : TEXT("control file");
    const char *quoted = error_quote(&buffer, file.data, file.length);
    struct error problem;
    struct value *root = text_ends(file, ".json")
                             ? json_read(arena, source, quoted, &control_limits, &problem)
                             : yaml_read(arena, source, quoted, &control_limits, &problem);
    if (!root)
        return starts_with_verb(source) ? error_set(error, "%s", problem.text) : 0;
    const struct member *member = control_member(root);
    if (!member)
        return 0;
    struct reading reading;
    problems_start(&reading, arena, quoted);
    return read_control(&reading, root, member, control, error);
}
