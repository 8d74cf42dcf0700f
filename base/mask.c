/* base/mask.c - hides text that looks like a secret
 *
 * One pass over a line: at each place, a table of detectors is tried for a secret that starts
 * there, and the learnt values.  A detector returns how much is shown before the secret, and its
 * length.
 */
#include "base/mask.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"

#define HIDDEN TEXT("******")

enum {
    LEAST_VALUE = 6,  /* bytes of a value to be learnt */
    LEAST_TOKEN = 16, /* bytes of a service's token after its prefix */
    MOST_VALUES = 1000,
    MOST_WORD = 32, /* bytes of a name's word */
    MOST_DEPTH = 64
};

struct mask {
    struct arena *arena;
    struct text *values;
    size_t count, capacity;
};

/* A secret that was found. */
struct finding {
    size_t shown;  /* bytes before it that are shown */
    size_t hidden; /* bytes of the secret; 0: none found */
};

struct mask *mask_new(void)
{
    struct mask *mask = memory_allocate(sizeof(*mask));
    mask->arena = arena_new();
    return mask;
}

void mask_free(struct mask *mask)
{
    if (!mask)
        return;
    arena_free(mask->arena);
    free(mask->values);
    free(mask);
}

/* ---- names ---- */

/* Last words of secrets' names, without '_', '-' and '.', in lower case. */
static const char *const words[] = {
    "password",   "passwd",      "passphrase",    "secret",    "token",
    "credential", "credentials", "apikey",        "accesskey", "secretkey",
    "privatekey", "authkey",     "encryptionkey", "signature", "authorization",
};

/* Words before `token` that mean a token of a language model's vocabulary. */
static const char *const vocabulary[] = {"padtoken",  "eostoken", "bostoken",
                                         "unktoken",  "septoken", "clstoken",
                                         "masktoken", "newtoken", "nexttoken"};

static bool is_name_byte(char byte)
{
    return isalnum((unsigned char)byte) || byte == '_' || byte == '-' || byte == '.';
}

/* The end of the name, of at most MOST_WORD letters: `from` is where its last two words begin. */
static size_t squeeze_name(struct text name, char word[MOST_WORD + 1])
{
    char backwards[MOST_WORD];
    size_t used = 0, breaks = 0;
    for (size_t at = name.length; at > 0 && used < MOST_WORD; at--) {
        char byte = name.data[at - 1];
        if (!isalnum((unsigned char)byte) && ++breaks > 1)
            break;
        if (isalnum((unsigned char)byte))
            backwards[used++] = (char)tolower((unsigned char)byte);
    }
    for (size_t i = 0; i < used; i++)
        word[i] = backwards[used - 1 - i];
    word[used] = '\0';
    return used;
}

static bool ends_with_word(const char *name, size_t length, const char *word)
{
    size_t end = strlen(word);
    return length >= end && memcmp(name + length - end, word, end) == 0;
}

/* Does the last word of the name mean that its value is secret? */
static bool mask_is_secret(struct text name)
{
    char end[MOST_WORD + 1];
    size_t length = squeeze_name(name, end);
    for (size_t i = 0; i < ARRAY_COUNT(vocabulary); i++)
        if (ends_with_word(end, length, vocabulary[i]))
            return false;
    for (size_t i = 0; i < ARRAY_COUNT(words); i++)
        if (ends_with_word(end, length, words[i]))
            return true;
    return false;
}

/* Is it a password, which people choose and which may be short?  Generated tokens are long. */
static bool is_password(struct text name)
{
    for (size_t i = 0; i + 4 <= name.length; i++)
        if (strncasecmp(name.data + i, "pass", 4) == 0)
            return true;
    return false;
}

/* ---- what a secret looks like ---- */

static bool word_starts(struct text line, size_t at, const char *word)
{
    size_t length = strlen(word);
    return line.length - at >= length && strncasecmp(line.data + at, word, length) == 0;
}

static size_t skip_blanks(struct text line, size_t at)
{
    while (at < line.length && (line.data[at] == ' ' || line.data[at] == '\t'))
        at++;
    return at;
}

