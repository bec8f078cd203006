#include "k8s/client/login_program.hpp"

#include "formats/digest.hpp"
#include "formats/yaml/yaml.hpp"
#include "k8s/client/certificates.hpp"
#include "k8s/client/wiping_json.hpp"
#include "reactor/http/client.hpp"
#include "reactor/plain/printable.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <algorithm>

namespace k8s {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

constexpr std::size_t token_limit_bytes = 16 * 1024;  // servers refuse heads of that size

std::string_view text_at(const json::object& o, std::string_view field) {
  const json::value* v = o.if_contains(field);
  return v && v->is_string() ? std::string_view(v->get_string()) : std::string_view();
}

reactor::fault odd_answer(const login_program& p, const std::string& what) {
  return reactor::make_fault(reactor::errc::malformed, login_name(p.command), what);
}

reactor::nanoseconds doubled(reactor::nanoseconds first, int times, reactor::nanoseconds most) {
  for (; times > 0 && first < most; --times) first *= 2;
  return std::min(first, most);
}

}  // namespace

std::string login_name(std::string_view command) {
  return "login program \"" + reactor::printable(command, 200) + '"';
}

reactor::result<allowed_program> read_allowed_program(std::string_view flag) {
  constexpr std::string_view mark = "@sha256:";
  const auto wrong = [](const char* why) {
    return reactor::make_fault(reactor::errc::malformed, "--allow-exec",
                               std::string(why) + "; its form is PATH@sha256:DIGEST [ARGUMENT…]");
  };
  allowed_program out;
  const std::size_t at = flag.find(mark);
  if (at == flag.npos) return wrong("it has no digest");
  out.path = flag.substr(0, at);
  if (!out.path.starts_with('/')) return wrong("the program is no absolute path");
  flag.remove_prefix(at + 1);
  std::vector<std::string> words;
  while (!flag.empty()) {
    const std::size_t end = std::min(flag.find(' '), flag.size());
    if (end > 0) words.emplace_back(flag.substr(0, end));
    flag.remove_prefix(std::min(end + 1, flag.size()));
  }
  std::string& first = words.front();
  constexpr std::string_view for_server = ",server=";
  if (const std::size_t also = first.find(','); also != first.npos) {
    if (first.compare(also, for_server.size(), for_server) != 0)
      return wrong("after the digest stands neither a blank nor \",server=URL\"");
    out.server = first.substr(also + for_server.size());
    while (out.server.ends_with('/')) out.server.pop_back();
    if (!reactor::http::parse_origin(out.server)) return wrong("its server is no URL");
    first.resize(also);
  }
  if (!formats::is_digest(first))
    return wrong("its digest is not 64 lower-case hexadecimal digits");
  out.digest = first.substr(first.find(':') + 1);
  out.arguments.assign(words.begin() + 1, words.end());
  return out;
}

bool is_login_api(std::string_view api_version) noexcept {
  return api_version == "client.authentication.k8s.io/v1" ||
         api_version == "client.authentication.k8s.io/v1beta1";
}

reactor::secret login_request(const login_program& p, login_talk talk) {
  const bool interactive = talk == login_talk::with_a_person;
  const json::storage_ptr memory = wiping_storage();
  json::object spec(memory), request(memory);
  if (!p.cluster.empty()) spec["cluster"] = json::parse(p.cluster.reveal(), memory);
  spec["interactive"] = interactive;
  request["apiVersion"] = p.api_version;
  request["kind"] = "ExecCredential";
  request["spec"] = std::move(spec);
  return reactor::secret(text_of_secret(json::value(std::move(request))));
}

reactor::result<issued_login> read_login_answer(const reactor::process_exit& ended,
                                                const login_program& p) {
  if (!ended.succeeded()) {
    const std::string said = ended.last_words();
    return reactor::make_fault(
        reactor::errc::refused, login_name(p.command),
        "it failed: " + ended.text() + (said.empty() ? "" : "; its last words: " + said));
  }
  formats::yaml_limits limits;
  limits.nodes = 1'000;
  limits.depth = 16;
  limits.storage = wiping_storage();
  const auto parsed = formats::parse_kubernetes_yaml(ended.out, "answer", limits);
  const json::object* answer = parsed ? parsed->if_object() : nullptr;
  if (!answer || text_at(*answer, "kind") != "ExecCredential")
    return odd_answer(p, "its answer is no ExecCredential");
  if (text_at(*answer, "apiVersion") != p.api_version)
    return odd_answer(p, "its answer is not of " + p.api_version + ", which the kubeconfig names");
  const json::value* given = answer->if_contains("status");
  const json::object* status = given ? given->if_object() : nullptr;
  if (!status) return odd_answer(p, "its answer has no status");

  issued_login out;
  out.token = reactor::secret(std::string(text_at(*status, "token")));
  out.certificate = reactor::secret(std::string(text_at(*status, "clientCertificateData")));
  out.key = reactor::secret(std::string(text_at(*status, "clientKeyData")));
  if (out.certificate.empty() != out.key.empty())
    return odd_answer(p, "its answer has one of certificate and key without the other");
  if (out.token.empty() && out.key.empty())
    return odd_answer(p, "its answer has neither a token nor a client certificate");
  const std::string& token = out.token.reveal();
  if (token.size() > token_limit_bytes || std::ranges::any_of(token, [](char c) {
        return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f;
      }))
    return odd_answer(p, "its token cannot stand in a header");
  if (!out.key.empty())
    if (const auto ok = check_key_pair(out.certificate.reveal(), out.key.reveal()); !ok)
      return odd_answer(p, "its client certificate cannot be used: " + ok.error().detail);
  if (const json::value* until = status->if_contains("expirationTimestamp");
      until && !until->is_null()) {
    const auto when = reactor::parse_rfc3339(text_at(*status, "expirationTimestamp"));
    if (!when) return odd_answer(p, "its expirationTimestamp is no time");
    out.expires = *when;
  }
  return out;
}

login_schedule::step login_schedule::next(reactor::steady_time now, reactor::wall_time wall,
                                          heard of_last) const {
  const bool ended = expires_ && wall >= *expires_;
  if (has_ && !ended && of_last != heard::a_refusal) return step::use;
  if (now >= not_before_) return step::run;
  return last_failed_ ? step::fail : step::use;
}

void login_schedule::issued(reactor::steady_time now, reactor::wall_time wall,
                            std::optional<reactor::wall_time> expires, heard of_last) {
  const bool useless = expires && wall >= *expires;
  refusals_ = of_last == heard::a_refusal || useless ? refusals_ + 1 : 0;
  has_ = true;
  last_failed_ = false;
  failures_ = 0;
  expires_ = expires;
  last_run_ = now;
  not_before_ = refusals_ == 0 ? now : now + doubled(1s, refusals_ - 1, 60s);
}

void login_schedule::failed(reactor::steady_time now) {
  last_failed_ = true;
  last_run_ = now;
  not_before_ = now + doubled(1s, failures_++, 30s);
}

void login_schedule::accepted(reactor::steady_time now) {
  if (refusals_ == 0 || now - last_run_ < 1s) return;
  refusals_ = 0;
  not_before_ = now;
}

}  // namespace k8s
