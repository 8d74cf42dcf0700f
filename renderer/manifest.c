/* renderer/manifest.c - render a job description to the manifest for the executor */
#include "renderer/manifest.h"

#include <string.h>

#include "base/yaml.h"
#include "renderer/context.h"
#include "renderer/functions.h"
#include "renderer/unread.h"

struct work {
    struct arena *arena;
    struct repository *repository;
    const struct render_input *input;
    struct render_result *result;
    struct error *error;
};

/* Choosing the template */

static bool is_path_word(struct text word)
{
    if (word.length == 0 || word.length > 100 || word.data[0] == '.')
        return false;
    for (size_t i = 0; i < word.length; i++) {
        char byte = word.data[i];
        bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                     (byte >= '0' && byte <= '9') || byte == '.' || byte == '_' || byte == '-' ||
                     byte == '+';
        if (!plain)
            return false;
    }
    return true;
}

/* The executor that has the templates: `local` for `null`. */
static const char *template_executor(const struct render_input *input)
{
    return strcmp(input->executor, "null") == 0 ? "local" : input->executor;
}

/* Can a task use the image `host`? */
static bool takes_host(const struct work *work)
{
    struct error error;
    return images_host_counts(template_executor(work->input),
                              repository_site(work->repository, &error));
}

/* Choose the template of the library, or the one for any library.  The words become a path, so
 * anything that is not a word is refused first. */
static int choose_template(struct work *work)
{
    const struct render_input *input = work->input;
    const char *executor = template_executor(input);
    struct error_quote_buffer library, type;
    error_quote(&library, input->library.data, input->library.length);
    error_quote(&type, input->type.data, input->type.length);
    if (!is_path_word(input->library) || !is_path_word(input->type))
        return error_set(work->error,
                         "there is no template for library \"%s\" and type \"%s\"; both must be "
                         "words of letters, digits and . _ + -",
                         library.text, type.text);

    struct text path =
        arena_printf(work->arena, "%s/%s/%s.yaml", executor, library.text, type.text);
    struct text other = arena_printf(work->arena, "%s/any/%s.yaml", executor, type.text);
    bool same = text_equal(path, other);
    if (repository_has(work->repository, path.data))
        work->result->template_path = path;
    else if (!same && repository_has(work->repository, other.data))
        work->result->template_path = other;
    else
        return error_set(work->error,
                         "there is no template %s%s%s%s in templates.git at commit %.7s; ask its "
                         "maintainers to push one",
                         path.data, same ? "" : " (nor ", same ? "" : other.data, same ? "" : ")",
                         work->result->commit.data);
    return 0;
}

/* Choosing the image */

static bool begins_with_parts(struct text image, struct text beginning)
{
    if (beginning.length == 0 || image.length < beginning.length ||
        memcmp(image.data, beginning.data, beginning.length) != 0)
        return false;
    if (image.length == beginning.length)
        return true;
    return memchr("/:@", beginning.data[beginning.length - 1], 3) ||
           memchr("/:@", image.data[beginning.length], 3);
}

static bool allows_image(const struct value *allow, struct text image)
{
    if (!allow)
        return false;
    if (allow->kind == VALUE_BOOLEAN)
        return allow->boolean && !text_is(image, "host");
    if (allow->kind != VALUE_LIST)
        return false;
    for (size_t i = 0; i < allow->list.count; i++)
        if (allow->list.items[i]->kind == VALUE_STRING &&
            begins_with_parts(image, allow->list.items[i]->string))
            return true;
    return false;
}

/* May a user ask for this image?  site.yaml says so in `images.allow_user`: true (any image but
 * `host`), or a list of names and of prefixes that end at the end of a name's part. */
static bool image_allowed(const struct value *site, struct text image)
{
    return allows_image(value_get(value_get(site, "images"), "allow_user"), image);
}

/* May this job use the image?  Jobs that were written for another system always name their image,
 * so the site may have a separate rule for them in the member with the platform's name.  *rule
 * names the rule that was applied, for a sentence.
 */
