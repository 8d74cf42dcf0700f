/* commands/plan.c - dlspool plan REV: how a commit of the templates would change recent jobs
 *
 * Renders the jobs of the last days with the served commit and with that one, and prints the
 * differences in groups, a line each.  Changes nothing.  The pre-receive hook of templates.git runs
 * it on a push, and the pusher sees the result.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "client/preview_tree.h"
#include "commands/commands.h"
#include "commands/complain.h"
#include "commands/open.h"
#include "commands/options.h"
#include "commands/print.h"
#include "spool/settings.h"

enum {
    USUAL_DAYS = 7,
    MOST_DAYS = 3650,
    USUAL_LIMIT = 100000, /* jobs */
    SHOWN_GROUPS = 20,    /* of each kind; --json has them all */
    SHOWN_FIELDS = 8,     /* of a group */
    PROGRESS_STEP = 100   /* jobs */
};

struct planning {
    struct repository *before, *after;
    struct preview preview;
    int days;
};

static void show_progress(void *context, size_t looked, size_t of)
{
    (void)context;
    if (looked == of)
        fprintf(stderr, "\r\033[K");
    else if (looked % PROGRESS_STEP == 0)
        fprintf(stderr, "\r%zu of %zu jobs", looked, of);
}

/* For people */

static const char *jobs_word(size_t count)
{
    return count == 1 ? "job" : "jobs";
}

static void print_field(const struct preview_field *field)
{
    const char *before = field->before.length ? field->before.data : NULL;
    const char *after = field->after.length ? field->after.data : NULL;
    printf("%s", field->path.data);
    if (field->was_there && field->is_there)
        printf(before && after ? " %s -> %s" : " changed", before ? before : "",
               after ? after : "");
    else if (field->is_there)
        printf(after ? " added (%s)" : " added", after ? after : "");
    else
        printf(before ? " removed (%s)" : " removed", before ? before : "");
}

static void print_change(const struct preview_group *group)
{
    const char *mark = ": ";
    printf("%s", group->template.data);
    if (!text_equal(group->template_before, group->template))
        printf(" instead of %s", group->template_before.data);
    if (group->image.length) {
        printf("%simage %s -> %s", mark, group->image_before.data, group->image.data);
        mark = "; ";
    }
    for (size_t i = 0; i < group->fields_count && i < SHOWN_FIELDS; i++, mark = ", ") {
        printf("%s", mark);
        print_field(&group->fields[i]);
    }
    if (group->fields_count > SHOWN_FIELDS || group->more_fields)
        printf(", and more");
}

static void print_group(const struct preview_group *group)
{
    static const char *const words[PREVIEW_KINDS][2] = {
        [PREVIEW_REFUSED] = {"would be refused", "would be refused"},
        [PREVIEW_CHANGED] = {"would change", "would change"},
        [PREVIEW_ACCEPTED] = {"is refused now, and would be rendered",
                              "are refused now, and would be rendered"},
    };
    printf("  %zu %s: ", group->count, words[group->kind][group->count != 1]);
    if (group->kind == PREVIEW_CHANGED)
        print_change(group);
    else
        printf("%s", group->sentence.data);
    for (size_t i = 0; i < PREVIEW_EXAMPLES && group->examples[i][0]; i++)
        printf("%s%s", i ? ", " : " (", group->examples[i]);
    printf(group->count > PREVIEW_EXAMPLES ? ", ...)\n" : ")\n");
}

static void print_groups(const struct preview *preview, enum preview_kind kind)
{
    size_t shown = 0, said = 0;
    for (size_t i = 0; i < preview->groups_count; i++) {
        const struct preview_group *group = &preview->groups[i];
        if (group->kind != kind || shown == SHOWN_GROUPS)
            continue;
        print_group(group);
        shown++;
        said += group->count;
    }
    if (said < preview->counts[kind])
        printf("  %zu more %s, each in its own way\n", preview->counts[kind] - said,
               kind == PREVIEW_REFUSED   ? "would be refused"
               : kind == PREVIEW_CHANGED ? "would change"
                                         : "are refused now, and would be rendered");
}

static void print_count(size_t count, const char *sentence)
{
    if (count)
        printf("  %zu %s\n", count, sentence);
}

