/* stages/shared/start_refused.c - tasks that a start script did not start, and why */
#include "stages/shared/start_refused.h"

static bool names_a_path(struct text line)
{
    static const char *const fields[] = {"program: ", "entry: ", "dataset: ", "output: "};
    for (size_t i = 0; i < ARRAY_COUNT(fields); i++)
        if (text_starts(line, fields[i]))
            return true;
    return false;
}

struct text start_refused_by(int exit_code, struct text printed)
{
    const struct text start = TEXT("dlspool: ");
    struct text line, found = TEXT("");
    if (exit_code != START_REFUSED && exit_code != START_AGAIN)
        return found;
    while (text_next(&printed, '\n', &line)) {
        if (!text_starts(line, start.data))
            continue;
        struct text said = {line.data + start.length, line.length - start.length};
        if (exit_code == START_AGAIN || names_a_path(said))
            found = said;
    }
    return found;
}
