/* stages/intake/claim.c - taking dropped files out of incoming/ */
#include "stages/intake/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "spool/jobs.h"

enum {
    COUNT_LENGTH = 2, /* of "+N" */
    MOST_TRIES = 9,
    SOURCE_LENGTH = NAME_MAX - TOKEN_LENGTH - COUNT_LENGTH - 1
};

static void name_claim(struct claim *claim, const char *source)
{
    /* A name that is too long for the token loses its middle: its end tells the dialect.  No UTF-8 character
     * is cut in two. */
    size_t length = strlen(source), head = length, tail = 0;
    if (length > SOURCE_LENGTH) {
        for (tail = 16; tail && (source[length - tail] & 0xc0) == 0x80; tail--)
            continue;
        for (head = SOURCE_LENGTH - tail; head && (source[head] & 0xc0) == 0x80; head--)
            continue;
    }
    snprintf(claim->file, sizeof(claim->file), "%s.%.*s%s", claim->token, (int)head, source,
             source + length - tail);
    claim->source = claim->file + TOKEN_LENGTH + 1;
}

enum drop_result claim_take(struct spool *spool, const char *name, int64_t now, struct claim *claim,
                            struct error *error)
{
    *claim = (struct claim){0};
    id_token_make(now, claim->token);
    name_claim(claim, name);
    return drop_claim(spool->incoming, name, spool->claims, claim->file, error);
}

bool claim_parse(struct claim *claim, const char *file)
{
    size_t length = strlen(file), before = TOKEN_LENGTH;
    int tries = 0;
    if (length < TOKEN_LENGTH + 2 || length > NAME_MAX)
        return false;
    if (file[before] == '+' && file[before + 1] >= '1' && file[before + 1] <= '9') {
        tries = file[before + 1] - '0';
        before += COUNT_LENGTH;
    }
    if (length < before + 2 || file[before] != '.' ||
        !id_token_valid((struct text){file, TOKEN_LENGTH}))
        return false;
    *claim = (struct claim){.tries = tries};
    memcpy(claim->file, file, length + 1);
    memcpy(claim->token, file, TOKEN_LENGTH);
    claim->source = claim->file + before + 1;
    return true;
}

int claim_count_try(struct spool *spool, struct claim *claim, struct error *error)
{
    struct claim counted = *claim;
    counted.tries = claim->tries < MOST_TRIES ? claim->tries + 1 : MOST_TRIES;
    snprintf(counted.file, sizeof(counted.file), "%s+%d.%s", claim->token, counted.tries,
             claim->source);
    claim->tries = counted.tries;
    if (file_rename(spool->claims, claim->file, spool->claims, counted.file))
        return error_errno(error, "%s could not be renamed to count that", claim->token);
    *claim = counted;
    claim->source = claim->file + TOKEN_LENGTH + COUNT_LENGTH + 1;
    return spool_sync_directory(spool, spool->claims, ".claims", error);
}

static int compare_tokens(const void *a, const void *b)
{
    const struct claim *const *first = a, *const *second = b;
    return memcmp((*first)->token, (*second)->token, TOKEN_LENGTH);
}

struct token_search {
    struct claim **claims; /* sorted by token */
    size_t count;
};

static int match_token(void *context, const struct job_place *place)
{
    struct token_search *search = context;
    struct claim key, *wanted = &key;
    memcpy(key.token, id_token(text_of(place->id)).data, TOKEN_LENGTH);
    struct claim **found =
        bsearch(&wanted, search->claims, search->count, sizeof(*search->claims), compare_tokens);
    if (found) {
        (*found)->found = true;
        (*found)->place = *place;
    }
    return 0;
}

int claims_find_jobs(const struct spool *spool, struct claim **claims, size_t count,
                     struct error *error)
{
    struct token_search search = {memory_allocate((count + 1) * sizeof(*claims)), 0};
    int result = 0;
    for (size_t i = 0; i < count; i++) {
        claims[i]->found = false;
        if (claims[i]->suspect)
            search.claims[search.count++] = claims[i];
    }
    qsort(search.claims, search.count, sizeof(*search.claims), compare_tokens);
    if (search.count)
        result = jobs_walk_all(spool, match_token, &search, error);
    free(search.claims);
    return result;
}

int claim_dispose(struct spool *spool, const struct claim *claim, const struct job_place *place,
                  bool keep, struct error *error)
{
    struct error_quote_buffer buffer;
    if (!keep) {
        if (!sys.unlinkat(spool->claims, claim->file, 0) || errno == ENOENT)
            return 0;
        return error_errno(error, "the claim %s could not be removed",
                           error_quote(&buffer, claim->file, strlen(claim->file)));
    }
    int job = job_open(spool, place);
    if (job < 0)
        return error_errno(error, "%s could not be opened", place->id);
    int result = sys.renameat(spool->claims, claim->file, job, "dropped");
    if (result && errno == ENOENT)
        result = 0;
    if (result)
        error_errno(error, "what was dropped could not be moved to %s/dropped", place->id);
    sys.close(job);
    return result;
}
