/* archive/library.h - libarchive, opened when it is first needed
 *
 * It is not linked, since it brings a dozen libraries whose loading takes every command three milliseconds:
 * only what writes an archive opens it.  What is used of it is in the table below.
 */
#ifndef ARCHIVE_LIBRARY_H
#define ARCHIVE_LIBRARY_H

#include <archive.h>
#include <archive_entry.h>

#include "base/error.h"

#define LIBRARY_FUNCTIONS(FUNCTION)                                                                \
    FUNCTION(archive_error_string)                                                                 \
    FUNCTION(archive_write_new)                                                                    \
    FUNCTION(archive_write_free)                                                                   \
    FUNCTION(archive_write_close)                                                                  \
    FUNCTION(archive_write_open)                                                                   \
    FUNCTION(archive_write_set_bytes_per_block)                                                    \
    FUNCTION(archive_write_set_format_pax_restricted)                                              \
    FUNCTION(archive_write_set_format_raw)                                                         \
    FUNCTION(archive_write_add_filter_zstd)                                                        \
    FUNCTION(archive_write_header)                                                                 \
    FUNCTION(archive_write_data)                                                                   \
    FUNCTION(archive_write_finish_entry)                                                           \
    FUNCTION(archive_entry_new)                                                                    \
    FUNCTION(archive_entry_free)                                                                   \
    FUNCTION(archive_entry_set_pathname)                                                           \
    FUNCTION(archive_entry_set_filetype)                                                           \
    FUNCTION(archive_entry_set_perm)                                                               \
    FUNCTION(archive_entry_set_uid)                                                                \
    FUNCTION(archive_entry_set_gid)                                                                \
    FUNCTION(archive_entry_set_size)                                                               \
    FUNCTION(archive_entry_set_mtime)

#define LIBRARY_MEMBER(name) __typeof__(name) *name;
struct library {
    LIBRARY_FUNCTIONS(LIBRARY_MEMBER)
};
#undef LIBRARY_MEMBER

/* The library, opened for as long as the process lives.  NULL and a sentence that names the package when
 * it is not there. */
const struct library *library_open(struct error *error);

#endif
