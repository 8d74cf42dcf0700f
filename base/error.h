/* base/error.h - the sentence that says what went wrong
 *
 * A function that can fail for a reason a person should read takes a `struct error *` from its
 * caller, puts one sentence there (what, where, what was found, what was expected) and returns
 * -1, or NULL where it returns a pointer.  The caller owns the struct; nothing is allocated.
 * Passing NULL means that the caller does not want the sentence.
 *
 * Untrusted text (file names, values, a server's answer) goes into a sentence only through
 * error_quote(), which makes control bytes and bad UTF-8 visible and bounds the length.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdarg.h>
#include <stddef.h>

enum {
    ERROR_TEXT_SIZE = 2048
}; /* bytes, with the final NUL; longer sentences are cut,
                                          between characters */

struct error {
    char text[ERROR_TEXT_SIZE];
};

/* Set the sentence.  Returns -1, so that `return error_set(...)` reads well. */
int error_set(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The va_list variant of error_set(). */
int error_set_list(struct error *error, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

/* Set the sentence and append ": " and the text of errno as it was on entry.  Returns -1. */
int error_errno(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Put words and ": " before the sentence that is there: "job.yaml: line 3: ...".  Returns -1. */
int error_prefix(struct error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A copy of `length` bytes fit for a sentence: control bytes, DEL, quotes' backslashes and bytes
 * that are not UTF-8 become \xNN, and what is longer than about 80 bytes is cut and ends in
 * "...".  The text lies in `buffer`, which the caller owns; returned is buffer->text. */
struct error_quote_buffer {
    char text[400];
};
const char *error_quote(struct error_quote_buffer *buffer, const char *bytes, size_t length);

#endif
