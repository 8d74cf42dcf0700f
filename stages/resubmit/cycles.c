/* stages/resubmit/cycles.c - jobs that would wait for each other in a cycle
 *
 * For each job that an older one waits for, the way along its edges is searched, depth first, for a
 * way back; without recursion, as a chain may be as long as there are jobs.
 */
#include "stages/resubmit/cycles.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/arena.h"

struct cycles {
    size_t jobs;
    struct cycle_edge *edges; /* by `from` */
    size_t count;
    size_t *first; /* of each job, in edges; and one more */
    bool *closes;
    uint64_t *visited; /* by job: the number of the last search that came by */
    uint64_t search;
    size_t *chain, *next; /* the path, and how far the edges of each of its jobs were followed */
};

static int compare_edges(const void *a, const void *b)
{
    const struct cycle_edge *first = a, *second = b;
    if (first->from != second->from)
        return first->from < second->from ? -1 : 1;
    return (first->to > second->to) - (first->to < second->to);
}

struct cycles *cycles_new(size_t jobs, const struct cycle_edge *edges, size_t count)
{
    struct cycles *cycles = memory_allocate(sizeof(*cycles));
    *cycles = (struct cycles){
        .jobs = jobs,
        .count = count,
        .edges = memory_allocate((count + 1) * sizeof(*edges)),
        .first = memory_allocate((jobs + 1) * sizeof(size_t)),
        .closes = memory_allocate(jobs + 1),
        .visited = memory_allocate((jobs + 1) * sizeof(uint64_t)),
        .chain = memory_allocate((jobs + 1) * sizeof(size_t)),
        .next = memory_allocate((jobs + 1) * sizeof(size_t)),
    };
    for (size_t i = 0; i < count; i++)
        cycles->edges[i] = edges[i];
    if (count)
        qsort(cycles->edges, count, sizeof(*edges), compare_edges);
    for (size_t i = 0, job = 0; job <= jobs; job++) {
        cycles->first[job] = i;
        while (i < count && cycles->edges[i].from == job)
            i++;
    }
    return cycles;
}

void cycles_free(struct cycles *cycles)
{
    if (!cycles)
        return;
    free(cycles->edges);
    free(cycles->first);
    free(cycles->closes);
    free(cycles->visited);
    free(cycles->chain);
    free(cycles->next);
    free(cycles);
}

/* Search for a path from the job back to itself through older jobs that close no cycle.  Its length, with the
 * path in cycles->chain; 0: there is none. */
static size_t find_way(struct cycles *cycles, size_t job)
{
    size_t depth = 1;
    cycles->search++;
    cycles->chain[0] = job;
    cycles->next[0] = cycles->first[job];
    while (depth) {
        size_t here = cycles->chain[depth - 1];
        if (cycles->next[depth - 1] == cycles->first[here + 1]) {
            depth--;
            continue;
        }
        size_t to = cycles->edges[cycles->next[depth - 1]++].to;
        if (to == job)
            return depth;
        if (to > job || cycles->closes[to] || cycles->visited[to] == cycles->search)
            continue;
        cycles->visited[to] = cycles->search;
        cycles->chain[depth] = to;
        cycles->next[depth] = cycles->first[to];
        depth++;
    }
    return 0;
}

void cycles_find(struct cycles *cycles)
{
    /* A job that neither itself nor an older one waits for closes no cycle. */
    bool *awaited = memory_allocate(cycles->jobs + 1);
    for (size_t job = 0; job < cycles->jobs; job++)
        awaited[job] = false;
    for (size_t i = 0; i < cycles->count; i++)
        if (cycles->edges[i].from <= cycles->edges[i].to)
            awaited[cycles->edges[i].to] = true;
    for (size_t job = 0; job < cycles->jobs; job++)
        cycles->closes[job] = awaited[job] && find_way(cycles, job) > 0;
    free(awaited);
}

bool cycles_closes(struct cycles *cycles, size_t job, const size_t **chain, size_t *length)
{
    if (!cycles->closes[job])
        return false;
    *length = find_way(cycles, job);
    *chain = cycles->chain;
    return true;
}
