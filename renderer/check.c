/* renderer/check.c - check a commit of the template repository */
#include "renderer/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/nearest.h"
#include "job/retry_table.h"
#include "renderer/check_names.h"
#include "renderer/check_samples.h"
#include "renderer/check_site.h"

static const char *const executors[] = {"local", "kubernetes", "slurm", NULL};
static const char *const known_types[] = {"single",  "distributed", "ps",    "mpi",   "elastic",
                                          "serving", "notebook",    "array", "roles", NULL};

struct check {
    struct repository *repository;
    const struct check_options *options;
    struct buffer *report;
    struct check_result *result;
    struct sampled_template *sampled; /* those of jobs, by their paths */
    size_t sampled_count;
};

static bool is_reported(const struct check *check, const char *line)
{
    const struct buffer *report = check->report;
    return report->length && memmem(report->data, report->length, line, strlen(line));
}

/* Report a line once; `detail` is appended in parentheses. */
static void report_line(struct check *check, const char *line, const char *detail, size_t *count)
{
    if (is_reported(check, line))
        return;
    buffer_add_string(check->report, line);
    if (detail)
        buffer_printf(check->report, " [%s]", detail);
    buffer_add_byte(check->report, '\n');
    ++*count;
}

static void report_problem(struct check *check, const char *line, const char *detail)
{
    report_line(check, line, detail, &check->result->problems);
}

static void report_warning(struct check *check, const char *path, const char *sentence)
{
    buffer_printf(check->report, "%s:1: warning: %s\n", path, sentence);
    check->result->warnings++;
}

/* Report an error, with the file's name in front if the sentence lacks it. */
static void problem_of(struct check *check, const char *path, const struct error *error)
{
    struct error line = *error;
    size_t length = strlen(path);
    if (strncmp(line.text, path, length) != 0 || line.text[length] != ':')
        error_prefix(&line, "%s:1", path);
    report_problem(check, line.text, NULL);
}

/* images.txt, site.yaml, retry.txt */

static void tell_name(void *context, bool fault, const char *line)
{
    struct check *check = context;
    if (fault) {
        report_problem(check, line, NULL);
        return;
    }
    buffer_printf(check->report, "%s\n", line);
    check->result->warnings++;
}

/* Check the words in well-formed tables. */
static void check_words(struct check *check)
{
    const struct check_options *options = check->options;
    const struct check_names names = {.libraries = options ? options->libraries : NULL,
                                      .types = known_types,
                                      .site = options ? options->site : NULL,
                                      .tell = tell_name,
                                      .context = check};
    const struct images *images = repository_images(check->repository, NULL);
    const struct value *site = repository_site(check->repository, NULL);
    if (images && names.libraries)
        check_names_of_images(check->repository, images, site, &names);
    if (site)
        check_names_of_site(check->repository, site, &names);
}

static void check_tables(struct check *check)
{
    struct error error;
    struct text content;
    if (repository_read(check->repository, "images.txt", &content, &error))
        problem_of(check, "images.txt", &error);
    else
        check->result->problems +=
            images_report(content, "images.txt", check->report, &check->result->warnings);
    const struct value *site = repository_site(check->repository, &error);
    if (!site || check_site(site, &error))
        problem_of(check, "site.yaml", &error);
    check_words(check);
    if (!repository_has(check->repository, "retry.txt"))
        report_warning(check, "retry.txt", "it is missing, so every failure is of class unknown");
    else if (repository_read(check->repository, "retry.txt", &content, &error))
        problem_of(check, "retry.txt", &error);
    else
        check->result->problems += retry_table_report(content, "retry.txt", check->report);
}

/* Every .yaml file by itself */

/* Has this been reported for this line of this file? */
static bool line_says(const struct check *check, const char *path, unsigned line,
                      const char *sentence)
{
    char start[2048];
    struct text rest = buffer_text(check->report), finding;
    snprintf(start, sizeof(start), "%s:%u:", path, line);
    while (text_next(&rest, '\n', &finding))
        if (text_starts(finding, start) && text_contains(finding, text_of(sentence)))
            return true;
    return false;
}

/* Each `$include` with a constant path must name an existing template, whether or not a sample job
 * reaches it. */
static void check_includes(struct check *check, const char *path, const struct value *tree)
{
    if (tree->kind == VALUE_LIST)
        for (size_t i = 0; i < tree->list.count; i++)
            check_includes(check, path, tree->list.items[i]);
    if (tree->kind != VALUE_OBJECT)
        return;
    for (size_t i = 0; i < tree->object.count; i++) {
        const struct member *member = &tree->object.members[i];
        const struct value *value = member->value;
        struct error error;
        if (!text_is(member->key, "$include") || value->kind != VALUE_STRING ||
            text_contains(value->string, TEXT("${"))) {
            check_includes(check, path, value);
        } else if (!repository_has(check->repository, value->string.data) &&
                   !repository_tree(check->repository, value->string, &error) &&
                   !line_says(check, path, tree->line, error.text)) {
            error_prefix(&error, "%s:%u:%u: $include", path, tree->line, tree->column);
            report_problem(check, error.text, NULL);
        }
    }
}

static void check_file(struct check *check, const char *path)
{
    struct error error;
    const struct value *tree = repository_tree(check->repository, text_of(path), &error);
    if (!tree) {
        problem_of(check, path, &error);
        return;
    }
    const struct template *template = repository_template(check->repository, text_of(path), &error);
    if (!template || template_check(template, &error))
        problem_of(check, path, &error);
}

