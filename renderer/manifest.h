/* renderer/manifest.h - a job description becomes the manifest that the executor is sent
 *
 * Everything comes from one commit of the template repository: images.txt, site.yaml, the
 * template <executor>/<library>/<type>.yaml (or .../any/<type>.yaml where the library has none)
 * and what they include.  The same description, identity and commit give the same bytes.
 */
#ifndef RENDERER_MANIFEST_H
#define RENDERER_MANIFEST_H

#include <sys/types.h>

#include "base/error.h"
#include "base/value.h"
#include "renderer/repository.h"

/* Why there is no manifest, for the one who decides whether to wait for a change. */
enum render_failure {
    RENDER_NO_TEMPLATE,         /* no template for (library, type) at this commit */
    RENDER_NO_IMAGE,            /* no row of images.txt fits */
    RENDER_TEMPLATE_FAULT,      /* the template, images.txt or site.yaml is wrong */
    RENDER_NOT_ALLOWED,         /* the site forbids what was asked */
    RENDER_REPOSITORY           /* the repository cannot be read just now */
};

struct render_input {
    const char *executor;       /* "local", "null", ... : the first directory of the template */
    const struct value *job;    /* `job` of the context, as context.h builds it */
    struct text library, version, type, accelerator;    /* what images.txt is asked with */
    struct text image;          /* the user's own; empty: images.txt decides */
    int64_t now;
};

struct render_result {
    struct text manifest;       /* YAML, in the arena */
    struct value *tree;         /* the same as a tree */
    struct text commit;         /* 40 hexadecimal digits */
    struct text template_path;
    struct text image;
    int image_line;             /* of images.txt; 0 when the user chose */
};

/* 0, or -1 with *failure and a sentence. */
int manifest_render(struct arena *arena, struct repository *repository,
                    const struct render_input *input, struct render_result *result,
                    enum render_failure *failure, struct error *error);

#endif
