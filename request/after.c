/* request/after.c - the field `after`: jobs that must end before this one begins */
#include "request/after.h"

#include <string.h>

#include "base/nearest.h"
#include "request/values.h"

enum { NAME_LONGEST = 255 }; /* bytes: as long as a name of any dialect */

static const char *const names[] = {
    [AFTER_OK] = "afterok",  [AFTER_ANY] = "afterany",        [AFTER_NOT_OK] = "afternotok",
    [AFTER_BEGUN] = "after", [AFTER_SINGLETON] = "singleton", NULL};

const char *after_condition_name(enum condition condition)
{
    return names[condition];
}

bool after_condition_find(struct text word, enum condition *condition)
{
    for (int i = 0; names[i]; i++) {
        if (text_is(word, names[i])) {
            *condition = (enum condition)i;
            return true;
        }
    }
    return false;
}

struct conditions { /* the conditions read so far */
    struct reading *reading;
    struct dependency *list; /* room for AFTER_MOST */
    size_t count;
    bool too_many;
};

/* Could it be a job's name in any dialect, or an id? */
static bool is_job(struct text word)
{
    static const char others[] = "._-~";
    for (size_t i = 0; i < word.length; i++) {
        char c = word.data[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              memchr(others, c, sizeof(others) - 1)))
            return false;
    }
    return word.length > 0 && word.length <= NAME_LONGEST;
}

static void add_condition(struct conditions *conditions, enum condition condition, struct text job)
{
    for (size_t i = 0; i < conditions->count; i++)
        if (conditions->list[i].condition == condition && text_equal(conditions->list[i].job, job))
            return;
    conditions->too_many = conditions->too_many || conditions->count == AFTER_MOST;
    if (!conditions->too_many)
        conditions->list[conditions->count++] =
            (struct dependency){.condition = condition, .job = job};
}

/* Read the jobs of one condition, separated by colons. */
static void read_jobs(struct conditions *conditions, const struct value_path *path,
                      const struct value *value, enum condition condition, struct text rest)
{
    struct text job;
    do {
        if (!text_next(&rest, ':', &job))
            job = (struct text){"", 0};
        if (!is_job(job)) {
            problems_expected(conditions->reading, path, value,
                              "the name or the id of a job after %s: letters, digits and . _ - ~",
                              after_condition_name(condition));
            return;
        }
        add_condition(conditions, condition, job);
    } while (rest.data);
}

static void read_unknown(struct conditions *conditions, const struct value_path *path,
                         uint32_t line, uint32_t column, struct text word)
{
    struct error_quote_buffer buffer;
    struct nearest_hint hint;
    problems_add(conditions->reading, path, line, column,
                 "found the condition \"%s\", expected afterok, afterany, afternotok, "
                 "after or singleton%s",
                 error_quote(&buffer, word.data, word.length), nearest_hint(&hint, word, names));
}

/* singleton stands alone: it is about the job's own name. */
static void read_singleton(struct conditions *conditions, const struct value_path *path,
                           uint32_t line, uint32_t column, bool alone)
{
    if (alone)
        add_condition(conditions, AFTER_SINGLETON, (struct text){"", 0});
    else
        problems_add(
            conditions->reading, path, line, column,
            "found jobs after singleton, expected it alone: it waits for your earlier jobs "
            "of this job's name");
}

/* Read conditions written as one word: commas between conditions, colons between jobs. */
static void read_word_of_conditions(struct conditions *conditions, const struct value_path *path,
                                    const struct value *value)
{
    struct text rest, part;
    if (!values_scalar_text(value, false, &rest) || rest.length == 0) {
        problems_expected(conditions->reading, path, value,
                          "the name or the id of a job, or a condition such as afterany:prepare");
        return;
    }
    while (text_next(&rest, ',', &part)) {
        struct text jobs = part, word = part;
        enum condition condition = AFTER_OK;
        bool alone = !memchr(part.data, ':', part.length);
        if (!alone) {
            text_next(&jobs, ':', &word);
            if (!after_condition_find(word, &condition)) {
                read_unknown(conditions, path, value->line, value->column, word);
                continue;
            }
        }
        if (condition == AFTER_SINGLETON || (alone && text_is(word, "singleton")))
            read_singleton(conditions, path, value->line, value->column, alone);
        else
            read_jobs(conditions, path, value, condition, jobs);
    }
}

static void read_list(struct conditions *conditions, const struct value_path *path,
                      const struct value *value)
{
    for (size_t i = 0; i < value->list.count; i++) {
        struct value_path item = {.above = path, .index = i};
        read_word_of_conditions(conditions, &item, value->list.items[i]);
    }
}

static void read_job_word(struct conditions *conditions, const struct value_path *path,
                          const struct value *value, enum condition condition)
{
    struct text job;
    if (!values_scalar_text(value, false, &job) || !is_job(job))
        problems_expected(conditions->reading, path, value,
                          "the name or the id of a job: letters, digits and . _ - ~");
    else
        add_condition(conditions, condition, job);
}

static void read_map(struct conditions *conditions, const struct value_path *path,
                     const struct value *value)
{
    for (size_t i = 0; i < value->object.count; i++) {
        const struct member *member = &value->object.members[i];
        const struct value *jobs = member->value;
        struct value_path under = {.above = path, .name = member->key};
        enum condition condition;
        if (!after_condition_find(member->key, &condition)) {
            read_unknown(conditions, &under, member->line, member->column, member->key);
            continue;
        }
        if (condition == AFTER_SINGLETON) {
            read_singleton(conditions, &under, member->line, member->column, false);
            continue;
        }
        if (jobs->kind != VALUE_LIST) {
            read_job_word(conditions, &under, jobs, condition);
            continue;
        }
        for (size_t k = 0; k < jobs->list.count; k++) {
            struct value_path item = {.above = &under, .index = k};
            read_job_word(conditions, &item, jobs->list.items[k], condition);
        }
    }
}

void read_after(struct reading *reading, const struct value_path *path, const struct value *value,
                const struct field *field, void *into)
{
    struct conditions conditions = {
        .reading = reading,
        .list = arena_allocate(reading->arena, AFTER_MOST * sizeof(struct dependency)),
    };
    size_t found = reading->found;
    if (value->kind == VALUE_LIST)
        read_list(&conditions, path, value);
    else if (value->kind == VALUE_OBJECT)
        read_map(&conditions, path, value);
    else
        read_word_of_conditions(&conditions, path, value);
    if (conditions.too_many)
        problems_add(reading, path, value->line, value->column,
                     "found more than %d conditions, expected at most as many", AFTER_MOST);
    else if (conditions.count == 0 && reading->found == found)
        problems_expected(reading, path, value,
                          "at least one job, such as prepare or afterany:prepare");
    *(struct dependency **)into = conditions.list;
    *(size_t *)((char *)into - field->offset + field->count_offset) = conditions.count;
}
