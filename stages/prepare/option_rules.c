/* stages/prepare/option_rules.c - what --partition, --account and the like of batch scripts mean at this site */
#include "stages/prepare/option_rules.h"

#include <string.h>

#include "request/values.h"

struct applying {
    struct arena *arena;
    const struct description *description;
    struct context_job *job;
    struct notes *notes;
    bool machine;  /* the executor runs everything on one machine */
    bool *settled; /* by option: a rule names it */
};

static const struct platform_option *find_option(const struct description *description,
                                                 struct text name, size_t *index)
{
    for (size_t i = 0; i < description->platform.options_count; i++)
        if (text_equal(description->platform.options[i].name, name)) {
            *index = i;
            return &description->platform.options[i];
        }
    return NULL;
}

/* Is the key a result of the rule, not one of its conditions? */
static bool is_result(struct text key)
{
    return text_is(key, "queue") || text_is(key, "gpu_type");
}

/* Does the job have all options that the rule names? */
static bool rule_applies(const struct applying *work, const struct value *rule)
{
    size_t named = 0, index;
    for (size_t i = 0; rule->kind == VALUE_OBJECT && i < rule->object.count; i++) {
        const struct member *member = &rule->object.members[i];
        if (is_result(member->key))
            continue;
        const struct platform_option *option = find_option(work->description, member->key, &index);
        if (!option || member->value->kind != VALUE_STRING ||
            (!text_is(member->value->string, "*") &&
             !text_equal(member->value->string, option->value)))
            return false;
        named++;
    }
    return named > 0;
}

static void note_option(struct applying *work, const struct platform_option *option,
                        const char *sentence)
{
    struct arena *arena = work->arena;
    request_notes_add(arena, work->notes,
                      arena_printf(arena, "line %u: %.*s", option->line, (int)option->shown.length,
                                   option->shown.data)
                          .data,
                      "%s", sentence);
}

/* Give the job what the rule gives.  Options of a rule that gives nothing are noted. */
static void apply_rule(struct applying *work, const struct value *rule)
{
    struct text queue = value_get_text(rule, "queue"), type = value_get_text(rule, "gpu_type");
    if (queue.length && !work->job->queue.length)
        work->job->queue = queue;
    if (type.length && !work->job->gpu_type.length)
        work->job->gpu_type = type;
    for (size_t i = 0; i < rule->object.count; i++) {
        size_t index;
        const struct platform_option *option =
            find_option(work->description, rule->object.members[i].key, &index);
        if (!option || work->settled[index])
            continue;
        work->settled[index] = true;
        if (!queue.length && !type.length)
            note_option(work, option, "no effect: site.yaml of this site says so");
    }
}

enum { QUEUE_LONGEST = 63 };

/* a100&nvlink: features that the job file may name as well.  False when it says anything else. */
static bool take_features(struct applying *work, const struct platform_option *option)
{
    enum { MOST = 16, LONGEST = 63 };
    struct context_job *job = work->job;
    struct text rest = option->value, word;
    struct text *features =
        arena_allocate(work->arena, (job->features_count + MOST) * sizeof(*features));
    size_t count = 0;
    for (; count < job->features_count; count++)
        features[count] = job->features[count];
    for (size_t i = 0; text_next(&rest, '&', &word); i++) {
        if (i == MOST || !values_is_word(word, LONGEST))
            return false;
        features[count++] = word;
    }
    job->features = features;
    job->features_count = count;
    return true;
}

/* Decide about an option that no rule names: it gives the queue, or has no effect, or is refused. */
static int settle_option(struct applying *work, const struct platform_option *option,
                         struct error *error)
{
    bool partition = text_is(option->name, "partition");
    bool choice = partition || text_is(option->name, "account") || text_is(option->name, "qos") ||
                  text_is(option->name, "reservation");
    struct error_quote_buffer buffer;
    if (choice && work->machine) {
        note_option(work, option, "no effect here: jobs of this machine have one queue");
        return 0;
    }
    if (partition && text_equal(work->job->queue, option->value))
        return 0;
    if (partition && work->job->queue.length) {
        note_option(work, option, "no effect: the job has another queue");
        return 0;
    }
    if (partition && text_is_label(option->value, QUEUE_LONGEST)) {
        work->job->queue = option->value;
        return 0;
    }
    if (text_is(option->name, "constraint") && take_features(work, option))
        return 0;
    return error_set(
        error,
        "line %u: %.*s: found \"%s\", which site.yaml of templates.git does not name (%.*s.rules): "
        "leave the option out, write #DL queue=NAME with a queue that has it, or ask an "
        "administrator for a rule",
        option->line, (int)option->shown.length, option->shown.data,
        error_quote(&buffer, option->value.data, option->value.length),
        (int)work->description->platform.name.length, work->description->platform.name.data);
}

/* Decide about all options that no rule has settled: a sentence names each that is refused. */
static int settle_others(struct applying *work, struct error *error)
{
    const struct platform *platform = &work->description->platform;
    struct buffer others = {0};
    struct error unread;
    int result = 0;
    for (size_t i = 0; i < platform->options_count; i++) {
        const struct platform_option *option = &platform->options[i];
        struct error_quote_buffer buffer;
        if (work->settled[i] || !settle_option(work, option, result ? &unread : error))
            continue;
        if (result)
            buffer_printf(&others, "%s %.*s \"%s\"", others.length ? "," : "; likewise",
                          (int)option->shown.length, option->shown.data,
                          error_quote(&buffer, option->value.data, option->value.length));
        result = -1;
    }
    if (others.length) {
        struct error first = *error;
        error_set(error, "%s%s", first.text, others.data);
    }
    buffer_free(&others);
    return result;
}

int option_rules_apply(struct arena *arena, const struct value *map,
                       const struct description *description, const struct job_record *record,
                       struct context_job *job, struct notes *notes, struct error *error)
{
    const struct platform *platform = &description->platform;
    const struct value *rules = value_get(map, "rules");
    struct applying work = {
        .arena = arena,
        .description = description,
        .job = job,
        .notes = notes,
        .machine = text_is(record->executor, "local") || text_is(record->executor, "null"),
        .settled = arena_allocate(arena, platform->options_count + 1),
    };
    for (size_t i = 0; rules && rules->kind == VALUE_LIST && i < rules->list.count; i++)
        if (rule_applies(&work, rules->list.items[i]))
            apply_rule(&work, rules->list.items[i]);
    return settle_others(&work, error);
}
