/* client/array_tasks.h - the tasks of an array by their indexes: the state of each
 *
 * Known are those that the job's attempt runs, those that are held, and those of earlier attempts that
 * do not run again; not those that have succeeded in an earlier one.
 */
#ifndef CLIENT_ARRAY_TASKS_H
#define CLIENT_ARRAY_TASKS_H

#include "client/view.h"

struct array_task {
    int index;  /* the user's */
    int number; /* in this attempt, as in the names of output/; -1: it does not run in it */
    enum job_state state; /* a word that a job could be in */
};

struct array_tasks {
    struct array_task *items; /* by ascending index */
    size_t count;
};

/* Those of the job, in the arena; none when it is no array, or damaged. */
void array_tasks_find(struct arena *arena, const struct job_view *view, struct array_tasks *tasks);

/* The one of that index, or NULL. */
const struct array_task *array_tasks_get(const struct array_tasks *tasks, int index);

/* The indexes of those in that state, as a list: 0-2,7; empty: none. */
struct text array_tasks_list(struct arena *arena, const struct array_tasks *tasks,
                             enum job_state state);

/* Those that a list names (sweep/3-5), in the arena.  -1 and a sentence when the job is no array, or the list
 * is wrong, or names what is none of its tasks. */
int array_tasks_choose(struct arena *arena, const struct job_view *view, struct text list,
                       struct array_tasks *chosen, struct error *error);

/* Put `states` into the member `array` of the tree that view_tree() made: which tasks are in which state. */
void array_tasks_put(struct arena *arena, struct value *tree, const struct job_view *view);

/* What the task with that number ended with in the last attempt that the log of the job tells the end
 * of; -1: it has not ended, or is not told. */
int array_tasks_exit_code(struct text log, int attempt, int number);

#endif
