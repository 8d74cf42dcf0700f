/* request/sbatch/rows.h - tables of options: a row says what an option means, and how it is kept
 *
 * An option is kept (request/sbatch/batch_options.h), noted because it has no effect here, or
 * refused with what to write instead.  One that has no row is refused, so nothing is dropped
 * without a word.
 */
#ifndef REQUEST_SBATCH_ROWS_H
#define REQUEST_SBATCH_ROWS_H

#include "request/sbatch/batch_options.h"

struct row;

/* An option as it stands in a line. */
struct given {
    const struct row *row;
    const char *shown; /* "--time" or "-l walltime" */
    struct text value; /* data NULL: none was given */
    struct place place;
};

typedef void row_reader(struct batch_options *options, const struct given *given);

enum row_value { ROW_NO_VALUE, ROW_VALUE, ROW_PERHAPS };

struct row {
    const char *name; /* without --; NULL: it has a letter only; both NULL: the end */
    char letter;      /* of the short form; 0: none */
    enum row_value value;
    row_reader *read;
    int kind;          /* enum batch_option_kind, of what is kept */
    const char *words; /* of a note, of a refusal, or of what was expected */
};

/* Read all options of a line from `rest`, -x and --name. */
void rows_read(struct batch_options *options, const struct row *table, struct directive_rest *rest);

/* Read name=value pairs separated by commas, as PBS has them after -l and -W. */
void rows_read_list(struct batch_options *options, const struct row *table,
                    const struct given *given);

/* For readers of other rows: keep an option, and report a wrong value. */
void rows_keep(struct batch_options *options, const struct given *given,
               enum batch_option_kind kind, int64_t number, struct text text);
void rows_expected(struct batch_options *options, const struct given *given, const char *words);
/* Keep the row's option as `read` understands its value (forms.h), or report it with the row's words. */
void rows_keep_read(struct batch_options *options, const struct given *given,
                    int (*read)(struct text text, int64_t *number));

/* What both systems are told of their options. */
#define ROWS_OUTPUT                                                                                \
    "what the job prints is kept in the spool (output/ beside the job; dlspool logs ID), and no "  \
    "file of this name is written"

/* What most rows do; each is the `read` of a row. */
row_reader rows_keep_text;    /* the value, if there is one */
row_reader rows_keep_count;   /* a whole number from 1 */
row_reader rows_keep_site;    /* what the site's rules decide about (struct platform_option) */
row_reader rows_keep_indexes; /* of an array; a lone number is that index, as there */
row_reader rows_note;         /* `words`: what follows "no effect: " */
row_reader rows_refuse;       /* `words`: what to do instead */
row_reader rows_ignore;       /* it asks for what is so anyway, or for nothing */

#endif
