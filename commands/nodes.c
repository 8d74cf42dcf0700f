/* commands/nodes.c - dlspool nodes: the machines of the executor, which take jobs, and what is free of each */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/quantity.h"
#include "client/node_tree.h"
#include "commands/ask.h"
#include "commands/commands.h"
#include "commands/complain.h"
#include "commands/open.h"
#include "commands/options.h"
#include "commands/print.h"
#include "stages/lease.h"
#include "stages/shared/capacity_file.h"

struct listing {
    struct capacity capacity;
    struct nodes *nodes;
    int64_t time; /* when the daemon was told so; 0: the executor was asked just now */
};

/* Ask the executor, or read what the daemon was told.  -1 after a complaint. */
static int look(const struct spool *spool, const struct settings *settings, struct listing *listing)
{
    char who[LEASE_TEXT_SIZE];
    struct error error;
    struct executor *executor = ask_open(spool, settings, &error);
    if (executor) {
        int result = nodes_survey(executor, &listing->capacity, listing->nodes, &error);
        ask_close(executor, lease_present(spool, who) != 0);
        if (result)
            complain("%s", error.text);
        return result;
    }
    if (ask_allowed(spool)) {
        complain("%s", error.text);
        return -1;
    }
    if (capacity_file_read(spool, &listing->capacity, listing->nodes, &listing->time) == 0)
        return 0;
    complain(
        "%s, and the daemon, which writes down what it is told while there are jobs, has not done so yet",
        error.text);
    return -1;
}

/* Keep the nodes that are named, or those that are not ready.  -1 after a complaint about one that is not there. */
static int choose(struct nodes *nodes, char **names, int count, bool away)
{
    bool *wanted = arena_allocate(nodes->arena, nodes->count + 1);
    size_t kept = 0;
    int result = 0;
    for (size_t i = 0; i < nodes->count; i++)
        wanted[i] = count == 0;
    for (int k = 0; k < count; k++) {
        size_t i = 0;
        while (i < nodes->count && !text_is(nodes->items[i].name, names[k]))
            i++;
        if (i < nodes->count) {
            wanted[i] = true;
        } else {
            complain("there is no node %s; `dlspool nodes` lists them", names[k]);
            result = -1;
        }
    }
    for (size_t i = 0; i < nodes->count; i++)
        if (wanted[i] && (!away || nodes->items[i].state != NODE_READY))
            nodes->items[kept++] = nodes->items[i];
    nodes->count = kept;
    return result;
}

/* ---- for people ---- */

enum { CELLS = 6 };

static void make_cells(struct arena *arena, const struct node *node,
                       struct text cells[static CELLS])
{
    char used[QUANTITY_TEXT_SIZE], all[QUANTITY_TEXT_SIZE];
    cells[0] = node->name;
    cells[1] = text_of(nodes_state_name(node->state));
    cells[2] =
        arena_printf(arena, "%s of %s", quantity_format_cpus(node->cpus - node->cpus_free, used),
                     quantity_format_cpus(node->cpus, all));
    cells[3] = arena_printf(arena, "%s of %s",
                            quantity_format_bytes(node->memory - node->memory_free, used),
                            quantity_format_bytes(node->memory, all));
    cells[4] = node_tree_gpus(arena, node);
    cells[5] = node_tree_why(arena, node);
}

/* Print the nodes with their columns as wide as the widest of them; the last one is cut nowhere. */
static void print_nodes(struct arena *arena, const struct nodes *nodes)
{
    static const char *const headings[CELLS] = {"NODE", "STATE", "CPUS", "MEMORY", "GPUS", "WHY"};
    struct text(*rows)[CELLS] = arena_allocate(arena, (nodes->count + 1) * sizeof(*rows));
    size_t widths[CELLS] = {0};
    for (int c = 0; c < CELLS; c++)
        rows[0][c] = text_of(headings[c]);
    for (size_t i = 0; i < nodes->count; i++)
        make_cells(arena, &nodes->items[i], rows[i + 1]);
    for (size_t i = 0; i <= nodes->count; i++)
        for (int c = 0; c < CELLS; c++)
            widths[c] = rows[i][c].length > widths[c] ? rows[i][c].length : widths[c];
    for (size_t i = 0; i <= nodes->count; i++) {
        int last = CELLS - 1;
        while (last > 0 && !rows[i][last].length)
            last--;
        for (int c = 0; c <= last; c++) {
            print_text(rows[i][c]);
            printf("%*s", c < last ? (int)(widths[c] - rows[i][c].length) + 2 : 0, "");
        }
        putchar('\n');
    }
}

static void show(const struct listing *listing, size_t all, bool away)
{
    struct arena *arena = arena_new();
    char time[CLOCK_TEXT_SIZE];
    if (listing->nodes->count)
        print_nodes(arena, listing->nodes);
    else if (!all)
        printf("%s\n", node_tree_none(arena, &listing->capacity).data);
    else if (away)
        printf(all == 1 ? "The node takes jobs.\n" : "All %zu nodes take jobs.\n", all);
    if (listing->nodes->count && listing->capacity.note[0])
        remark("%s", listing->capacity.note);
    if (listing->time)
        remark("as the daemon found it %s", clock_local(listing->time, time));
    arena_free(arena);
}

static int list_nodes(const struct spool *spool, const struct settings *settings, char **names,
                      int name_count, bool away, bool json)
{
    struct listing listing = {.nodes = nodes_new()};
    int status = STATUS_FAILED;
    if (look(spool, settings, &listing) == 0) {
        size_t all = listing.nodes->count;
        status = choose(listing.nodes, names, name_count, away) ? STATUS_FAILED : STATUS_DONE;
        if (json) {
            struct arena *arena = arena_new();
            print_json(node_tree_make(arena, &listing.capacity, listing.nodes, listing.time));
            arena_free(arena);
        } else if (status == STATUS_DONE || listing.nodes->count) {
            show(&listing, all, away);
        }
    }
    nodes_free(listing.nodes);
    return status;
}

int command_nodes(int argument_count, char **arguments)
{
    bool json = false, away = false;
    const struct option_spec options[] = {
        {"not-ready", 'R', OPTION_FLAG, &away, NULL, "only those that take no jobs, and why"},
        {"json", 'j', OPTION_FLAG, &json, NULL, "as JSON, an object"},
        {0}};
    const struct verb_usage usage = {
        "nodes",
        "[NODE...]",
        0,
        -1,
        "Show the machines of the executor, which take jobs, and what is free of each.",
        "A state is ready, drained (takes no more jobs, for somebody said so), down, or unknown. The CPUs, memory\n"
        "and GPUs are those in use, of all that the node has.\n",
        options};
    struct settings settings;
    struct spool spool;
    int operand_count, status;
    if (!options_read(&usage, argument_count, arguments, &operand_count, &status))
        return status;
    if (open_spool_and_settings(&spool, &settings))
        return STATUS_FAILED;
    status = list_nodes(&spool, &settings, arguments + 1, operand_count, away, json);
    settings_free(&settings);
    spool_close(&spool);
    return status;
}
