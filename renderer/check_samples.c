/* renderer/check_samples.c - render templates with sample jobs in several processes
 *
 * The templates of one executor and job type are one piece of work: they differ little between
 * libraries, so most equal trees are in the same piece.  When a process crashes on a piece, its
 * templates are rendered again, each in a process of its own, to find the one that crashes.
 */
#include "renderer/check_samples.h"

#include <stdlib.h>
#include <string.h>

#include "base/share_out.h"
#include "renderer/known_trees.h"
#include "renderer/manifest.h"
#include "renderer/samples.h"

/* Findings in one template after which its other samples are skipped, because they would repeat
 * them. */
enum { MOST_FINDINGS = 10 };

struct piece {
    size_t *templates; /* their numbers */
    size_t count, samples;
};

struct sampler {
    struct repository *repository;
    const struct check_options *options;
    struct sampled_template *templates;
    struct piece *pieces;
    size_t piece_count;
};

/* State while a template is rendered. */
struct work {
    const struct sampler *sampler;
    struct sampled_template *template;
    struct known_trees *known;
    struct arena *arena; /* of one rendering; reset for each */
    size_t found;
    bool warned;
};

/* The result for each template of a piece; its findings follow. */
struct answer {
    size_t template, renderings, wanted, manifests, looked_at, findings;
};

static void add_finding(struct work *work, const char *line, const char *detail)
{
    struct buffer *findings = &work->template->findings;
    if (findings->length && memmem(findings->data, findings->length, line, strlen(line) + 1))
        return;
    buffer_add(findings, line, strlen(line) + 1);
    buffer_add(findings, detail, strlen(detail) + 1);
    work->found++;
}

/* Add a template's first warning; other samples repeat it at other places of the manifest. */
static void add_warning(struct work *work, const char *line, const char *detail)
{
    size_t found = work->found;
    if (!work->warned)
        add_finding(work, line, detail);
    work->warned = true;
    work->found = found;
}

/* Write the tree, read it back, and ask the executor.  0 when it is good, -1 and a sentence when
 * not, 1 and a warning. */
static int look_at(struct work *work, const struct value *tree, struct error *error)
{
    const struct check_options *options = work->sampler->options;
    const struct sampled_template *template = work->template;
    struct render_result rendered = {0};
    if (manifest_write(work->arena, tree, template->path, &rendered, error))
        return -1;
    int result = !options || !options->accept
                     ? 0
                     : options->accept(options->accept_context, template->executor,
                                       rendered.manifest, rendered.tree, error);
    if (result)
        error_prefix(error, "%s:1: %s", template->path,
                     result < 0 ? "the executor refuses the manifest"
                                : "warning: the executor may refuse the manifest");
    return result;
}

/* Render one sample job.  Nothing more is checked for a tree that was found good before or a job
 * that the template refuses. */
static void render_sample(struct work *work, size_t number)
{
    struct sampled_template *template = work->template;
    enum render_failure failure;
    struct error error;
    arena_reset(work->arena);
    struct sample sample = samples_build(work->arena, template->library, template->type, number);
    if (text_is(sample.image, "host") && !template->host)
        return;
    template->renderings++;
    const struct value *tree =
        manifest_render_tree(work->arena, work->sampler->repository, template->path, sample.image,
                             sample.job, 0, &failure, &error);
    if (!tree && failure == RENDER_NOT_ALLOWED)
        return;
    template->wanted++;
    if (!tree) {
        add_finding(work, error.text, sample.description);
        return;
    }
    template->manifests++;
    struct tree_digest digest = known_trees_digest(work->known, tree);
    if (known_trees_has(work->known, &digest))
        return;
    template->looked_at++;
    int result = look_at(work, tree, &error);
    if (result < 0)
        add_finding(work, error.text, sample.description);
    else if (result > 0)
        add_warning(work, error.text, sample.description);
    else
        known_trees_add(work->known, &digest);
}

static void render_samples(struct work *work)
{
    size_t count = samples_count(work->template->type);
    work->found = 0;
    work->warned = false;
    for (size_t i = 0; i < count && work->found < MOST_FINDINGS; i++)
        render_sample(work, i);
}

