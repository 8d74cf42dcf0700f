/* stages/prepare/platform_image.c - finds the registry of the images in another system's job files */
#include "stages/prepare/platform.h"

#include <string.h>

/* Does the name say which registry it is of?  Its first part is then a host. */
static bool names_registry(struct text image)
{
    const char *slash = image.length ? memchr(image.data, '/', image.length) : NULL;
    struct text first = {image.data, slash ? (size_t)(slash - image.data) : 0};
    return first.length && (memchr(first.data, '.', first.length) ||
                            memchr(first.data, ':', first.length) || text_is(first, "localhost"));
}

struct text platform_image(struct arena *arena, const struct value *site, struct text platform,
                           struct text image)
{
    const struct text hub = TEXT("docker.io");
    const struct member *of_site = platform.length ? value_member(site, platform) : NULL;
    const struct value *given = of_site ? value_get(of_site->value, "registry") : NULL;
    struct text registry = given && given->kind == VALUE_STRING ? given->string : hub;
    if (!platform.length || text_is(platform, "sbatch") || text_is(platform, "pbs") ||
        !image.length || !registry.length || text_is(image, "host") || names_registry(image))
        return image;
    /* Images of Docker Hub without an owner's name are those of its library. */
    bool plain = text_equal(registry, hub) && !memchr(image.data, '/', image.length);
    return arena_printf(arena, "%.*s/%s%.*s", (int)registry.length, registry.data,
                        plain ? "library/" : "", (int)image.length, image.data);
}
