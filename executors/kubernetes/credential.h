/* executors/kubernetes/credential.h - the present credential for requests
 *
 * A credential comes from a kubeconfig: a token in it or in a file (bound service
 * account tokens are rewritten before they expire), a client certificate with its key, or the
 * answer of a plugin, which expires.  The certificates of the authority are part of it, since they are
 * files that change in the same way.
 *
 * From the first credential on, the process can neither be dumped nor be looked into by other
 * processes of its user.  Secrets are wiped when they are replaced, and are in no sentence.
 */
#ifndef EXECUTORS_KUBERNETES_CREDENTIAL_H
#define EXECUTORS_KUBERNETES_CREDENTIAL_H

#include "executors/http/settings.h"
#include "executors/kubernetes/kubeconfig.h"

struct kubernetes_credential;

/* The kubeconfig must outlive it.  Nothing is read yet. */
struct kubernetes_credential *kubernetes_credential_new(const struct kubeconfig *config);
void kubernetes_credential_free(struct kubernetes_credential *credential); /* NULL is fine */

/* Make sure that it is valid now: files that have changed or were read a minute ago are read again, and
 * a plugin is run again some seconds before its credential expires.  1: certificates changed, so
 * connections must be opened again; 0: they did not; -1 and a sentence: there is no credential.  While
 * a file cannot be read the old credential is kept.  To replace one that the server rejects, make a
 * new structure. */
int kubernetes_credential_refresh(struct kubernetes_credential *credential, struct error *error);

/* "Authorization: Bearer ...", or NULL when there is only a certificate. */
const char *kubernetes_credential_header(const struct kubernetes_credential *credential);

/* Set the certificates and the key of the settings; they live until the credential is refreshed. */
void kubernetes_credential_apply(const struct kubernetes_credential *credential,
                                 struct http_settings *settings);

#endif
