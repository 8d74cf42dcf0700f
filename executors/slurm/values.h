/* executors/slurm/values.h - values in slurmrestd's answers, as either kind of version writes them (version.h) */
#ifndef EXECUTORS_SLURM_VALUES_H
#define EXECUTORS_SLURM_VALUES_H

#include "base/value.h"

/* A number: 5, "5", or {"set": true, "infinite": false, "number": 5}; `otherwise` when it is not set. */
double slurm_value_number(const struct value *object, const char *key, double otherwise);
/* A whole number from 0 to `most`; `otherwise` when it is none of these, or not set. */
int64_t slurm_value_whole(const struct value *object, const char *key, int64_t most,
                          int64_t otherwise);

/* A time of day in milliseconds, from seconds; 0 when it is not set. */
int64_t slurm_value_time(const struct value *object, const char *key);

/* A word, or the first of a list of words; empty with data NULL when there is none. */
struct text slurm_value_word(const struct value *object, const char *key);
/* Whether the list of words, or text with commas or blanks, has this one. */
bool slurm_value_has_word(const struct value *object, const char *key, const char *word);

/* What a raw wait status, or an object of the structured versions, says: 0 to 255, or 128 and a signal's
 * number. */
int slurm_value_exit_code(const struct value *value);

#endif
