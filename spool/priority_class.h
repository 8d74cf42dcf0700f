/* spool/priority_class.h - `priority_classes` of dlspool.yaml: names for priorities, and who may use them */
#ifndef SPOOL_PRIORITY_CLASS_H
#define SPOOL_PRIORITY_CLASS_H

#include <sys/types.h>

#include "spool/members.h"

struct priority_class {
    struct text name;
    int value;
    struct text description;
    struct members members; /* who may use it, beside administrators */
    bool otherwise;         /* what jobs have that name no priority */
};

struct priority_classes {
    struct priority_class *items;
    size_t count;
};

/* Read the list into an array in the section's arena.  -1 and a sentence. */
int priority_class_read_all(const struct section *section, const struct value *list,
                            struct priority_classes *classes);

/* NULL: there is none of that name; none that is meant for the others. */
const struct priority_class *priority_class_find(const struct priority_classes *classes,
                                                 struct text name);
const struct priority_class *priority_class_otherwise(const struct priority_classes *classes);

/* Is it named whose it is? */
bool priority_class_is_reserved(const struct priority_class *class);
/* May a user who is no administrator use it? */
bool priority_class_is_for(const struct priority_class *class, uid_t uid, gid_t gid);

/* The names of those that this user may use, "normal, urgent", for sentences. */
void priority_class_list(const struct priority_classes *classes, uid_t uid, gid_t gid, bool all,
                         struct buffer *out);

#endif
