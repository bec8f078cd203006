#pragma once

#include "reactor/http/server.hpp"
#include "reactor/loop.hpp"
#include "reactor/net/memory_network.hpp"
#include "registry/web.hpp"
#include "tests/reactor/run.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace registry {

/// A server in memory whose answers are a function of the request; it remembers what it was asked.
class told_server {
public:
  using answer = std::function<reactor::http::response(const reactor::http::request&)>;
  told_server(reactor::loop& l, const std::string& host, std::uint16_t port, answer a,
              std::unique_ptr<reactor::tls_server_settings> tls = nullptr)
      : server_(l, options(host, port, std::move(tls)), handler(std::move(a))) {
    EXPECT_TRUE(server_.start());
  }
  awaitable<void> stop() { return server_.stop(); }
  std::vector<reactor::http::request> seen;
  std::vector<std::string> client_names;  // of their certificates, "" without one
  bool asked_with_authorization() const {
    for (const auto& r : seen)
      if (r.fields.has("Authorization")) return true;
    return false;
  }

private:
  static reactor::http::server_options options(const std::string& host, std::uint16_t port,
                                               std::unique_ptr<reactor::tls_server_settings> tls) {
    reactor::http::server_options o;
    o.tls = std::move(tls);
    o.at = {host, port};
    o.body_limit_bytes = 64u << 20;
    return o;
  }
  reactor::http::handler handler(answer a) {
    return [this, a = std::move(a)](reactor::http::request r,
                                    reactor::http::responder& to) -> awaitable<void> {
      seen.push_back(r);
      client_names.push_back(to.client_name());
      auto out = a(r);
      if (out.status == 0) co_return to.abandon();  // the connection ends without an answer
      auto sent = co_await to.send(std::move(out));
      (void)sent;
    };
  }
  reactor::http::server server_;
};

inline reactor::http::response respond(int status, std::string body = "",
                                       reactor::http::headers fields = {}) {
  return {status, std::move(fields), std::move(body)};
}

/// A simulated loop, a network in memory, an environment and a folder of its own.
class WebFixture : public testing::Test {
protected:
  WebFixture() { env_["HOME"] = folder; }
  void TearDown() override {
    EXPECT_EQ(l.live(), reactor::nothing_live);
    EXPECT_EQ(l.timers().size(), 0u);
  }

  environment env() {
    return [this](std::string_view name) { return env_[std::string(name)]; };
  }
  void run(std::function<awaitable<void>()> body) { reactor::run_task(l, std::move(body)); }

  /// Asks once.
  result<web_answer> ask(web_request r) {
    std::optional<result<web_answer>> out;
    run([&]() -> awaitable<void> {
      web w(l, env());
      out.emplace(co_await w.ask(std::move(r)));
      co_await w.stop();
    });
    return std::move(*out);
  }

  void write(const std::string& name, const std::string& text) { files_.write(name, text); }
  std::string read(const std::string& name) {
    std::ifstream in(std::filesystem::path(folder) / name, std::ios::binary);
    return std::string(std::istreambuf_iterator(in), {});
  }
  bool exists(const std::string& name) {
    return std::filesystem::exists(std::filesystem::path(folder) / name);
  }
  std::string path(const std::string& name) { return folder + "/" + name; }

  reactor::loop l{reactor::loop::mode::simulated, 7};
  reactor::temporary_folder files_;
  const std::string folder = files_.path();
  std::map<std::string, std::string> env_;
};

}  // namespace registry