static bool image_allowed_to(const struct value *job, const struct value *site, struct text image,
                             const char *rule[2])
{
    struct text platform = value_get_text(value_get(job, "platform"), "name");
    const struct member *member = value_member(site, platform);
    const struct value *allow = member ? value_get(member->value, "images") : NULL;
    rule[0] = allow ? platform.data : "images";
    rule[1] = allow ? "images" : "allow_user";
    if (!allow)
        return image_allowed(site, image);
    /* Both the job and the rule may leave out the registry docker.io. */
    struct text short_name = image, hub = TEXT("docker.io/");
    if (text_starts(image, hub.data))
        short_name = (struct text){image.data + hub.length, image.length - hub.length};
    return allows_image(allow, image) || allows_image(allow, short_name);
}

/* Are images that the site does not allow taken where somebody approves them? */
static bool is_approvable(const struct value *site)
{
    return text_is(value_get_text(value_get(site, "images"), "others"), "approve");
}

static void add_unlisted(struct work *work, struct text image)
{
    struct text *unlisted = &work->result->unlisted, rest = *unlisted, name;
    while (rest.length && text_next(&rest, ' ', &name))
        if (text_equal(name, image))
            return;
    *unlisted = arena_printf(work->arena, "%.*s%s%.*s", (int)unlisted->length,
                             unlisted->length ? unlisted->data : "", unlisted->length ? " " : "",
                             (int)image.length, image.data);
}

/* May the user choose this image? */
static int check_image(struct work *work, const struct value *site, struct text image)
{
    struct error_quote_buffer buffer;
    const char *rule[2];
    bool foreign = value_get_text(value_get(work->input->job, "platform"), "name").length > 0;
    error_quote(&buffer, image.data, image.length);
    if (!images_name_valid(image))
        return error_set(work->error, "image is \"%s\", which cannot be the name of an image",
                         buffer.text);
    bool allowed = image_allowed_to(work->input->job, site, image, rule);
    if (!allowed && !text_is(image, "host") && is_approvable(site)) {
        add_unlisted(work, image);
        return 0;
    }
    if (!allowed)
        return error_set(work->error,
                         "image \"%s\" may not be asked for here: site.yaml of templates.git does "
                         "not allow it (%s.%s); %s",
                         buffer.text, rule[0], rule[1],
                         foreign ? "name another one, or ask its maintainers to allow it"
                                 : "leave `image` out to get the one that images.txt names");
    if (text_is(image, "host") && !takes_host(work))
        return error_set(work->error,
                         "image \"host\" is a machine's own files, which tasks of the executor "
                         "%s cannot have; name an image or leave `image` out",
                         work->input->executor);
    return 0;
}

/* Set the error for a query that no row of images.txt fits, with what would fit. */
static void say_no_image(struct work *work, const struct images *images,
                         const struct image_query *query)
{
    struct text version = query->version.length ? query->version : TEXT("(not given)");
    struct error_quote_buffer buffers[5];
    struct buffer there = {0};
    struct image_query any_version = *query;
    any_version.version = (struct text){NULL, 0};
    const struct image_row *row = query->version.length ? images_find(images, &any_version) : NULL;
    struct text other =
        row ? arena_printf(work->arena, " leave version out to get that of line %d,", row->line)
            : TEXT("");
    images_tell_versions(images, query, &there);
    error_set(
        work->error,
        "no row of images.txt fits library %s, version %s, type %s, accelerator "
        "%s%s in templates.git at commit %.7s%s%s; ask for what there is,%s or its maintainers to "
        "add a row",
        error_quote(&buffers[0], query->library.data, query->library.length),
        error_quote(&buffers[1], version.data, version.length),
        error_quote(&buffers[2], query->type.data, query->type.length),
        error_quote(&buffers[3], query->accelerator.data, query->accelerator.length),
        query->host ? "" : " (rows with the image host left out)", work->result->commit.data,
        there.length ? "; there is " : "",
        there.length ? error_quote(&buffers[4], there.data, there.length) : "", other.data);
    buffer_free(&there);
}

static struct image_query image_query_of(const struct work *work)
{
    const struct render_input *input = work->input;
    bool ours = strcmp(template_executor(input), "local") == 0;
    return (struct image_query){
        .library = input->library,
        .version = input->version,
        .type = input->type,
        .accelerator = input->accelerator.length ? input->accelerator : TEXT("none"),
        .host = takes_host(work),
        .machine = ours ? repository_host(work->repository) : NULL,
    };
}

