#include "k8s/credentials.hpp"

#include "k8s/base64.hpp"
#include "k8s/certificates.hpp"
#include "reactor/loop.hpp"

#include <array>
#include <optional>

namespace k8s {
namespace {

using namespace std::chrono_literals;

// Kubelet replaces a projected token at 80 % of its life, so that ten seconds of the old one are
// harmless.
constexpr reactor::nanoseconds look_interval = 10s;

using paths = std::array<std::string, 4>;
using contents = std::array<std::optional<std::string>, 4>;

contents read_all(const paths& files) {
  contents out;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].empty()) continue;
    if (auto bytes = read_small_file(files[i]); bytes && !bytes->empty())
      out[i] = *std::move(bytes);
  }
  return out;
}

std::string one_line(std::string text) {
  std::erase_if(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  const auto begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

}  // namespace

credentials::credentials(reactor::loop& l, connection to)
    : loop_(l), to_(std::move(to)), next_look_(l.now() + look_interval) {}

bool credentials::has_files() const {
  return !to_.token.file.empty() || !to_.ca.file.empty() || !to_.certificate.file.empty() ||
         !to_.key.file.empty();
}

reactor::awaitable<credentials::changes> credentials::refresh(look how) {
  changes out;
  if (reading_ || !has_files() || (how == look::when_due && loop_.now() < next_look_))
    co_return out;
  next_look_ = loop_.now() + look_interval;
  struct busy {
    bool& flag;
    explicit busy(bool& f) : flag(f) { flag = true; }
    ~busy() { flag = false; }
  } const reading(reading_);
  paths files{to_.token.file, to_.ca.file, to_.certificate.file, to_.key.file};
  auto read = [files = std::move(files)] { return read_all(files); };  // named: see STYLE.md 3.9
  contents found = co_await loop_.offload(std::move(read));
  const auto take = [](material& into, std::optional<std::string>& bytes) {
    if (!bytes || *bytes == into.bytes.reveal()) return false;
    into.bytes = reactor::secret(*std::move(bytes));
    return true;
  };
  if (found[0]) found[0] = one_line(*std::move(found[0]));
  if (found[0] && !found[0]->empty()) out.token = take(to_.token, found[0]);
  if (found[1] && check_ca(*found[1])) out.tls = take(to_.ca, found[1]);
  const std::string& certificate = found[2] ? *found[2] : to_.certificate.bytes.reveal();
  const std::string& key = found[3] ? *found[3] : to_.key.bytes.reveal();
  if ((found[2] || found[3]) && check_key_pair(certificate, key)) {
    const bool new_certificate = take(to_.certificate, found[2]);
    out.tls = take(to_.key, found[3]) || new_certificate || out.tls;
  }
  co_return out;
}

std::string credentials::authorization() const {
  if (!to_.token.bytes.empty()) return "Bearer " + to_.token.bytes.reveal();
  if (!to_.username.empty()) {
    return "Basic " + encode_base64(to_.username + ":" + to_.password.reveal());
  }
  return {};
}

reactor::http::tls_settings credentials::tls() const {
  reactor::http::tls_settings out;
  out.ca_pem = to_.ca.bytes.reveal();
  out.certificate_pem = to_.certificate.bytes.reveal();
  out.key_pem = to_.key.bytes.reveal();
  out.server_name = to_.tls_server_name;
  out.verify = !to_.insecure;
  return out;
}

std::string credentials::certificate_problem() const {
  if (to_.certificate.bytes.empty()) return {};
  return validity_problem(to_.certificate.bytes.reveal(), loop_.wall()).value_or("");
}

}  // namespace k8s
