/* commands/acct.c - dlspool acct: what each attempt of jobs has used
 *
 * Attempts are printed as they are read, so memory does not grow with the accounts but for a few dozen bytes
 * for each, by which one that is there twice is known.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/acct_fields.h"
#include "client/acct_tree.h"
#include "commands/commands.h"
#include "commands/complain.h"
#include "commands/open.h"
#include "commands/options.h"
#include "commands/print.h"
#include "commands/usage_options.h"

enum { MOST_FIELDS = 64, WIDEST = 1000 };

static const char usual_format[] =
    "ID,Attempt,User,Partition,State,ExitCode,Start,Elapsed,NCPUS,GPUs,TotalCPU,MaxRSS,GPUSeconds";

struct column {
    const struct acct_field *field;
    int width;
    bool cut; /* to that width, which was asked for */
};

struct accounting {
    struct usage_filter filter;
    struct column columns[MOST_FIELDS];
    size_t count;
    bool parsable, closed; /* with | between the fields; and at the end */
    bool json, begun;
    const char *cluster;
    char **ids; /* of the command line; NULL: all */
    int id_count;
    struct buffer line, cell;
};

/* ---- lines ---- */

/* What would end a field, or the line, or speak to a terminal, is written as JSON does. */
static void add_escaped(struct buffer *line, struct text cell)
{
    for (size_t i = 0; i < cell.length; i++) {
        unsigned char byte = (unsigned char)cell.data[i];
        if (byte < ' ' || byte == 0x7f || byte == '|')
            buffer_printf(line, "\\u%04x", byte);
        else
            buffer_add_byte(line, cell.data[i]);
    }
}

/* Fill the column, to whose end the text goes for numbers.  What is cut ends in +, as with sacct. */
static void add_column(struct buffer *line, const struct column *column, struct text cell)
{
    size_t width = (size_t)abs(column->width);
    bool cut = column->cut && cell.length > width;
    size_t length = cut ? width - 1 : cell.length,
           pad = width > length + cut ? width - length - cut : 0;
    for (size_t i = 0; i < pad && column->width > 0; i++)
        buffer_add_byte(line, ' ');
    buffer_add_text(line, (struct text){cell.data, length});
    if (cut)
        buffer_add_byte(line, '+');
    for (size_t i = 0; i < pad && column->width < 0; i++)
        buffer_add_byte(line, ' ');
}

static void add_cell(struct accounting *accounting, size_t at, struct text cell)
{
    struct buffer *line = &accounting->line;
    if (!cell.data)
        cell = TEXT("");
    if (at)
        buffer_add_byte(line, accounting->parsable ? '|' : ' ');
    if (accounting->parsable) {
        add_escaped(line, cell);
    } else {
        struct buffer escaped = {0};
        add_escaped(&escaped, cell);
        add_column(line, &accounting->columns[at],
                   escaped.length ? buffer_text(&escaped) : TEXT(""));
        buffer_free(&escaped);
    }
}

static void print_line(struct accounting *accounting)
{
    struct buffer *line = &accounting->line;
    while (!accounting->parsable && line->length && line->data[line->length - 1] == ' ')
        line->length--;
    if (accounting->closed)
        buffer_add_byte(line, '|');
    buffer_add_byte(line, '\n');
    print_text(buffer_text(line));
    buffer_clear(line);
}

static void print_heading(struct accounting *accounting)
{
    for (size_t i = 0; i < accounting->count; i++)
        add_cell(accounting, i, text_of(accounting->columns[i].field->name));
    print_line(accounting);
    for (size_t i = 0; i < accounting->count && !accounting->parsable; i++) {
        char rule[WIDEST + 1];
        size_t width = (size_t)abs(accounting->columns[i].width);
        memset(rule, '-', width);
        add_cell(accounting, i, (struct text){rule, width});
    }
    if (!accounting->parsable)
        print_line(accounting);
}

static void print_attempt(struct accounting *accounting, const struct usage *usage)
{
    const struct acct_source source = {usage, accounting->cluster};
    for (size_t i = 0; i < accounting->count; i++) {
        buffer_clear(&accounting->cell);
        accounting->columns[i].field->write(&source, &accounting->cell);
        add_cell(accounting, i, buffer_text(&accounting->cell));
    }
    print_line(accounting);
}

/* ---- for programs ---- */

static void print_object(struct accounting *accounting, const struct usage *usage)
{
    struct arena *arena = arena_new();
    fputs(accounting->begun ? ",\n" : "[", stdout);
    print_json_part(acct_tree(arena, usage));
    accounting->begun = true;
    arena_free(arena);
}

/* ---- which ---- */

static bool is_named(const struct accounting *accounting, const struct usage *usage)
{
    for (int i = 0; i < accounting->id_count; i++)
        if (text_starts(usage->id, accounting->ids[i]))
            return true;
    return accounting->id_count == 0;
}

