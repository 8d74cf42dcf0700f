/* executors/nodes.h - the machines that an executor starts tasks on: which take jobs, and what is free of each
 *
 * Every scheduler has words of its own for the state of a node; here are four for all of them, and the scheduler's own
 * beside.  What the scheduler and its administrators say, names, reasons and features, are strangers' texts.
 */
#ifndef EXECUTORS_NODES_H
#define EXECUTORS_NODES_H

#include "executors/executor.h"

enum node_state {
    NODE_READY,   /* it takes jobs; whether there is room, the figures tell */
    NODE_DRAINED, /* somebody has said that it takes no more; jobs may still run there */
    NODE_DOWN,    /* it cannot run jobs, or does not answer */
    NODE_UNKNOWN, /* the scheduler does not know how it is */
    NODE_STATES
};

struct node {
    struct text name;
    enum node_state state;
    struct text word; /* the state in the scheduler's own words, "IDLE+DRAIN"; may be empty */
    struct text
        reason; /* why it is not ready, as the scheduler or its administrator put it; may be empty */
    struct text by;              /* whose reason that is; may be empty */
    int64_t since;               /* time of day; 0: not known */
    int64_t cpus, cpus_free;     /* thousandths */
    int64_t memory, memory_free; /* bytes */
    int gpus, gpus_free;
    struct gpu_capacity *gpu_types; /* those that are told apart */
    size_t gpu_type_count;
    struct text features; /* by which jobs may choose it, with commas between them; may be empty */
};

struct nodes {
    struct arena *arena; /* of the texts, too */
    struct node *items;
    size_t count, capacity;
};

enum { NODES_MOST = 70000, NODES_TEXT_MOST = 500 }; /* Slurm itself takes 65,533; bytes of a text */

struct nodes *nodes_new(void);
void nodes_free(struct nodes *nodes); /* NULL is fine */
void nodes_clear(struct nodes *nodes);

/* Add a node that is down and has nothing.  Valid until the next is added; NULL when there are NODES_MOST. */
struct node *nodes_add(struct nodes *nodes, struct text name);
/* A copy for a member of a node, of NODES_TEXT_MOST bytes at most. */
struct text nodes_text(struct nodes *nodes, struct text text);
/* Add GPUs to a node, `used` of them not free.  An empty type: they are not told apart. */
void nodes_add_gpus(struct nodes *nodes, struct node *node, struct text type, int count, int used);
void nodes_copy(struct nodes *nodes, const struct nodes *from);
/* Set what is free to what there is. */
void nodes_set_free(struct node *node);
/* Raise what is free to 0 where it is negative, and lower it to what there is. */
void nodes_clamp(struct node *node);

/* Add to the capacity what the node has, and what is free of it. */
void nodes_take(const struct node *node, struct capacity *capacity);
/* Set the capacity to what the nodes that are ready have, and count all nodes. */
void nodes_sum(const struct nodes *nodes, struct capacity *capacity);
/* Set it to what the others have, and count these.  Nothing is free there, though jobs may still run on them. */
void nodes_sum_others(const struct nodes *nodes, struct capacity *capacity);

/* "ready", "drained", "down", "unknown". */
const char *nodes_state_name(enum node_state state);
/* The state of that name; NODE_UNKNOWN of another word. */
enum node_state nodes_state_read(struct text word);

/* Ask for the capacity, and for the nodes that it is of, by the same requests; no nodes where the
 * executor has none.  -1 and a sentence on failure. */
int nodes_survey(struct executor *executor, struct capacity *capacity, struct nodes *nodes,
                 struct error *error);

#endif