static void do_piece(void *context, size_t number, struct buffer *out)
{
    const struct sampler *sampler = context;
    const struct piece *piece = &sampler->pieces[number];
    struct work work = {.sampler = sampler, .known = known_trees_new(), .arena = arena_new()};
    for (size_t i = 0; i < piece->count; i++) {
        struct sampled_template template = sampler->templates[piece->templates[i]];
        template.findings = (struct buffer){0};
        work.template = &template;
        render_samples(&work);
        struct answer answer = {piece->templates[i], template.renderings, template.wanted,
                                template.manifests,  template.looked_at,  template.findings.length};
        buffer_add(out, &answer, sizeof(answer));
        buffer_add_text(out, buffer_text(&template.findings));
        buffer_free(&template.findings);
    }
    known_trees_free(work.known);
    arena_free(work.arena);
}

static void take_answer(struct sampler *sampler, struct text rest)
{
    struct answer answer;
    while (rest.length >= sizeof(answer)) {
        memcpy(&answer, rest.data, sizeof(answer));
        struct sampled_template *template = &sampler->templates[answer.template];
        template->renderings = answer.renderings;
        template->wanted = answer.wanted;
        template->manifests = answer.manifests;
        template->looked_at = answer.looked_at;
        buffer_add(&template->findings, rest.data + sizeof(answer), answer.findings);
        rest.data += sizeof(answer) + answer.findings;
        rest.length -= sizeof(answer) + answer.findings;
    }
}

/* Do all pieces, and note the templates of pieces on which a process crashed. */
static void do_pieces(struct sampler *sampler)
{
    struct piece_result *results = memory_allocate((sampler->piece_count + 1) * sizeof(*results));
    unsigned processes = sampler->options ? sampler->options->processes : 0;
    share_out(sampler->piece_count, processes, do_piece, sampler, results);
    for (size_t i = 0; i < sampler->piece_count; i++) {
        const struct piece *piece = &sampler->pieces[i];
        take_answer(sampler, buffer_text(&results[i].answer));
        for (size_t k = 0; k < piece->count; k++) {
            sampler->templates[piece->templates[k]].ended = results[i].ended;
            sampler->templates[piece->templates[k]].status = results[i].status;
        }
        buffer_free(&results[i].answer);
    }
    free(results);
}

static bool belong_together(const struct sampled_template *a, const struct sampled_template *b)
{
    return strcmp(a->executor, b->executor) == 0 && strcmp(a->type, b->type) == 0;
}

/* Order pieces by size, largest first, because the last to finish determines the time. */
static int compare_pieces(const void *a, const void *b)
{
    const struct piece *left = a, *right = b;
    if (left->samples != right->samples)
        return left->samples < right->samples ? 1 : -1;
    return left->templates[0] < right->templates[0] ? -1 : 1;
}

static struct piece *find_piece(struct sampler *sampler, size_t number)
{
    for (size_t i = 0; i < sampler->piece_count; i++)
        if (belong_together(&sampler->templates[sampler->pieces[i].templates[0]],
                            &sampler->templates[number]))
            return &sampler->pieces[i];
    return &sampler->pieces[sampler->piece_count++];
}

static void free_pieces(struct sampler *sampler)
{
    for (size_t i = 0; i < sampler->piece_count; i++)
        free(sampler->pieces[i].templates);
    sampler->piece_count = 0;
}

static void add_to(struct piece *piece, size_t number, const struct sampled_template *template)
{
    piece->templates = memory_resize(piece->templates, (piece->count + 1) * sizeof(number));
    piece->templates[piece->count++] = number;
    piece->samples += samples_count(template->type);
}

void check_samples(struct repository *repository, const struct check_options *options,
                   struct sampled_template *templates, size_t count)
{
    struct sampler sampler = {repository, options, templates, NULL, 0};
    sampler.pieces = memory_allocate((count + 1) * sizeof(*sampler.pieces));
    for (size_t i = 0; i < count; i++)
        if (!templates[i].unusable)
            add_to(find_piece(&sampler, i), i, &templates[i]);
    qsort(sampler.pieces, sampler.piece_count, sizeof(*sampler.pieces), compare_pieces);
    do_pieces(&sampler);
    free_pieces(&sampler);
    memset(sampler.pieces, 0, (count + 1) * sizeof(*sampler.pieces));
    for (size_t i = 0; i < count; i++)
        if (templates[i].ended)
            add_to(&sampler.pieces[sampler.piece_count++], i, &templates[i]);
    do_pieces(&sampler);
    free_pieces(&sampler);
    free(sampler.pieces);
}
