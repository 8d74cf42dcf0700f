/* commands/pick.c - finds the job that a word on the command line means */
#include "commands/pick.h"

#include <string.h>
#include <unistd.h>

#include "archive/find.h"
#include "base/clock.h"
#include "base/duration.h"
#include "commands/complain.h"
#include "commands/options.h"
#include "spool/meant.h"

/* Append a line for each candidate, with details that tell them apart. */
static void list_places(const struct spool *spool, const struct meant *meant, struct buffer *out)
{
    struct arena *arena = arena_new();
    for (size_t i = 0; i < meant->count; i++) {
        char age[CLOCK_TEXT_SIZE];
        struct job_view view;
        view_read(spool, &meant->places[i], arena, &view);
        duration_format(clock_now() - id_time(text_of(view.place.id)), age);
        buffer_printf(out, "\n  %-*s  %-8s  %.*s  %s ago", ID_SIZE - 1, view.place.id,
                      job_state_name(view.situation.state), (int)view.record.owner.length,
                      view.record.owner.length ? view.record.owner.data : "-", age);
    }
    if (meant->total > meant->count)
        buffer_printf(out, "\n  and %zu more", meant->total - meant->count);
    arena_free(arena);
}

/* Is what the word means archived?  Its id is stored then. */
static bool is_archived(const struct meaning *meaning, char id[static ID_SIZE])
{
    struct found found;
    int archive = parts_open(meaning->spool, false);
    if (archive < 0)
        return false;
    struct arena *arena = arena_new();
    bool archived = find_archived(archive, meaning->word, meaning->asker, arena, &found, NULL) == 0;
    if (archived)
        text_copy(id, ID_SIZE, found.job.id);
    arena_free(arena);
    sys.close(archive);
    return archived;
}

/* *several: how many the word may mean; only when it is ambiguous.  With `archives` the sentence tells of a job
 * that is archived. */
static int find_job(const struct meaning *meaning, bool archives, struct job_place *place,
                    size_t *several, struct error *error)
{
    char id[ID_SIZE];
    struct meant meant;
    struct error sentence;
    struct buffer list = {0};
    int result = meant_job(meaning, &meant, &sentence);
    if (result == 0) {
        *place = meant.places[0];
        return STATUS_DONE;
    }
    *several = meant.count;
    if (meant.count)
        list_places(meaning->spool, &meant, &list);
    if (archives && result > 0 && !meant.count && is_archived(meaning, id))
        error_set(
            error,
            "%s has ended and is archived; `dlspool show` tells of it, and to run it again, submit "
            "its job file again",
            id);
    else
        error_set(error, "%s%s%s", sentence.text, list.length ? ":" : "",
                  list.length ? list.data : "");
    buffer_free(&list);
    return result < 0 ? STATUS_FAILED : STATUS_NOT_FOUND;
}

int pick_find_kept(const struct spool *spool, const char *word, struct job_place *place,
                   bool *archived, struct error *error)
{
    size_t several = 0;
    const struct meaning meaning = {.spool = spool, .word = text_of(word), .asker = getuid()};
    int status = find_job(&meaning, false, place, &several, error);
    *archived = status == STATUS_NOT_FOUND && several == 0;
    return status;
}

int pick_find(const struct spool *spool, const char *word, struct job_place *place,
              struct error *error)
{
    size_t several;
    const struct meaning meaning = {.spool = spool, .word = text_of(word), .asker = getuid()};
    return find_job(&meaning, true, place, &several, error);
}

int pick_find_tasks(const struct spool *spool, const char *word, struct job_place *place,
                    struct text *tasks, struct error *error)
{
    struct meaning meaning = {.spool = spool, .asker = getuid()};
    request_control_split(text_of(word), &meaning.word, tasks);
    if (!tasks->length)
        meaning.word = text_of(word);
    size_t several;
    return find_job(&meaning, true, place, &several, error);
}

int pick_job_for(const struct spool *spool, const char *word, enum control_verb verb,
                 struct job_place *place, struct error *error)
{
    struct control_question question = {.spool = spool, .verb = verb};
    const struct meaning meaning = {.spool = spool,
                                    .word = text_of(word),
                                    .asker = getuid(),
                                    .applies = control_applies,
                                    .context = &question};
    size_t several;
    return find_job(&meaning, true, place, &several, error);
}

int pick_job(const struct spool *spool, const char *word, struct job_place *place)
{
    struct error error;
    int status = pick_find(spool, word, place, &error);
    if (status != STATUS_DONE)
        complain("%s", error.text);
    return status;
}

int pick_find_shown(const struct spool *spool, const char *word, struct job_place *place,
                    struct text *tasks, bool *archived, struct error *error)
{
    struct text job;
    request_control_split(text_of(word), &job, tasks);
    *archived = false;
    return job.length < strlen(word) ? pick_find_tasks(spool, word, place, tasks, error)
                                     : pick_find_kept(spool, word, place, archived, error);
}