/* Check that `host`, chosen by the user, has the version that the job names, where that is known.
 * (The version in any other image is unknown.) */
static int check_host_version(struct work *work)
{
    static struct image_row row = {{"*", 1}, {"*", 1}, {"*", 1}, {"*", 1}, {"host", 4}, 0};
    const struct images host = {&row, 1};
    struct image_query query = image_query_of(work);
    struct error_quote_buffer buffers[3];
    struct buffer there = {0};
    if (!query.machine || !query.version.length)
        return 0;
    query.accelerator = TEXT("none");
    if (images_find(&host, &query)) {
        struct text version = images_version(&row, &query);
        work->result->version = arena_text(work->arena, version.data, version.length);
        return 0;
    }
    images_tell_versions(&host, &query, &there);
    error_set(
        work->error,
        "image \"host\" does not have library %s in version %s; there is %s; ask for what there "
        "is, or leave `image` out to get what images.txt names",
        error_quote(&buffers[0], query.library.data, query.library.length),
        error_quote(&buffers[1], query.version.data, query.version.length),
        there.length ? error_quote(&buffers[2], there.data, there.length) : "none of it");
    buffer_free(&there);
    return -1;
}

/* The image that the user asks for. */
static int take_image(struct work *work, const struct value *site)
{
    struct text image = work->input->image;
    if (check_image(work, site, image) || (text_is(image, "host") && check_host_version(work)))
        return -1;
    work->result->image = arena_text(work->arena, image.data, image.length);
    return 0;
}

/* Roles may have images of their own. */
static int check_role_images(struct work *work, const struct value *site)
{
    const struct value *roles = value_get(work->input->job, "roles");
    for (size_t i = 0; roles && i < roles->list.count; i++) {
        struct text image = value_get_text(roles->list.items[i], "image");
        if (image.length && check_image(work, site, image))
            return -1;
    }
    return 0;
}

/* The image that images.txt names. */
static int choose_image(struct work *work, const struct images *images)
{
    const struct image_query query = image_query_of(work);
    const struct image_row *row = images_find(images, &query);
    if (!row) {
        say_no_image(work, images, &query);
        return -1;
    }
    struct text version = images_version(row, &query);
    work->result->image = arena_text(work->arena, row->image.data, row->image.length);
    work->result->image_line = row->line;
    work->result->version = arena_text(work->arena, version.data, version.length);
    return 0;
}

/* What the site lets a job ask for of a scheduler */

static int check_queue(struct work *work, const struct value *site)
{
    struct text queue = value_get_text(work->input->job, "queue");
    const struct value *queues = value_get(site, "queues");
    struct buffer names = {0};
    if (queue.length == 0 || !queues || queues->kind != VALUE_LIST || queues->list.count == 0)
        return 0;
    for (size_t i = 0; i < queues->list.count; i++) {
        const struct value *name = queues->list.items[i];
        if (name->kind == VALUE_STRING && text_equal(name->string, queue)) {
            buffer_free(&names);
            return 0;
        }
        if (name->kind == VALUE_STRING)
            buffer_printf(&names, "%s%s", names.length ? ", " : "", name->string.data);
    }
    struct error_quote_buffer buffers[2];
    error_set(work->error,
              "queue \"%s\" is none of this site's: site.yaml of templates.git lists %s",
              error_quote(&buffers[0], queue.data, queue.length),
              error_quote(&buffers[1], names.data ? names.data : "", names.length));
    buffer_free(&names);
    return -1;
}

static int check_debug(struct work *work, const struct value *site)
{
    double debug = value_get_number(work->input->job, "debug", 0);
    double most = value_get_number(site, "debug_max", -1);
    if (debug <= 0 || most < 0 || debug <= most)
        return 0;
    return error_set(work->error,
                     "debug asks for %.0f seconds, and site.yaml of templates.git allows at most "
                     "%.0f (debug_max)",
                     debug, most);
}

/* Rendering */

static const struct template *find_include(void *context, struct text path, struct error *error)
{
    return repository_template(context, path, error);
}

