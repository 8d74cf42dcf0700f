/* renderer/check_names.c - find unknown names in images.txt and site.yaml */
#include "renderer/check_names.h"

#include <stdio.h>
#include <string.h>

#include "base/nearest.h"

enum { MOST_NAMES = 256, NAME_ROOM = 160 };

static void tell_unknown(const struct check_names *names, bool fault, const char *place,
                         const char *sentence, struct text found, const char *const *known)
{
    struct error line;
    struct nearest_hint hint;
    error_set(&line, "%s: %s%s%s", place, fault ? "" : "warning: ", sentence,
              nearest_hint(&hint, found, known));
    names->tell(names->context, fault, line.text);
}

static void tell_of_row(const struct check_names *names, bool fault, const struct image_row *row,
                        const char *what, struct text found, const char *const *known)
{
    struct error_quote_buffer buffer;
    char place[32], sentence[640];
    snprintf(place, sizeof(place), "images.txt:%d", row->line);
    snprintf(sentence, sizeof(sentence), "the %s \"%s\" is not known", what,
             error_quote(&buffer, found.data, found.length));
    tell_unknown(names, fault, place, sentence, found, known);
}

static bool is_among(struct text word, const char *const *list)
{
    for (; *list; list++)
        if (text_is(word, *list))
            return true;
    return false;
}

/* images.txt */

struct templates_of {
    struct text name; /* between two slashes of the path, or before .yaml at its end */
    bool found;
};

static int visit_path(void *context, const char *path)
{
    struct templates_of *wanted = context;
    struct text rest = text_of(path), part;
    while (text_next(&rest, '/', &part)) {
        if (text_ends(part, ".yaml"))
            part.length -= strlen(".yaml");
        wanted->found = wanted->found || text_equal(part, wanted->name);
    }
    return wanted->found;
}

static bool has_templates(struct repository *repository, struct text name)
{
    struct templates_of wanted = {.name = name};
    repository_walk(repository, visit_path, &wanted);
    return wanted.found;
}

/* List the kinds of GPUs that site.yaml has for clusters. */
static size_t list_kinds(const struct value *site, const char *kinds[static MOST_NAMES + 1])
{
    static const char *const parts[] = {"kubernetes", "slurm"};
    size_t count = 0;
    kinds[count++] = "none";
    kinds[count++] = "gpu";
    for (size_t i = 0; i < ARRAY_COUNT(parts); i++) {
        const struct value *part = value_get(site, parts[i]);
        const struct value *types = part ? value_get(part, "gpu_types") : NULL;
        for (size_t j = 0; types && types->kind == VALUE_OBJECT && j < types->object.count; j++)
            if (count < MOST_NAMES)
                kinds[count++] = types->object.members[j].key.data;
    }
    kinds[count] = NULL;
    return count;
}

void check_names_of_images(struct repository *repository, const struct images *images,
                           const struct value *site, const struct check_names *names)
{
    const char *kinds[MOST_NAMES + 1];
    bool listed = list_kinds(site, kinds) > 2;
    for (size_t i = 0; i < images->count; i++) {
        const struct image_row *row = &images->rows[i];
        if (!text_is(row->library, "*") && !is_among(row->library, names->libraries) &&
            !has_templates(repository, row->library))
            tell_of_row(names, true, row, "library", row->library, names->libraries);
        if (!text_is(row->type, "*") && !is_among(row->type, names->types) &&
            !has_templates(repository, row->type))
            tell_of_row(names, true, row, "job type", row->type, names->types);
        /* Without a list, any word may be a valid gpu_type. */
        if (!text_is(row->accelerator, "*") && !is_among(row->accelerator, kinds) &&
            (listed || nearest_word(row->accelerator, kinds)))
            tell_of_row(names, listed, row, "accelerator", row->accelerator, kinds);
    }
}

/* site.yaml */

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Does the text contain the words, not followed by another letter of a name? */
static bool holds_words(struct text text, const char *words)
{
    size_t length = strlen(words);
    const char *from = text.data, *end = text.data + text.length, *hit;
    while (from < end && (hit = memmem(from, (size_t)(end - from), words, length))) {
        if (hit + length == end || !is_name_byte(hit[length]))
            return true;
        from = hit + 1;
    }
    return false;
}

/* The ways in which a template names a member of site.yaml. */
struct member_search {
    struct repository *repository;
    char dotted[NAME_ROOM], asked[NAME_ROOM], indexed[NAME_ROOM];
};

static int visit_content(void *context, const char *path)
{
    const struct member_search *search = context;
    struct text content = repository_file(search->repository, path);
    return content.data && strcmp(path, "site.yaml") != 0 &&
           (holds_words(content, search->dotted) || holds_words(content, search->asked) ||
            holds_words(content, search->indexed));
}

/* `above` is "" or "kubernetes." */
static bool is_read(struct repository *repository, const char *above, struct text key)
{
    struct member_search search = {.repository = repository};
    struct buffer whole = {0};
    int length = (int)key.length;
    buffer_printf(&whole, "site.%s", above);
    whole.data[whole.length - 1] = '\0'; /* without the last dot */
    snprintf(search.dotted, NAME_ROOM, "%s.%.*s", whole.data, length, key.data);
    snprintf(search.asked, NAME_ROOM, "\"%.*s\" in %s", length, key.data, whole.data);
    snprintf(search.indexed, NAME_ROOM, "%s[\"%.*s\"]", whole.data, length, key.data);
    buffer_free(&whole);
    return repository_walk(repository, visit_content, &search) != 0;
}

/* Report members of `tree` that are not in `model` and that no template reads. */
static void check_members(struct repository *repository, const struct value *tree,
                          const struct value *model, const char *above,
                          const struct check_names *names)
{
    const char *known[MOST_NAMES + 1] = {NULL};
    for (size_t i = 0; i < model->object.count && i < MOST_NAMES; i++)
        known[i] = model->object.members[i].key.data;
    for (size_t i = 0; i < tree->object.count; i++) {
        const struct member *member = &tree->object.members[i];
        const struct member *same = value_member(model, member->key);
        struct error_quote_buffer buffer;
        char place[64], sentence[640], inner[NAME_ROOM];
        snprintf(place, sizeof(place), "site.yaml:%u:%u", member->line, member->column);
        snprintf(sentence, sizeof(sentence), "%s%s: not known, and no template reads it", above,
                 error_quote(&buffer, member->key.data, member->key.length));
        if (!same && !is_read(repository, above, member->key))
            tell_unknown(names, true, place, sentence, member->key, known);
        /* An object that is empty in the model has names of the site's own. */
        if (!same || same->value->kind != VALUE_OBJECT || same->value->object.count == 0 ||
            member->value->kind != VALUE_OBJECT)
            continue;
        snprintf(inner, sizeof(inner), "%s%.*s.", above, (int)member->key.length, member->key.data);
        check_members(repository, member->value, same->value, inner, names);
    }
}

void check_names_of_site(struct repository *repository, const struct value *site,
                         const struct check_names *names)
{
    if (names->site && names->site->kind == VALUE_OBJECT && site->kind == VALUE_OBJECT)
        check_members(repository, site, names->site, "", names);
}