static void print_heading(const struct planning *planning)
{
    const struct preview *preview = &planning->preview;
    printf("commit %.10s, compared with %.10s, for ", repository_commit(planning->after),
           repository_commit(planning->before));
    if (preview->looked < preview->found)
        printf("the newest %zu of ", preview->looked);
    printf("%zu %s of the last %d %s", preview->found, jobs_word(preview->found), planning->days,
           planning->days == 1 ? "day" : "days");
    if (preview->out_of_time)
        printf(" (to look at all would take too long)");
    printf(preview->found ? ":\n" : "\n");
}

static void print_people(const struct planning *planning)
{
    const struct preview *preview = &planning->preview;
    print_heading(planning);
    print_count(preview->same, "would be rendered the same");
    for (int kind = 0; kind < PREVIEW_KINDS; kind++)
        print_groups(preview, (enum preview_kind)kind);
    print_count(preview->refused_as_before, "would be refused, as now");
    print_count(preview->forbidden, "not looked at: you may not read what their owners wrote");
    print_count(preview->damaged, "not looked at: job.yaml or the request is damaged");
    print_count(preview->set_aside, "not looked at: reading their job file ends the process");
    print_count(preview->without_request, "not looked at: they were not made from a job file");
    if (preview->counts[PREVIEW_CHANGED])
        printf("  `dlspool diff --revision %.10s ID` shows all that would change for a job\n",
               repository_commit(planning->after));
}

/* Open what the request is about, and make the preview. */
static int make_plan(struct planning *planning, struct preview_request *request, const char *since,
                     const char *path, const char *revision, struct error *error)
{
    struct settings settings = {0};
    int result = -1;
    if (settings_read(&settings, request->spool, error) == 0 &&
        (planning->before = open_templates(NULL, since, false, error)) &&
        (planning->after = open_templates(path, revision, false, error))) {
        request->executor = settings.executor;
        request->before = planning->before;
        request->after = planning->after;
        request->now = clock_now();
        request->progress = isatty(STDERR_FILENO) ? show_progress : NULL;
        result = preview_make(request, &planning->preview, error);
    }
    settings_free(&settings);
    return result;
}

int command_plan(int argument_count, char **arguments)
{
    const char *since = "HEAD", *path = NULL;
    int limit = USUAL_LIMIT;
    bool json = false;
    struct spool spool;
    struct preview_request request = {.spool = &spool};
    struct planning planning = {.days = USUAL_DAYS};
    const struct option_spec options[] = {
        {"days", 0, OPTION_WHOLE, &planning.days, "N", "of the last N days (default: 7)"},
        {"against", 0, OPTION_TEXT, &since, "REV",
         "of the spool's templates.git: what to compare with (default: HEAD, what is served)"},
        {"repository", 0, OPTION_TEXT, &path, "DIR",
         "the repository that REVISION is of (default: templates.git of the spool)"},
        {"limit", 'l', OPTION_WHOLE, &limit, "N", "the newest N jobs at most (default: 100000)"},
        {"within", 0, OPTION_DURATION, &request.within, "TIME", "stop looking after that time"},
        {"json", 'j', OPTION_FLAG, &json, NULL, "as JSON, one object"},
        {"since", 0, OPTION_TEXT, &since, "REV", NULL},
        {"days", 'd', OPTION_WHOLE, &planning.days, "N", NULL},
        {"repository", 'r', OPTION_TEXT, &path, "DIR", NULL},
        {"within", 'w', OPTION_DURATION, &request.within, "TIME", NULL},
        {0}};
    const struct verb_usage usage = {
        "plan",
        "REVISION",
        1,
        1,
        "Say what a commit of the templates would change for the jobs of the last days; touches "
        "nothing.",
        "Each of them is rendered with what is served now and with REVISION.\n",
        options};
    int operands, status;
    struct error error;
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    if (planning.days > MOST_DAYS || limit < 1) {
        complain("--%s: found %d, expected %s", limit < 1 ? "limit" : "days",
                 limit < 1 ? limit : planning.days, limit < 1 ? "1 or more" : "at most 3650");
        return STATUS_USAGE;
    }
    if (open_spool(&spool))
        return STATUS_FAILED;
    request.days = planning.days;
    request.most = (size_t)limit;
    status = make_plan(&planning, &request, since, path, arguments[1], &error) ? STATUS_FAILED
                                                                               : STATUS_DONE;
    if (status != STATUS_DONE)
        complain("%s", error.text);
    else if (json)
        print_json(preview_tree_make(&planning.preview, repository_commit(planning.before),
                                     repository_commit(planning.after), planning.days));
    else
        print_people(&planning);
    preview_free(&planning.preview);
    repository_close(planning.before);
    repository_close(planning.after);
    spool_close(&spool);
    return status;
}
