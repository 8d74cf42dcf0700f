/* tests/unit/request_support.h - job files that are to be accepted, refused, or noted */
#ifndef TESTS_UNIT_REQUEST_SUPPORT_H
#define TESTS_UNIT_REQUEST_SUPPORT_H

#include "request/dialects/dialects.h"
#include "tests/unit/unit_arena.h"

static inline struct description *good(const char *source)
{
    struct description *job = dialects_read(arena, text_of(source), "j.yaml", &error);
    if (!job)
        fail_msg("%s\n   was refused: %s", source, error.text);
    return job;
}

/* The refusal holds `sentence`. */
static inline void bad(const char *source, const char *sentence)
{
    if (dialects_read(arena, text_of(source), "j.yaml", &error))
        fail_msg("%s\n   was accepted, expected %s", source, sentence);
    if (!strstr(error.text, sentence))
        fail_msg("%s\n   gave     %s\n   expected %s", source, error.text, sentence);
}

/* Is the owner told that this field has no effect? */
static inline bool noted(const struct description *job, const char *field)
{
    for (size_t i = 0; i < job->notes.count; i++)
        if (text_is(job->notes.items[i].field, field))
            return true;
    return false;
}

#endif
