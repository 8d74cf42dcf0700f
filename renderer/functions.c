/* renderer/functions.c - functions that templates may call, beside JSON-e's own */
#include "renderer/functions.h"

#include <string.h>

#include "base/utf8.h"

static _Thread_local bool refused;
static _Thread_local struct error refusal; /* its sentence */
static _Thread_local struct template_note notes[TEMPLATE_NOTES_MOST];
static _Thread_local size_t note_count;

bool functions_refused(void)
{
    return refused;
}

const char *functions_refusal(void)
{
    return refusal.text;
}

void functions_reset(void)
{
    refused = false;
    note_count = 0;
}

const struct template_note *functions_notes(size_t *count)
{
    *count = note_count;
    return notes;
}

static int check_count(const char *name, const char *arguments, size_t count, struct error *error)
{
    return count == 1 ? 0
                      : error_set(error, "%s takes one argument, %s, and was given %zu", name,
                                  arguments, count);
}

/* The text of a word; a number's is written into `number`. */
static int take_word(const char *name, const struct value *word, char number[NUMBER_TEXT_SIZE],
                     struct text *text, struct error *error)
{
    if (word->kind == VALUE_STRING)
        *text = word->string;
    else if (word->kind == VALUE_NUMBER)
        *text = (struct text){number, value_format_number(word->number, number)};
    else if (word->kind == VALUE_BOOLEAN)
        *text = text_of(word->boolean ? "true" : "false");
    else
        return error_set(error, "%s quotes strings, numbers and booleans, not a value of kind %s",
                         name, value_kind_name(word->kind));
    return 0;
}

/* Append a word in single quotes, inside which only the quote itself is special to sh. */
static int quote_word(struct buffer *out, const char *name, const struct value *word,
                      struct error *error)
{
    char number[NUMBER_TEXT_SIZE];
    struct text text;
    if (take_word(name, word, number, &text, error))
        return -1;
    if (text.length && memchr(text.data, '\0', text.length))
        return error_set(error, "%s cannot quote a word that holds a NUL byte", name);
    buffer_add_byte(out, '\'');
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] == '\'')
            buffer_add_string(out, "'\\''");
        else
            buffer_add_byte(out, text.data[i]);
    }
    buffer_add_byte(out, '\'');
    return 0;
}

static struct value *finish_text(struct arena *arena, struct buffer *out, int failed)
{
    struct value *value = NULL;
    if (!failed)
        value = value_text(arena, arena_text(arena, out->data, out->length));
    buffer_free(out);
    return value;
}

static struct value *call_shell(struct arena *arena, struct value **arguments, size_t count,
                                struct error *error)
{
    struct buffer out = {0};
    if (check_count("shell", "a word", count, error))
        return NULL;
    return finish_text(arena, &out, quote_word(&out, "shell", arguments[0], error));
}

static struct value *call_words(struct arena *arena, struct value **arguments, size_t count,
                                struct error *error)
{
    struct buffer out = {0};
    int failed = 0;
    if (check_count("words", "a list of words", count, error))
        return NULL;
    if (arguments[0]->kind != VALUE_LIST) {
        error_set(error, "words takes a list, not a value of kind %s",
                  value_kind_name(arguments[0]->kind));
        return NULL;
    }
    for (size_t i = 0; i < arguments[0]->list.count && !failed; i++) {
        if (i > 0)
            buffer_add_byte(&out, ' ');
        failed = quote_word(&out, "words", arguments[0]->list.items[i], error);
    }
    return finish_text(arena, &out, failed);
}

static struct value *call_basename(struct arena *arena, struct value **arguments, size_t count,
                                   struct error *error)
{
    if (check_count("basename", "a path", count, error))
        return NULL;
    if (arguments[0]->kind != VALUE_STRING) {
        error_set(error, "basename takes a string, not a value of kind %s",
                  value_kind_name(arguments[0]->kind));
        return NULL;
    }
    struct text path = arguments[0]->string;
    while (path.length && path.data[path.length - 1] == '/')
        path.length--;
    const char *slash = path.length ? memrchr(path.data, '/', path.length) : NULL;
    if (slash)
        path = (struct text){slash + 1, path.length - (size_t)(slash + 1 - path.data)};
    return value_text(arena, arena_text(arena, path.data, path.length));
}

