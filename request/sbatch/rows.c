/* request/sbatch/rows.c - tables of options, and reading a line by them */
#include "request/sbatch/rows.h"

#include <inttypes.h>
#include <string.h>

#include "base/nearest.h"
#include "request/sbatch/forms.h"

enum { MOST_ROWS = 160 }; /* of one table; sizes an array on the stack */

/* A row with neither name nor letter ends a table. */
static bool is_row(const struct row *row)
{
    return row->name || row->letter;
}

static const struct row *find_name(const struct row *table, struct text name)
{
    for (const struct row *row = table; is_row(row); row++)
        if (row->name && text_is(name, row->name))
            return row;
    return NULL;
}

static const struct row *find_letter(const struct row *table, char letter)
{
    for (const struct row *row = table; is_row(row); row++)
        if (row->letter == letter)
            return row;
    return NULL;
}

static void refuse_unknown(struct batch_options *options, const struct row *table,
                           const char *dashes, struct text name, struct place place)
{
    const char *names[MOST_ROWS + 1] = {NULL};
    struct error_quote_buffer buffer;
    struct nearest_hint hint;
    size_t count = 0;
    if (options->reading->full) {
        options->reading->found++; /* only count it, as finding the nearest name is slow */
        return;
    }
    for (const struct row *row = table; is_row(row) && count < MOST_ROWS; row++)
        if (row->name)
            names[count++] = row->name;
    problems_add(options->reading, NULL, place.line, place.column,
                 "found %s%s, which dlspool does not know, expected an option of %s lines%s; "
                 "docs/slurm.md has what may be written",
                 dashes, error_quote(&buffer, name.data, name.length), options->marker,
                 nearest_hint(&hint, name, names));
}

static void use_row(struct batch_options *options, const struct given *given)
{
    if (given->row->value == ROW_VALUE && !given->value.length)
        batch_options_refuse(options, given->shown, given->place, "found no value, expected %s",
                             given->row->words && given->row->read != rows_refuse &&
                                     given->row->read != rows_note
                                 ? given->row->words
                                 : "one");
    else if (given->row->value == ROW_NO_VALUE && given->value.data)
        batch_options_refuse(options, given->shown, given->place,
                             "found a value, expected none, as this option takes none");
    else
        given->row->read(options, given);
}

/* --name, --name=value, or --name value */
static void read_long(struct batch_options *options, const struct row *table,
                      struct directive_rest *rest, const struct directive_word *word)
{
    struct text value = {word->text.data + 2, word->text.length - 2}, name;
    text_next(&value, '=', &name);
    const struct row *row = find_name(table, name);
    if (!row) {
        refuse_unknown(options, table, "--", name, word->place);
        return;
    }
    struct given given = {row, NULL, value, word->place};
    struct directive_word next;
    given.shown = arena_printf(options->reading->arena, "--%s", row->name).data;
    if (row->value == ROW_VALUE && !value.data && directive_next(rest, &next))
        given.value = next.text;
    use_row(options, &given);
}

/* -x, -xVALUE, -x VALUE; several that take no value may stand together. */
static void read_short(struct batch_options *options, const struct row *table,
                       struct directive_rest *rest, const struct directive_word *word)
{
    for (size_t i = 1; i < word->text.length; i++) {
        const struct row *row = find_letter(table, word->text.data[i]);
        struct text after = {word->text.data + i + 1, word->text.length - i - 1};
        struct directive_word next;
        if (!row) {
            refuse_unknown(options, table, "-",
                           (struct text){word->text.data + i, after.length + 1}, word->place);
            return;
        }
        struct given given = {row, NULL, {NULL, 0}, word->place};
        given.shown = row->name ? arena_printf(options->reading->arena, "--%s", row->name).data
                                : arena_printf(options->reading->arena, "-%c", row->letter).data;
        if (row->value == ROW_NO_VALUE) {
            use_row(options, &given);
            continue;
        }
        if (after.length)
            given.value = after;
        else if (row->value == ROW_VALUE && directive_next(rest, &next))
            given.value = next.text;
        use_row(options, &given);
        return;
    }
}

