#include "helm/sources/signature.hpp"

#include "helm/go.hpp"
#include "reactor/system/files.hpp"
#include "reactor/system/private_folder.hpp"

#include <gpgme.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>

namespace helm::sources {
namespace {

constexpr std::size_t keyring_bytes_limit = 64u << 20;

struct releaser {
  void operator()(gpgme_ctx_t c) const { gpgme_release(c); }
  void operator()(gpgme_data_t d) const { gpgme_data_release(d); }
  void operator()(gpgme_key_t k) const { gpgme_key_unref(k); }
};
template <class Handle>
using owned = std::unique_ptr<std::remove_pointer_t<Handle>, releaser>;

problem openpgp(const std::string& why) {
  return {"openpgp: " + why};
}
problem openpgp(gpgme_error_t e) {
  std::array<char, 256> text{};
  gpgme_strerror_r(e, text.data(), text.size());
  return openpgp(std::string(text.data()));
}

owned<gpgme_data_t> data_of(std::string_view bytes) {
  gpgme_data_t d = nullptr;
  gpgme_data_new_from_mem(&d, bytes.data(), bytes.size(), 1);
  return owned<gpgme_data_t>(d);
}
owned<gpgme_data_t> empty_data() {
  gpgme_data_t d = nullptr;
  gpgme_data_new(&d);
  return owned<gpgme_data_t>(d);
}
std::string text_of(gpgme_data_t d) {
  std::string out;
  gpgme_data_seek(d, 0, SEEK_SET);
  std::array<char, 4096> piece{};
  for (gpgme_ssize_t n; (n = gpgme_data_read(d, piece.data(), piece.size())) > 0;)
    out.append(piece.data(), static_cast<std::size_t>(n));
  return out;
}

/// The library takes a program that is not there for one that finds no key.
bool has_program(gpgme_ctx_t c) {
  const auto* one = gpgme_ctx_get_engine_info(c);
  while (one && one->protocol != GPGME_PROTOCOL_OpenPGP) one = one->next;
  return one && one->file_name && ::access(one->file_name, X_OK) == 0;
}

/// Ends what GnuPG does for a context once that took too long. Again and again: what begins later
/// does not know that it was ended.
class time_limit {
public:
  time_limit(gpgme_ctx_t c, std::chrono::milliseconds longest)
      : watch_([this, c, longest](std::stop_token over) {
          std::unique_lock lock(mutex_);
          wake_.wait_for(lock, over, longest, [] { return false; });
          while (!over.stop_requested()) {
            is_over_ = true;
            (void)gpgme_cancel_async(c);
            wake_.wait_for(lock, over, between_ends, [] { return false; });
          }
        }) {}
  bool is_over() const noexcept { return is_over_; }

private:
  static constexpr std::chrono::milliseconds between_ends{1};
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::atomic<bool> is_over_ = false;
  std::jthread watch_;  // goes first
};

/// GnuPG with these keys and no others.
class key_ring {
public:
  static outcome<std::unique_ptr<key_ring>> open(
      std::string_view bytes,
      std::chrono::milliseconds longest = std::chrono::milliseconds::max()) {
    // Required before any other call; it also notices a library that does not fit the header.
    static const char* const version = gpgme_check_version(GPGME_VERSION);
    if (!version) return problem{"the installed GPGME library is too old"};
    auto out = std::unique_ptr<key_ring>(new key_ring);
    if (out->folder_.path().empty())
      return problem{"GnuPG needs a temporary folder, and none can be made in TMPDIR or /tmp"};
    gpgme_ctx_t c = nullptr;
    if (auto e = gpgme_new(&c)) return openpgp(e);
    out->context_.reset(c);
    if (auto e = gpgme_set_protocol(c, GPGME_PROTOCOL_OpenPGP)) return openpgp(e);
    if (!has_program(c))
      return problem{"the program gpg is not installed; the package gpg (gnupg2 on Fedora) has it"};
    if (auto e = gpgme_ctx_set_engine_info(c, GPGME_PROTOCOL_OpenPGP, nullptr,
                                           out->folder_.path().c_str()))
      return openpgp(e);
    gpgme_set_offline(c, 1);
    if (longest != std::chrono::milliseconds::max()) out->limit_.emplace(c, longest);
    if (!bytes.empty()) {
      auto keys = data_of(bytes);
      if (auto e = gpgme_op_import(c, keys.get())) return out->reason(e);
      const auto* read = gpgme_op_import_result(c);
      if (!read || read->considered == 0) return openpgp("the keyring has no key");
    }
    return out;
  }

