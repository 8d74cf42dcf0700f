/* request/openpai/v2.h - the OpenPAI dialect of protocol version 2
 *
 * A file that its REST server of version 1.8.0 accepts becomes a job of library any, type roles;
 * what the server refuses is refused here, with the field's name.  Source: the JSON schema and the
 * rules of src/rest-server/src/config/v2/protocol.js, middlewares/v2/{protocol,hived}.js and
 * models/v2/job/k8s.js of microsoft/pai; docs/openpai.md lists how each field is mapped.
 *
 * Deliberately stricter: a tag <% %> with an unknown name is an error (OpenPAI leaves it in the
 * shell script).  Anchors, aliases, merge keys and YAML's usual tags are accepted, as there
 * (request/dialects/dialects.c).  Fields that are accepted without effect get a note.
 */
#ifndef REQUEST_OPENPAI_V2_H
#define REQUEST_OPENPAI_V2_H

#include "request/description.h"
#include "request/problems.h"

/* Does the file have protocolVersion, or something else that only such files have: taskRoles as a
 * map, or prerequisites? */
bool openpai_v2_recognise(const struct value *root);

/* NULL after a problem. */
struct description *openpai_v2_read(struct reading *reading, const struct value *root);

#endif
