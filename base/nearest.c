/* base/nearest.c - "did you mean ...?": optimal string alignment distance, bounded */
#include "base/nearest.h"

#include <stdio.h>
#include <string.h>

enum {
    LONGEST_WORD = 40,   /* bytes; none of our names is longer */
    SHORTEST_PREFIX = 3, /* bytes: `mem` may well mean memory, `me` anything */
};

static size_t smaller_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t edit_distance(struct text a, struct text b)
{
    size_t rows[3][LONGEST_WORD + 1];
    size_t *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b.length; j++)
        above[j] = j;
    for (size_t i = 1; i <= a.length; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b.length; j++) {
            size_t change = above[j - 1] + (a.data[i - 1] != b.data[j - 1]);
            row[j] = smaller_of(change, smaller_of(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a.data[i - 1] == b.data[j - 2] && a.data[i - 2] == b.data[j - 1])
                row[j] = smaller_of(row[j], before[j - 2] + 1);
        }
        size_t *oldest = before;
        before = above;
        above = row;
        row = oldest;
    }
    return above[b.length];
}

const char *nearest_word(struct text word, const char *const *candidates)
{
    if (word.length == 0 || word.length > LONGEST_WORD)
        return NULL;
    const char *best = NULL;
    size_t best_distance = word.length > 2 ? (word.length + 1) / 3 : 1;
    const char *longer = NULL;
    for (; *candidates; candidates++) {
        struct text candidate = text_of(*candidates);
        if (!longer && word.length >= SHORTEST_PREFIX && candidate.length > word.length &&
            memcmp(candidate.data, word.data, word.length) == 0)
            longer = *candidates;
        if (candidate.length > LONGEST_WORD)
            continue;
        size_t d = edit_distance(word, candidate);
        if (d <= best_distance && (!best || d < best_distance)) {
            best = *candidates;
            best_distance = d;
        }
    }
    return best ? best : longer;
}

const char *nearest_hint(struct nearest_hint *hint, struct text word, const char *const *candidates)
{
    const char *nearest = nearest_word(word, candidates);
    snprintf(hint->text, sizeof(hint->text), nearest ? "; did you mean %s?" : "%s",
             nearest ? nearest : "");
    return hint->text;
}
