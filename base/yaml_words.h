/* base/yaml_words.h - explains errors of YAML syntax in plain words
 *
 * libyaml reports what its scanner or parser expected, at the place where it failed.  Users want to
 * know which of their words is wrong, and where: a tab, a no-break space, a missing colon in the
 * line before.  Errors that are not known here are reported in libyaml's words.
 */
#ifndef BASE_YAML_WORDS_H
#define BASE_YAML_WORDS_H

#include "base/text.h"

struct yaml_place {
    size_t line, column; /* from 0; columns count characters */
};

struct yaml_trouble { /* as libyaml found it */
    struct text source;
    const char *problem, *context; /* NULL: none */
    struct yaml_place at, began;   /* of the problem, and of its context */
};

enum { YAML_WORDS_SIZE = 256 };

/* Write the words, and set *place to the error's place. */
void yaml_words(const struct yaml_trouble *trouble, char words[static YAML_WORDS_SIZE],
                struct yaml_place *place);

#endif
