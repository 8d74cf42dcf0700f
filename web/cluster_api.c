/* web/cluster_api.c - /dlspool/v1/status, /nodes, /limits and /share: how the spool stands, and who has what of it */
#include "web/cluster_api.h"

#include "client/limit_amounts.h"
#include "client/node_tree.h"
#include "client/share_lines.h"
#include "client/status_report.h"
#include "spool/settings.h"

/* Makes a tree in the exchange's arena; NULL and a sentence. */
typedef struct value *tree_maker(const struct exchange *exchange, const struct settings *settings,
                                 struct error *error);

static void reply_tree(struct exchange *exchange, tree_maker *make)
{
    struct settings settings;
    struct error error;
    struct value *tree = NULL;
    if (settings_read(&settings, exchange->spool, &error) == 0) {
        tree = make(exchange, &settings, &error);
        if (tree)
            exchange_reply_json(exchange, HTTP_OK, tree);
        settings_free(&settings);
    }
    if (!tree)
        exchange_reply_problem(exchange, HTTP_INTERNAL_ERROR, error.text);
}

/* A page does not ask the executor, as it reaches nothing but the spool. */
static struct value *status_tree(const struct exchange *exchange, const struct settings *settings,
                                 struct error *error)
{
    struct status_report report = {
        .arena = exchange->arena, .spool = exchange->spool, .settings = settings};
    (void)error;
    status_report_look(&report);
    status_report_take_capacity(&report);
    error_set(&report.not_ready,
              "a page does not ask the executor; capacity is what the daemon has "
              "last written down of it");
    return status_report_tree(&report);
}

static void show_status(struct exchange *exchange)
{
    reply_tree(exchange, status_tree);
}

static struct value *limits_tree(const struct exchange *exchange, const struct settings *settings,
                                 struct error *error)
{
    return limit_amounts_tree(exchange->arena, exchange->spool, &settings->limits, error);
}

static void show_limits(struct exchange *exchange)
{
    reply_tree(exchange, limits_tree);
}

static struct value *share_tree(const struct exchange *exchange, const struct settings *settings,
                                struct error *error)
{
    struct share_lines lines;
    if (share_lines_look(exchange->spool, &settings->shares, &lines, error))
        return NULL;
    struct value *tree = share_lines_tree(exchange->arena, &settings->shares, &lines);
    share_lines_free(&lines);
    return tree;
}

static void show_share(struct exchange *exchange)
{
    reply_tree(exchange, share_tree);
}

/* As the daemon was told last: a page may not ask the executor. */
static void show_nodes(struct exchange *exchange)
{
    struct capacity capacity;
    struct nodes *nodes = nodes_new();
    int64_t time;
    if (capacity_file_read(exchange->spool, &capacity, nodes, &time))
        exchange_reply_problem(exchange, HTTP_NOT_FOUND,
                               "what nodes there are is not known: the daemon asks the executor "
                               "while there are jobs");
    else
        exchange_reply_json(exchange, HTTP_OK,
                            node_tree_make(exchange->arena, &capacity, nodes, time));
    nodes_free(nodes);
}

const struct route cluster_api_routes[] = {{"GET", "/dlspool/v1/status?", show_status},
                                           {"GET", "/dlspool/v1/nodes?", show_nodes},
                                           {"GET", "/dlspool/v1/limits?", show_limits},
                                           {"GET", "/dlspool/v1/share?", show_share},
                                           {.pattern = NULL}};
