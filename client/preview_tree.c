/* client/preview_tree.c - what another commit of the templates would change, as JSON */
#include "client/preview_tree.h"

#include "client/put.h"

static void put_count(struct arena *arena, struct value *tree, const char *name, size_t count)
{
    value_put(arena, tree, name, value_number(arena, (double)count));
}

static struct value *field_tree(struct arena *arena, const struct preview_field *field)
{
    struct value *tree = value_object(arena);
    put_text(arena, tree, "path", field->path);
    value_put(arena, tree, "change",
              value_string(arena, !field->was_there  ? "added"
                                  : !field->is_there ? "removed"
                                                     : "changed"));
    put_text(arena, tree, "before", field->before);
    put_text(arena, tree, "after", field->after);
    return tree;
}

static struct value *group_tree(struct arena *arena, const struct preview_group *group)
{
    static const char *const kinds[PREVIEW_KINDS] = {"refused", "changed", "accepted"};
    struct value *tree = value_object(arena), *fields = value_list(arena);
    struct value *examples = value_list(arena);
    value_put(arena, tree, "kind", value_string(arena, kinds[group->kind]));
    put_count(arena, tree, "jobs", group->count);
    for (size_t i = 0; i < PREVIEW_EXAMPLES && group->examples[i][0]; i++)
        value_append(arena, examples, value_string(arena, group->examples[i]));
    value_put(arena, tree, "examples", examples);
    put_text(arena, tree, "sentence", group->sentence);
    put_text(arena, tree, "template_before", group->template_before);
    put_text(arena, tree, "template", group->template);
    put_text(arena, tree, "image_before", group->image_before);
    put_text(arena, tree, "image", group->image);
    for (size_t i = 0; i < group->fields_count; i++)
        value_append(arena, fields, field_tree(arena, &group->fields[i]));
    value_put(arena, tree, "fields", fields);
    return tree;
}

struct value *preview_tree_make(const struct preview *preview, const char *before,
                                const char *after, int days)
{
    struct arena *arena = preview->arena;
    struct value *tree = value_object(arena), *groups = value_list(arena);
    value_put(arena, tree, "commit", value_string(arena, after));
    value_put(arena, tree, "since", value_string(arena, before));
    put_count(arena, tree, "days", (size_t)days);
    put_count(arena, tree, "found", preview->found);
    put_count(arena, tree, "looked_at", preview->looked);
    put_count(arena, tree, "same", preview->same);
    put_count(arena, tree, "refused", preview->counts[PREVIEW_REFUSED]);
    put_count(arena, tree, "changed", preview->counts[PREVIEW_CHANGED]);
    put_count(arena, tree, "accepted", preview->counts[PREVIEW_ACCEPTED]);
    put_count(arena, tree, "refused_as_now", preview->refused_as_before);
    put_count(arena, tree, "forbidden", preview->forbidden);
    put_count(arena, tree, "damaged", preview->damaged);
    put_count(arena, tree, "set_aside", preview->set_aside);
    put_count(arena, tree, "without_request", preview->without_request);
    for (size_t i = 0; i < preview->groups_count; i++)
        value_append(arena, groups, group_tree(arena, &preview->groups[i]));
    value_put(arena, tree, "groups", groups);
    return tree;
}