static int take_attempt(void *context, const struct usage *usage)
{
    struct accounting *accounting = context;
    if (!usage_filter_takes(&accounting->filter, usage) || !is_named(accounting, usage))
        return 0;
    if (accounting->json)
        print_object(accounting, usage);
    else
        print_attempt(accounting, usage);
    return 0;
}

/* "JobName%30", "%-30" to the left: another width. */
static bool add_field(struct accounting *accounting, struct text word)
{
    struct text name;
    struct error error;
    text_next(&word, '%', &name);
    struct column *column = &accounting->columns[accounting->count];
    column->field = acct_fields_find(name, &error);
    if (!column->field) {
        complain("%s", error.text);
        return false;
    }
    column->width = column->field->width;
    column->cut = word.length > 0;
    if (column->cut) {
        char *end;
        long width = strtol(word.data, &end, 10);
        if (end != word.data + word.length || width == 0 || labs(width) > WIDEST) {
            complain("--format: found %%%.*s, expected a width of 1 to %d, such as JobName%%30",
                     (int)word.length, word.data, WIDEST);
            return false;
        }
        column->width = (int)width;
    }
    accounting->count++;
    return true;
}

static bool read_format(struct accounting *accounting, const char *format)
{
    struct text rest = text_of(format), word;
    while (rest.length && text_next(&rest, ',', &word)) {
        if (accounting->count == MOST_FIELDS) {
            complain("--format: expected at most %d fields", MOST_FIELDS);
            return false;
        }
        if (!add_field(accounting, text_trim(word)))
            return false;
    }
    return true;
}

static int list_fields(void)
{
    for (size_t i = 0; acct_fields[i].name; i++)
        puts(acct_fields[i].name);
    return STATUS_DONE;
}

/* The name of the spool's directory is what others call a cluster. */
static const char *name_cluster(char path[static PATH_MAX])
{
    if (!realpath(option_spool, path))
        return option_spool;
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static int print_accounts(struct accounting *accounting, const struct spool *spool, bool heading)
{
    struct error error;
    if (heading && !accounting->json)
        print_heading(accounting);
    int result = usage_scan(spool, usage_filter_since(&accounting->filter), take_attempt,
                            accounting, &error);
    if (accounting->json && (!result || accounting->begun))
        puts(accounting->begun ? "]" : "[]");
    if (result)
        complain("%s", error.text);
    return result ? STATUS_FAILED : STATUS_DONE;
}

int command_acct(int argument_count, char **arguments)
{
    struct accounting accounting = {0};
    char path[PATH_MAX];
    const char *format = usual_format;
    bool bare = false, lists = false, ignored;
    const struct option_spec options[] = {
        USAGE_FILTER_OPTIONS(accounting.filter),
        {"state", 't', OPTION_TEXT, &accounting.filter.states, "STATE",
         "only with these states, such as COMPLETED,FAILED"},
        {"format", 'o', OPTION_TEXT, &format, "COLUMNS",
         "the fields, such as JobID,User,JobName%30"},
        {"helpformat", 0, OPTION_FLAG, &lists, NULL, "list the names of all fields"},
        {"parsable2", 'P', OPTION_FLAG, &accounting.parsable, NULL, "with | between the fields"},
        {"parsable", 0, OPTION_FLAG, &accounting.closed, NULL, "the same, and one at the end"},
        {"noheader", 0, OPTION_FLAG, &bare, NULL, "no line with the names of the fields"},
        {"clusters", 'M', OPTION_TEXT, &accounting.cluster, "NAME",
         "what the field Cluster says (default: the name of the spool's directory)"},
        {"json", 'j', OPTION_FLAG, &accounting.json, NULL, "as JSON, a list of objects"},
        {"allusers", 0, OPTION_FLAG, &accounting.filter.all, NULL, NULL},
        {"allocations", 'X', OPTION_FLAG, &ignored, NULL, NULL},
        {"duplicates", 'D', OPTION_FLAG, &ignored, NULL, NULL},
        {0}};
    const struct verb_usage usage = {
        "acct",
        "[ID...]",
        0,
        -1,
        "Show what each attempt of jobs has used, those that ended first before the others.",
        "One's own; of all users for administrators.  Options and fields are those of sacct, so that\n"
        "what reads its output reads this one's.\n",
        options};
    int operands, status;
    struct spool spool;
    struct error error;
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    if (lists)
        return list_fields();
    accounting.parsable = accounting.parsable || accounting.closed;
    accounting.ids = arguments + 1;
    accounting.id_count = operands;
    if (!accounting.cluster)
        accounting.cluster = name_cluster(path);
    if (!read_format(&accounting, format))
        return STATUS_USAGE;
    if (open_spool(&spool))
        return STATUS_FAILED;
    if (usage_filter_prepare(&accounting.filter, &spool, &error)) {
        complain("%s", error.text);
        status = STATUS_USAGE;
    } else {
        status = print_accounts(&accounting, &spool, !bare);
    }
    spool_close(&spool);
    buffer_free(&accounting.line);
    buffer_free(&accounting.cell);
    return status;
}
