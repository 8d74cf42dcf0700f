/* base/hash.h - FNV-1a, and a keyed hash for tables whose keys users choose */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdint.h>

#include "base/text.h"

#define HASH_START UINT64_C(0xcbf29ce484222325)

/* FNV-1a of 64 bits: the same in each process.  `hash` is HASH_START or what the bytes before gave. */
uint64_t hash_byte(uint64_t hash, unsigned byte);
uint64_t hash_text(uint64_t hash, struct text text);

/* A hash keyed with a secret of this process, so that nobody can construct collisions. */
uint64_t hash_secret(struct text text);

#endif
