/* commands/diff.c - dlspool diff ID: how rendering an old job today would change its manifest */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/manifest_diff.h"
#include "client/put.h"
#include "commands/commands.h"
#include "commands/complain.h"
#include "commands/open.h"
#include "commands/options.h"
#include "commands/pick.h"
#include "commands/print.h"

static bool wants_colour(void)
{
    const char *terminal = getenv("TERM"), *no_colour = getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) && !(no_colour && *no_colour) && terminal &&
           strcmp(terminal, "dumb") != 0;
}

static void print_lines(struct text lines)
{
    bool colour = wants_colour(), header = true;
    struct text line;
    while (lines.length && text_next(&lines, '\n', &line)) {
        char sign = line.length ? line.data[0] : ' ';
        header = header && sign != '@';
        const char *start = header        ? "\033[1m"
                            : sign == '-' ? "\033[31m"
                            : sign == '+' ? "\033[32m"
                            : sign == '@' ? "\033[36m"
                                          : "";
        fputs(colour ? start : "", stdout);
        print_text(line);
        puts(colour && *start ? "\033[m" : "");
    }
}

static void print_fact(const char *name, struct text before, struct text after)
{
    if (text_equal(before, after))
        return;
    printf("%-10s %.*s -> %.*s\n", name, before.length ? (int)before.length : 1,
           before.length ? before.data : "-", (int)after.length, after.data);
}

static void print_people(const struct manifest_diff *diff)
{
    const struct job_record *was = &diff->was, *is = &diff->today.record;
    print_fact("commit", was->commit, is->commit);
    print_fact("executor", was->executor, is->executor);
    print_fact("template", was->template_path, is->template_path);
    print_fact("image", manifest_diff_image(diff->arena, was),
               manifest_diff_image(diff->arena, is));
    if (!diff->changed)
        printf("%s would be rendered to the same manifest\n", diff->replay.place.id);
    else if (diff->before_hidden)
        printf("%s would be rendered to another manifest\n", diff->replay.place.id);
    else
        print_lines(buffer_text(&diff->lines));
}

static struct value *facts_tree(struct arena *arena, const struct job_record *record)
{
    struct value *tree = value_object(arena);
    put_text(arena, tree, "commit", record->commit);
    put_text(arena, tree, "executor", record->executor);
    put_text(arena, tree, "template", record->template_path);
    put_text(arena, tree, "image", record->image);
    value_put(arena, tree, "image_line",
              record->image_line ? value_number(arena, record->image_line) : value_null(arena));
    return tree;
}

static void print_program(const struct manifest_diff *diff)
{
    struct arena *arena = diff->arena;
    const struct replay_rendering *today = &diff->today;
    struct value *tree = value_object(arena);
    value_put(arena, tree, "id", value_string(arena, diff->replay.place.id));
    value_put(arena, tree, "changed", value_boolean(arena, !today->rendered || diff->changed));
    put_text(arena, tree, "refused", today->rendered ? TEXT("") : text_of(today->error.text));
    value_put(arena, tree, "before", facts_tree(arena, &diff->was));
    value_put(arena, tree, "after",
              today->rendered ? facts_tree(arena, &today->record) : value_null(arena));
    put_text(arena, tree, "diff", buffer_text(&diff->lines));
    print_json(tree);
}

int command_diff(int argument_count, char **arguments)
{
    const char *revision = "HEAD";
    bool json = false, exit_code = false;
    const struct option_spec options[] = {
        {"revision", 'r', OPTION_TEXT, &revision, "REV", "of templates.git (default: HEAD)"},
        {"at", 'a', OPTION_TEXT, &revision, "REV", NULL},
        {"exit-code", 0, OPTION_FLAG, &exit_code, NULL, "status 1 when something would change"},
        {"json", 'j', OPTION_FLAG, &json, NULL, "as JSON, one object"},
        {"exit-code", 'e', OPTION_FLAG, &exit_code, NULL, NULL},
        {0}};
    const struct verb_usage usage = {
        "diff",
        "ID",
        1,
        1,
        "Render an old job with today's templates and show what would change; touches nothing.",
        "ID is a job's id, its name, which means your newest job of that name, or a beginning of\n"
        "the id that only one job has.\n",
        options};
    int operands, status;
    struct error error;
    struct spool spool;
    struct manifest_diff diff = {.spool = &spool};
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    if (open_spool(&spool))
        return STATUS_FAILED;
    struct job_place place;
    status = pick_job(&spool, arguments[1], &place);
    if (status != STATUS_DONE) {
        spool_close(&spool);
        return status;
    }
    diff.arena = arena_new();
    bool looked = manifest_diff_make(&diff, place.id, revision, &error) == 0;
    if (diff.warning.text[0])
        remark("warning: %s", diff.warning.text);
    if (!looked)
        complain("%s", error.text);
    else if (json)
        print_program(&diff);
    else if (diff.today.rendered)
        print_people(&diff);
    if (looked && !diff.today.rendered)
        remark("commit %.10s refuses %s: %s", repository_commit(diff.repository),
               diff.replay.place.id, diff.today.error.text);
    if (!looked || !diff.today.rendered || (exit_code && diff.changed))
        status = STATUS_FAILED;
    manifest_diff_free(&diff);
    arena_free(diff.arena);
    spool_close(&spool);
    return status;
}
