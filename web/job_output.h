/* web/job_output.h - the part of a job's page with what its tasks printed
 *
 * Fields of the query: attempt, of an earlier attempt; task, only the file of that name.  What grows has
 * attributes by which web/page.js goes on from there.
 */
#ifndef WEB_JOB_OUTPUT_H
#define WEB_JOB_OUTPUT_H

#include "client/view.h"
#include "web/exchange.h"

/* The name of the directory with the output of the attempt that the query names, or of the present one.  -1 and a
 * sentence when it names none. */
enum { JOB_OUTPUT_NAME_SIZE = 32 };
int job_output_directory(const struct exchange *exchange, const struct job_view *view,
                         char name[static JOB_OUTPUT_NAME_SIZE], struct error *error);

/* Append the part; `job` is the job's open directory. */
void job_output_add(struct exchange *exchange, struct buffer *out, const struct job_view *view,
                    int job);

/* Append the last bytes of a file, from the start of a line on, and a link to all of it.  `follow`: the file's name,
 * where it is to be followed as it grows; else NULL. */
void job_output_add_file(struct buffer *out, int directory, const char *name, const char *link,
                         off_t most, const char *follow);

/* The pieces of it, for output that is not in a directory: what a file holds, or its end; the address of all of a file;
 * and, of files from JOB_OUTPUT_FILES on, a row of the table of the others (bytes -1: not known). */
enum { JOB_OUTPUT_FILES = 6 };
void job_output_add_text(struct buffer *out, const char *name, struct text text, bool is_cut,
                         const char *link);
const char *job_output_link(struct exchange *exchange, const char *id, const char *name);
void job_output_begin_listed(struct buffer *out);
void job_output_add_listed(struct exchange *exchange, struct buffer *out, const char *id,
                           const char *name, int64_t bytes);
/* A link to the output of another attempt. */
void job_output_add_attempt(struct buffer *out, const char *id, int attempt, bool present,
                            bool chosen);

#endif
