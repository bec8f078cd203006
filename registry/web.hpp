#pragma once

#include "formats/plain/problem.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/http/message.hpp"
#include "reactor/plain/result.hpp"
#include "reactor/plain/time.hpp"
#include "registry/credentials.hpp"
#include "registry/environment.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace reactor {
class loop;
namespace http {
class client;
}
}  // namespace reactor

namespace registry {

using formats::problem;

using reactor::awaitable;
using reactor::result;

inline constexpr reactor::nanoseconds download_timeout = std::chrono::seconds(120);

struct web_request {
  std::string method = "GET";
  std::string url;
  reactor::http::headers fields;
  std::string body;
  credentials with;                                 // each URL on the way gets what is its own
  std::size_t limit_bytes = 1u << 20;               // of the answer
  reactor::nanoseconds timeout = download_timeout;  // redirects and body included
  enum class redirects { follow, answer } on_redirect = redirects::follow;
  /// Takes the body of a 200 piece by piece, which is then held nowhere else; an error ends the
  /// request with it. What it needs outlives the request.
  std::function<awaitable<result<void>>(std::string piece)> on_piece = {};
};

struct web_answer {
  int status = 0;
  reactor::http::headers fields;
  std::string body;
  std::string url;  // where it came from in the end
};

/// HTTP to any number of servers: one pooled client per server and way of TLS, proxies from the
/// environment. Redirects ten at most, never from https to http; a redirect to another origin gets
/// no header, no client certificate and a full verification (class credentials).
/// Places    addresses where clouds keep credentials (reactor/net/metadata_address.hpp) are asked
///           nothing, not behind a name either; redirects to them are not followed.
/// Bounds    every request has its deadline and its size limit; a length that is announced too big
///           is not read at all. Of servers that nothing is asked of any more, 64 are remembered: a
///           registry may lead to another one each time.
/// Lifetime  co_await stop() before destruction.
class web {
public:
  web(reactor::loop& l, environment env);
  ~web();
  web(const web&) = delete;
  web& operator=(const web&) = delete;

  /// Errors: the network's; errc::limit; errc::refused for a redirect that is not followed. Any
  /// status is an answer.
  awaitable<result<web_answer>> ask(web_request r);
  awaitable<void> stop();
  /// How many servers are remembered.
  std::size_t servers() const noexcept { return clients_.size(); }

private:
  using place = std::pair<std::string, tls_choice>;  // origin
  using shared_client = std::shared_ptr<reactor::http::client>;
  awaitable<result<shared_client>> client_for(std::string url, tls_choice tls);
  void forget_unused();
  awaitable<result<web_answer>> ask_once(web_request r);
  awaitable<result<web_answer>> converse(web_request r);

  reactor::loop& loop_;
  environment env_;
  std::map<place, shared_client> clients_;
};

/// "404 Not Found"
std::string status_text(int status);
/// The fault as Go's net/http would show it: `Get "http://…": connection refused`.
problem problem_of(const reactor::fault& f, const std::string& method, const std::string& url);

}  // namespace registry
