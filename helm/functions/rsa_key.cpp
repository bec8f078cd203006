#include "helm/functions/rsa_key.hpp"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include <array>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace helm {
namespace {

using reactor::openssl::freer;
using reactor::openssl::key_ptr;
using number = std::unique_ptr<BIGNUM, freer<&BN_clear_free>>;
using scratch = std::unique_ptr<BN_CTX, freer<&BN_CTX_free>>;

constexpr BN_ULONG exponent = 65537;
// FIPS 186-5, table B.1, asks for five rounds at 1024 bits and for fewer above.
constexpr int miller_rabin_rounds = 8;
constexpr std::size_t small_primes_below = 1u << 15;
// Odd numbers from a start. Among as many of 2048 bits there is no prime once in 100,000 times.
constexpr std::size_t window = 1u << 13;

/// Marked as secret, so that OpenSSL wipes its own copies of it, too.
number fresh() {
  number out(BN_secure_new());
  if (out) BN_set_flags(out.get(), BN_FLG_CONSTTIME);
  return out;
}

const std::vector<unsigned>& small_odd_primes() {
  static const std::vector<unsigned> all = [] {
    std::vector<bool> composite(small_primes_below);
    std::vector<unsigned> out;
    for (std::size_t i = 3; i < small_primes_below; i += 2) {
      if (composite[i]) continue;
      out.push_back(static_cast<unsigned>(i));
      for (std::size_t j = i * i; j < small_primes_below; j += 2 * i) composite[j] = true;
    }
    return out;
  }();
  return all;
}

enum class verdict : unsigned char { composite, prime, failed };

/// Miller and Rabin's test of an odd number with random bases.
verdict test(const BIGNUM* n, BN_CTX* c) {
  const std::unique_ptr<BN_MONT_CTX, freer<&BN_MONT_CTX_free>> residues(BN_MONT_CTX_new());
  const number less_one = fresh(), odd = fresh(), base = fresh(), power = fresh(), range = fresh();
  if (!residues || !less_one || !odd || !base || !power || !range ||
      BN_MONT_CTX_set(residues.get(), n, c) != 1 || !BN_copy(less_one.get(), n) ||
      BN_sub_word(less_one.get(), 1) != 1 || !BN_copy(range.get(), less_one.get()) ||
      BN_sub_word(range.get(), 2) != 1)
    return verdict::failed;
  int twos = 0;
  while (!BN_is_bit_set(less_one.get(), twos)) ++twos;
  if (BN_rshift(odd.get(), less_one.get(), twos) != 1) return verdict::failed;
  for (int round = 0; round < miller_rabin_rounds; ++round) {
    if (BN_priv_rand_range(base.get(), range.get()) != 1 || BN_add_word(base.get(), 2) != 1 ||
        BN_mod_exp_mont_consttime(power.get(), base.get(), odd.get(), n, c, residues.get()) != 1)
      return verdict::failed;
    bool passed = BN_is_one(power.get()) || BN_cmp(power.get(), less_one.get()) == 0;
    for (int i = 1; i < twos && !passed; ++i) {
      if (BN_mod_sqr(power.get(), power.get(), n, c) != 1) return verdict::failed;
      passed = BN_cmp(power.get(), less_one.get()) == 0;
    }
    if (!passed) return verdict::composite;
  }
  return verdict::prime;
}

/// Which of start, start + 2, … have no small factor and fit the exponent. Tells the remainders of
/// the start, so it is wiped as the start is.
class candidates {
public:
  explicit candidates(const BIGNUM* start);
  ~candidates() { OPENSSL_cleanse(fit_.data(), fit_.size()); }
  candidates(const candidates&) = delete;
  candidates& operator=(const candidates&) = delete;
  bool fits(std::size_t i) const { return fit_[i] != 0; }

private:
  std::array<unsigned char, window> fit_;
};

candidates::candidates(const BIGNUM* start) {
  fit_.fill(1);
  for (const unsigned p : small_odd_primes()) {
    const auto rest = static_cast<unsigned>(BN_mod_word(start, p));
    // start + 2i is a multiple of p: i = -rest / 2 modulo p
    const unsigned distance = (p - rest) % p;
    for (std::size_t i = distance % 2 == 0 ? distance / 2 : (distance + p) / 2; i < window; i += p)
      fit_[i] = 0;
  }
  const std::size_t rest = BN_mod_word(start, exponent);
  for (std::size_t i = 0; i < window; ++i)
    if ((rest + 2 * i) % exponent == 1) fit_[i] = 0;
}

/// A prime whose two highest bits are set, so that the product of two has all its bits.
number new_prime(int bits, BN_CTX* c) {
  const number start = fresh();
  number out = fresh();
  if (!start || !out) return nullptr;
  for (;;) {
    if (BN_priv_rand(start.get(), bits, BN_RAND_TOP_TWO, BN_RAND_BOTTOM_ODD) != 1) return nullptr;
    const candidates near(start.get());
    for (std::size_t i = 0; i < window; ++i) {
      if (!near.fits(i)) continue;
      if (!BN_copy(out.get(), start.get()) || BN_add_word(out.get(), 2 * i) != 1) return nullptr;
      if (BN_num_bits(out.get()) != bits) break;
      const verdict v = test(out.get(), c);
      if (v == verdict::failed) return nullptr;
      if (v == verdict::prime) return out;
    }
  }
}

struct parts {
  number n = fresh(), e = fresh(), d = fresh(), p, q, dp = fresh(), dq = fresh(), qi = fresh();
};

/// What follows from the primes. False when OpenSSL fails.
bool complete(parts& k, BN_CTX* c) {
  const number p1 = fresh(), q1 = fresh(), order = fresh();
  if (!p1 || !q1 || !order || !k.n || !k.e || !k.d || !k.dp || !k.dq || !k.qi) return false;
  return BN_set_word(k.e.get(), exponent) == 1 && BN_mul(k.n.get(), k.p.get(), k.q.get(), c) == 1 &&
         BN_sub(p1.get(), k.p.get(), BN_value_one()) == 1 &&
         BN_sub(q1.get(), k.q.get(), BN_value_one()) == 1 &&
         BN_mul(order.get(), p1.get(), q1.get(), c) == 1 &&
         BN_mod_inverse(k.d.get(), k.e.get(), order.get(), c) &&
         BN_mod(k.dp.get(), k.d.get(), p1.get(), c) == 1 &&
         BN_mod(k.dq.get(), k.d.get(), q1.get(), c) == 1 &&
         BN_mod_inverse(k.qi.get(), k.q.get(), k.p.get(), c);
}

key_ptr as_key(const parts& k) {
  const std::unique_ptr<OSSL_PARAM_BLD, freer<&OSSL_PARAM_BLD_free>> b(OSSL_PARAM_BLD_new());
  const std::array<std::pair<const char*, const BIGNUM*>, 8> all{{
      {OSSL_PKEY_PARAM_RSA_N, k.n.get()},
      {OSSL_PKEY_PARAM_RSA_E, k.e.get()},
      {OSSL_PKEY_PARAM_RSA_D, k.d.get()},
      {OSSL_PKEY_PARAM_RSA_FACTOR1, k.p.get()},
      {OSSL_PKEY_PARAM_RSA_FACTOR2, k.q.get()},
      {OSSL_PKEY_PARAM_RSA_EXPONENT1, k.dp.get()},
      {OSSL_PKEY_PARAM_RSA_EXPONENT2, k.dq.get()},
      {OSSL_PKEY_PARAM_RSA_COEFFICIENT1, k.qi.get()},
  }};
  for (const auto& [name, value] : all)
    if (!b || OSSL_PARAM_BLD_push_BN(b.get(), name, value) != 1) return nullptr;
  const std::unique_ptr<OSSL_PARAM, freer<&OSSL_PARAM_free>> given(
      OSSL_PARAM_BLD_to_param(b.get()));
  const std::unique_ptr<EVP_PKEY_CTX, freer<&EVP_PKEY_CTX_free>> from(
      EVP_PKEY_CTX_new_from_name(nullptr, "RSA", nullptr));
  EVP_PKEY* out = nullptr;
  if (!given || !from || EVP_PKEY_fromdata_init(from.get()) != 1 ||
      EVP_PKEY_fromdata(from.get(), &out, EVP_PKEY_KEYPAIR, given.get()) != 1)
    return nullptr;
  return key_ptr(out);
}

}  // namespace

key_ptr new_rsa_key(int bits) {
  const scratch c(BN_CTX_secure_new());
  const number apart = fresh();
  if (!c || !apart) return nullptr;
  for (;;) {
    parts k;
    k.p = new_prime(bits / 2, c.get());
    k.q = new_prime(bits / 2, c.get());
    if (!k.p || !k.q || BN_sub(apart.get(), k.p.get(), k.q.get()) != 1) return nullptr;
    // FIPS 186-5, A.1.3: primes that are close together are as good as known.
    if (BN_num_bits(apart.get()) <= bits / 2 - 100) continue;
    if (BN_is_negative(apart.get())) k.p.swap(k.q);
    if (!complete(k, c.get())) return nullptr;
    if (BN_num_bits(k.d.get()) > bits / 2) return as_key(k);
  }
}

}  // namespace helm
