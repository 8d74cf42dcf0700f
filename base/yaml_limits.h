/* base/yaml_limits.h - what bounds a YAML text, and where it stands */
#ifndef BASE_YAML_LIMITS_H
#define BASE_YAML_LIMITS_H

#include <stddef.h>
#include <stdint.h>

struct yaml_limits {
    size_t bytes, nodes, depth;
};

/* Of its first byte in its file. */
struct yaml_origin {
    uint32_t line, column; /* from 1 */
};

#endif
