/* base/sha256.c - SHA-256, as bytes or as hexadecimal text (libcrypto) */
#include "base/sha256.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>

void sha256_bytes(struct text bytes, unsigned char digest[static SHA256_SIZE])
{
    static EVP_MD *algorithm; /* fetched once: a fetch costs more than a small digest */
    if (!algorithm)
        algorithm = EVP_MD_fetch(NULL, "SHA256", NULL);
    if (!algorithm ||
        !EVP_Digest(bytes.data ? bytes.data : "", bytes.length, digest, NULL, algorithm, NULL))
        abort(); /* libcrypto without SHA-256: nothing can be trusted */
}

static void write_hex(const unsigned char digest[static SHA256_SIZE],
                      char hex[static SHA256_HEX_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < SHA256_SIZE; i++) {
        hex[2 * i] = digits[digest[i] >> 4];
        hex[2 * i + 1] = digits[digest[i] & 15];
    }
    hex[SHA256_HEX_SIZE - 1] = '\0';
}

void sha256_hex(struct text bytes, char hex[static SHA256_HEX_SIZE])
{
    unsigned char digest[SHA256_SIZE];
    sha256_bytes(bytes, digest);
    write_hex(digest, hex);
}

void sha256_hmac_hex(struct text key, struct text bytes, char hex[static SHA256_HEX_SIZE])
{
    unsigned char digest[SHA256_SIZE];
    if (!HMAC(EVP_sha256(), key.data, (int)key.length, (const unsigned char *)bytes.data,
              bytes.length, digest, NULL))
        abort();
    write_hex(digest, hex);
}

bool sha256_is_hex(struct text text)
{
    for (size_t i = 0; i < text.length; i++)
        if (!text.data[i] || !strchr("0123456789abcdef", text.data[i]))
            return false;
    return text.length == SHA256_HEX_SIZE - 1;
}

bool sha256_is_digest(struct text text)
{
    static const size_t prefix = sizeof("sha256:") - 1;
    return text_starts(text, "sha256:") &&
           sha256_is_hex((struct text){text.data + prefix, text.length - prefix});
}
