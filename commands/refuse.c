/* commands/refuse.c - complaints about one operand: a sentence, and for --json an object */
#include "commands/refuse.h"

#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/value.h"
#include "commands/complain.h"
#include "commands/options.h"
#include "commands/print.h"

void refuse_as_object(const char *word, const char *sentence, int status)
{
    struct arena *arena = arena_new();
    struct value *tree = value_object(arena);
    struct error_quote_buffer buffer;
    value_put(arena, tree, "operand",
              word && *word ? value_string(arena, error_quote(&buffer, word, strlen(word)))
                            : value_null(arena));
    value_put(arena, tree, "error", value_string(arena, sentence));
    value_put(arena, tree, "status", value_number(arena, status));
    print_json(tree);
    arena_free(arena);
}

void refuse_not_found(const char *word, int status, const struct error *error, bool json)
{
    bool before = complain_untold() != NULL;
    complain("%s", error->text);
    if (!json)
        return;
    refuse_as_object(word, error->text, status);
    if (!before)
        complain_mark_told();
}

int refuse_word(const char *word, int status, const struct error *error)
{
    refuse_not_found(word, status, error, options_json());
    return status;
}

int refuse_gone(const struct job_place *place)
{
    char path[PLACE_TEXT_SIZE];
    if (errno == EACCES)
        complain("%s may not be read by you: the mode of %s/%s does not let you in", place->id,
                 option_spool, job_place_text(place, path));
    else
        complain("%s moved just now; try again", place->id);
    return STATUS_FAILED;
}
