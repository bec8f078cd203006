#include "k8s/client/credentials.hpp"

#include "formats/base64.hpp"
#include "k8s/client/certificates.hpp"
#include "reactor/http/authorization.hpp"
#include "reactor/http/proxy.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/hide.hpp"
#include "reactor/system/files.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace k8s {
namespace {

using namespace std::chrono_literals;

// Kubelet replaces a projected token at 80 % of its life, so that ten seconds of the old one are
// harmless.
constexpr reactor::nanoseconds look_interval = 10s;

constexpr std::size_t file_limit_bytes = 4 * 1024 * 1024;

using paths = std::array<std::string, 4>;
using contents = std::array<std::optional<reactor::secret>, 4>;

contents read_all(const paths& files) {
  contents out;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].empty()) continue;
    if (auto bytes = reactor::load_secret(files[i], file_limit_bytes); bytes && !bytes->empty())
      out[i] = *std::move(bytes);
  }
  return out;
}

reactor::secret one_line(const reactor::secret& of) {
  std::string text = of.reveal();
  std::erase_if(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  text.erase(text.find_last_not_of(' ') + 1);
  text.erase(0, text.find_first_not_of(' '));
  return reactor::secret(std::move(text));
}

}  // namespace

credentials::credentials(reactor::loop& l, connection to)
    : loop_(l),
      to_(std::move(to)),
      next_look_(l.now() + look_interval),
      has_certificate_(!to_.certificate.empty()) {}

bool credentials::has_files() const {
  return !to_.token.file.empty() || !to_.ca.file.empty() || !to_.certificate.file.empty() ||
         !to_.key.file.empty();
}

void credentials::accepted() {
  if (to_.login) to_.login->accepted(loop_.now());
}

reactor::awaitable<reactor::result<credentials::changes>> credentials::refresh(
    look how, std::uint64_t refused) {
  changes out = co_await read_files(how);
  if (!to_.login) co_return out;
  const std::shared_ptr<login_session> session = to_.login;
  auto got = co_await session->get(loop_, refused);
  if (!got) co_return got.error();
  const login_session::numbered& now = **got;
  if (std::exchange(login_number_, now.number) == now.number) co_return out;
  to_.token.bytes = now.login.token;
  out.token = true;
  if (!has_certificate_ && !(to_.certificate.bytes == now.login.certificate)) {
    to_.certificate.bytes = now.login.certificate;
    to_.key.bytes = now.login.key;
    out.tls = true;
  }
  co_return out;
}

reactor::awaitable<credentials::changes> credentials::read_files(look how) {
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
  const auto read = [](const paths& all) { return read_all(all); };
  contents found = co_await loop_.offload(read, std::move(files));
  const auto take = [](material& into, std::optional<reactor::secret>& bytes) {
    if (!bytes || *bytes == into.bytes) return false;
    into.bytes = *std::move(bytes);
    return true;
  };
  if (found[0]) found[0] = one_line(*found[0]);
  if (found[0] && !found[0]->empty()) out.token = take(to_.token, found[0]);
  if (found[1] && check_ca(found[1]->reveal())) out.tls = take(to_.ca, found[1]);
  const reactor::secret& certificate = found[2] ? *found[2] : to_.certificate.bytes;
  const reactor::secret& key = found[3] ? *found[3] : to_.key.bytes;
  if ((found[2] || found[3]) && check_key_pair(certificate.reveal(), key.reveal())) {
    const bool new_certificate = take(to_.certificate, found[2]);
    out.tls = take(to_.key, found[3]) || new_certificate || out.tls;
  }
  co_return out;
}

reactor::secret credentials::authorization() const {
  if (!to_.token.bytes.empty())
    return reactor::http::bearer_authorization(to_.token.bytes.reveal());
  if (!to_.username.empty())
    return reactor::http::basic_authorization(to_.username, to_.password.reveal());
  return {};
}

void credentials::hide_in(fault& f) const {
  std::vector<reactor::secret> ours;
  ours.push_back(to_.token.bytes);
  ours.push_back(to_.password);
  const auto after = [](const reactor::secret& whole, char mark) {
    const std::string& text = whole.reveal();
    return reactor::secret(text.substr(std::min(text.find(mark) + 1, text.size())));
  };
  if (!to_.username.empty()) ours.push_back(after(authorization(), ' '));
  if (!to_.proxy_url.empty()) {
    if (const auto via = reactor::http::parse_proxy({to_.proxy_url});
        via && !via->authorization.empty()) {
      ours.push_back(after(via->authorization, ' '));
      if (auto plain = formats::decode_base64(ours.back().reveal()))
        ours.push_back(after(reactor::secret(*std::move(plain)), ':'));
    }
  }
  const auto clean = [&](std::string& text) {
    for (const reactor::secret& one : ours) reactor::hide(text, one.reveal());
  };
  clean(f.detail);
  clean(f.reason);
  for (cause& c : f.causes) {
    clean(c.reason);
    clean(c.message);
    clean(c.field);
  }
}

reactor::http::tls_settings credentials::tls() const {
  reactor::http::tls_settings out;
  out.ca_pem = to_.ca.bytes.reveal();
  out.certificate_pem = to_.certificate.bytes.reveal();
  out.key_pem = to_.key.bytes;
  out.server_name = to_.tls_server_name;
  out.verify = !to_.insecure;
  return out;
}

std::string credentials::certificate_problem() const {
  if (to_.certificate.bytes.empty()) return {};
  return validity_problem(to_.certificate.bytes.reveal(), loop_.wall()).value_or("");
}

}  // namespace k8s
