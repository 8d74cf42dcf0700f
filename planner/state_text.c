/* planner/state_text.c - a plan as text: the planner's input and decisions */
#include "planner/state_text.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SIZE = 1 << 30, MOST_JOBS = 1 << 20, MOST_LEVELS = 64, MOST_TOKENS = 1 << 16 };

/* ---- writing ---- */

struct state_text {
    struct buffer plan;  /* its line, without `next` */
    struct buffer *jobs; /* a line for each job, without the decision */
};

static const struct flag {
    char letter;
    size_t offset; /* of a bool in struct plan_job */
} flags[] = {
    {'f', offsetof(struct plan_job, firm)},    {'p', offsetof(struct plan_job, promised)},
    {'r', offsetof(struct plan_job, refused)}, {'a', offsetof(struct plan_job, admitted)},
    {'k', offsetof(struct plan_job, kept)},    {'u', offsetof(struct plan_job, unstoppable)},
};
enum { FLAGS = ARRAY_COUNT(flags) };

static void add_flags(struct buffer *out, const struct plan_job *job)
{
    size_t before = out->length;
    for (int i = 0; i < FLAGS; i++)
        if (*(const bool *)((const char *)job + flags[i].offset))
            buffer_add_byte(out, flags[i].letter);
    if (out->length == before)
        buffer_add_byte(out, '-');
}

static void add_job(struct buffer *out, const struct plan_job *job, const char *name)
{
    buffer_printf(out,
                  "job name=%s id=%s arrival=%a deadline=%a weight=%a work=%a wanted=%d size=%d"
                  " restart=%a restart_left=%a least_gain=%a owner=%d flags=",
                  name, job->id, job->arrival, job->deadline, job->weight, job->work, job->wanted,
                  job->size, job->restart, job->restart_left, job->least_gain, job->owner);
    add_flags(out, job);
    buffer_add_string(out, " levels=");
    for (size_t i = 0; i < job->level_count; i++)
        buffer_printf(out, "%s%d:%a", i ? "," : "", job->levels[i].size, job->levels[i].rate);
}

struct state_text *state_text_begin(const struct plan_state *state, const char *pool,
                                    const char *const *names)
{
    struct state_text *text = memory_allocate(sizeof(*text));
    text->jobs = memory_allocate((state->job_count + 1) * sizeof(*text->jobs));
    buffer_printf(&text->plan,
                  "plan now=%a pool=%s capacity=%d guard=%a reserve=%a sticky=%a tokens=",
                  state->now, pool, state->capacity, state->guard, state->reserve, state->sticky);
    for (size_t i = 0; state->tokens && i < state->token_count; i++)
        buffer_printf(&text->plan, "%s%a", i ? "," : "", state->tokens[i]);
    if (!state->tokens || state->token_count == 0)
        buffer_add_byte(&text->plan, '-');
    for (size_t i = 0; i < state->job_count; i++)
        add_job(&text->jobs[i], state->jobs[i], names[i]);
    return text;
}

void state_text_end(struct state_text *text, const struct plan_state *state, struct buffer *out)
{
    buffer_add_text(out, buffer_text(&text->plan));
    buffer_printf(out, " jobs=%zu next=%a\n", state->job_count, state->next);
    for (size_t i = 0; i < state->job_count; i++) {
        const struct plan_job *job = state->jobs[i];
        buffer_add_text(out, buffer_text(&text->jobs[i]));
        buffer_printf(out, " give=%d standing=%d finish=%a after=%s%s%s\n", job->give,
                      (int)job->deadline_status, job->finish, job->promised ? "p" : "",
                      job->over ? "o" : "", job->promised || job->over ? "" : "-");
        buffer_free(&text->jobs[i]);
    }
    buffer_add_string(out, "end\n");
    buffer_free(&text->plan);
    free(text->jobs);
    free(text);
}

/* ---- reading ---- */

struct line {
    struct arena *arena;
    size_t number;
    struct text rest; /* the pairs not read yet */
    struct error *error;
};

static int report_wrong(const struct line *line, const char *expected)
{
    struct error_quote_buffer buffer;
    return error_set(line->error, "line %zu: found \"%s\", expected %s", line->number,
                     error_quote(&buffer, line->rest.data ? line->rest.data : "",
                                 line->rest.data ? line->rest.length : 0),
                     expected);
}