/* Where a value ends: at its quote, when it has one. */
static size_t value_end(struct text line, size_t at, char quote)
{
    while (at < line.length &&
           (quote ? line.data[at] != quote : !strchr(" \t\"'`,;&)}]>|", line.data[at])))
        at += quote && line.data[at] == '\\' && at + 1 < line.length ? 2 : 1;
    return at;
}

/* "Bearer abc": the word is shown. */
static size_t skip_scheme(struct text line, size_t at)
{
    static const char *const schemes[] = {"bearer ", "basic ", "token ", "digest "};
    for (size_t i = 0; i < ARRAY_COUNT(schemes); i++)
        if (word_starts(line, at, schemes[i]))
            return skip_blanks(line, at + strlen(schemes[i]));
    return at;
}

static struct finding finding_between(size_t from, size_t at, size_t end)
{
    return end > at ? (struct finding){at - from, end - at} : (struct finding){0, 0};
}

/* Find the value of the name from `from` to `name_end`: NAME=VALUE, NAME: VALUE, "NAME":
 * "VALUE", --NAME VALUE. */
static struct finding find_value(struct text line, size_t from, size_t name_end)
{
    size_t at = name_end;
    if (at < line.length && (line.data[at] == '"' || line.data[at] == '\''))
        at++;
    size_t blanks = skip_blanks(line, at);
    bool option = word_starts(line, from, "--") && blanks > name_end;
    if (blanks < line.length && (line.data[blanks] == '=' || line.data[blanks] == ':'))
        at = skip_blanks(line, blanks + 1);
    else if (option)
        at = blanks;
    else
        return (struct finding){0, 0};
    if (at < line.length && strchr("'\"`", line.data[at])) {
        size_t inner = skip_scheme(line, at + 1);
        return finding_between(from, inner, value_end(line, inner, line.data[at]));
    }
    if (option && at < line.length && line.data[at] == '-')
        return (struct finding){0, 0};
    at = skip_scheme(line, at);
    return finding_between(from, at, value_end(line, at, 0));
}

static struct finding find_named(struct text line, size_t at)
{
    size_t end = at;
    if (at > 0 && is_name_byte(line.data[at - 1]))
        return (struct finding){0, 0};
    while (end < line.length && is_name_byte(line.data[end]))
        end++;
    struct text name = {line.data + at, end - at};
    if (!name.length || !mask_is_secret(name))
        return (struct finding){0, 0};
    struct finding value = find_value(line, at, end);
    bool counts = value.hidden >= LEAST_VALUE || is_password(name);
    return counts ? value : (struct finding){0, 0};
}

static struct finding find_bearer(struct text line, size_t at)
{
    bool inside = at > 0 && is_name_byte(line.data[at - 1]);
    size_t from =
        !inside && word_starts(line, at, "bearer ") ? skip_blanks(line, at + 7) : line.length;
    size_t end = value_end(line, from, 0);
    return end - from >= LEAST_VALUE + 2 ? finding_between(at, from, end) : (struct finding){0, 0};
}

/* scheme://USER:PASSWORD@HOST, and scheme://TOKEN@HOST when it is long. */
static struct finding find_in_url(struct text line, size_t at)
{
    if (!word_starts(line, at, "://"))
        return (struct finding){0, 0};
    size_t user = at + 3, end = user, colon = 0;
    while (end < line.length && !strchr("/?# \t\"'<>", line.data[end]) && line.data[end] != '@') {
        if (line.data[end] == ':' && !colon)
            colon = end;
        end++;
    }
    if (end == line.length || line.data[end] != '@')
        return (struct finding){0, 0};
    if (colon)
        return finding_between(at, colon + 1, end);
    return end - user >= LEAST_TOKEN ? finding_between(at, user, end) : (struct finding){0, 0};
}

static struct finding find_token(struct text line, size_t at)
{
    static const char *const prefixes[] = {"hf_", "ghp_",  "gho_",  "ghs_", "github_pat_", "glpat-",
                                           "sk-", "xoxb-", "xoxp-", "AKIA", "pypi-",       "eyJ"};
    if (at > 0 && is_name_byte(line.data[at - 1]))
        return (struct finding){0, 0};
    for (size_t i = 0; i < ARRAY_COUNT(prefixes); i++) {
        size_t length = strlen(prefixes[i]), end = at + length;
        if (line.length - at < length || memcmp(line.data + at, prefixes[i], length) != 0)
            continue;
        while (end < line.length && is_name_byte(line.data[end]))
            end++;
        if (end - at - length >= LEAST_TOKEN)
            return (struct finding){0, end - at};
    }
    return (struct finding){0, 0};
}

