/* stages/wish.h - who asked for something to be done to a job, and when */
#ifndef STAGES_WISH_H
#define STAGES_WISH_H

#include <stdint.h>
#include <sys/types.h>

struct wish {
    char by[80]; /* user name */
    uid_t uid;
    int64_t when;
};

#endif