/* `unread` may be NULL. */
static struct value *render_tree(struct arena *arena, struct repository *repository,
                                 const struct value *context, const char *path, int64_t now,
                                 struct unread *unread, struct error *error)
{
    const struct template *template = repository_template(repository, text_of(path), error);
    if (!template)
        return NULL;
    struct rendering rendering = {
        .arena = arena,
        .context = context,
        .functions = template_functions,
        .include = find_include,
        .include_context = repository,
        .now = now,
        .watched = unread ? unread->watched : NULL,
        .watched_count = unread ? unread->count : 0,
    };
    struct value *tree = template_render(template, &rendering, error);
    if (tree && tree->kind != VALUE_OBJECT) {
        error_set(error, "%s:1: renders to a value of kind %s, expected an object", path,
                  value_kind_name(tree->kind));
        return NULL;
    }
    return tree;
}

int manifest_write(struct arena *arena, const struct value *tree, const char *path,
                   struct render_result *result, struct error *error)
{
    struct buffer out = {0};
    int written = yaml_write(&out, tree, error);
    if (!written)
        result->manifest = arena_text(arena, out.data, out.length);
    buffer_free(&out);
    if (written)
        return error_prefix(error, "%s:1", path);

    result->tree = yaml_read(arena, result->manifest, "manifest", &yaml_trusted_limits, error);
    if (!result->tree)
        return error_prefix(error, "%s:1: the manifest cannot be read back", path);
    if (!value_equal(result->tree, tree))
        return error_set(error,
                         "%s:1: the manifest reads back as something else than was rendered; this "
                         "is a fault of dlspool, please report it with the job file",
                         path);
    return 0;
}

static const struct value *render_watched(struct arena *arena, struct repository *repository,
                                          const char *template_path, struct text image,
                                          const struct value *job, int64_t now,
                                          struct unread *unread, enum render_failure *failure,
                                          struct error *error)
{
    *failure = RENDER_TEMPLATE_FAULT;
    const struct value *site = repository_site(repository, error);
    if (!site)
        return NULL;
    functions_reset();
    const struct value *tree =
        render_tree(arena, repository, context_build(arena, job, image, site), template_path, now,
                    unread, error);
    if (!tree && functions_refused()) {
        *failure = RENDER_NOT_ALLOWED;
        error_set(error, "%s", functions_refusal());
    }
    return tree;
}

const struct value *manifest_render_tree(struct arena *arena, struct repository *repository,
                                         const char *template_path, struct text image,
                                         const struct value *job, int64_t now,
                                         enum render_failure *failure, struct error *error)
{
    return render_watched(arena, repository, template_path, image, job, now, NULL, failure, error);
}

int manifest_render_with(struct arena *arena, struct repository *repository,
                         const char *template_path, struct text image, const struct value *job,
                         int64_t now, struct render_result *result, enum render_failure *failure,
                         struct error *error)
{
    struct unread unread;
    unread_watch(arena, &unread, job);
    const struct value *tree =
        render_watched(arena, repository, template_path, image, job, now, &unread, failure, error);
    if (!tree || manifest_write(arena, tree, template_path, result, error))
        return -1;
    result->unread_count = unread_fields(arena, &unread, &result->unread);
    return 0;
}

int manifest_render(struct arena *arena, struct repository *repository,
                    const struct render_input *input, struct render_result *result,
                    enum render_failure *failure, struct error *error)
{
    struct work work = {arena, repository, input, result, error};
    *result = (struct render_result){0};
    const char *commit = repository_commit(repository);
    *failure = RENDER_REPOSITORY;
    if (!commit)
        return error_set(error, "no commit of templates.git could be read yet");
    result->commit = arena_text(arena, commit, strlen(commit));

    *failure = RENDER_TEMPLATE_FAULT;
    const struct images *images = repository_images(repository, error);
    const struct value *site = images ? repository_site(repository, error) : NULL;
    if (!site)
        return -1;
    *failure = RENDER_NO_TEMPLATE;
    if (choose_template(&work))
        return -1;
    *failure = RENDER_NO_IMAGE;
    if (input->image.length)
        *failure = RENDER_NOT_ALLOWED;
    if (input->image.length ? take_image(&work, site) : choose_image(&work, images))
        return -1;
    *failure = RENDER_NOT_ALLOWED;
    if (check_role_images(&work, site) || check_queue(&work, site) || check_debug(&work, site))
        return -1;
    return manifest_render_with(arena, repository, result->template_path.data, result->image,
                                input->job, input->now, result, failure, error);
}