static struct finding find_learnt(const struct mask *mask, struct text line, size_t at)
{
    struct finding longest = {0, 0};
    for (size_t i = 0; mask && i < mask->count; i++) {
        struct text value = mask->values[i];
        if (value.length > longest.hidden && line.length - at >= value.length &&
            memcmp(line.data + at, value.data, value.length) == 0)
            longest.hidden = value.length;
    }
    return longest;
}

static struct finding find_pattern(struct text line, size_t at)
{
    static struct finding (*const ways[])(struct text, size_t) = {find_named, find_bearer,
                                                                  find_in_url, find_token};
    struct finding finding = {0, 0};
    for (size_t i = 0; i < ARRAY_COUNT(ways) && !finding.hidden; i++)
        finding = ways[i](line, at);
    return finding;
}

/* Write the text before a secret, which may contain a learnt value. */
static void write_shown(const struct mask *mask, struct text shown, struct buffer *out)
{
    for (size_t at = 0; at < shown.length;) {
        struct finding finding = find_learnt(mask, shown, at);
        if (finding.hidden)
            buffer_add_text(out, HIDDEN);
        else
            buffer_add_byte(out, shown.data[at]);
        at += finding.hidden ? finding.hidden : 1;
    }
}

void mask_write(const struct mask *mask, struct text line, struct buffer *out)
{
    for (size_t at = 0; at < line.length;) {
        struct finding finding = find_learnt(mask, line, at);
        if (!finding.hidden)
            finding = find_pattern(line, at);
        if (finding.hidden) {
            write_shown(mask, (struct text){line.data + at, finding.shown}, out);
            buffer_add_text(out, HIDDEN);
            at += finding.shown + finding.hidden;
        } else {
            buffer_add_byte(out, line.data[at++]);
        }
    }
}

/* ---- learning ---- */

void mask_learn(struct mask *mask, struct text value)
{
    struct text rest = value, line;
    while (text_next(&rest, '\n', &line)) {
        line = text_trim(line);
        if (line.length < LEAST_VALUE || mask->count == MOST_VALUES)
            continue;
        mask->values =
            memory_grow(mask->values, mask->count, &mask->capacity, sizeof(*mask->values));
        mask->values[mask->count++] = arena_text(mask->arena, line.data, line.length);
    }
}

/* Learn the secrets in a script or a command, so that they are hidden wherever they are printed. */
static void learn_patterns(struct mask *mask, struct text string)
{
    struct text rest = string, line;
    while (text_next(&rest, '\n', &line))
        for (size_t at = 0; at < line.length;) {
            struct finding finding = find_pattern(line, at);
            struct text value = {line.data + at + finding.shown, finding.hidden};
            if (finding.hidden && value.data[0] != '$')
                mask_learn(mask, value);
            at += finding.hidden ? finding.shown + finding.hidden : 1;
        }
}

static void learn_values(struct mask *mask, const struct value *tree, int depth)
{
    if (!tree || depth > MOST_DEPTH)
        return;
    if (tree->kind == VALUE_STRING)
        learn_patterns(mask, tree->string);
    for (size_t i = 0; tree->kind == VALUE_LIST && i < tree->list.count; i++)
        learn_values(mask, tree->list.items[i], depth + 1);
    if (tree->kind != VALUE_OBJECT)
        return;
    if (mask_is_secret(value_get_text(tree, "name")))
        mask_learn(mask, value_get_text(tree, "value"));
    for (size_t i = 0; i < tree->object.count; i++) {
        const struct member *member = &tree->object.members[i];
        if (member->value->kind == VALUE_STRING && mask_is_secret(member->key))
            mask_learn(mask, member->value->string);
        else
            learn_values(mask, member->value, depth + 1);
    }
}

void mask_learn_tree(struct mask *mask, const struct value *tree)
{
    learn_values(mask, tree, 0);
}