/* The value of the next pair, which must have that key.  Pairs come in one order only. */
static int get_text(struct line *line, const char *key, struct text *value)
{
    struct text rest = line->rest, pair;
    size_t length = strlen(key);
    if (!text_next(&rest, ' ', &pair) || pair.length <= length + 1 ||
        memcmp(pair.data, key, length) != 0 || pair.data[length] != '=')
        return report_wrong(line, key);
    *value = arena_text(line->arena, pair.data + length + 1, pair.length - length - 1);
    line->rest = rest;
    return 0;
}

/* A number that fills the text; `end` where there may be more. */
static bool read_double(const char *text, double *number, char **end)
{
    *number = strtod(text, end);
    return *end != text && !isnan(*number);
}

/* Finite numbers go up to LARGEST; `most` is INFINITY where that is allowed. */
static const double LARGEST = 1e300;

static int get_double(struct line *line, const char *key, double least, double most, double *number)
{
    struct text text;
    char *end;
    struct line before = *line;
    if (get_text(line, key, &text))
        return -1;
    if (!read_double(text.data, number, &end) || *end || !(*number >= least && *number <= most))
        return report_wrong(&before, "a number in its bounds");
    return 0;
}

static int get_int(struct line *line, const char *key, int least, int most, int *number)
{
    double value;
    struct line before = *line;
    if (get_double(line, key, least, most, &value))
        return -1;
    if (value != floor(value))
        return report_wrong(&before, "a whole number in its bounds");
    *number = (int)value;
    return 0;
}

static int get_flags(struct line *line, struct plan_job *job)
{
    struct text text;
    struct line before = *line;
    if (get_text(line, "flags", &text))
        return -1;
    for (size_t i = 0; i < text.length; i++) {
        int flag = 0;
        while (flag < FLAGS && flags[flag].letter != text.data[i])
            flag++;
        if (flag < FLAGS)
            *(bool *)((char *)job + flags[flag].offset) = true;
        else if (text.data[i] != '-')
            return report_wrong(&before, "flags=, and letters of fprkau, or -");
    }
    return 0;
}

/* Read levels=SIZE:RATE,...: sizes are whole and rates positive, and both increase.  -1 and a
 * sentence. */
static int get_levels(struct line *line, struct plan_job *job)
{
    struct text rest, piece;
    struct line before = *line;
    struct plan_level *levels = arena_allocate(line->arena, MOST_LEVELS * sizeof(*levels));
    if (get_text(line, "levels", &rest))
        return -1;
    while (text_next(&rest, ',', &piece)) {
        char *end;
        double size;
        struct plan_level *level = &levels[job->level_count];
        const char *start = arena_text(line->arena, piece.data, piece.length).data;
        if (job->level_count == MOST_LEVELS || !read_double(start, &size, &end) || *end != ':' ||
            !(size >= 1 && size <= MOST_SIZE) || size != floor(size) ||
            !read_double(end + 1, &level->rate, &end) || *end || !(level->rate > 0) ||
            !isfinite(level->rate))
            return report_wrong(&before, "levels=SIZE:RATE,...");
        level->size = (int)size;
        if (job->level_count && (level->size <= level[-1].size || level->rate <= level[-1].rate))
            return report_wrong(&before,
                                "levels of which each is larger and faster than the one before");
        job->level_count++;
    }
    job->levels = levels;
    return 0;
}

static int get_after(struct line *line, struct plan_decision *decision)
{
    struct text text;
    if (get_text(line, "after", &text))
        return -1;
    decision->promised = memchr(text.data, 'p', text.length) != NULL;
    decision->over = memchr(text.data, 'o', text.length) != NULL;
    return 0;
}

/* Read the line of a job, with the decision about it.  -1 and a sentence. */
static int read_job(struct line *line, struct plan_job *job, const char **name,
                    struct plan_decision *decision)
{
    struct text written_name, id;
    int status;
    if (get_text(line, "name", &written_name) || get_text(line, "id", &id) ||
        get_double(line, "arrival", 0, LARGEST, &job->arrival) ||
        get_double(line, "deadline", 0, (double)INFINITY, &job->deadline) ||
        get_double(line, "weight", 1 / LARGEST, LARGEST, &job->weight) ||
        get_double(line, "work", 0, LARGEST, &job->work) ||
        get_int(line, "wanted", 0, MOST_SIZE, &job->wanted) ||
        get_int(line, "size", 0, MOST_SIZE, &job->size) ||
        get_double(line, "restart", 0, LARGEST, &job->restart) ||
        get_double(line, "restart_left", 0, LARGEST, &job->restart_left) ||
        get_double(line, "least_gain", 0, LARGEST, &job->least_gain) ||
        get_int(line, "owner", -1, MOST_TOKENS, &job->owner) || get_flags(line, job) ||
        get_levels(line, job) || get_int(line, "give", 0, MOST_SIZE, &decision->give) ||
        get_int(line, "standing", 0, DEADLINE_LATE, &status) ||
        get_double(line, "finish", 0, (double)INFINITY, &decision->finish) ||
        get_after(line, decision))
        return -1;
    *name = written_name.data;
    job->id = id.data;
    decision->deadline_status = (enum deadline_status)status;
    return 0;
}

