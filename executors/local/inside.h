/* executors/local/inside.h - the local executor: podman on this machine; its inside
 *
 * Only the executor's own files include this; others use executor.h.
 *
 * A task is a container named <id>-a<attempt>-<role>-<index>; a job of several tasks that share a
 * private network has a pod named <id>-a<attempt>. Names serve as the token: an existing object
 * belongs to the job when its labels say so and contain the SHA-256 of the same manifest.  Each
 * label starts with "dlspool.":
 *
 *   spool, job, attempt, role, index    whose it is
 *   tasks                               how many the job has
 *   manifest                            SHA-256 of the manifest
 *   parallelism                         how many of its tasks run at once, where not all do
 *   complete                            the job's rule of completion as JSON, where it has one
 *   cpus, memory, gpus, gpus_assigned   what it counts for (thousandths, bytes, number, devices);
 *                                       but its CPUs as its limit is now (resize.c)
 *   time_limit                          milliseconds, 0 for none
 *   untimed                             podman does not know its time limit, as it may be paused
 *   listen                              ports of this machine that it has, where there are any
 *   sources                             "held": what it mounts is held for it while it is started (sources.h)
 *
 * Life of a submission (submit.c): look at what is there; count; open paths as the user, and hold what was
 * opened (sources.h); write files; make the pod; create every container; start the pod's own one, and then
 * every one that was never started; or, where tasks take turns, the first of them (turns.h).  A
 * container is started only when it was seen not to have run (except a lost task that the job's rule starts
 * again: again.h), and never by a request that could be sent twice, so it runs once.  After a crash between
 * any two steps, the same submission finishes what it finds.
 *
 * Known weaknesses: two spools that use the same machine through different storage directories do
 * not see each other's containers, and together may allocate more than the machine has.  Tasks that wait for
 * their turn, of a job that a dlspool without sources.h submitted, mount what is at the path when they start.
 */
#ifndef EXECUTORS_LOCAL_INSIDE_H
#define EXECUTORS_LOCAL_INSIDE_H

#include "executors/executor.h"
#include "executors/local/control_group.h"
#include "executors/local/manifest.h"
#include "executors/local/mountable.h"
#include "executors/local/podman.h"
#include "executors/local/podman_service.h"
#include "executors/local/settings.h"
#include "executors/resources.h"

enum {
    LOCAL_NAME_SIZE = 256, /* bytes of a container's name, with the final NUL */
    LOCAL_PATH_SIZE = 4096 + 512
};

struct names;        /* base/names.h */
struct log_position; /* output.c */
struct refusal;      /* turns.c */
struct known_image;  /* images.c */

struct local {
    struct executor executor;
    struct arena *arena; /* of the settings */
    struct local_settings settings;
    struct machine machine;
    char *spool;
    char *storage; /* absolute path */
    int directory; /* descriptor of storage */
    struct mountable mountable;
    struct podman *podman;
    struct podman_service *service; /* NULL: the settings name a socket */
    bool has_init; /* catatonit is installed, to be each container's first process */
    struct log_position *positions;
    size_t position_count, position_buffer;
    struct refusal *refusals;
    size_t refusal_count;
    struct control_mounts mounts;
    /* by container (numbers.h): how often it was started again; the CPU time and memory that were read last; and the
     * end after which its CPU time was */
    struct names *started_again, *cpu_times, *memory_peaks, *counted;
    struct known_image *images;
    size_t image_count;
};

/* The name of a job's pod and of the directory of its files: <id>-a<attempt>. */
void local_job_name(char buffer[static LOCAL_NAME_SIZE], const char *id, int attempt);
/* The pod's own container, which holds the network: <id>-a<attempt>-infra. */
void local_infra_name(char buffer[static LOCAL_NAME_SIZE], const char *id, int attempt);
void local_task_name(char buffer[static LOCAL_NAME_SIZE], const char *id, int attempt,
                     struct text role, int index);

/* Wait until podman answers, starting its service if that is dlspool's own (podman_service.h).  -1 and a
 * sentence when it does not. */
int local_ensure(struct local *local, struct error *error);

/* ---- labels.c ---- */

const char *local_label(const struct podman_container *container, const char *name); /* or "" */
int64_t local_label_number(const struct podman_container *container, const char *name);
/* Whether the labels that make a container a job's task (job, attempt, role, index) have the form
 * in which dlspool writes them: identifiers, and numbers within an int.  Containers with others are
 * not dlspool's. */
