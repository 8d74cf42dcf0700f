/* executors/slurm/table.c - what Slurm knows of our jobs, by one list for all of them */
#include "executors/slurm/table.h"

#include <inttypes.h>
#include <malloc.h>
#include <string.h>

#include "base/clock.h"
#include "base/names.h"
#include "executors/slurm/values.h"

/* Milliseconds: a list that takes less is requested whenever it is wanted, and after another one the server rests
 * for this many times what it took, up to a minute.  One that was short, in bytes, may have taken long by chance:
 * that is believed the second time. */
static const int64_t list_is_light = 200;
static const int64_t rests = 9;
static const int64_t rest_most = 60000;
static const size_t list_is_long = 1 << 20;

struct list {            /* under the name of the user who asked */
    struct arena *arena; /* of the records */
    struct slurm_records records;
    size_t capacity; /* of records.items, in items */
    int64_t as_of;   /* slurmctld's clock before it was asked, in seconds; 0: not known */
    int64_t asked;   /* of clock_elapsed(): when it was asked last, with an answer; 0: it was not */
    int64_t took, took_before; /* milliseconds, of the last two with an answer; 0: there was none */
    bool is_long;              /* the last that had news was */
    int api;                   /* of the version it was asked with */
};

static struct text list_user(const struct slurm *slurm, const char *user)
{
    return text_of(slurm_api_differs_by_user(slurm->connection) ? user : "");
}

static struct list *find_list(const struct slurm *slurm, const char *user)
{
    return slurm->lists ? names_find(slurm->lists, list_user(slurm, user)) : NULL;
}

static struct list *add_list(struct slurm *slurm, const char *user)
{
    if (!slurm->lists)
        slurm->lists = names_new(SIZE_MAX, sizeof(struct list));
    struct list *list = names_add(slurm->lists, list_user(slurm, user));
    list->arena = arena_new();
    return list;
}

void slurm_table_free(struct slurm *slurm)
{
    if (!slurm->lists)
        return;
    for (struct list *list = names_first(slurm->lists); list; list = names_after(list))
        arena_free(list->arena);
    names_free(slurm->lists);
}

/* slurmctld's clock, in seconds: what happens from now on happens at this time or later.  0: not known;
 * -1 and a sentence: it cannot be asked. */
static int64_t ask_clock(struct slurm *slurm, const char *user, struct error *error)
{
    struct arena *arena = arena_new();
    const struct value *answer = slurm_get(slurm, arena, "diag", user, error);
    double now = slurm_value_number(value_get(answer, "statistics"), "req_time", 0);
    arena_free(arena);
    return !answer ? -1 : now > 0 && now < 1e12 ? (int64_t)now : 0;
}

static int take_answer(struct slurm *slurm, struct list *list, const struct slurm_call *call,
                       struct error *error)
{
    struct arena *arena = arena_new();
    struct slurm_records records;
    int result =
        slurm_records_read(&records, arena, buffer_text(&call->response), slurm->spool, error);
    if (!result) {
        arena_free(list->arena);
        list->arena = arena;
        list->records = records;
        list->capacity = records.count;
    } else {
        arena_free(arena);
    }
    return result;
}

int slurm_table_refresh(struct slurm *slurm, const char *user, struct error *error)
{
    const struct slurm_version *version = slurm_api_version(slurm->connection, error);
    if (!version)
        return -1;
    struct list *list = find_list(slurm, user);
    if (!list)
        list = add_list(slurm, user);
    /* v0.0.36 has no update_time, and answers with an empty list while slurmctld is down, which
     * shows in the clock. */
    const char *as = names_text(list).data;
    int64_t began = clock_elapsed();
    int64_t now = ask_clock(slurm, as, error);
    if (now < 0)
        return -1;
    struct arena *arena = arena_new();
    /* After the clock was set back, changes would look older than the last list. */
    bool known =
        list->as_of && now >= list->as_of && list->api == version->api && version->api > 36;
    struct slurm_call call = {
        .method = "GET",
        .path = known ? slurm_path(arena, version, "jobs?update_time=%" PRId64, list->as_of)
                      : slurm_path(arena, version, "jobs"),
        .user = as,
        .raw = true,
    };
    int result = 0;
    bool answered = slurm_ask(slurm, arena, &call) == SLURM_DONE;
    bool is_long = call.response.length > list_is_long;
    if (answered) {
        result = take_answer(slurm, list, &call, error);
        list->api = version->api;
        list->is_long = is_long;
    } else if (call.outcome != SLURM_UNCHANGED) {
        result = -1;
        if (error)
            *error = call.error;
    }
    list->as_of = result ? 0 : now;
    list->asked = result ? 0 : began;
    list->took_before = result ? 0 : list->took;
    list->took = result ? 0 : clock_elapsed() - began;
    slurm_api_call_free(&call);
    arena_free(arena);
    if (is_long)
        malloc_trim(0); /* return the memory of a large list to the system */
    return result;
}

