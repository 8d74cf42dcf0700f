/* base/hash.c - FNV-1a, and a keyed hash for tables whose keys users choose */
#include "base/hash.h"

#include <sys/random.h>

uint64_t hash_byte(uint64_t hash, unsigned byte)
{
    return (hash ^ byte) * UINT64_C(0x100000001b3);
}

uint64_t hash_text(uint64_t hash, struct text text)
{
    for (size_t i = 0; i < text.length; i++)
        hash = hash_byte(hash, (unsigned char)text.data[i]);
    return hash;
}

/* FNV-1a never mixes its high bits into the low ones; here they are, with each byte and at the
 * end. */
uint64_t hash_secret(struct text text)
{
    static uint64_t seed;
    if (seed == 0 && getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t)sizeof(seed))
        seed = 0x9e3779b97f4a7c15u;
    uint64_t hash = seed ^ HASH_START;
    for (size_t i = 0; i < text.length; i++) {
        uint64_t high = hash >> 29;
        hash = hash_byte(hash, (unsigned char)text.data[i]) ^ high;
    }
    return hash ^ hash >> 32;
}
