/* request/openpai/v2.h - the OpenPAI dialect of protocol version 2
 *
 * What its REST server of version 1.8.0 takes becomes a job of library any, type roles, and what
 * it refuses is refused with the field named.  Source: the JSON schema and the rules of
 * src/rest-server/src/config/v2/protocol.js, middlewares/v2/{protocol,hived}.js and
 * models/v2/job/k8s.js of microsoft/pai; docs/openpai.md lists what becomes what.
 *
 * Where dlspool is stricter, on purpose: a tag <% %> whose name is not known is an error (there it
 * is left standing for the shell to trip over).  Anchors, aliases, merge keys and the usual tags of
 * YAML are accepted here, as there (request/dialects/dialects.c).  What is accepted and has no effect is said
 * in a note.
 */
#ifndef REQUEST_OPENPAI_V2_H
#define REQUEST_OPENPAI_V2_H

#include "request/description.h"
#include "request/problems.h"

/* Has the file protocolVersion, or else what only such files have: taskRoles as a map, or
 * prerequisites? */
bool openpai_v2_recognise(const struct value *root);

/* NULL after a problem. */
struct description *openpai_v2_read(struct reading *reading, const struct value *root);

#endif
