/* commands/options.c - reading the words of a command line */
#include "commands/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/duration.h"
#include "base/error.h"
#include "base/nearest.h"
#include "commands/complain.h"

enum { MOST_OPTIONS = 32 };

const char *option_spool;
static bool json_wanted;
static int before_dashes = -1;

int options_before_dashes(void)
{
    return before_dashes;
}

bool options_json(void)
{
    return json_wanted;
}

static void print_option(const char *name, char letter, const char *argument, const char *help)
{
    char left[64];
    snprintf(left, sizeof(left), "%c%c%s--%s%s%s", letter ? '-' : ' ', letter ? letter : ' ',
             letter ? ", " : "  ", name, argument ? " " : "", argument ? argument : "");
    printf("  %-26s %s\n", left, help);
}

static void print_help(const struct verb_usage *usage)
{
    printf("usage: dlspool [-s DIR] %s%s%s%s\n\n%s\n", usage->verb,
           usage->options && usage->options->name ? " [OPTIONS]" : "", *usage->operands ? " " : "",
           usage->operands, usage->summary);
    if (usage->details)
        printf("\n%s", usage->details);
    printf("\nOptions:\n");
    for (const struct option_spec *o = usage->options; o && o->name; o++)
        if (o->help)
            print_option(o->name, o->letter, o->argument, o->help);
    print_option("spool", 's', "DIR",
                 "the spool's directory (default: $DLSPOOL_DIR or "
                 "/var/spool/dlspool)");
    print_option("help", 'h', NULL, "show this and leave");
}

static const struct option_spec *find_option(const struct verb_usage *usage, struct text word,
                                             bool short_form)
{
    static const struct option_spec spool = {"spool", 's', OPTION_TEXT, &option_spool, "DIR", ""};
    const struct option_spec *o = usage->options;
    for (; o && o->name; o++)
        if (short_form ? o->letter == word.data[0] : text_is(word, o->name))
            return o;
    return short_form ? (word.data[0] == 's' ? &spool : NULL)
                      : (text_is(word, "spool") ? &spool : NULL);
}

/* The option whose name is nearest to a word, or NULL. */
static const char *nearest_option(const struct verb_usage *usage, struct text word)
{
    const char *names[MOST_OPTIONS + 3] = {"help", "spool"};
    int count = 2;
    for (const struct option_spec *o = usage->options; o && o->name && count < MOST_OPTIONS; o++)
        if (o->help)
            names[count++] = o->name;
    return nearest_word(word, names);
}

static void complain_unknown(const struct verb_usage *usage, const char *word, struct text name)
{
    const char *nearest = nearest_option(usage, name);
    complain("there is no option %s%s%s%s; --help lists them", word,
             nearest ? "; did you mean --" : "", nearest ? nearest : "", nearest ? "?" : "");
}

/* There are too few or too many operands, `first` the first of them.  Where none are taken that may be meant as an
 * option. */
static void complain_of_count(const struct verb_usage *usage, int found, const char *first)
{
    const char *nearest = usage->most == 0 ? nearest_option(usage, text_of(first)) : NULL;
    bool none = !*usage->operands;
    complain("%s operands: found %d, expected %s%s%s%s; usage: dlspool %s%s%s",
             found < usage->least ? "too few" : "too many", found, none ? "none" : usage->operands,
             nearest ? "; did you mean --" : "", nearest ? nearest : "", nearest ? "?" : "",
             usage->verb, none ? "" : " ", usage->operands);
}

static void add_text(struct option_list *list, const char *word)
{
    list->items = memory_resize(list->items, (list->count + 1) * sizeof(*list->items));
    list->items[list->count++] = word;
}

