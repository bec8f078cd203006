#include "registry/credential_helper.hpp"

#include "formats/json/member.hpp"
#include "formats/plain/text.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/secret.hpp"
#include "registry/document.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace registry {

using formats::lower;
using formats::problem;
using formats::quote;
using formats::text_member;
using formats::trim_space;

namespace {

namespace json = boost::json;

constexpr reactor::nanoseconds helper_time = std::chrono::minutes(1);
constexpr std::size_t helper_bytes_limit = 64u << 10;
constexpr std::string_view token_user = "<token>";

bool is_program_name(std::string_view name) {
  if (name.empty() || name.size() > 100 || name.front() == '-') return false;
  return std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

/// Without control characters, which no login has and no header may carry.
bool is_printable(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
}

std::optional<json::object> parse_object(std::string_view text) {
  json::error_code failed;
  auto v = read_document(text, failed);
  if (failed || !v.is_object()) return std::nullopt;
  return std::move(v.as_object());
}

reactor::awaitable<reactor::result<reactor::process_exit>> run_helper(
    reactor::loop& l, std::function<void(std::string_view)> show, std::string program,
    std::string server) {  // borrowed
  reactor::command c;
  c.argv = {std::move(program), "get"};
  c.input = std::move(server);
  c.out_limit_bytes = helper_bytes_limit;
  auto ended = co_await reactor::run_process(l, std::move(c), l.now() + helper_time);
  if (ended && !ended->err.empty()) show(ended->err);
  co_return ended;
}

/// Its own words, cut to a line. Helpers that fail say why on either output.
std::string words_of(const reactor::process_exit& ended) {
  std::string text(trim_space(ended.out.empty() ? ended.err : ended.out));
  text.resize(std::min({text.size(), text.find('\n'), std::size_t{300}}));
  return text.empty() ? ended.text() : reactor::redact(text);
}

}  // namespace

outcome<std::string> find_helper(std::string_view config, std::string_view registry,
                                 const std::string& path) {
  if (trim_space(config).empty()) return std::string();
  const auto read = parse_object(config);
  if (!read) return problem{"invalid config format: it is no JSON object (" + path + ")"};
  std::string name = text_member(*read, "credsStore");
  const auto* all = read->if_contains("credHelpers");
  if (const auto* helpers = all ? all->if_object() : nullptr)
    for (const auto& [key, value] : *helpers)
      if (value.is_string() && names_registry(std::string_view(key.data(), key.size()), registry))
        name = value.as_string().c_str();
  if (name.empty()) return std::string();
  if (!is_program_name(name))
    return problem{path + " names the credential helper " + quote(name) +
                   ", which is not the name of a program"};
  return "docker-credential-" + name;
}

outcome<std::optional<registry_login>> read_helper_answer(const reactor::process_exit& ended,
                                                          const std::string& program,
                                                          std::string_view registry) {
  if (!ended.succeeded()) {
    const std::string said = words_of(ended);
    // The words by which each helper says it; docker looks for them too.
    if (ended.signal == 0 && lower(said).find("credentials not found") != said.npos)
      return std::optional<registry_login>();
    return problem{"the credential helper " + quote(program) + " failed: " + said};
  }
  const problem strange{"the credential helper " + quote(program) +
                        " gave an answer that is no login"};
  const auto read = parse_object(ended.out);
  if (!read) return strange;
  const std::string server = text_member(*read, "ServerURL");
  const std::string user = text_member(*read, "Username");
  reactor::secret proof(text_member(*read, "Secret"));
  if (user.empty() || proof.empty() || !is_printable(user) || !is_printable(proof.reveal()) ||
      user.find(':') != user.npos)
    return strange;
  if (!server.empty() && !names_registry(server, registry))
    return problem{"the credential helper " + quote(program) + " gave the login of another server"};
  registry_login out;
  if (user == token_user) {
    out.identity_token = std::move(proof);
  } else {
    out.username = user;
    out.password = std::move(proof);
  }
  return std::optional(std::move(out));
}

helper_runner run_helpers(reactor::loop& l, std::function<void(std::string_view)> show) {
  return [&l, show = std::move(show)](std::string program, std::string server) {
    return run_helper(l, show, std::move(program), std::move(server));
  };
}

}  // namespace registry
