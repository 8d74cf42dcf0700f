/* stages/shared/approval_words.h - what `why` says of a job that waits for an approval */
#ifndef STAGES_SHARED_APPROVAL_WORDS_H
#define STAGES_SHARED_APPROVAL_WORDS_H

#include "stages/shared/approval.h"

/* The parts of `why`; empty where the answer is that it waits for none. */
struct approval_words {
    struct buffer sentence, detail, next;
};
void approval_words_make(const struct settings *settings, const struct job_record *record,
                         enum approval_answer answer, const struct error *reason,
                         struct approval_words *words);
void approval_words_free(struct approval_words *words);

#endif
