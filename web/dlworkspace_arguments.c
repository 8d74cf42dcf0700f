/* web/dlworkspace_arguments.c - the parameters of a request to DLWorkspace's REST server */
#include "web/dlworkspace_arguments.h"

#include "base/json.h"
#include "web/form.h"
#include "web/own_name.h"

void dlworkspace_arguments_refuse(struct exchange *exchange, int status, const char *sentence)
{
    struct value *tree = value_object(exchange->arena);
    value_put(exchange->arena, tree, "error", value_string(exchange->arena, sentence));
    exchange_reply_json(exchange, status, tree);
}

static void put_fields(struct arena *arena, struct value *tree, const struct web_field *fields,
                       size_t count)
{
    for (size_t i = 0; i < count; i++)
        value_set(arena, tree, fields[i].name, value_text(arena, fields[i].value));
}

struct value *dlworkspace_arguments_read(struct exchange *exchange)
{
    struct arena *arena = exchange->arena;
    struct value *tree = value_object(arena);
    struct form form = {.count = 0};
    struct error error;
    if (form_is_sent(exchange)) {
        form_parse(arena, exchange->body, &form);
        put_fields(arena, tree, form.fields, form.count);
    } else if (exchange->body.length) {
        tree = json_read(arena, exchange->body, "body", &yaml_request_limits, &error);
        if (tree && tree->kind != VALUE_OBJECT) {
            error_set(&error, "body: found a %s, expected an object", value_kind_name(tree->kind));
            tree = NULL;
        }
    }
    if (tree)
        put_fields(arena, tree, exchange->query, exchange->query_count);
    else
        dlworkspace_arguments_refuse(exchange, HTTP_BAD_REQUEST, error.text);
    return tree;
}

bool dlworkspace_arguments_get(struct exchange *exchange, const struct value *arguments,
                               const char *name, struct text *value)
{
    struct error error;
    *value = value_get_text(arguments, name);
    if (value->length)
        return true;
    error_set(&error, "%s: missing, expected it in the query or in the body", name);
    dlworkspace_arguments_refuse(exchange, HTTP_BAD_REQUEST, error.text);
    return false;
}

bool dlworkspace_arguments_is_own(struct exchange *exchange, const struct value *arguments)
{
    struct text user;
    struct error_quote_buffer buffer;
    struct error error;
    if (!dlworkspace_arguments_get(exchange, arguments, "userName", &user))
        return false;
    if (own_name_is(user))
        return true;
    error_set(&error, "userName: found \"%s\", and this connection is %s's",
              error_quote(&buffer, user.data, user.length), own_name().data);
    dlworkspace_arguments_refuse(exchange, HTTP_FORBIDDEN, error.text);
    return false;
}