static struct value *call_literal(struct arena *arena, struct value **arguments, size_t count,
                                  struct error *error)
{
    char number[NUMBER_TEXT_SIZE];
    struct text text;
    struct buffer out = {0};
    if (check_count("literal", "a word", count, error) ||
        take_word("literal", arguments[0], number, &text, error))
        return NULL;
    if (text.length == 0 || !memchr(text.data, '$', text.length))
        return value_text(arena, arena_text(arena, text.data, text.length));
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] == '$')
            buffer_add_byte(&out, '$');
        buffer_add_byte(&out, text.data[i]);
    }
    return finish_text(arena, &out, 0);
}

static struct value *call_pairs(struct arena *arena, struct value **arguments, size_t count,
                                struct error *error)
{
    if (check_count("pairs", "an object", count, error))
        return NULL;
    if (arguments[0]->kind != VALUE_OBJECT) {
        error_set(error, "pairs takes an object, not a value of kind %s",
                  value_kind_name(arguments[0]->kind));
        return NULL;
    }
    struct value *list = value_list(arena);
    for (size_t i = 0; i < arguments[0]->object.count; i++) {
        const struct member *member = &arguments[0]->object.members[i];
        struct value *pair = value_object(arena);
        value_put(arena, pair, "key", value_text(arena, member->key));
        value_put(arena, pair, "val", member->value);
        value_append(arena, list, pair);
    }
    return list;
}

/* Set a sentence from untrusted text, quoted piece by piece since it may be longer than one
 * piece. */
static void set_sentence(struct error *error, struct text sentence)
{
    struct error_quote_buffer buffer;
    struct buffer words = {0};
    while (sentence.length) {
        size_t piece = 0, next;
        while (piece < sentence.length && piece < 64) {
            next = utf8_sequence(sentence.data + piece, sentence.length - piece);
            piece += next ? next : 1;
        }
        buffer_add_string(&words, error_quote(&buffer, sentence.data, piece));
        sentence.data += piece;
        sentence.length -= piece;
    }
    error_set(error, "%s", words.data ? words.data : "");
    buffer_free(&words);
}

static struct value *call_refuse(struct arena *arena, struct value **arguments, size_t count,
                                 struct error *error)
{
    (void)arena;
    if (check_count("refuse", "a sentence", count, error))
        return NULL;
    if (arguments[0]->kind != VALUE_STRING) {
        error_set(error, "refuse takes a string, not a value of kind %s",
                  value_kind_name(arguments[0]->kind));
        return NULL;
    }
    set_sentence(error, arguments[0]->string);
    refusal = *error;
    refused = true;
    return NULL;
}

static bool was_noted(const struct template_note *note)
{
    for (size_t i = 0; i < note_count; i++)
        if (strcmp(notes[i].field.text, note->field.text) == 0 &&
            strcmp(notes[i].sentence.text, note->sentence.text) == 0)
            return true;
    return false;
}

static struct value *call_note(struct arena *arena, struct value **arguments, size_t count,
                               struct error *error)
{
    struct template_note note;
    if (count != 2 || arguments[0]->kind != VALUE_STRING || arguments[1]->kind != VALUE_STRING) {
        error_set(error, "note takes two strings: the field that is meant, and a sentence");
        return NULL;
    }
    set_sentence(&note.field, arguments[0]->string);
    set_sentence(&note.sentence, arguments[1]->string);
    if (note_count < TEMPLATE_NOTES_MOST && !was_noted(&note))
        notes[note_count++] = note;
    return value_null(arena);
}

const struct template_function template_functions[] = {
    {"shell", call_shell},     {"words", call_words}, {"basename", call_basename},
    {"literal", call_literal}, {"pairs", call_pairs}, {"refuse", call_refuse},
    {"note", call_note},       {NULL, NULL},
};
