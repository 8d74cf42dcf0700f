/* web/door.h - the process that finds out what a connection over a network says of its user
 *
 * One process for one connection, which ends after it.  It reads the head of the first request without taking it
 * from the connection, and tells the porter (web/porter.h) what it found there: the SHA-256 of a token, or the name
 * of a user that a proxy gives.  What that is worth the porter knows; then it passes the connection on to the page of
 * that user, which reads the request again and answers that one only.  What needs no user the door answers itself:
 * /healthz, the form to sign in, and 401.
 *
 * It belongs to a user who owns nothing, and can read and write the connection and nothing else.
 */
#ifndef WEB_DOOR_H
#define WEB_DOOR_H

#include <stdbool.h>

/* The descriptors on which a door that was executed finds the socket to its porter, and the connection. */
enum { DOOR_SOCKET = 3, DOOR_CONNECTION = 4 };

enum door_proof { DOOR_TOKEN = 't', DOOR_USER = 'u' };

/* What it tells the porter. */
struct door_claim {
    char proof;
    char word[79]; /* with a NUL: the SHA-256 of a token, or a user's name */
};

/* What the porter answers: the connection is taken, or why it is not, in one sentence. */
struct door_answer {
    bool taken;
    char why[256];
};

/* Serve the connection; `proxy`: the peer may name the user in X-Remote-User.  The exit status. */
int door_run(bool proxy);

#endif
