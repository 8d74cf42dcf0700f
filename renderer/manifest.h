/* renderer/manifest.h - render a job description to the manifest for the executor
 *
 * Everything comes from one commit of the template repository: images.txt, site.yaml, the template
 * <executor>/<library>/<type>.yaml (or .../any/<type>.yaml where the library has none) and what
 * they include.  The same description, identity and commit give the same bytes.  The executor
 * `null` uses the templates of `local`.
 *
 * A string of the job can become a string of the manifest and nothing else: templates are trees,
 * and the written manifest is read again and compared with the rendered tree before it is used.
 */
#ifndef RENDERER_MANIFEST_H
#define RENDERER_MANIFEST_H

#include <stdint.h>

#include "base/error.h"
#include "base/value.h"
#include "renderer/repository.h"

/* Why there is no manifest; the caller decides whether to wait for a change. */
enum render_failure {
    RENDER_NO_TEMPLATE,    /* no template for (library, type) at this commit */
    RENDER_NO_IMAGE,       /* no row of images.txt fits */
    RENDER_TEMPLATE_FAULT, /* the template, images.txt or site.yaml is wrong */
    RENDER_NOT_ALLOWED,    /* the site forbids the request, or the template refuse()s it */
    RENDER_REPOSITORY      /* the repository cannot be read just now */
};

struct render_input {
    const char *executor;    /* "local", "null", ... : the first directory of the template */
    const struct value *job; /* `job` of the context, as context_job() builds it */
    struct text library, version, type, accelerator; /* the query for images.txt */
    struct text image;                               /* the user's own; empty: images.txt decides */
    int64_t now;                                     /* the time that `now` gives to templates */
};

struct render_result {
    struct text manifest; /* YAML, in the arena */
    struct value *tree;   /* the same as a tree, read back from the YAML; in the arena */
    struct text commit;   /* 40 hexadecimal digits */
    struct text template_path;
    struct text image;
    int image_line;       /* of images.txt; 0 when the user chose */
    struct text unlisted; /* images that the site takes by approval only, with spaces; or empty */
    struct text version;  /* of the library in the image; empty: unknown */
    /* Fields of the job that the template did not read (renderer/unread.h). */
    const struct text *unread;
    size_t unread_count;
};

/* Render with the commit that `repository` serves now: refresh it first.  0, or -1 with *failure
 * and a sentence.  All of the result lies in the arena, and outlives the commit. */
int manifest_render(struct arena *arena, struct repository *repository,
                    const struct render_input *input, struct render_result *result,
                    enum render_failure *failure, struct error *error);

/* The same with the template and the image already chosen; fills in manifest, tree and unread. */
int manifest_render_with(struct arena *arena, struct repository *repository,
                         const char *template_path, struct text image, const struct value *job,
                         int64_t now, struct render_result *result, enum render_failure *failure,
                         struct error *error);

/* Its two steps.  The first renders the tree: NULL with *failure and a sentence.  The second writes
 * it, reads it again, and fails unless the two trees are equal. */
const struct value *manifest_render_tree(struct arena *arena, struct repository *repository,
                                         const char *template_path, struct text image,
                                         const struct value *job, int64_t now,
                                         enum render_failure *failure, struct error *error);
int manifest_write(struct arena *arena, const struct value *tree, const char *template_path,
                   struct render_result *result, struct error *error);

#endif
