/* request/sbatch/directory.c - writes into a script for Slurm or PBS where it was submitted */
#include "request/sbatch/directory.h"

#include <string.h>

#include "request/fields.h"
#include "request/sbatch/batch.h"
#include "request/sbatch/script.h"

/* Has the name nothing that an option's value cannot have? */
static bool can_be_written(const char *directory)
{
    for (const char *at = directory; *at; at++)
        if ((unsigned char)*at < 0x20 || strchr(",%\x7f", *at))
            return false;
    return directory[0] == '/';
}

/* The option in quotes, so that blanks and # stay in it. */
static void write_option(struct buffer *out, const char *option, const char *directory)
{
    buffer_printf(out, " %s\"", option);
    for (const char *at = directory; *at; at++) {
        if (strchr("\"\\", *at))
            buffer_add_byte(out, '\\');
        buffer_add_byte(out, *at);
    }
    buffer_add_byte(out, '"');
}

/* The end of the words of the line that begins at `start`, where its comment begins. */
static size_t end_of_words(struct reading *reading, struct text source, size_t start, size_t marker)
{
    struct text rest = {source.data + start, source.length - start}, line;
    struct directive_word word;
    text_next(&rest, '\n', &line);
    struct directive_rest words = {.reading = reading, .line = line, .at = marker, .number = 1};
    size_t end = marker;
    while (directive_next(&words, &word))
        end = words.at;
    return start + end;
}

struct text sbatch_directory_add(struct arena *arena, struct text source, const char *directory,
                                 struct buffer *said)
{
    struct reading reading;
    struct batch batch;
    problems_start(&reading, arena, "job file");
    if (!text_starts(source, "#!") || !can_be_written(directory))
        return source;
    const struct value *root = script_read(&reading, source, &batch);
    if (!root || !batch.system || reading.found || fields_given(root, "output"))
        return source;
    bool pbs = strcmp(batch.options.marker, "#PBS") == 0;
    size_t at = end_of_words(&reading, source, batch.last, strlen(batch.options.marker));
    if (source.data[at - 1] == '\\')
        return source; /* it would keep the blank that comes behind it in its word */
    struct buffer out = {0};
    buffer_add(&out, source.data, at);
    write_option(&out, pbs ? "-v PBS_O_WORKDIR=" : "--chdir=", directory);
    buffer_add(&out, source.data + at, source.length - at);
    uint32_t line = 1;
    for (size_t i = 0; i < batch.last; i++)
        line += source.data[i] == '\n';
    buffer_printf(said, "%u: %s%s is added, the directory of this shell", line,
                  pbs ? "-v PBS_O_WORKDIR=" : "--chdir=", directory);
    return arena_take(arena, &out);
}
