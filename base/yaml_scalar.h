/* base/yaml_scalar.h - what a plain scalar of YAML means */
#ifndef BASE_YAML_SCALAR_H
#define BASE_YAML_SCALAR_H

#include "base/value.h"

/* By the core schema of YAML 1.2, as base/yaml.h says.  `t` ends with a NUL, and its bytes are shared.  A number
 * need not be finite. */
struct value *yaml_scalar_plain(struct arena *arena, struct text t);

#endif
