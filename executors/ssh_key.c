/* executors/ssh_key.c - a pair of keys for ssh, in the files that OpenSSH reads
 *
 * The format is that of PROTOCOL.key in OpenSSH's sources: numbers are 32 bits, the highest byte
 * first, and a string has its length before it.
 */
#include "executors/ssh_key.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
    PART = 32, /* bytes of a public key, and of the seed of a private one */
    BLOCK = 8, /* the private part is padded to a multiple of this */
    LINE = 70, /* characters of base64 in a line */
    BINARY_SIZE = 256,
    BLOB_TEXT_SIZE = 72 /* base64 of the 51 bytes of a public key, and a NUL */
};

static const char algorithm[] = "ssh-ed25519";
static const char comment[] = "dlspool";

struct bytes {
    unsigned char data[BINARY_SIZE];
    size_t length;
};

/* All that is added here has a fixed length, and fits. */
static void add_bytes(struct bytes *bytes, const void *data, size_t length)
{
    memcpy(bytes->data + bytes->length, data, length);
    bytes->length += length;
}

static void add_number(struct bytes *bytes, uint32_t number)
{
    const unsigned char data[] = {(unsigned char)(number >> 24), (unsigned char)(number >> 16),
                                  (unsigned char)(number >> 8), (unsigned char)number};
    add_bytes(bytes, data, sizeof(data));
}

static void add_string(struct bytes *bytes, const void *data, size_t length)
{
    add_number(bytes, (uint32_t)length);
    add_bytes(bytes, data, length);
}

static void add_public(struct bytes *bytes, const unsigned char public[static PART])
{
    add_string(bytes, algorithm, sizeof(algorithm) - 1);
    add_string(bytes, public, PART);
}

/* The part that a passphrase would encrypt.  The number at its front, twice the same, tells whether
 * it was the right one. */
static void add_private(struct bytes *bytes, uint32_t check, const unsigned char seed[static PART],
                        const unsigned char public[static PART])
{
    add_number(bytes, check);
    add_number(bytes, check);
    add_public(bytes, public);
    add_number(bytes, 2 * PART);
    add_bytes(bytes, seed, PART);
    add_bytes(bytes, public, PART);
    add_string(bytes, comment, sizeof(comment) - 1);
    for (unsigned char pad = 1; bytes->length % BLOCK; pad++)
        add_bytes(bytes, &pad, 1);
}

static void write_private(char buffer[static SSH_KEY_SIZE], const struct bytes *binary)
{
    char base64[BINARY_SIZE * 4 / 3 + 4];
    int length = EVP_EncodeBlock((unsigned char *)base64, binary->data, (int)binary->length);
    size_t at = (size_t)snprintf(buffer, SSH_KEY_SIZE, "-----BEGIN OPENSSH PRIVATE KEY-----\n");
    for (int i = 0; i < length; i += LINE)
        at += (size_t)snprintf(buffer + at, SSH_KEY_SIZE - at, "%.*s\n", LINE, base64 + i);
    snprintf(buffer + at, SSH_KEY_SIZE - at, "-----END OPENSSH PRIVATE KEY-----\n");
    OPENSSL_cleanse(base64, sizeof(base64));
}

static void write_files(struct ssh_key *key, uint32_t check, const unsigned char seed[static PART],
                        const unsigned char public[static PART])
{
    static const char magic[] = "openssh-key-v1"; /* with its NUL */
    char base64[BLOB_TEXT_SIZE];
    struct bytes blob = {.length = 0}, private = {.length = 0}, whole = {.length = 0};
    add_public(&blob, public);
    add_private(&private, check, seed, public);
    add_bytes(&whole, magic, sizeof(magic));
    add_string(&whole, "none", 4); /* no cipher, */
    add_string(&whole, "none", 4); /* no key derivation, */
    add_string(&whole, "", 0);     /* and no options for it */
    add_number(&whole, 1);         /* number of keys */
    add_string(&whole, blob.data, blob.length);
    add_string(&whole, private.data, private.length);
    write_private(key->id, &whole);
    EVP_EncodeBlock((unsigned char *)base64, blob.data, (int)blob.length);
    snprintf(key->id_pub, SSH_LINE_SIZE, "%s %s %s\n", algorithm, base64, comment);
    memcpy(key->authorized_keys, key->id_pub, SSH_LINE_SIZE);
    snprintf(key->known_hosts, SSH_LINE_SIZE, "* %s %s\n", algorithm, base64);
    OPENSSL_cleanse(&private, sizeof(private));
    OPENSSL_cleanse(&whole, sizeof(whole));
}

int ssh_key_make(struct ssh_key *key, struct error *error)
{
    unsigned char seed[PART], public[PART];
    size_t seed_length = PART, public_length = PART;
    uint32_t check = 0;
    EVP_PKEY *pair = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    int result = -1;
    *key = (struct ssh_key){.id = ""};
    if (pair && EVP_PKEY_get_raw_private_key(pair, seed, &seed_length) == 1 &&
        EVP_PKEY_get_raw_public_key(pair, public, &public_length) == 1 && seed_length == PART &&
        public_length == PART && RAND_bytes((unsigned char *)&check, sizeof(check)) == 1) {
        write_files(key, check, seed, public);
        result = 0;
    } else {
        error_set(error, "no key for ssh could be made: libcrypto gives no Ed25519 key");
    }
    OPENSSL_cleanse(seed, sizeof(seed));
    EVP_PKEY_free(pair);
    return result;
}

void ssh_key_wipe(struct ssh_key *key)
{
    OPENSSL_cleanse(key, sizeof(*key));
}
