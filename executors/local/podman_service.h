/* executors/local/podman_service.h - runs dlspool's own `podman system service`
 *
 * Where the settings name no socket, dlspool keeps podman's whole state (images, containers, run
 * files, settings, socket) in one directory of its own, mode 0700, and starts the REST service on
 * it when nothing answers at the socket.  Several processes may do so at the same time: the lock on
 * service.lock lets exactly one start it, and the others use it.
 *
 * The service runs in its own session and is nobody's child, so it outlives the process that
 * started it, and the containers outlive the service (each has a conmon). podman_service_stop()
 * ends it; the next process that needs it starts it again.  A service that hangs is killed and
 * replaced.
 *
 * What is in the directory: storage.conf, containers.conf, seccomp.json (written afresh at each start, from what
 * this machine allows), root/, run/, tmp/ (podman's own), podman.sock, service.lock, service.pid
 * (its process id and start time), service.log (what it said), boot (the boot id of the last
 * start: after a restart of the machine podman is made to look at its containers again).
 */
#ifndef EXECUTORS_LOCAL_PODMAN_SERVICE_H
#define EXECUTORS_LOCAL_PODMAN_SERVICE_H

#include "executors/local/podman.h"
#include "executors/local/settings.h"

struct podman_service;

/* Refuse a directory that cannot hold containers or whose path is too long for a socket.  Starts
 * nothing.  `storage` is the absolute path, `directory` an open descriptor of it (storage.h),
 * which stays the caller's; NULL and a sentence on failure. */
struct podman_service *podman_service_open(const char *storage, int directory,
                                           const struct local_settings *settings,
                                           struct error *error);
void podman_service_close(struct podman_service *service); /* leaves it running */

const char *podman_service_socket(const struct podman_service *service);

/* Whether podman can lay an overlay over this machine's own files: it can as root, and without
 * root where fuse-overlayfs is installed. */
bool podman_service_has_overlay(const struct podman_service *service);

/* Wait until the service answers, starting or replacing it if needed.  `podman` is a client of its
 * socket.  Returns within some 45 seconds; -1 and a sentence when it does not answer. */
int podman_service_ensure(struct podman_service *service, struct podman *podman,
                          struct error *error);

/* End the service if it runs; containers go on.  -1 and a sentence when it does not end. */
int podman_service_stop(struct podman_service *service, struct error *error);

#endif