  gpgme_ctx_t context() const { return context_.get(); }
  problem reason(gpgme_error_t e) const {
    return limit_ && limit_->is_over() ? problem{"GnuPG takes too long for these keys"}
                                       : openpgp(e);
  }

private:
  key_ring() = default;
  reactor::private_folder folder_{"gpg"};  // goes last
  owned<gpgme_ctx_t> context_;
  std::optional<time_limit> limit_;
};

std::vector<std::string> identities_of(gpgme_key_t key) {
  std::vector<std::string> out;
  for (auto* u = key->uids; u; u = u->next)
    if (u->uid) out.emplace_back(u->uid);
  std::sort(out.begin(), out.end());
  return out;
}

/// Why a signature does not count.
problem refusal(gpgme_signature_t s) {
  switch (gpgme_err_code(s->status)) {
    case GPG_ERR_NO_PUBKEY: return openpgp("signature made by unknown entity");
    case GPG_ERR_SIG_EXPIRED: return openpgp("signature expired");
    case GPG_ERR_KEY_EXPIRED: return openpgp("key expired");
    case GPG_ERR_CERT_REVOKED: return openpgp("signature made by a revoked key");
    case GPG_ERR_BAD_SIGNATURE: return openpgp("invalid signature: it does not fit the text");
    default: return openpgp("invalid signature: " + openpgp(s->status).text.substr(9));
  }
}

/// Helm's choice: the key with exactly this identity, else the only one that contains it.
outcome<owned<gpgme_key_t>> find_secret_key(gpgme_ctx_t c, const std::string& id) {
  if (auto e = gpgme_op_keylist_start(c, nullptr, 1)) return openpgp(e);
  owned<gpgme_key_t> exact, candidate;
  bool vague = false;
  for (gpgme_key_t k = nullptr; !gpgme_op_keylist_next(c, &k);) {
    owned<gpgme_key_t> key(k);
    const auto names = identities_of(k);
    const bool same = std::find(names.begin(), names.end(), id) != names.end();
    const bool inside = std::any_of(names.begin(), names.end(),
                                    [&](const std::string& n) { return n.find(id) != n.npos; });
    if (same && !exact) {
      exact = std::move(key);
    } else if (inside) {
      vague = candidate != nullptr;
      candidate = std::move(key);
    }
  }
  gpgme_op_keylist_end(c);
  if (exact) return exact;
  if (vague) return problem{"more than one key contain the id " + quote(id)};
  if (!candidate) return problem{"private key not found"};
  return candidate;
}

gpgme_error_t give_passphrase(void* hook, const char*, const char*, int again, int fd) {
  if (again) return gpgme_err_make(GPG_ERR_SOURCE_USER_1, GPG_ERR_BAD_PASSPHRASE);
  const auto& text = static_cast<const reactor::secret*>(hook)->reveal();
  const bool written =
      gpgme_io_writen(fd, text.data(), text.size()) == 0 && gpgme_io_writen(fd, "\n", 1) == 0;
  return written ? 0 : gpgme_err_make(GPG_ERR_SOURCE_USER_1, GPG_ERR_CANCELED);
}

}  // namespace

outcome<std::string> load_keyring(const std::string& path) {
  auto bytes = reactor::load_file(path, keyring_bytes_limit);
  if (!bytes)
    return problem{"failed to load keyring: open " + path + ": " +
                   (bytes.error().code == reactor::errc::not_found ? "no such file or directory"
                                                                   : bytes.error().message())};
  return *std::move(bytes);
}

outcome<signed_message> check_signature(std::string_view block, std::string_view keys,
                                        std::chrono::milliseconds longest) {
  auto ring = key_ring::open(keys, longest);
  if (!ring) return ring.error();
  gpgme_ctx_t c = (*ring)->context();
  auto in = data_of(block), plain = empty_data();
  if (auto e = gpgme_op_verify(c, in.get(), nullptr, plain.get()))
    return problem{"failed to decode signature: " + (*ring)->reason(e).text};
  const auto* verified = gpgme_op_verify_result(c);
  if (!verified || !verified->signatures) return openpgp("no signature found");
  auto* s = verified->signatures;
  if (s->next) return openpgp("more than one signature");
  if (gpgme_err_code(s->status) != GPG_ERR_NO_ERROR) return refusal(s);
  const std::string signing_key = s->fpr ? s->fpr : "";
  gpgme_key_t k = nullptr;
  if (auto e = gpgme_get_key(c, signing_key.c_str(), &k, 0)) return (*ring)->reason(e);
  owned<gpgme_key_t> key(k);
  if (k->revoked || k->expired || k->disabled || k->invalid)
    return openpgp("signature made by a key that is no longer valid");
  signed_message out;
  out.identities = identities_of(k);
  out.fingerprint = k->subkeys && k->subkeys->fpr ? k->subkeys->fpr : signing_key;
  out.text = text_of(plain.get());
  return out;
}

outcome<std::string> sign(std::string_view text, const std::string& keyring, const std::string& id,
                          const reactor::secret& passphrase) {
  auto keys = load_keyring(keyring);
  if (!keys) return keys.error();
  auto ring = key_ring::open(*keys);
  if (!ring) return ring.error();
  gpgme_ctx_t c = (*ring)->context();
  auto key = find_secret_key(c, id);
  if (!key) return key.error();
  gpgme_set_pinentry_mode(c, GPGME_PINENTRY_MODE_LOOPBACK);
  gpgme_set_passphrase_cb(c, give_passphrase, const_cast<reactor::secret*>(&passphrase));
  gpgme_signers_clear(c);
  if (auto e = gpgme_signers_add(c, key->get())) return openpgp(e);
  auto in = data_of(text), out = empty_data();
  if (auto e = gpgme_op_sign(c, in.get(), out.get(), GPGME_SIG_MODE_CLEAR)) return openpgp(e);
  return text_of(out.get());
}

}  // namespace helm::sources
