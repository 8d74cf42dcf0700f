/* web/microhttpd.h - GNU libmicrohttpd, opened when it is first needed
 *
 * What is used of it is in the table below.  It is given connections that are open already, and is driven from
 * outside by the descriptor of its epoll.
 */
#ifndef WEB_MICROHTTPD_H
#define WEB_MICROHTTPD_H

#include <microhttpd.h>

#include "base/error.h"

#define MICROHTTPD_FUNCTIONS(FUNCTION)                                                             \
    FUNCTION(MHD_start_daemon)                                                                     \
    FUNCTION(MHD_stop_daemon)                                                                      \
    FUNCTION(MHD_add_connection)                                                                   \
    FUNCTION(MHD_get_connection_info)                                                              \
    FUNCTION(MHD_get_daemon_info)                                                                  \
    FUNCTION(MHD_run)                                                                              \
    FUNCTION(MHD_get_timeout)                                                                      \
    FUNCTION(MHD_get_connection_values)                                                            \
    FUNCTION(MHD_suspend_connection)                                                               \
    FUNCTION(MHD_resume_connection)                                                                \
    FUNCTION(MHD_create_response_from_buffer)                                                      \
    FUNCTION(MHD_create_response_from_callback)                                                    \
    FUNCTION(MHD_create_response_from_fd_at_offset64)                                              \
    FUNCTION(MHD_add_response_header)                                                              \
    FUNCTION(MHD_queue_response)                                                                   \
    FUNCTION(MHD_destroy_response)

#define MICROHTTPD_MEMBER(name) __typeof__(name) *name;
struct microhttpd {
    MICROHTTPD_FUNCTIONS(MICROHTTPD_MEMBER)
};
#undef MICROHTTPD_MEMBER

/* The library, opened for as long as the process lives.  NULL and a sentence that names the package when it is
 * not there. */
const struct microhttpd *microhttpd_open(struct error *error);

#endif
