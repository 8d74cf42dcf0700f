/* web/archived_api.c - the files of archived jobs in /dlspool/v1, for web/jobs_api.c */
#include "web/archived_api.h"

#include "web/archived_files.h"

void archived_api_file(struct exchange *exchange, const char *directory, const char *name,
                       int64_t from)
{
    struct text bytes;
    struct error error;
    int status =
        archived_files_whole(exchange, exchange->parts[0], directory, name, &bytes, &error);
    if (status != HTTP_OK) {
        exchange_reply_problem(exchange, status, error.text);
        return;
    }
    size_t start = (uint64_t)from < bytes.length ? (size_t)from : bytes.length;
    exchange_reply_text(exchange, HTTP_OK, "text/plain; charset=utf-8",
                        (struct text){bytes.data + start, bytes.length - start});
}

void archived_api_list(struct exchange *exchange, const char *directory)
{
    const struct archived_wish wish = {.directory = directory};
    struct archived_files files;
    struct error error;
    struct value *list = value_list(exchange->arena);
    if (archived_files_read(exchange, exchange->parts[0], &wish, &files, &error)) {
        exchange_reply_problem(exchange, HTTP_CONFLICT, error.text);
        return;
    }
    if (!files.count && files.denied) {
        exchange_reply_problem(exchange, HTTP_FORBIDDEN, "you may not read the output of that job");
        return;
    }
    for (size_t i = 0; i < files.count; i++) {
        struct value *file = value_object(exchange->arena);
        value_put(exchange->arena, file, "name",
                  value_string(exchange->arena, files.items[i].name));
        value_put(exchange->arena, file, "size",
                  value_number(exchange->arena, (double)files.items[i].size));
        value_append(exchange->arena, list, file);
    }
    exchange_reply_json(exchange, HTTP_OK, list);
}
