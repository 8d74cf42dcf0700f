/* executors/ssh_key.h - a pair of keys for ssh, made where a job runs
 *
 * An Ed25519 pair, the private one in OpenSSH's own format (openssh-key-v1) without a passphrase,
 * because nobody is there to type one.  The same pair is the hosts' and the user's: whoever holds
 * it may reach the job's tasks, and knows them.
 */
#ifndef EXECUTORS_SSH_KEY_H
#define EXECUTORS_SSH_KEY_H

#include "base/error.h"
#include "base/text.h"

enum { SSH_KEY_SIZE = 512, SSH_LINE_SIZE = 128 };

struct ssh_key {
    char id[SSH_KEY_SIZE];               /* the private key: a secret */
    char id_pub[SSH_LINE_SIZE];          /* "ssh-ed25519 AAAA... dlspool\n" */
    char authorized_keys[SSH_LINE_SIZE]; /* the same */
    char known_hosts[SSH_LINE_SIZE];     /* "* ssh-ed25519 AAAA...\n": any host has this key */
};

/* A new pair.  -1 and a sentence: libcrypto has no random numbers.  The caller wipes it. */
int ssh_key_make(struct ssh_key *key, struct error *error);
void ssh_key_wipe(struct ssh_key *key);

#endif