static int get_tokens(struct line *line, struct plan_state *state)
{
    struct text rest, piece;
    struct line before = *line;
    if (get_text(line, "tokens", &rest))
        return -1;
    if (text_is(rest, "-"))
        return 0;
    size_t most = 1;
    for (size_t i = 0; i < rest.length; i++)
        most += rest.data[i] == ',';
    double *tokens = arena_allocate(line->arena, most * sizeof(*tokens));
    while (text_next(&rest, ',', &piece)) {
        char *end;
        const char *start = arena_text(line->arena, piece.data, piece.length).data;
        if (state->token_count == MOST_TOKENS ||
            !read_double(start, &tokens[state->token_count++], &end) || *end)
            return report_wrong(&before, "tokens=NUMBER,...");
    }
    state->tokens = tokens;
    return 0;
}

static int read_plan(struct line *line, struct recorded_plan *plan)
{
    struct plan_state *state = &plan->state;
    int jobs;
    if (get_double(line, "now", 0, LARGEST, &state->now) || get_text(line, "pool", &plan->pool) ||
        get_int(line, "capacity", 0, MOST_SIZE, &state->capacity) ||
        get_double(line, "guard", 0, LARGEST, &state->guard) ||
        get_double(line, "reserve", 0, 1, &state->reserve) ||
        get_double(line, "sticky", 0, LARGEST, &state->sticky) || get_tokens(line, state) ||
        get_int(line, "jobs", 0, MOST_JOBS, &jobs) ||
        get_double(line, "next", 0, (double)INFINITY, &plan->next))
        return -1;
    state->job_count = (size_t)jobs;
    return 0;
}

/* Cut off the first line; false when there is none. */
static bool cut_line(struct text *rest, struct line *line)
{
    const char *end = rest->data && rest->length ? memchr(rest->data, '\n', rest->length) : NULL;
    if (!end)
        return false;
    line->rest = (struct text){rest->data, (size_t)(end - rest->data)};
    line->number++;
    rest->data = end + 1;
    rest->length -= line->rest.length + 1;
    return true;
}

static bool cut_word(struct line *line, const char *word)
{
    size_t length = strlen(word);
    if (line->rest.length <= length || memcmp(line->rest.data, word, length) != 0 ||
        line->rest.data[length] != ' ')
        return false;
    line->rest.data += length + 1;
    line->rest.length -= length + 1;
    return true;
}

int state_text_next(struct arena *arena, struct text *rest, size_t *number,
                    struct recorded_plan *plan, struct error *error)
{
    struct line line = {.arena = arena, .number = *number, .error = error};
    *plan = (struct recorded_plan){.next = 0};
    if (!cut_line(rest, &line))
        return 0;
    if (!cut_word(&line, "plan"))
        return report_wrong(&line, "a plan");
    if (read_plan(&line, plan))
        return -1;
    /* Bound the number of jobs by the bytes: a job's line has more than a hundred. */
    struct plan_state *state = &plan->state;
    int64_t held = 0;
    if (state->job_count > rest->length / 100)
        return 0;
    struct plan_job *jobs = arena_allocate(arena, (state->job_count + 1) * sizeof(*jobs));
    state->jobs = arena_allocate(arena, (state->job_count + 1) * sizeof(*state->jobs));
    plan->names = arena_allocate(arena, (state->job_count + 1) * sizeof(*plan->names));
    plan->decisions = arena_allocate(arena, (state->job_count + 1) * sizeof(*plan->decisions));
    for (size_t i = 0; i < state->job_count; i++) {
        state->jobs[i] = &jobs[i];
        if (!cut_line(rest, &line))
            return 0;
        if (!cut_word(&line, "job"))
            return report_wrong(&line, "a job");
        if (read_job(&line, &jobs[i], &plan->names[i], &plan->decisions[i]))
            return -1;
        held += jobs[i].size;
        if (held > MOST_SIZE)
            return report_wrong(&line, "jobs that do not hold more than there can be");
    }
    if (!cut_line(rest, &line))
        return 0;
    if (!text_is(line.rest, "end"))
        return report_wrong(&line, "end");
    *number = line.number;
    return 1;
}
