/* stages/notify/courier.h - the process that sends messages, with the site's command or to its webhook
 *
 * The notify stage reads what users wrote, and is confined: no programs, no network.  Before it is, it starts this
 * process, which reads nothing but finished messages from a socket, and starts a process for each: the
 * command, with the mail on standard input and the facts in the environment, nothing of it in arguments; or one that
 * posts the JSON.  Nothing is inherited by the command but standard error, where its own goes for the log.  It may
 * gain privileges, as sendmail does that is set-group-id, unless the service forbids that.
 *
 * It also reads the plan of the spool for the stage, into memory that they share: that file is another each time, so a
 * confined process cannot be given it.
 *
 * One message is in each of COURIER_SLOTS slots at most, so neither a command that hangs nor many messages hold
 * anything up; a command that takes longer than `timeout` is killed with its group.  The process ends with the stage.
 */
#ifndef STAGES_NOTIFY_COURIER_H
#define STAGES_NOTIFY_COURIER_H

#include "base/error.h"
#include "stages/notify/deliver.h"

enum { COURIER_SLOTS = 4, COURIER_PLAN = -1, COURIER_SAID_SIZE = 200 };

struct courier_plan;

struct courier {
    int socket; /* readable when a result has come, or when the process has ended */
    bool busy[COURIER_SLOTS];
    bool asked; /* for the plan */
    struct courier_plan *plan;
};

struct courier_result {
    int slot;                     /* or COURIER_PLAN */
    bool sent;                    /* of the plan: there is one that was not there before */
    char said[COURIER_SAID_SIZE]; /* what the command printed last, or the reason; one line */
};

/* Start the process, for the spool in `directory`; `user`, if there is one and this is root, is whom it and the
 * command run as.  -1 and a sentence. */
int courier_start(struct courier *courier, const char *directory,
                  const struct message_settings *settings, struct text user, struct error *error);
void courier_stop(struct courier *courier);

/* A slot without a message; -1: all are busy. */
int courier_free_slot(const struct courier *courier);

/* Hand over a message.  -1 and a sentence when it cannot be, now or ever (it is larger than 64 KiB). */
int courier_send(struct courier *courier, int slot, const struct message *message,
                 struct error *error);

/* Ask for the plan, unless that was done.  When its result has come courier_plan() has it, until it is asked for
 * again. */
void courier_ask_plan(struct courier *courier);
struct text courier_plan(const struct courier *courier);

/* Take a result.  0: there is none now; -1 and a sentence when the process has ended. */
int courier_receive(struct courier *courier, struct courier_result *result, struct error *error);

#endif
