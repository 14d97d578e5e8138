// One header for what is used of libcrypto: digests, HMAC, Ed25519, scrypt, random octets. The multiarch folder stays out of the module
// map, and no macro is needed.
#pragma once
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/rand.h>
