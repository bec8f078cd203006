#pragma once

#include "reactor/http/message.hpp"
#include "reactor/plain/time.hpp"

#include <boost/json.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace conformance {

namespace json = boost::json;

struct reply {
  int status = 0;
  reactor::http::headers fields;
  json::value body;
  std::string text;

  /// The string at a JSON pointer, or empty.
  std::string at(std::string_view pointer) const;
  const json::value* find(std::string_view pointer) const;
  std::int64_t number(std::string_view pointer) const;
};

struct event {
  std::string type;
  json::value object;
  std::string at(std::string_view pointer) const;
};

/// One API server to be asked: the embedded one over pipes in memory, or the one that
/// WINDLASS_LIVE_KUBECONFIG names. All tests of a program share it; each works in a namespace of
/// its own.
class endpoint {
public:
  static endpoint& get();
  ~endpoint();

  /// True for the embedded server, whose controllers run.
  bool embedded() const noexcept;

  reply send(std::string method, std::string target, std::string body = {},
             std::string type = "application/json", std::string accept = "application/json",
             std::string agent = "conformance/1");
  /// The same with another's bearer token; empty: the administrator's.
  reply send_as(std::string token, std::string method, std::string target, std::string body = {},
                std::string type = "application/json", reactor::http::headers more = {});
  /// Watches until `enough` says so, the server ends the stream, or `within` passed.
  std::vector<event> watch(std::string target,
                           std::function<bool(const std::vector<event>&)> enough,
                           reactor::nanoseconds within = std::chrono::seconds(10),
                           std::function<void(endpoint&)> meanwhile = {}, int* status = nullptr);

private:
  endpoint();
  struct impl;
  std::unique_ptr<impl> impl_;
};

/// A fresh namespace, and short ways to work in it.
class space {
public:
  space();
  ~space();
  const std::string& name() const noexcept { return name_; }
  /// "/api/v1/namespaces/<name>/<rest>"
  std::string core(std::string_view rest) const;
  /// "/apis/<group>/v1/namespaces/<name>/<rest>"
  std::string group(std::string_view group_version, std::string_view rest) const;

private:
  std::string name_;
};

reply get(std::string target);
reply post(std::string target, std::string body);
reply put(std::string target, std::string body);
reply remove(std::string target, std::string body = {});
reply merge(std::string target, std::string patch);
reply strategic(std::string target, std::string patch);
reply json_patch(std::string target, std::string patch);
/// Server-side apply; `target` carries fieldManager and force.
reply server_apply(std::string target, std::string body);
reply table(std::string target);

std::string config_map(std::string_view name, std::string_view data = R"({"a":"1"})",
                       std::string_view metadata = "");
std::string pod(std::string_view name, std::string_view node = "n1",
                std::string_view labels = R"({"app":"web"})");
std::string to_text(const json::value& v);

}  // namespace conformance
