/* executors/local/numbers.c - a number for each container, until its job is forgotten */
#include "executors/local/numbers.h"

#include <stdio.h>

#include "executors/local/inside.h"

enum { NUMBERS_MOST = 65536 };

int64_t *local_numbers_at(struct names **numbers, struct text container)
{
    int64_t *number = *numbers ? names_find(*numbers, container) : NULL;
    if (number)
        return number;
    if (*numbers && names_full(*numbers)) {
        names_free(*numbers);
        *numbers = NULL;
    }
    if (!*numbers)
        *numbers = names_new(NUMBERS_MOST, sizeof(*number));
    return names_add(*numbers, container);
}

void local_numbers_forget(struct names *numbers, const char *id, int attempt)
{
    char job[LOCAL_NAME_SIZE], prefix[LOCAL_NAME_SIZE + 1];
    local_job_name(job, id, attempt);
    snprintf(prefix, sizeof(prefix), "%s-", job);
    for (int64_t *number = numbers ? names_first(numbers) : NULL, *next; number; number = next) {
        next = names_after(number);
        if (text_starts(names_text(number), prefix))
            names_remove(numbers, number);
    }
}
