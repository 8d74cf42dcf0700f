/* executors/local/images.c - the digests of the images in which containers run
 *
 * A list of containers has the images' ids.  podman is asked for an image's digest, under which a registry
 * has it, once for each id in this process, since an id always means the same image.
 */
#include "executors/local/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    IMAGES_MAX = 256,
    IMAGE_ID_SIZE = 80
}; /* remembered; all are forgotten when there are more */

struct known_image {
    char id[IMAGE_ID_SIZE];
    char digest[IMAGE_RAN_SIZE]; /* "": podman tells none */
};

static const struct known_image *find_image(const struct local *local, struct text id)
{
    for (size_t i = 0; i < local->image_count; i++)
        if (text_is(id, local->images[i].id))
            return &local->images[i];
    return NULL;
}

static const struct known_image *keep_image(struct local *local, struct text id, struct text digest)
{
    if (!local->images)
        local->images = memory_allocate(IMAGES_MAX * sizeof(*local->images));
    if (local->image_count == IMAGES_MAX)
        local->image_count = 0;
    struct known_image *image = &local->images[local->image_count++];
    snprintf(image->id, sizeof(image->id), "%.*s", (int)id.length, id.data);
    snprintf(image->digest, sizeof(image->digest), "%.*s", (int)digest.length, digest.data);
    return image;
}

/* Ask podman for the digest.  NULL when it cannot be asked now: the next poll asks again. */
static const struct known_image *ask_image(struct local *local, struct text id)
{
    const struct known_image *image = NULL;
    struct arena *arena = arena_new();
    struct podman_call call = {0};
    podman_call_inspect_image(&call, id);
    podman_run(local->podman, &call, 1);
    if (call.outcome == PODMAN_DONE)
        image = keep_image(local, id, podman_read_digest(&call, arena));
    else if (call.outcome == PODMAN_MISSING)
        image = keep_image(local, id, TEXT(""));
    podman_call_free(&call);
    arena_free(arena);
    return image;
}

void local_image_ran(struct local *local, const struct podman_container *container,
                     char ran[static IMAGE_RAN_SIZE])
{
    const struct known_image *image = NULL;
    if (!container->image.length) {
        snprintf(ran, IMAGE_RAN_SIZE, "host");
        return;
    }
    if (container->image.length < IMAGE_ID_SIZE)
        image = find_image(local, container->image);
    if (!image && container->image.length < IMAGE_ID_SIZE)
        image = ask_image(local, container->image);
    memcpy(ran, image ? image->digest : "", image ? IMAGE_RAN_SIZE : 1);
}

void local_free_images(struct local *local)
{
    free(local->images);
    local->images = NULL;
    local->image_count = 0;
}
