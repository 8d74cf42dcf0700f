/* request/sbatch/batch.c - the lines of a script that are for Slurm or PBS */
#include "request/sbatch/batch.h"

#include <string.h>

#include "request/notes.h"
#include "request/sbatch/native.h"
#include "request/sbatch/pbs.h"
#include "request/sbatch/slurm.h"

struct batch_system {
    const char *marker;
    const struct row *rows; /* NULL: its lines are not read */
    const char *platform;   /* struct platform's name */
};

/* The first whose lines are there counts. */
static const struct batch_system systems[] = {
    {"#SBATCH", slurm_rows, "sbatch"},
    {"#PBS", pbs_rows, "pbs"},
    {"#BSUB ", NULL, NULL},
    {"#$ -", NULL, NULL},
};

/* The system whose marker begins the line, or NULL. */
static const struct batch_system *system_of(struct text line)
{
    for (size_t i = 0; i < ARRAY_COUNT(systems); i++) {
        size_t length = strlen(systems[i].marker);
        if (!text_starts(line, systems[i].marker))
            continue;
        if (!systems[i].rows || line.length == length || memchr(" \t\r-", line.data[length], 4))
            return &systems[i];
    }
    return NULL;
}

/* Is the line blank or a comment? */
static bool is_head(struct text line)
{
    struct text trimmed = text_trim(line);
    return trimmed.length == 0 || trimmed.data[0] == '#';
}

void batch_start(struct batch *batch, struct reading *reading, struct text source)
{
    struct text rest = source, line;
    *batch = (struct batch){.options = {.reading = reading}};
    batch->options.notes = &batch->notes;
    batch->options.environment = value_object(reading->arena);
    while (text_next(&rest, '\n', &line) && is_head(line)) {
        const struct batch_system *found = system_of(line);
        if (!found || !found->rows || (batch->system && found > batch->system))
            continue;
        batch->system = found;
        batch->last = (size_t)(line.data - source.data);
    }
    batch->options.marker = batch->system ? batch->system->marker : "";
}

/* Note the first line of a system that is not read. */
static void note_unread(struct batch *batch, const struct batch_system *other, uint32_t number)
{
    if (batch->unread)
        return;
    batch->unread = number;
    batch->word =
        arena_text(batch->options.reading->arena, other->marker, strcspn(other->marker, " "));
    if (batch->system)
        batch_options_note(&batch->options, batch->word.data, (struct place){number, 1},
                           "no effect: these lines are not read beside %s lines",
                           batch->system->marker);
}

bool batch_line(struct batch *batch, struct text line, uint32_t number)
{
    const struct batch_system *found = system_of(line);
    const struct batch_system *inner = system_of(text_trim(line));
    if (!found && inner && inner->rows)
        batch_options_note(
            &batch->options, inner->marker, (struct place){number, 1},
            "no effect: it does not begin its line, and is a comment to its own system too");
    if (!found)
        return false;
    if (found != batch->system) {
        note_unread(batch, found, number);
        return true;
    }
    struct directive_rest rest = {.reading = batch->options.reading,
                                  .line = line,
                                  .at = strlen(found->marker),
                                  .number = number};
    if (line.length > rest.at && line.data[rest.at] == '-')
        problems_add(batch->options.reading, NULL, number, (uint32_t)rest.at + 1,
                     "expected a blank after %s", found->marker);
    else
        rows_read(&batch->options, found->rows, &rest);
    return true;
}

/* What a script says, and what its user is told of it, once. */
static const struct remark {
    const char *word; /* a command, at the start of a line; or what stands anywhere in one */
    bool anywhere;
    const char *sentence;
} remarks[] = {
    {"srun", false,
     "is there on a cluster of Slurm's only: leave it out elsewhere; a script that is to run in "
     "several tasks says #DL type=distributed"},
    {"scontrol", false,
     "asks Slurm, where there is one, past dlspool; what fails is tried again with #DL retries=1, "
     "and dlspool retry is for the command line"},
    {"sbatch", false,
     "hands a job to Slurm, where there is one, past dlspool; submit the next job beforehand, with "
     "--dependency"},
    {"qsub", false,
     "hands a job to PBS, where there is one, past dlspool; submit the next job beforehand, with "
     "-W depend"},
    {"PBS_NODEFILE", true,
     "is not set: leave it out, with the option before it (-machinefile), which would take the next "
     "word for its file; with #DL type=mpi mpirun has its hosts by itself, and otherwise the script "
     "runs in one place, with NCPUS processors"},
};

/* Does the line call the command, or mention the word? */
static bool has_word(const struct remark *remark, struct text line)
{
    size_t length = strlen(remark->word);
    if (text_starts(line, "#"))
        return false;
    if (remark->anywhere)
        return text_contains(line, text_of(remark->word));
    return text_starts(line, remark->word) && line.length > length && line.data[length] == ' ';
}

void batch_rest(struct batch *batch, struct text rest, uint32_t number)
{
    struct text line;
    bool late = false, told[ARRAY_COUNT(remarks)] = {false};
    for (; text_next(&rest, '\n', &line); number++) {
        struct place place = {number, 1};
        const struct batch_system *found = late ? NULL : system_of(line);
        if (found && found->rows && (!batch->system || found == batch->system)) {
            batch_options_note(
                &batch->options, found->marker, place,
                "no effect: it comes after the first command, where its own system does "
                "not read it either");
            late = true;
        }
        for (size_t i = 0; i < ARRAY_COUNT(remarks) && batch->system; i++) {
            if (told[i] || !has_word(&remarks[i], text_trim(line)))
                continue;
            batch_options_note(&batch->options, remarks[i].word, place, "%s", remarks[i].sentence);
            told[i] = true;
        }
    }
}

void batch_finish(struct batch *batch, struct value *root)
{
    if (batch->system) {
        native_write(&batch->options, root);
        return;
    }
    if (!batch->unread)
        return;
    /* The script is a member, too. */
    if (root->object.count > 1)
        batch_options_note(&batch->options, batch->word.data, (struct place){batch->unread, 1},
                           "no effect: these lines are not read");
    else
        problems_add(batch->options.reading, NULL, batch->unread, 1,
                     "%s lines are not read; write #DL lines beside them, such as #DL name=train, "
                     "#DL tasks.main.gpus=1, #DL tasks.main.memory=16Gi, #DL time_limit=2h",
                     batch->word.data);
}

void batch_apply(struct batch *batch, struct description *job)
{
    struct arena *arena = batch->options.reading->arena;
    size_t count = batch->notes.count < NOTES_MOST ? batch->notes.count : NOTES_MOST;
    for (size_t i = 0; i < count; i++)
        request_notes_add(arena, &job->notes, batch->notes.items[i].field.data, "%s",
                          batch->notes.items[i].sentence.data);
    if (!batch->system)
        return;
    job->platform.name = text_of(batch->system->platform);
    job->platform.options = batch->options.ruled;
    job->platform.options_count = batch->options.ruled_count;
    /* A site that allows no such low priority takes the job all the same, with the nearest. */
    job->foreign = batch_options_find(&batch->options, BATCH_NICE) != NULL;
}
