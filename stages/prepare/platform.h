/* stages/prepare/platform.h - maps the storage and queues of another system to those of this site
 *
 * A job that was written for another system (struct platform) speaks of that system's places.
 * site.yaml has a member of the platform's name that maps them; for OpenPAI:
 *
 *   openpai:
 *     default_fs: hdfs://10.0.0.1:9000      # the value of $PAI_DEFAULT_FS_URI
 *     paths:                                # the longest matching prefix decides
 *       - {prefix: $PAI_DEFAULT_FS_URI, path: /srv/openpai}
 *     unmapped: note                        # or `refuse`: what to do where none fits
 *     virtual_clusters: {vc1: night}        # to queues; null: the default queue
 *     gpu_types: {TITANX: titan-x}
 *     auth_files: {"hdfs://...": secret}    # to the scheduler's secrets for registries
 *     strict: false                         # refuse what is certain to fail, instead of noting it
 *     registry: docker.io                   # of images whose names have none; "" leaves them so
 *     debug: 604800                         # seconds that a failed task of a debug job is kept
 *
 * Of batch scripts for Slurm and PBS it has rules (stages/prepare/option_rules.h).
 *
 * What has no counterpart is refused, or noted in the job's log.
 */
#ifndef STAGES_PREPARE_PLATFORM_H
#define STAGES_PREPARE_PLATFORM_H

#include "renderer/context.h"
#include "request/notes.h"
#include "spool/record.h"

/* Apply what site.yaml says to `job`: program, dataset, output, queue, gpu_type, pull_secrets,
 * port_range, platform.  `notes` grows.  -1 and a sentence when the site refuses the job. */
int platform_resolve(struct arena *arena, const struct value *site,
                     const struct description *description, const struct job_record *record,
                     struct context_job *job, struct notes *notes, struct error *error);

/* The queue of a job that names none itself: what its virtual cluster, or its options such as --partition, mean at
 * this site; empty: nothing.  It is asked for before the job is held to the limits of its queue. */
struct text platform_queue(struct arena *arena, const struct value *site,
                           const struct description *description, const struct job_record *record);

/* The image's name, completed with that platform's registry when the name has none.  Unchanged for
 * a job of no platform, and for one of a batch script, whose image a #DL line names. */
struct text platform_image(struct arena *arena, const struct value *site, struct text platform,
                           struct text image);

#endif
