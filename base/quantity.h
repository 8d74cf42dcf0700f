/* base/quantity.h - amounts of memory and of processors, as people write them
 *
 * The suffixes are those of Kubernetes' quantities: Ki Mi Gi Ti Pi Ei are powers of 1024, and
 * k M G T P E powers of 1000; a final B is allowed ("16GiB", "2 GB").  A lone `m` or `g` is not:
 * one tool means a thousandth or a gigabyte by it, the next a megabyte or a gibibyte.
 */
#ifndef BASE_QUANTITY_H
#define BASE_QUANTITY_H

#include <stdint.h>

#include "base/text.h"

enum { QUANTITY_TEXT_SIZE = 32 }; /* bytes, with the final NUL */

/* Read "512Mi", "16Gi", "1.5 GiB", "2G", "1048576": a decimal number and a suffix, with at most
 * one space between; a fraction of a byte is dropped.  -1, with *bytes untouched, when it is not
 * one, has a sign, has more than nine digits after the point, or is 2^63 or more. */
int quantity_parse_bytes(struct text text, int64_t *bytes);

/* Read "2", "0.5", "1.25" processors or "500m", thousandths of one.  -1, with *thousandths
 * untouched, when it is not one, has a sign, is finer than a thousandth, or is too large. */
int quantity_parse_cpus(struct text text, int64_t *thousandths);

/* Write for people: "17 bytes", "1.5 GiB", "512 MiB"; rounded to one digit after the point.
 * Returns `buffer`. */
const char *quantity_format_bytes(int64_t bytes, char buffer[static QUANTITY_TEXT_SIZE]);

/* "s", but of one "": "%d GPU%s".  Of CPUs in thousandths: 1000 is one. */
const char *quantity_plural(int64_t count);
const char *quantity_plural_cpus(int64_t thousandths);

/* Write what is asked for or there is, for people: "1 CPU, 1.5 GiB, 2 GPUs"; without GPUs where
 * there is none. Returns `buffer`. */
enum { RESOURCES_TEXT_SIZE = 96 };
const char *quantity_format_resources(int64_t cpus, int64_t memory, int64_t gpus,
                                      char buffer[static RESOURCES_TEXT_SIZE]);

/* Write "2", "0.5", "1.25"; reads back as the same.  Returns `buffer`. */
const char *quantity_format_cpus(int64_t thousandths, char buffer[static QUANTITY_TEXT_SIZE]);

/* Write milliseconds as hours: "12", "0.25"; what is less than a thousandth is dropped.  Returns `buffer`. */
const char *quantity_format_hours(int64_t milliseconds, char buffer[static QUANTITY_TEXT_SIZE]);

#endif