/* <executor>/<library>/<type>.yaml */

/* Split such a path; false when it has another form or the executor is unknown. */
static bool split_path(const char *path, struct sampled_template *parts)
{
    struct text rest = text_of(path), executor, library, type;
    if (!text_next(&rest, '/', &executor) || !text_next(&rest, '/', &library) ||
        !text_next(&rest, '/', &type) || rest.data)
        return false;
    *parts = (struct sampled_template){.path = path};
    for (size_t i = 0; executors[i]; i++)
        if (text_is(executor, executors[i]))
            parts->executor = executors[i];
    type.length -= strlen(".yaml");
    if (!parts->executor || library.length >= sizeof(parts->library) ||
        type.length >= sizeof(parts->type))
        return false;
    snprintf(parts->library, sizeof(parts->library), "%.*s", (int)library.length, library.data);
    snprintf(parts->type, sizeof(parts->type), "%.*s", (int)type.length, type.data);
    return true;
}

/* Can a task of this executor use the image `host`? */
static bool takes_host(const struct check *check, const struct sampled_template *parts)
{
    struct error error;
    return images_host_counts(parts->executor, repository_site(check->repository, &error));
}

static void check_names(struct check *check, const char *path, const struct sampled_template *parts)
{
    char sentence[512];
    struct error error;
    const struct images *images = repository_images(check->repository, &error);
    if (images && !images_serve(images, text_of(parts->library), text_of(parts->type),
                                takes_host(check, parts))) {
        snprintf(sentence, sizeof(sentence),
                 "no row of images.txt fits library %s and type %s, so no job can use it",
                 parts->library, parts->type);
        report_warning(check, path, sentence);
    }
    bool known = false;
    for (size_t i = 0; known_types[i]; i++)
        known = known || strcmp(known_types[i], parts->type) == 0;
    if (!known) {
        struct nearest_hint hint;
        snprintf(sentence, sizeof(sentence), "%s is no job type that is known%s", parts->type,
                 nearest_hint(&hint, text_of(parts->type), known_types));
        report_warning(check, path, sentence);
    }
}

static void sample_template(struct check *check, const char *path)
{
    struct sampled_template parts;
    struct error error;
    if (!split_path(path, &parts))
        return;
    check->result->templates++;
    parts.unusable = !repository_site(check->repository, &error) ||
                     !repository_template(check->repository, text_of(path), &error);
    parts.host = takes_host(check, &parts);
    check->sampled =
        memory_resize(check->sampled, (check->sampled_count + 1) * sizeof(*check->sampled));
    check->sampled[check->sampled_count++] = parts;
}

static void tell_end(struct check *check, const struct sampled_template *template)
{
    struct error error;
    int number = WIFSIGNALED(template->status) ? WTERMSIG(template->status) : 0;
    error_set(
        &error,
        "%s:1: the process that rendered its sample jobs was ended by signal %d (%s); this is "
        "a fault of dlspool, please report it with the template",
        template->path, number, number ? strsignal(number) : "none");
    report_problem(check, error.text, NULL);
}

static void tell_sampled(struct check *check, struct sampled_template *template)
{
    struct text rest = buffer_text(&template->findings), line, detail;
    check_names(check, template->path, template);
    check->result->renderings += template->renderings;
    check->result->manifests += template->manifests;
    check->result->looked_at += template->looked_at;
    while (text_next(&rest, '\0', &line) && text_next(&rest, '\0', &detail))
        report_line(check, line.data, detail.data,
                    text_contains(line, TEXT(":1: warning: ")) ? &check->result->warnings
                                                               : &check->result->problems);
    if (template->ended)
        tell_end(check, template);
    else if (template->wanted == 0 && !template->unusable)
        report_warning(check, template->path, "it refuses every sample job");
    buffer_free(&template->findings);
}

static void check_renderings(struct check *check)
{
    check_samples(check->repository, check->options, check->sampled, check->sampled_count);
    for (size_t i = 0; i < check->sampled_count; i++)
        tell_sampled(check, &check->sampled[i]);
    free(check->sampled);
}

static int visit_file(void *context, const char *path)
{
    struct check *check = context;
    struct text name = text_of(path);
    if (text_ends(name, ".yml"))
        report_warning(check, path, "it is not read; a template's name ends in .yaml");
    if (text_ends(name, ".yaml") && !text_is(name, "site.yaml"))
        check_file(check, path);
    return 0;
}

static int visit_template(void *context, const char *path)
{
    if (text_ends(text_of(path), ".yaml"))
        sample_template(context, path);
    return 0;
}

static int visit_includes(void *context, const char *path)
{
    struct check *check = context;
    struct error error;
    const struct value *tree = NULL;
    if (text_ends(text_of(path), ".yaml") && strcmp(path, "site.yaml") != 0)
        tree = repository_tree(check->repository, text_of(path), &error);
    if (tree)
        check_includes(check, path, tree);
    return 0;
}

int check_repository(struct repository *repository, const struct check_options *options,
                     struct buffer *report, struct check_result *result)
{
    struct check check = {repository, options, report, result, NULL, 0};
    *result = (struct check_result){0};
    check_tables(&check);
    repository_walk(repository, visit_file, &check);
    repository_walk(repository, visit_template, &check);
    check_renderings(&check);
    repository_walk(repository, visit_includes, &check);
    if (result->templates == 0)
        report_warning(&check, "local", "there is no template, so no job can be rendered");
    return result->problems ? -1 : 0;
}
