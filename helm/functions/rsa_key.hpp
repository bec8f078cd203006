#pragma once

#include "reactor/plain/openssl.hpp"

namespace helm {

/// An RSA key with the exponent 65537, as charts ask for by the half dozen.
/// Not by EVP_RSA_gen: OpenSSL 3.0 spends three quarters of its time on a greatest common divisor
/// for every candidate, 260 ms for 2048 bits where this and Go take a fifth or less. The primes are
/// found as BN_generate_prime_ex finds its own, from a random start upwards, past small factors.
/// Units   bits of the modulus, even, 1024 or more.
/// Errors  nothing when OpenSSL has no random numbers or no memory; its queue says which.
reactor::openssl::key_ptr new_rsa_key(int bits);

}  // namespace helm
