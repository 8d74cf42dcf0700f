/* executors/kubernetes/credential.h - what a request is to prove itself with, now
 *
 * A credential comes from a kubeconfig: a token that stands there or in a file (bound service
 * account tokens are rewritten before they expire), a client certificate with its key, or what a
 * plugin gives, which expires.  The authority's certificates come along, since they are files that
 * change in the same way.
 *
 * From the first credential on, the process can neither be dumped nor be looked into by other
 * processes of its user.  Secrets are wiped when they are replaced, and are in no sentence.
 */
#ifndef EXECUTORS_KUBERNETES_CREDENTIAL_H
#define EXECUTORS_KUBERNETES_CREDENTIAL_H

#include "executors/kubernetes/kubeconfig.h"

struct kubernetes_credential;

/* The kubeconfig must outlive it.  Nothing is read yet. */
struct kubernetes_credential *kubernetes_credential_new(const struct kubeconfig *config);
void kubernetes_credential_free(struct kubernetes_credential *credential); /* NULL is fine */

/* Make it one that is good now: what has changed or is older than a minute is read again, and a
 * plugin is asked again some seconds before what it gave expires.  1: certificates changed, so
 * connections must be made again; 0: they did not; -1 and a sentence: there is none.  What was there
 * before is used on when it cannot be read for a while; one that the server no longer accepts is
 * replaced by making a new one of these. */
int kubernetes_credential_refresh(struct kubernetes_credential *credential, struct error *error);

/* "Authorization: Bearer ...", or NULL when there is only a certificate. */
const char *kubernetes_credential_header(const struct kubernetes_credential *credential);

/* PEM; data NULL: none. */
struct text kubernetes_credential_ca(const struct kubernetes_credential *credential);
struct text kubernetes_credential_certificate(const struct kubernetes_credential *credential);
struct text kubernetes_credential_key(const struct kubernetes_credential *credential);

#endif
