/* archive/find.c - finds the archived job that a word means */
#include "archive/find.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

struct search {
    int archive;
    struct text word;
    uid_t asker;
    char label[ID_SIZE]; /* the word as the name of an id; "" when it is none */
    struct arena *arena;
    struct found named, begun; /* the best, and the first; the id is empty when there is none */
    bool mine;                 /* `named` is the asker's */
    size_t begun_count;
};

/* Is the first job newer than the second, or there is no second? */
static bool is_newer(struct text id, struct text than)
{
    return !than.length || text_compare(id_token(id), id_token(than)) > 0;
}

static bool has_label(const struct search *search, struct text id)
{
    size_t name = id.length - TOKEN_LENGTH - 1;
    return search->label[0] && strlen(search->label) == name &&
           memcmp(id.data, search->label, name) == 0;
}

/* Is it the asker's, by the bytes of the line? */
static bool is_mine(const struct search *search, struct text line)
{
    char wanted[32];
    int length = snprintf(wanted, sizeof(wanted), " uid=%u", (unsigned int)search->asker);
    const char *found = memmem(line.data, line.length, wanted, (size_t)length);
    return found && (found[length] == ' ' || found[length] == '\n');
}

/* A job of the name: is it better than the one that was found before? */
static void consider_named(struct search *search, const struct part *part, struct text line,
                           struct text id)
{
    struct archived_job job;
    bool mine = is_mine(search, line);
    if (mine < search->mine || (mine == search->mine && !is_newer(id, search->named.job.id)))
        return;
    if (!index_next(&line, search->arena, &job) ||
        (job.name.length && !text_equal(job.name, search->word) &&
         !text_is(search->word, search->label)))
        return;
    search->named = (struct found){.part = *part, .job = job};
    search->mine = mine;
}

/* A job whose id begins with the word: the first is enough to know, and that there are others. */
static void consider_begun(struct search *search, const struct part *part, struct text line,
                           struct text id)
{
    struct archived_job job;
    if (text_equal(id, search->begun.job.id))
        return;
    if (search->begun_count++ == 0 && index_next(&line, search->arena, &job))
        search->begun = (struct found){.part = *part, .job = job};
}

/* Look at the lines whose id begins so, and read those that matter: there may be a million. */
static void search_lines(struct search *search, const struct part *part, struct text lines,
                         struct text begin)
{
    struct buffer wanted = {0};
    buffer_printf(&wanted, " id=%.*s", (int)begin.length, begin.data);
    const char *end = lines.data + lines.length, *from = lines.data;
    while (from < end && (from = memmem(from, (size_t)(end - from), wanted.data, wanted.length))) {
        const char *start = memrchr(lines.data, '\n', (size_t)(from - lines.data));
        const char *stop = memchr(from, '\n', (size_t)(end - from));
        start = start ? start + 1 : lines.data;
        stop = stop ? stop + 1 : end;
        struct text rest = {from + 4, (size_t)(stop - from - 4)}, id;
        struct text line = {start, (size_t)(stop - start)};
        if (text_next(&rest, ' ', &id) && id_valid(id)) {
            if (has_label(search, id))
                consider_named(search, part, line, id);
            else if (id.length >= search->word.length &&
                     memcmp(id.data, search->word.data, search->word.length) == 0)
                consider_begun(search, part, line, id);
        }
        from = stop;
    }
    buffer_free(&wanted);
}

/* Texts of a job point into its lines, which are freed. */
static void keep_texts(struct arena *arena, struct archived_job *job)
{
    struct text line;
    struct buffer formatted = {0};
    index_format(job, &formatted);
    line = arena_text(arena, formatted.data, formatted.length);
    buffer_free(&formatted);
    index_next(&line, arena, job);
}

static int search_part(struct search *search, const struct part *part, struct error *error)
{
    struct buffer lines = {0};
    struct text label = text_of(search->label);
    struct text named = search->named.job.id, begun = search->begun.job.id;
    if (parts_read_index(search->archive, part, &lines, error))
        return -1;
    if (label.length)
        search_lines(search, part, buffer_text(&lines), label);
    if (!label.length || !text_starts(search->word, search->label))
        search_lines(search, part, buffer_text(&lines), search->word);
    if (search->named.job.id.data != named.data)
        keep_texts(search->arena, &search->named.job);
    if (search->begun.job.id.data != begun.data)
        keep_texts(search->arena, &search->begun.job);
    buffer_free(&lines);
    return 0;
}

/* By a whole id: a job ends after its acceptance, but the clocks of hosts differ. */
static int search_id(const struct search *search, const struct part *parts, size_t count,
                     struct found *found, struct error *error)
{
    char first[CLOCK_TEXT_SIZE];
    int result = 1;
    clock_date(id_time(search->word) - CLOCK_DAY, first);
    for (size_t i = 0; i < count && result == 1 && strcmp(parts[i].day, first) >= 0; i++) {
        struct buffer lines = {0};
        if (parts_read_index(search->archive, &parts[i], &lines, error)) {
            result = -1;
        } else if (index_find_id(buffer_text(&lines), search->word, search->arena, &found->job)) {
            keep_texts(search->arena, &found->job);
            found->part = parts[i];
            result = 0;
        }
        buffer_free(&lines);
    }
    return result;
}

static int decide(const struct search *search, struct found *found, struct error *error)
{
    struct error_quote_buffer quote;
    const char *word = error_quote(&quote, search->word.data, search->word.length);
    if (search->named.job.id.length) {
        *found = search->named;
        return 0;
    }
    if (search->begun_count == 1) {
        *found = search->begun;
        return 0;
    }
    if (search->begun_count)
        error_set(error, "%zu archived jobs have an id that starts with \"%s\"; give more of it",
                  search->begun_count, word);
    else
        error_set(error, "there is no archived job \"%s\"", word);
    return 1;
}

int find_archived(int archive, struct text word, uid_t asker, struct arena *arena,
                  struct found *found, struct error *error)
{
    struct search search = {.archive = archive, .word = word, .asker = asker, .arena = arena};
    struct part *parts = NULL;
    char id[ID_SIZE];
    size_t count = 0;
    int result = 1;
    *found = (struct found){.part = {.number = 0}};
    if (!word.length || word.length > NAME_MAX || memchr(word.data, '\n', word.length))
        return decide(&search, found, error);
    if (parts_list(archive, &parts, &count))
        return error_errno(error, "history/archive/ could not be read");
    if (id_valid(word))
        result = search_id(&search, parts, count, found, error);
    if (result == 1) {
        id_make(word, "0000000000000", id);
        snprintf(search.label, sizeof(search.label), "%.*s", (int)(strlen(id) - TOKEN_LENGTH - 1),
                 id);
        result = 0;
        for (size_t i = 0; i < count && result == 0; i++)
            result = search_part(&search, &parts[i], error);
        if (result == 0)
            result = decide(&search, found, error);
    }
    free(parts);
    return result;
}
