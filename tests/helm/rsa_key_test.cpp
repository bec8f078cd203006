#include "helm/functions/rsa_key.hpp"

#include <gtest/gtest.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>

#include <memory>

namespace helm {
namespace {

using reactor::openssl::freer;
using number = std::unique_ptr<BIGNUM, freer<&BN_free>>;

number part(const EVP_PKEY* key, const char* name) {
  BIGNUM* out = nullptr;
  EXPECT_EQ(EVP_PKEY_get_bn_param(key, name, &out), 1) << name;
  return number(out);
}

TEST(RsaKey, IsWhatOpenSslCallsOne) {
  for (const int bits : {1024, 2048, 2048, 4096}) {
    const auto key = new_rsa_key(bits);
    ASSERT_TRUE(key);
    EXPECT_EQ(EVP_PKEY_get_bits(key.get()), bits);
    const std::unique_ptr<EVP_PKEY_CTX, freer<&EVP_PKEY_CTX_free>> c(
        EVP_PKEY_CTX_new_from_pkey(nullptr, key.get(), nullptr));
    // Primes, product, exponents and coefficient.
    EXPECT_EQ(EVP_PKEY_check(c.get()), 1) << bits;
    EXPECT_EQ(EVP_PKEY_pairwise_check(c.get()), 1) << bits;
  }
}

TEST(RsaKey, HasPrimesOfHalfItsLengthTheLargerFirst) {
  for (int i = 0; i < 8; ++i) {
    const auto key = new_rsa_key(1024);
    ASSERT_TRUE(key);
    const number p = part(key.get(), OSSL_PKEY_PARAM_RSA_FACTOR1),
                 q = part(key.get(), OSSL_PKEY_PARAM_RSA_FACTOR2),
                 e = part(key.get(), OSSL_PKEY_PARAM_RSA_E),
                 d = part(key.get(), OSSL_PKEY_PARAM_RSA_D);
    EXPECT_EQ(BN_num_bits(p.get()), 512);
    EXPECT_EQ(BN_num_bits(q.get()), 512);
    EXPECT_GT(BN_cmp(p.get(), q.get()), 0);
    EXPECT_EQ(BN_is_word(e.get(), 65537), 1);
    EXPECT_GT(BN_num_bits(d.get()), 512);
  }
}

TEST(RsaKey, IsAnotherOneEachTime) {
  const auto a = new_rsa_key(1024), b = new_rsa_key(1024);
  ASSERT_TRUE(a && b);
  EXPECT_NE(BN_cmp(part(a.get(), OSSL_PKEY_PARAM_RSA_N).get(),
                   part(b.get(), OSSL_PKEY_PARAM_RSA_N).get()),
            0);
}

}  // namespace
}  // namespace helm
