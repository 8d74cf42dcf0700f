/* commands/metrics.c - dlspool metrics: the spool as Prometheus reads it */
#include "stages/metrics/metrics.h"

#include <stdio.h>

#include "commands/ask.h"
#include "commands/commands.h"
#include "commands/complain.h"
#include "commands/open.h"
#include "commands/options.h"
#include "commands/print.h"
#include "stages/lease.h"

/* What was summed up is kept for the next time, unless a daemon does that, which counts what this process cannot. */
static int keep_sums(struct kept *kept, const struct spool *spool, const struct settings *settings,
                     struct error *error)
{
    if (settings->metrics.file.length || !ask_allowed(spool))
        return 0;
    return kept_write(kept, spool, error);
}

static int collect(const struct spool *spool, const struct settings *settings, bool users,
                   struct buffer *out, struct error *error)
{
    char who[LEASE_TEXT_SIZE];
    struct kept *kept = kept_read(spool, error);
    if (!kept)
        return -1;
    struct executor *executor = ask_open(spool, settings, error);
    struct queues *queues = queues_new(spool, settings);
    int result = metrics_print(kept, spool, settings, executor, queues, users, out, error);
    queues_free(queues);
    if (executor)
        ask_close(executor, lease_present(spool, who) != 0);
    if (!result)
        result = keep_sums(kept, spool, settings, error);
    kept_free(kept);
    return result;
}

static void print_object(const char *file, const struct buffer *out)
{
    struct arena *arena = arena_new();
    struct value *tree = value_object(arena);
    value_put(arena, tree, "file", file ? value_string(arena, file) : value_null(arena));
    value_put(arena, tree, "text", file ? value_null(arena) : value_text(arena, buffer_text(out)));
    print_json(tree);
    arena_free(arena);
}

int command_metrics(int argument_count, char **arguments)
{
    bool users = false, json = false;
    const char *file = NULL;
    const struct option_spec options[] = {
        {"textfile", 0, OPTION_TEXT, &file, "FILE",
         "write FILE, as a whole, for node_exporter's textfile collector"},
        {"users", 0, OPTION_FLAG, &users, NULL, "also those by owner: a series for each"},
        {"json", 'j', OPTION_FLAG, &json, NULL, "as JSON, an object with the text"},
        {0}};
    const struct verb_usage usage = {
        "metrics",
        "",
        0,
        0,
        "Print counts of the spool in the text format of Prometheus.",
        "`metrics.file` of dlspool.yaml has `dlspool run` write a file by itself, which also has what\n"
        "only its processes can count: jobs accepted and ended, requests to the executor.\n",
        options};
    int operands, status;
    struct spool spool;
    struct settings settings;
    struct buffer out = {0};
    struct error error;
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    if (open_spool(&spool))
        return STATUS_FAILED;
    int result = settings_read(&settings, &spool, &error);
    if (!result)
        result = collect(&spool, &settings, users, &out, &error);
    if (!result && file)
        result = metrics_write_file(file, buffer_text(&out), &error);
    if (result)
        complain("%s", error.text);
    else if (json)
        print_object(file, &out);
    else if (!file)
        fwrite(out.data, 1, out.length, stdout);
    buffer_free(&out);
    settings_free(&settings);
    spool_close(&spool);
    return result ? STATUS_FAILED : STATUS_DONE;
}
