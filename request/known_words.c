/* request/known_words.c - readers of fields that take one of a few words: library and type */
#include "request/known_words.h"

#include <string.h>
#include <strings.h>

#include "base/nearest.h"
#include "request/problems.h"

static const char *const libraries[] = {"pytorch",   "tensorflow", "mxnet",   "paddle",  "jax",
                                        "mindspore", "deepspeed",  "horovod", "keras",   "caffe",
                                        "caffe2",    "cntk",       "chainer", "sklearn", "xgboost",
                                        "any",       NULL};

static const char *const types[] = {"single",  "distributed", "ps",    "mpi",   "elastic",
                                    "serving", "notebook",    "array", "roles", NULL};

const char *const *known_words_libraries(void)
{
    return libraries;
}

static bool has_word(const char *const *words, struct text text)
{
    for (; *words; words++)
        if (text_is(text, *words))
            return true;
    return false;
}

static void read_known_word(struct reading *reading, const struct value_path *path,
                            const struct value *value, const char *const *known, void *into)
{
    if (value->kind == VALUE_STRING && has_word(known, value->string)) {
        *(struct text *)into = value->string;
        return;
    }
    struct text word = value->kind == VALUE_STRING ? value->string : TEXT("");
    struct nearest_hint hint;
    struct buffer list = {0};
    for (size_t i = 0; known[i]; i++)
        buffer_printf(&list, "%s%s", i ? ", " : "", known[i]);
    problems_expected(reading, path, value, "one of %s%s", list.data,
                      nearest_hint(&hint, word, known));
    buffer_free(&list);
}

/* Handle other spellings: PyTorch is accepted as pytorch; for pytorch==2.1 a problem says to use
 * two fields.  False when the text is neither. */
static bool take_library(struct reading *reading, const struct value_path *path,
                         const struct value *value, void *into)
{
    struct text word = value->string, version = {"", 0};
    for (size_t i = 0; i < word.length; i++) {
        if (!memchr("=:<>~@ -", word.data[i], 8) || version.length)
            continue;
        version = (struct text){word.data + i, word.length - i};
        word.length = i;
    }
    for (size_t i = 0; libraries[i]; i++) {
        if (strlen(libraries[i]) != word.length ||
            strncasecmp(libraries[i], word.data, word.length) != 0)
            continue;
        while (version.length && memchr("=:<>~@ -", version.data[0], 8)) {
            version.data++;
            version.length--;
        }
        struct error_quote_buffer buffer;
        if (version.length)
            problems_expected(reading, path, value,
                              "the library alone; its version is a field of its own: library: %s, "
                              "version: %s",
                              libraries[i], error_quote(&buffer, version.data, version.length));
        else
            *(struct text *)into = text_of(libraries[i]);
        return true;
    }
    return false;
}

void read_library(struct reading *reading, const struct value_path *path, const struct value *value,
                  const struct field *field, void *into)
{
    (void)field;
    if (value->kind != VALUE_STRING || !take_library(reading, path, value, into))
        read_known_word(reading, path, value, libraries, into);
}

void read_type(struct reading *reading, const struct value_path *path, const struct value *value,
               const struct field *field, void *into)
{
    (void)field;
    read_known_word(reading, path, value, types, into);
}
