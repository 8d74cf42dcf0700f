/* web/nodes_table.c - a table of the executor's nodes: which take jobs, and what is in use of each */
#include "web/nodes_table.h"

#include "base/quantity.h"
#include "client/node_tree.h"
#include "web/html.h"

enum { ROWS_MOST = 1000 }; /* a page of more helps nobody */

static void add_node(struct exchange *exchange, struct buffer *out, const struct node *node)
{
    struct arena *arena = exchange->arena;
    char used[QUANTITY_TEXT_SIZE], all[QUANTITY_TEXT_SIZE];
    buffer_add_string(out, "<tr>");
    html_cell_head(out, node->name);
    html_cell(out, "", text_of(nodes_state_name(node->state)));
    html_cell(out, "number",
              arena_printf(arena, "%s of %s",
                           quantity_format_cpus(node->cpus - node->cpus_free, used),
                           quantity_format_cpus(node->cpus, all)));
    html_cell(out, "number optional",
              arena_printf(arena, "%s of %s",
                           quantity_format_bytes(node->memory - node->memory_free, used),
                           quantity_format_bytes(node->memory, all)));
    html_cell(out, "number", node_tree_gpus(arena, node));
    html_cell(out, "", node_tree_why(arena, node));
    buffer_add_string(out, "</tr>\n");
}

void nodes_table_add(struct exchange *exchange, struct buffer *out, const struct nodes *nodes)
{
    static const struct html_column columns[] = {{"Node", ""},
                                                 {"State", ""},
                                                 {"CPUs used", "number"},
                                                 {"Memory used", "number optional"},
                                                 {"GPUs used", "number"},
                                                 {"Why", ""}};
    size_t shown = 0;
    if (!nodes->count)
        return;
    html_heading(out, "Nodes");
    html_table_begin(out, "Nodes", columns, ARRAY_COUNT(columns));
    for (int ready = 0; ready < 2; ready++)
        for (size_t i = 0; i < nodes->count && shown < ROWS_MOST; i++)
            if ((nodes->items[i].state == NODE_READY) == ready) {
                add_node(exchange, out, &nodes->items[i]);
                shown++;
            }
    html_table_end(out);
    if (shown < nodes->count)
        html_say(out, "note",
                 arena_printf(exchange->arena, "These are %zu of %zu; dlspool nodes lists all.",
                              shown, nodes->count));
}
