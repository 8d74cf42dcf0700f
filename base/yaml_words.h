/* base/yaml_words.h - what is wrong with text that is not well-formed YAML, in plain words
 *
 * libyaml says what its scanner or parser did not find, at the place where it noticed.  The reader of
 * the sentence wants to know what they wrote, and where: a tab, a blank that is none, a missing colon
 * in the line before.  What is not known here is told in libyaml's words.
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

/* Write the words, and set *place to where what they tell of stands. */
void yaml_words(const struct yaml_trouble *trouble, char words[static YAML_WORDS_SIZE],
                struct yaml_place *place);

#endif
