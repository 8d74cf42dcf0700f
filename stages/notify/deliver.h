/* stages/notify/deliver.h - the process of one message: it becomes the site's command, or posts to the webhook
 *
 * The command has the message on standard input, its facts and little else in the environment, and of what this
 * process has open standard output and error only.
 */
#ifndef STAGES_NOTIFY_DELIVER_H
#define STAGES_NOTIFY_DELIVER_H

#include "spool/settings.h"

struct message {
    struct text environment; /* NAME=VALUE, each followed by NUL */
    struct text body;        /* the mail, or the JSON */
    struct text id;          /* for Idempotency-Key */
};

/* A file in memory with those bytes, to be read from the start; empty, to be written.  -1 with errno. */
int deliver_file(const char *name, struct text bytes);

/* Send the message to `url`, or with the command when that is NULL, and end with 0 when it is on its way.  What is
 * printed goes to the file `output`. */
_Noreturn void deliver_message(const struct message_settings *settings, const char *url,
                               const struct message *message, int output);

#endif