bool slurm_table_rests(const struct slurm *slurm, const char *user, bool asks)
{
    const struct list *list = find_list(slurm, user);
    if (!list || !list->asked)
        return false;
    bool by_chance = list->took_before ? list->took_before < list->took : !list->is_long;
    int64_t took = by_chance ? list->took_before : list->took;
    int64_t rest = took < list_is_light ? 0 : took * rests * (asks ? 2 : 1);
    return clock_elapsed() < list->asked + list->took + (rest < rest_most ? rest : rest_most);
}

int slurm_table_refresh_older(struct slurm *slurm, const char *user, int64_t age,
                              struct error *error)
{
    const struct list *list = find_list(slurm, user);
    if (list && list->asked && clock_elapsed() - list->asked <= age)
        return 0;
    return slurm_table_refresh(slurm, user, error);
}

static bool is_about(const struct slurm_record *record, const struct slurm_question *question)
{
    return record->attempt == question->attempt && text_is(record->id, question->id);
}

/* Put the records of one job in the place of those that the list has of it, which are most often as many. */
static void replace_records(struct list *list, const struct slurm_question *question,
                            const struct slurm_records *found)
{
    struct slurm_records *records = &list->records;
    struct slurm_records old = slurm_records_of(records, question->id, question->attempt);
    if (old.count == found->count) {
        memcpy(old.items, found->items, found->count * sizeof(*found->items));
        return;
    }
    size_t kept = 0;
    for (size_t i = 0; i < records->count; i++)
        if (!is_about(&records->items[i], question))
            records->items[kept++] = records->items[i];
    records->count = kept;
    for (size_t i = 0; i < found->count; i++) {
        records->items = arena_grow(list->arena, records->items, records->count, &list->capacity,
                                    sizeof(*records->items));
        records->items[records->count++] = found->items[i];
    }
    slurm_records_sort(records);
}

void slurm_table_ask(struct slurm *slurm, const struct slurm_question *questions, size_t count)
{
    struct arena *arena = arena_new();
    const struct slurm_version *version = slurm_api_version(slurm->connection, NULL);
    struct slurm_call *calls = arena_allocate(arena, (count + 1) * sizeof(*calls));
    struct slurm_call **batch = arena_allocate(arena, (count + 1) * sizeof(*batch));
    for (size_t i = 0; i < count && version; i++) {
        calls[i] = (struct slurm_call){
            .method = "GET",
            .path = slurm_path(arena, version, "job/%" PRId64, questions[i].number),
            .user = questions[i].user,
            .raw = true,
        };
        batch[i] = &calls[i];
    }
    if (count && version)
        slurm_api_run(slurm->connection, arena, batch, count);
    for (size_t i = 0; i < count && version; i++) {
        struct list *list = find_list(slurm, questions[i].user);
        struct slurm_records answer;
        if (list && calls[i].outcome == SLURM_DONE &&
            !slurm_records_read(&answer, list->arena, buffer_text(&calls[i].response), slurm->spool,
                                NULL)) {
            struct slurm_records found =
                slurm_records_of(&answer, questions[i].id, questions[i].attempt);
            if (found.count)
                replace_records(list, &questions[i], &found);
        }
        slurm_api_call_free(&calls[i]);
    }
    arena_free(arena);
}

int64_t slurm_table_clock(const struct slurm *slurm, const char *user)
{
    const struct list *list = find_list(slurm, user);
    return list ? list->as_of * 1000 : 0;
}

const struct slurm_records *slurm_table_all(const struct slurm *slurm, const char *user)
{
    const struct list *list = find_list(slurm, user);
    return list ? &list->records : NULL;
}

struct slurm_records slurm_table_find(const struct slurm *slurm, const char *user, const char *id,
                                      int attempt)
{
    const struct list *list = find_list(slurm, user);
    return list ? slurm_records_of(&list->records, id, attempt) : (struct slurm_records){0};
}
