/* web/archived_files.h - what the files of an archived job hold
 *
 * A page may write no files, so they are read into memory: of each its end, or all of one.  What a user may not read in
 * the archive, they are not shown.
 */
#ifndef WEB_ARCHIVED_FILES_H
#define WEB_ARCHIVED_FILES_H

#include "web/exchange.h"

struct archived_file {
    const char *directory, *name; /* directory "": the job's own */
    int64_t size;
    struct text end; /* from the start of a line on; all of it, unless it is cut */
    bool is_cut;
};

struct archived_files {
    struct archived_file *items;
    size_t count, capacity;
    bool denied; /* there are some that the reader may not read */
};

/* Which files: all, or those of that directory, or that one alone; and how much of each. */
struct archived_wish {
    const char *directory, *name; /* NULL: any */
    size_t most;                  /* bytes at the end of each */
};

/* Read files of the archived job that the word means (archive/find.h); what they hold is in the exchange's arena.
 * -1 and a sentence. */
int archived_files_read(const struct exchange *exchange, struct text word,
                        const struct archived_wish *wish, struct archived_files *files,
                        struct error *error);

/* The file of that name; NULL when there is none, or the user may not read it. */
const struct archived_file *archived_files_get(const struct archived_files *files,
                                               const char *directory, const char *name);
/* The job file, whatever its name; NULL as above. */
const struct archived_file *archived_files_request(const struct archived_files *files);

/* All of one file of the archived job that the word means: "" and "log", "output" and "main-0.log"; the job file is
 * "request".  HTTP_OK, or another status and a sentence. */
int archived_files_whole(const struct exchange *exchange, struct text word, const char *directory,
                         const char *name, struct text *bytes, struct error *error);

#endif
