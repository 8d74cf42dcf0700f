/* stages/resubmit/circles.c - jobs that would wait for each other in a circle
 *
 * For each job that an older one waits for, the way along its edges is searched, depth first, for a
 * way back; without recursion, as a chain may be as long as there are jobs.
 */
#include "stages/resubmit/circles.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/arena.h"

struct circles {
    size_t jobs;
    struct circle_edge *edges; /* by `from` */
    size_t count;
    size_t *first; /* of each job, in edges; and one more */
    bool *closes;
    uint64_t *visited; /* the number of the search that came by last */
    uint64_t search;
    size_t *chain, *next; /* the way, and where each of its jobs has got to among its edges */
};

static int compare_edges(const void *a, const void *b)
{
    const struct circle_edge *first = a, *second = b;
    if (first->from != second->from)
        return first->from < second->from ? -1 : 1;
    return (first->to > second->to) - (first->to < second->to);
}

struct circles *circles_new(size_t jobs, const struct circle_edge *edges, size_t count)
{
    struct circles *circles = memory_allocate(sizeof(*circles));
    *circles = (struct circles){
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
        circles->edges[i] = edges[i];
    if (count)
        qsort(circles->edges, count, sizeof(*edges), compare_edges);
    for (size_t i = 0, job = 0; job <= jobs; job++) {
        circles->first[job] = i;
        while (i < count && circles->edges[i].from == job)
            i++;
    }
    return circles;
}

void circles_free(struct circles *circles)
{
    if (!circles)
        return;
    free(circles->edges);
    free(circles->first);
    free(circles->closes);
    free(circles->visited);
    free(circles->chain);
    free(circles->next);
    free(circles);
}

/* Search for a way from the job back to itself by older ones that close no circle.  Its length, with
 * the way in circles->chain; 0: there is none. */
static size_t find_way(struct circles *circles, size_t job)
{
    size_t depth = 1;
    circles->search++;
    circles->chain[0] = job;
    circles->next[0] = circles->first[job];
    while (depth) {
        size_t here = circles->chain[depth - 1];
        if (circles->next[depth - 1] == circles->first[here + 1]) {
            depth--;
            continue;
        }
        size_t to = circles->edges[circles->next[depth - 1]++].to;
        if (to == job)
            return depth;
        if (to > job || circles->closes[to] || circles->visited[to] == circles->search)
            continue;
        circles->visited[to] = circles->search;
        circles->chain[depth] = to;
        circles->next[depth] = circles->first[to];
        depth++;
    }
    return 0;
}

void circles_find(struct circles *circles)
{
    /* Whom nobody older waits for, nor itself, closes nothing. */
    bool *awaited = memory_allocate(circles->jobs + 1);
    for (size_t job = 0; job < circles->jobs; job++)
        awaited[job] = false;
    for (size_t i = 0; i < circles->count; i++)
        if (circles->edges[i].from <= circles->edges[i].to)
            awaited[circles->edges[i].to] = true;
    for (size_t job = 0; job < circles->jobs; job++)
        circles->closes[job] = awaited[job] && find_way(circles, job) > 0;
    free(awaited);
}

bool circles_closes(struct circles *circles, size_t job, const size_t **chain, size_t *length)
{
    if (!circles->closes[job])
        return false;
    *length = find_way(circles, job);
    *chain = circles->chain;
    return true;
}
