#include "compose/secret_values.hpp"

#include "reactor/plain/memory.hpp"
#include "reactor/plain/openssl.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <array>
#include <span>
#include <utility>

namespace compose {
namespace {

using asked = policies::compose::asked_value;
using reactor::errc;
using reactor::make_fault;
using reactor::result;
using reactor::secret;

using reactor::openssl::bio_ptr;
using reactor::openssl::key_ptr;

constexpr std::size_t seed_bytes = 32;

void require(bool done) {
  if (!done) reactor::memory_lost();  // nothing else can be missing
}

secret text_of(BIO* bio) {
  char* at = nullptr;
  const long size = BIO_get_mem_data(bio, &at);
  secret out(std::string(at, static_cast<std::size_t>(size)));
  reactor::wipe(at, static_cast<std::size_t>(size));
  return out;
}

secret new_private_key(reactor::entropy& rng) {
  std::array<unsigned char, seed_bytes> seed{};
  rng.fill(seed);
  const key_ptr key(
      EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, seed.data(), seed.size()));
  reactor::wipe(seed.data(), seed.size());
  const bio_ptr bio(BIO_new(BIO_s_secmem()));
  require(key && bio &&
          PEM_write_bio_PKCS8PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                        nullptr) == 1);
  return text_of(bio.get());
}

result<secret> public_key_of(const secret& private_key, const std::string& name) {
  const bio_ptr in(
      BIO_new_mem_buf(private_key.reveal().data(), static_cast<int>(private_key.reveal().size())));
  require(in != nullptr);
  const auto no_passphrase = [](char*, int, int, void*) { return -1; };
  const key_ptr key(PEM_read_bio_PrivateKey(in.get(), nullptr, no_passphrase, nullptr));
  ERR_clear_error();
  if (!key || EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_ED25519)
    return make_fault(errc::malformed, "derive a public key",
                      "what stands under " + name + " is no Ed25519 private key");
  const bio_ptr out(BIO_new(BIO_s_mem()));
  require(out && PEM_write_bio_PUBKEY(out.get(), key.get()) == 1);
  return text_of(out.get());
}

secret password(std::size_t length, reactor::entropy& rng) {
  constexpr std::string_view letters = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789";
  std::string out;
  out.reserve(length);
  while (out.size() < length)
    out += letters[rng.between(std::uint64_t{0}, std::uint64_t{letters.size() - 1})];
  return secret(std::move(out));
}

secret random_bytes(std::size_t length, reactor::entropy& rng) {
  std::string out(length, '\0');
  rng.fill({reinterpret_cast<unsigned char*>(out.data()), out.size()});
  return secret(std::move(out));
}

}  // namespace

result<secret_values> make_secret_values(const std::map<std::string, asked>& asks,
                                         const secret_values& there, const secret_values& sources,
                                         reactor::entropy& rng) {
  secret_values out;
  for (const auto& [key, ask] : asks) {
    switch (ask.from) {
      case asked::source::ed25519: out.emplace(key, new_private_key(rng)); break;
      case asked::source::password: out.emplace(key, password(ask.length, rng)); break;
      case asked::source::bytes: out.emplace(key, random_bytes(ask.length, rng)); break;
      case asked::source::copy: {
        const auto found = sources.find(ask.secret + "/" + ask.key);
        if (found == sources.end())
          return make_fault(errc::not_found, "copy from Secret " + ask.secret,
                            "it has no " + ask.key);
        out.emplace(key, found->second);
        break;
      }
      case asked::source::public_key: break;
    }
  }
  for (const auto& [key, ask] : asks) {
    if (ask.from != asked::source::public_key) continue;
    const auto fresh = out.find(ask.of);
    const auto old = there.find(ask.of);
    if (fresh == out.end() && old == there.end())
      return make_fault(errc::not_found, "derive a public key", "there is no " + ask.of);
    auto made = public_key_of(fresh != out.end() ? fresh->second : old->second, ask.of);
    if (!made) return made.error();
    out.emplace(key, std::move(*made));
  }
  return out;
}

}  // namespace compose