/* Store the value of an option by its kind; false after a complaint. */
static bool take_value(const struct option_spec *option, const char *word)
{
    char *end;
    long number;
    switch (option->kind) {
    case OPTION_FLAG:
        *(bool *)option->target = true;
        return true;
    case OPTION_TEXT:
        *(const char **)option->target = word;
        return true;
    case OPTION_TEXTS:
        add_text(option->target, word);
        return true;
    case OPTION_WHOLE:
        number = strtol(word, &end, 10);
        if (*end || end == word || number < 0 || number > 1000000000) {
            complain("--%s: found \"%s\", expected a whole number", option->name, word);
            return false;
        }
        *(int *)option->target = (int)number;
        return true;
    case OPTION_DURATION:
        if (duration_parse(text_of(word), option->target)) {
            complain("--%s: found \"%s\", expected a duration such as 30s, 5m or 1h", option->name,
                     word);
            return false;
        }
        return true;
    case OPTION_NUMBER:
        *(double *)option->target = strtod(word, &end);
        if (*end || end == word || !(*(double *)option->target >= 0) ||
            !isfinite(*(double *)option->target)) {
            complain("--%s: found \"%s\", expected a number of at least 0", option->name, word);
            return false;
        }
        return true;
    }
    return false;
}

/* Is --json among the words?  Asked before they are parsed, so that mistakes in them are also
 * printed as JSON. */
static bool has_json(const struct verb_usage *usage, int argument_count, char **arguments)
{
    const struct option_spec *option = find_option(usage, TEXT("json"), false);
    for (int i = 1; option && i < argument_count && strcmp(arguments[i], "--") != 0; i++)
        if (strcmp(arguments[i], "--json") == 0 || strcmp(arguments[i], "-j") == 0)
            return true;
    return false;
}

/* Take the option at arguments[*at], and the word after it when that is its value. */
static bool take_option(const struct verb_usage *usage, int argument_count, char **arguments,
                        int *at)
{
    const char *word = arguments[*at];
    bool short_form = word[1] != '-';
    struct text name = text_of(short_form ? word + 1 : word + 2);
    const char *value = NULL;
    const char *equals = short_form ? NULL : strchr(word, '=');
    if (equals) {
        name.length = (size_t)(equals - name.data);
        value = equals + 1;
    }
    const struct option_spec *option = find_option(usage, name, short_form);
    if (!option) {
        complain_unknown(usage, word, name);
        return false;
    }
    if (short_form && name.length > 1)
        value = word + 2;
    if (option->kind == OPTION_FLAG) {
        if (value) {
            complain("--%s takes no value", option->name);
            return false;
        }
    } else if (!value) {
        if (*at + 1 >= argument_count) {
            complain("--%s needs a value: %s", option->name, option->argument);
            return false;
        }
        value = arguments[++*at];
    }
    return take_value(option, value);
}

/* Is it a number below 0?  No option is a digit. */
static bool is_negative(const char *word)
{
    return word[0] == '-' && word[1] >= '0' && word[1] <= '9';
}

bool options_read(const struct verb_usage *usage, int argument_count, char **arguments,
                  int *operand_count, int *status)
{
    int operands = 0;
    bool only_operands = false;
    complain_of_verb(usage->verb);
    json_wanted = has_json(usage, argument_count, arguments);
    *status = STATUS_USAGE;
    before_dashes = -1;
    for (int i = 1; i < argument_count; i++) {
        char *word = arguments[i];
        if (only_operands || word[0] != '-' || word[1] == '\0' || is_negative(word)) {
            arguments[++operands] = word;
        } else if (strcmp(word, "--") == 0) {
            only_operands = true;
            before_dashes = operands;
        } else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            print_help(usage);
            *status = STATUS_DONE;
            return false;
        } else if (!take_option(usage, argument_count, arguments, &i)) {
            return false;
        }
    }
    if (operands < usage->least || (usage->most >= 0 && operands > usage->most)) {
        complain_of_count(usage, operands, arguments[1]);
        return false;
    }
    *operand_count = operands;
    *status = STATUS_DONE;
    return true;
}