void rows_read(struct batch_options *options, const struct row *table, struct directive_rest *rest)
{
    struct directive_word word;
    struct error_quote_buffer buffer;
    while (directive_next(rest, &word)) {
        if (text_starts(word.text, "--") && word.text.length > 2)
            read_long(options, table, rest, &word);
        else if (text_starts(word.text, "-") && word.text.length > 1)
            read_short(options, table, rest, &word);
        else if (text_is(word.text, "hetjob") || text_is(word.text, "packjob"))
            problems_add(options->reading, NULL, word.place.line, word.place.column,
                         "found %s, the next part of a heterogeneous job, expected one part; write "
                         "#DL lines with a role for each instead, such as #DL tasks.a={count: 2, "
                         "cpus: 4}, and #DL type=roles",
                         error_quote(&buffer, word.text.data, word.text.length));
        else
            problems_add(options->reading, NULL, word.place.line, word.place.column,
                         "found a word that is of no option, expected one, which begins with -; a "
                         "value with a blank in it stands in quotes, and most have none, as in "
                         "--mem=16G");
    }
}

/* Take the next name=value; a comma in the value does not end it where no name follows. */
static bool take_pair(const struct row *table, struct text *rest, struct text *pair)
{
    struct text part;
    if (!text_next(rest, ',', pair))
        return false;
    for (struct text after = *rest; text_next(&after, ',', &part); *rest = after) {
        if (memchr(part.data, '=', part.length) || find_name(table, part))
            break;
        pair->length = (size_t)(part.data + part.length - pair->data);
    }
    return true;
}

void rows_read_list(struct batch_options *options, const struct row *table,
                    const struct given *given)
{
    struct text rest = given->value, value, name;
    struct arena *arena = options->reading->arena;
    while (take_pair(table, &rest, &value)) {
        text_next(&value, '=', &name);
        const struct row *row = find_name(table, name);
        if (!row) {
            refuse_unknown(options, table, arena_printf(arena, "%s ", given->shown).data, name,
                           given->place);
            continue;
        }
        struct given item = {row, NULL, value, given->place};
        item.shown = arena_printf(arena, "%s %s", given->shown, row->name).data;
        use_row(options, &item);
    }
}

void rows_keep(struct batch_options *options, const struct given *given,
               enum batch_option_kind kind, int64_t number, struct text text)
{
    batch_options_add(options, kind,
                      (struct batch_option){given->shown, given->place, number, text});
}

void rows_expected(struct batch_options *options, const struct given *given, const char *words)
{
    struct error_quote_buffer buffer;
    batch_options_refuse(options, given->shown, given->place, "found \"%s\", expected %s",
                         error_quote(&buffer, given->value.data, given->value.length), words);
}

void rows_keep_text(struct batch_options *options, const struct given *given)
{
    rows_keep(options, given, (enum batch_option_kind)given->row->kind, 0, given->value);
}

void rows_keep_indexes(struct batch_options *options, const struct given *given)
{
    struct text rest = given->value, indexes, text = given->value;
    int64_t index;
    text_next(&rest, '%', &indexes);
    if (forms_count(indexes, &index) == 0)
        text = arena_printf(options->reading->arena, "%.*s-%.*s", (int)indexes.length, indexes.data,
                            (int)text.length, text.data);
    rows_keep(options, given, BATCH_ARRAY, 0, text);
}

void rows_keep_site(struct batch_options *options, const struct given *given)
{
    if (memchr(given->value.data, ',', given->value.length))
        batch_options_refuse(options, given->shown, given->place, "found several, expected one");
    else
        batch_options_add_ruled(options, text_of(given->row->words),
                                (struct batch_option){given->shown, given->place, 0, given->value});
}

void rows_keep_read(struct batch_options *options, const struct given *given,
                    int (*read)(struct text text, int64_t *number))
{
    int64_t number;
    if (read(given->value, &number))
        rows_expected(options, given, given->row->words);
    else
        rows_keep(options, given, (enum batch_option_kind)given->row->kind, number, given->value);
}

void rows_keep_count(struct batch_options *options, const struct given *given)
{
    int64_t number;
    if (forms_count(given->value, &number) || number == 0)
        rows_expected(options, given, "a whole number from 1 to 1000000");
    else
        rows_keep(options, given, (enum batch_option_kind)given->row->kind, number, given->value);
}

void rows_note(struct batch_options *options, const struct given *given)
{
    batch_options_note(options, given->shown, given->place, "no effect: %s", given->row->words);
}

void rows_refuse(struct batch_options *options, const struct given *given)
{
    batch_options_refuse(options, given->shown, given->place, "cannot be kept here; %s",
                         given->row->words);
}

void rows_ignore(struct batch_options *options, const struct given *given)
{
    (void)options;
    (void)given;
}
