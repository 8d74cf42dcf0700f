/* commands/prune.c - dlspool prune: archive and remove what has ended long ago, by `keep` of dlspool.yaml */
#include "stages/prune/prune.h"

#include <stdio.h>

#include "base/log.h"
#include "base/quantity.h"
#include "commands/commands.h"
#include "commands/complain.h"
#include "commands/open.h"
#include "commands/options.h"
#include "commands/print.h"

static void print_object(const struct prune_report *report, bool dry)
{
    struct arena *arena = arena_new();
    struct value *tree = value_object(arena), *rules = value_object(arena);
    for (int i = 0; i < PRUNE_RULES; i++) {
        struct value *rule = value_object(arena);
        value_put(arena, rule, "jobs", value_number(arena, (double)report->rules[i].jobs));
        value_put(arena, rule, "bytes", value_number(arena, (double)report->rules[i].bytes));
        value_put(arena, rules, prune_rule_name((enum prune_rule)i), rule);
    }
    value_put(arena, tree, "dry_run", value_boolean(arena, dry));
    value_put(arena, tree, "rules", rules);
    value_put(arena, tree, "waited_for", value_number(arena, (double)report->waited_for));
    value_put(arena, tree, "failures", value_number(arena, (double)report->failures));
    value_put(arena, tree, "archived_bytes", value_number(arena, (double)report->archived_bytes));
    value_put(arena, tree, "over_bytes", value_number(arena, (double)report->over_bytes));
    print_json(tree);
    arena_free(arena);
}

static void print_rule(const struct prune_report *report, enum prune_rule rule, bool dry)
{
    static const char *const sentences[PRUNE_RULES][2] = {
        [PRUNE_DONE] = {"archived and removed", "would be archived and removed"},
        [PRUNE_FAILED] = {"archived and removed", "would be archived and removed"},
        [PRUNE_OUTPUT] = {"without output now", "would lose their output"},
        [PRUNE_SIZE] = {"archived and removed", "would be archived and removed"},
    };
    char size[QUANTITY_TEXT_SIZE];
    const struct prune_count *count = &report->rules[rule];
    printf("keep.%-7s %8lld job%s %s, %s\n", prune_rule_name(rule), (long long)count->jobs,
           count->jobs == 1 ? " " : "s", sentences[rule][dry],
           quantity_format_bytes(count->bytes, size));
}

static void print_people(const struct prune_report *report, const struct keep_rules *keep, bool dry)
{
    const int64_t set[PRUNE_RULES] = {keep->done, keep->failed, keep->output, keep->size};
    char size[QUANTITY_TEXT_SIZE];
    for (int i = 0; i < PRUNE_RULES; i++)
        if (set[i])
            print_rule(report, (enum prune_rule)i, dry);
    if (report->waited_for)
        printf("%lld more would go, but others wait for them\n", (long long)report->waited_for);
    if (report->over_bytes && dry)
        printf(
            "then jobs and archives would take %s more than keep.size: jobs that ended today (UTC) stay\n",
            quantity_format_bytes(report->over_bytes, size));
    if (report->archived_bytes)
        printf("archives of %s were written to history/archive/\n",
               quantity_format_bytes(report->archived_bytes, size));
}

int command_prune(int argument_count, char **arguments)
{
    bool dry = false, json = false;
    const struct option_spec options[] = {
        {"dry-run", 0, OPTION_FLAG, &dry, NULL, "only say what would go"},
        {"json", 'j', OPTION_FLAG, &json, NULL, "as JSON, an object"},
        {0}};
    const struct verb_usage usage = {
        "prune",
        "",
        0,
        0,
        "Archive and remove jobs that have ended long ago, as `keep` of dlspool.yaml says.",
        "`dlspool run` does this by itself once a day.  `list --archived`, `show` and `logs` still\n"
        "find what is archived.\n",
        options};
    int operands, status;
    struct spool spool;
    struct settings settings;
    struct prune_report report = {.stopped = false};
    struct error error;
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    if (open_spool(&spool))
        return STATUS_FAILED;
    int result = settings_read(&settings, &spool, &error);
    if (!result && !settings_prunes(&settings))
        result =
            error_set(&error, "dlspool.yaml says nothing of how long what has ended is kept, so "
                              "nothing goes; set `keep`, such as keep: {done: 90d, failed: 30d}");
    if (!result)
        result = prune_once(option_spool, dry, &report, &error);
    if (result)
        complain("%s", error.text);
    else if (json)
        print_object(&report, dry);
    else
        print_people(&report, &settings.keep, dry);
    settings_free(&settings);
    spool_close(&spool);
    return result || report.failures ? STATUS_FAILED : STATUS_DONE;
}
