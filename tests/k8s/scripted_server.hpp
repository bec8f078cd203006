#pragma once

#include "k8s/client/kubeconfig.hpp"
#include "reactor/http/message.hpp"
#include "reactor/net/stream.hpp"
#include "reactor/plain/time.hpp"
#include "reactor/task_group.hpp"
#include "reactor/waiters.hpp"

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace k8s {

/// What an API server says to one request: a head, pieces of body with pauses, and how it ends.
/// Every piece is one write and, in a streamed answer, one chunk.
class answer {
public:
  /// A whole body with Content-Length.
  static answer json(int status, std::string body);
  static answer text(int status, std::string content_type, std::string body);
  /// A metav1.Status failure.
  static answer failure(int status, std::string reason, std::string message,
                        std::string details_json = "{}");
  /// 200 and a chunked body, as a watch.
  static answer stream();
  /// Exactly these bytes instead of an HTTP response, then the connection closes.
  static answer raw(std::string bytes);
  /// The request is read and never answered.
  static answer silence();

  answer& header(std::string name, std::string value);
  answer& wait(reactor::nanoseconds before_the_head);
  answer& piece(std::string bytes, reactor::nanoseconds pause_before = {});
  /// Stays open after the pieces: push() and end() go on.
  answer& stay_open();
  /// Closes the connection after the pieces, in the middle of the body.
  answer& cut();

private:
  friend class scripted_server;
  struct part {
    std::string bytes;
    reactor::nanoseconds pause{};
  };
  enum class ending { complete, open, cut, silent };
  int status_ = 200;
  reactor::http::headers fields_;
  bool streamed_ = false, raw_ = false;
  reactor::nanoseconds wait_{};
  std::vector<part> parts_;
  ending ending_ = ending::complete;
};

/// An API server that answers from a script and remembers what it was asked, on any network of the
/// loop. Rules are tried in the order of on() (each is used up), then of always(), else 404. Cuts,
/// latency and half-open streams are the memory network's business. Lifetime: co_await stop()
/// before destruction.
class scripted_server {
public:
  struct received {
    std::string method, target;
    reactor::http::headers fields;
    std::string body;
    reactor::steady_time at{};
  };

  explicit scripted_server(reactor::loop& l, reactor::endpoint at = {"api", 6443});
  ~scripted_server();
  scripted_server(const scripted_server&) = delete;
  scripted_server& operator=(const scripted_server&) = delete;

  /// The next request with this method whose target begins so ("/api/v1/pods?watch") gets `a`.
  void on(std::string method, std::string target_prefix, answer a);
  /// All further ones get it.
  void always(std::string method, std::string target_prefix, answer a);
  /// Asked when no rule fits.
  void otherwise(std::function<answer(const received&)> make);
  void forget_rules();

  const std::vector<received>& requests() const noexcept { return requests_; }
  /// How many requests of that method and prefix came.
  std::size_t count(std::string_view method, std::string_view target_prefix) const;
  std::size_t unused_rules() const noexcept { return once_.size(); }

  /// Sends one more chunk to every open stream of that prefix; returns how many there were.
  std::size_t push(std::string_view target_prefix, std::string bytes);
  /// Completes the open streams of that prefix.
  std::size_t end(std::string_view target_prefix);
  std::size_t open_streams(std::string_view target_prefix = "") const;

  /// How to reach it: plain HTTP, no credentials.
  connection to() const;
  reactor::awaitable<void> stop();

private:
  struct rule {
    std::string method, prefix;
    answer a;
  };
  struct open_stream;
  reactor::awaitable<void> accept_all();
  reactor::awaitable<void> serve(std::shared_ptr<reactor::stream> s);
  reactor::awaitable<bool> read_request(std::shared_ptr<reactor::stream> s, std::string& held,
                                        received& into);
  reactor::awaitable<bool> reply(std::shared_ptr<reactor::stream> s, answer a, std::string target);
  reactor::awaitable<bool> follow(std::shared_ptr<reactor::stream> s, std::string target);
  answer choose(const received& r);

  reactor::loop& loop_;
  reactor::endpoint at_;
  std::unique_ptr<reactor::acceptor> acceptor_;
  std::list<rule> once_;
  std::vector<rule> always_;
  std::function<answer(const received&)> otherwise_;
  std::vector<received> requests_;
  std::list<open_stream*> open_;
  reactor::task_group tasks_;
};

/// One watch event as a line.
std::string watch_line(std::string_view type, std::string_view object_json);

}  // namespace k8s
