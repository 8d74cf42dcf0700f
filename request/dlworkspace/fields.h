/* request/dlworkspace/fields.h - the parameters of DLWorkspace's PostJob, one by one */
#ifndef REQUEST_DLWORKSPACE_FIELDS_H
#define REQUEST_DLWORKSPACE_FIELDS_H

#include "request/description.h"
#include "request/fields.h"

struct dlworkspace {
    struct text name, cluster, kind, training, image, command;
    struct text work_path, data_path, job_path;
    struct text gpu_type, sku;
    int gpus, servers, workers, mpi_workers;
    int64_t cpu_request, cpu_limit;       /* thousandths */
    int64_t memory_request, memory_limit; /* bytes */
    /* Booleans: 0 not given, 1 true, -1 false. */
    int enable_work, enable_data, enable_job, preemptible, privileged;
    int priority; /* 0: not given */
    struct environment environment;
    struct port_request *ports;
    size_t ports_count;
    const struct value *plugins; /* an object, or NULL */
};

extern const struct field_table dlworkspace_fields;

/* Add a note for each field without effect that asks for something. */
void dlworkspace_fields_note_ineffective(struct arena *arena, const struct value *root,
                                         struct notes *notes);

#endif