bool local_is_task(const struct podman_container *container);
/* Whether the container is one of the job's tasks; a pod's own container is not. */
bool local_is_of_job(const struct local *local, const struct podman_container *container,
                     const char *id, int attempt);
struct demand local_label_demand(const struct podman_container *container);

/* ---- specification.c ---- */

/* The input for creating a container or pod. */
struct specification {
    const struct local *local;
    const struct submission *submission;
    const struct local_manifest *manifest;
    const char *manifest_hash;
    struct text groups;            /* the user's groups, numbers separated by spaces */
    struct text home, home_source; /* their home directory, and what podman is told of it; may be
                                           empty */
    int at_once; /* tasks that run at once at most, where they take turns; else 0 */
};

struct value *local_specify_pod(struct arena *arena, const struct specification *specification);
/* `sources` are what podman is told of the task's mounts (sources.h), `gpus` the devices it was given. */
struct value *local_specify_task(struct arena *arena, const struct specification *specification,
                                 const struct local_task *task, const struct text *sources,
                                 struct text gpus);
/* Whether the job's tasks need a pod for their network. */
bool local_needs_pod(const struct local_manifest *manifest);
/* Write the files that the task's container mounts.  -1 and a sentence. */
int local_write_files(const struct specification *specification, const struct local_task *task,
                      struct error *error);

/* ---- the operations ----
 * local_poll() also starts containers: those whose turn has come, and lost tasks (poll.c). */

void local_submit(struct executor *executor, struct submission **batch, size_t count);
int local_poll(struct executor *executor, struct arena *arena, struct job_poll **jobs, size_t count,
               struct error *error);
void local_cancel(struct executor *executor, struct job_call **batch, size_t count);
void local_remove(struct executor *executor, struct job_call **batch, size_t count);
void local_suspend(struct executor *executor, struct job_call **batch, size_t count);
void local_output(struct executor *executor, struct job_call **batch, size_t count);
int local_list_jobs(struct executor *executor, executor_take *take, void *context,
                    struct error *error);
int local_needs(struct executor *executor, struct text manifest, struct demand *demand);
void local_inspect(struct executor *executor, executor_tell *tell, void *context);
int local_has_image(struct executor *executor, struct text image, struct error *error);
bool local_resizable(struct executor *executor, struct text manifest, enum size_kind kind);
void local_resize(struct executor *executor, struct job_resize **batch, size_t count);
void local_signal(struct executor *executor, struct job_call **batch, size_t count);

/* Containers of this spool's jobs, or of all spools'; -1 and a sentence. */
int local_list(struct local *local, struct arena *arena, bool all_spools,
               struct podman_container **containers, size_t *count, struct error *error);
/* What these containers leave free of the machine. */
void local_available(const struct local *local, struct arena *arena,
                     struct free_resources *available, const struct podman_container *containers,
                     size_t count);
/* Subtract what living containers count for; those that wait for their turn count only for their
 * devices. */
void local_count(const struct local *local, struct free_resources *available,
                 const struct podman_container *containers, size_t count);
/* Remove a job's containers and pod, whatever state they are in; and with its files. */
int local_remove_containers(struct local *local, const char *id, int attempt, struct error *error);
int local_remove_objects(struct local *local, const char *id, int attempt, struct error *error);

/* ---- usage.c ---- */

/* Thousandths of a CPU that the container may use now; the value of its label while it does not
 * run, or where the kernel does not say. */
int64_t local_cpus_now(const struct local *local, const struct podman_container *container);
/* The same, but -1 where the kernel does not say, and 0 where it sets no limit. */
int64_t local_cpus_limit(const struct local *local, const struct podman_container *container);
/* What the task's container has used; after it has ended, as of the last query; -1: unknown. */
struct local_used {
    int64_t cpu_time;    /* milliseconds */
    int64_t memory_peak; /* bytes that it held at a time */
};
struct local_used local_used_by(struct local *local, const struct podman_container *container);

/* ---- images.c ---- */

/* The image in which the task's container runs: "host", its digest, or "" when that is unknown at
 * the moment. */
void local_image_ran(struct local *local, const struct podman_container *container,
                     char ran[static IMAGE_RAN_SIZE]);
void local_free_images(struct local *local);

/* Forget what is known of the job's logs; at the end, of those of all jobs. */
void local_forget_logs(struct local *local, const char *id, int attempt);
void local_free_logs(struct local *local);

#endif
