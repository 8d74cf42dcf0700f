/* executors/slurm/records.h - picks dlspool's jobs out of slurmrestd's list
 *
 * The list contains all jobs of the cluster, about three kilobytes each: those of others are
 * skipped without being parsed. dlspool's jobs are recognized by their comment,
 *
 *   dlspool:<spool>:<id>:<attempt>:<identity>             submitted, and held
 *   dlspool:<spool>:<id>:<attempt>:<identity>:released    released
 *
 * and its name, <id>-a<attempt>, which dlspool's updates never change, says which job it is.  An
 * update is sent to a number, and by then the number may belong to another job, because Slurm
 * reuses numbers after slurmctld has lost some.  So a comment may name another of dlspool's jobs;
 * but if it says released, this job was released.
 *
 * One job may have several records: the components of a heterogeneous job, the elements of an array
 * that have begun, and one for all that have not.
 *
 * Known weakness: anybody who may submit or change a job can give it dlspool's comment and name;
 * therefore its user's name or, if that is not reported, number is checked, too.
 */
#ifndef EXECUTORS_SLURM_RECORDS_H
#define EXECUTORS_SLURM_RECORDS_H

#include <sys/types.h>

#include "base/error.h"
#include "base/value.h"

/* NO_VAL and INFINITE, of 32 bits, are beyond. */
#define SLURM_NUMBER_MOST INT64_C(4294967293)

enum slurm_state {
    SLURM_STATE_UNKNOWN, /* an unknown word */
    SLURM_STATE_WAITING,
    SLURM_STATE_RUNNING,
    SLURM_STATE_COMPLETING, /* it has ended, but its nodes are not free yet */
    SLURM_STATE_COMPLETED,
    SLURM_STATE_FAILED,
    SLURM_STATE_TIMEOUT,
    SLURM_STATE_DEADLINE,
    SLURM_STATE_NODE_FAIL,
    SLURM_STATE_OUT_OF_MEMORY,
    SLURM_STATE_PREEMPTED,
    SLURM_STATE_BOOT_FAIL,
    SLURM_STATE_CANCELLED,
    SLURM_STATE_REVOKED /* a federation runs it elsewhere */
};

/* The state in a member that is a word, or a list of a state and flags; and its word. */
enum slurm_state slurm_record_state(const struct value *object, const char *key, struct text *word);

/* Has it ended for good, with its nodes free? */
bool slurm_record_is_over(enum slurm_state state);

struct slurm_record {
    struct text id; /* of our job; the record's key, with the attempt */
    int attempt;
    struct text identity;   /* of the spool that submitted it (executor.h); empty: unknown */
    bool released;          /* by its comment */
    int64_t number;         /* Slurm's id of the job */
    int64_t array_number;   /* of the array; 0: none */
    int array_index;        /* of the element; -1: those of array_rest, or none at all */
    struct text array_rest; /* elements that have not started, as Slurm writes them: "3,5-9%2" */
    int64_t het_number;     /* of the heterogeneous job's leader; 0: none */
    int het_offset;
    enum slurm_state state;
    struct text state_word, reason, description;
    struct text user; /* may be empty: v0.0.36 does not always report it */
    int64_t user_id;  /* -1: not known */
    bool held;        /* its priority is 0 */
    int exit_code;    /* 0 to 255, 128 and a signal's number; of the batch script */
    int64_t submitted, started, ended; /* milliseconds; 0: not known; `ended` may lie ahead */
    int restarts;                      /* how often Slurm has requeued it */
    struct text nodes;
    double cpu_time, memory_peak; /* that its steps used: microseconds, bytes; 0: not known */
};

struct slurm_records {
    struct slurm_record *items; /* in the order of their keys; within one, of Slurm's ids */
    size_t count;
    size_t listed; /* jobs of everybody */
};

/* Read an answer to GET jobs.  All in the arena.  -1 and a sentence when it is incomplete or
 * reports an error: then nothing is known, not even that a job does not exist. */
int slurm_records_read(struct slurm_records *records, struct arena *arena, struct text answer,
                       const char *spool, struct error *error);

/* The records of one job: a part of the items, perhaps none. */
struct slurm_records slurm_records_of(const struct slurm_records *records, const char *id,
                                      int attempt);

/* Sort records into the order in which they are searched. */
void slurm_records_sort(struct slurm_records *records);

/* <id>-a<attempt>; false when it is of another form. */
bool slurm_record_read_name(struct slurm_record *record, struct text name);

/* Read one record of either kind of version.  False when it is not dlspool's, or was given back:
 * ended before it was released. */
bool slurm_record_read(struct slurm_record *record, const struct value *job, const char *spool);

/* Does it belong to that user?  True, too, when its user is not reported. */
bool slurm_record_is_of(const struct slurm_record *record, struct text user, uid_t uid);

/* The number under which Slurm has all of the job: of its array, or of its heterogeneous job's leader. */
int64_t slurm_record_head(const struct slurm_record *record);

/* How many nodes "n[1-3,7],m2" are. */
int slurm_record_count_nodes(struct text nodes);

/* Is the element among those of array_rest? */
bool slurm_record_array_has(struct text rest, int index);

enum { SLURM_TOKEN_SIZE = 256 };
/* dlspool:<spool>:<id>:<attempt>:<identity>; without the last when that is "". */
void slurm_record_token(char buffer[static SLURM_TOKEN_SIZE], const char *spool, const char *id,
                        int attempt, const char *identity);

#endif
