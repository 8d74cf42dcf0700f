/* request/sbatch/after.c - --dependency of sbatch and depend= of qsub as the native field `after`
 *
 * Both write conditions as `after` does.  What differs is which conditions there are, and that jobs
 * are numbers there; here they are names or ids.
 */
#include "request/sbatch/after.h"

#include <string.h>

/* Conditions that cannot be kept. */
static const struct {
    const char *word, *instead;
} others[] = {
    {"aftercorr", "write afterok:JOB, which waits for the whole array"},
    {"expand", "ask for all that the job needs in the first place"},
    {"afterburstbuffer", "write afterany:JOB"},
    {"before", "write #DL after=NAME into the job that comes after this one"},
    {"beforeok", "write #DL after=NAME into the job that comes after this one"},
    {"beforeany", "write #DL after=afterany:NAME into the job that comes after this one"},
    {"beforenotok", "write #DL after=afternotok:NAME into the job that comes after this one"},
    {"on", "write #DL after=NAME with the jobs that it waits for"},
};

static bool is_kept(struct text word)
{
    static const char *const kept[] = {"afterok", "afterany", "afternotok", "after", "singleton"};
    for (size_t i = 0; i < ARRAY_COUNT(kept); i++)
        if (text_is(word, kept[i]))
            return true;
    return false;
}

/* Is it a number of Slurm's or PBS's: 123, 123_4, 123[], 123.server? */
static bool is_number(struct text job)
{
    return job.length > 0 && strspn(job.data, "0123456789_[]") > 0 && job.data[0] >= '0' &&
           job.data[0] <= '9' &&
           (strspn(job.data, "0123456789_[]") >= job.length || memchr(job.data, '.', job.length));
}

static void refuse_condition(struct batch_options *options, const struct given *given,
                             struct text word)
{
    struct error_quote_buffer buffer;
    const char *name = error_quote(&buffer, word.data, word.length);
    for (size_t i = 0; i < ARRAY_COUNT(others); i++)
        if (text_is(word, others[i].word)) {
            batch_options_refuse(options, given->shown, given->place, "%s cannot be kept here; %s",
                                 name, others[i].instead);
            return;
        }
    batch_options_refuse(options, given->shown, given->place,
                         "found the condition \"%s\", expected afterok:JOB, afterany:JOB, "
                         "afternotok:JOB, after:JOB or singleton",
                         name);
}

/* One condition with its jobs.  False after a problem. */
static bool check_condition(struct batch_options *options, const struct given *given,
                            struct text part)
{
    struct text rest = part, word, job;
    struct error_quote_buffer buffer;
    text_next(&rest, ':', &word);
    if (!is_kept(word)) {
        refuse_condition(options, given, word);
        return false;
    }
    while (text_next(&rest, ':', &job)) {
        job = arena_text(options->reading->arena, job.data, job.length);
        if (text_is(word, "after") && memchr(job.data, '+', job.length)) {
            batch_options_refuse(
                options, given->shown, given->place,
                "found a time after +, expected the job alone, which has to have begun; let "
                "the script sleep first");
            return false;
        }
        if (!is_number(job))
            continue;
        batch_options_refuse(
            options, given->shown, given->place,
            "found \"%s\", a number of another system, expected the name or the id of a "
            "job of dlspool, which dlspool submit prints",
            error_quote(&buffer, job.data, job.length));
        return false;
    }
    return true;
}

void sbatch_after_keep(struct batch_options *options, const struct given *given)
{
    struct text rest = given->value, part;
    if (memchr(given->value.data, '?', given->value.length)) {
        batch_options_refuse(
            options, given->shown, given->place,
            "found ?, one of several conditions, expected commas: all of them have to be "
            "met here");
        return;
    }
    while (text_next(&rest, ',', &part))
        if (!check_condition(options, given, part))
            return;
    rows_keep(options, given, BATCH_AFTER, 0, given->value);
}
