#pragma once

#include "policies/signals.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/log.hpp"
#include "reactor/metrics.hpp"
#include "reactor/plain/result.hpp"
#include "reactor/task_group.hpp"
#include "reactor/waiters.hpp"
#include "registry/environment.hpp"
#include "registry/web.hpp"
#include "signals/answer.hpp"
#include "signals/history.hpp"
#include "signals/login.hpp"

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace reactor {
class loop;
}

namespace signals {

/// Limits of what is fetched.
inline constexpr std::size_t most_series = 1'000, most_at_once = 8;
inline constexpr reactor::nanoseconds longest_question = std::chrono::seconds(10),
                                      forgotten_after = std::chrono::minutes(30);

/// Fetches what packs declare, for every cluster that packs are asked about, and keeps the values.
/// Shape     what two packs or pools ask of the same server in the same words is asked once. A
///           signal is fetched from when it is first asked for until nothing has asked for it for
///           half an hour.
/// Hosts     only origins of `options::origins`; a redirect is an answer without a number.
/// Logins    the login of a Secret is shown to the origin that the Secret names and to no other.
/// Bounds    most_series, most_at_once, most_answer_bytes; longest_question, or `every` where that
///           is shorter; a server that gives no number is asked ever more seldom, up to eight times
///           `every` or five minutes.
/// Lifetime  loop and metrics outlive it; co_await stop() before destruction.
class keeper {
public:
  struct options {
    std::vector<std::string> origins;  // of --allow-signal-host
    std::string ca_file;               // that servers are verified with; empty: the system's
    /// A Secret of the service's namespace at home, by its name.
    std::function<reactor::awaitable<reactor::result<boost::json::object>>(std::string name)>
        read_secret = {};
  };
  keeper(reactor::loop& l, registry::environment env, reactor::metrics& metrics,
         reactor::logger log, options o);
  ~keeper();
  keeper(const keeper&) = delete;
  keeper& operator=(const keeper&) = delete;

  /// What is known now; never waits. `labels` are of the cluster's Secret.
  policies::signal_facts facts(const std::vector<policies::wanted_signal>& wanted,
                               const std::string& cluster,
                               const std::map<std::string, std::string>& labels);
  reactor::awaitable<void> stop();
  /// Sets the gauges.
  void refresh();
  std::size_t series() const noexcept { return series_.size(); }

private:
  /// What a server is asked, with every placeholder filled.
  struct question {
    policies::signal_declaration::source from{};
    std::string url, query, secret;
    reactor::nanoseconds every{}, window{}, stale_after{};
    friend auto operator<=>(const question&, const question&) = default;
  };
  struct one_series {
    history values;
    reactor::steady_time wanted_at{};
    unsigned failures = 0;  // one after the other
  };
  enum class outcome { value, no_value, no_answer, refused };
  struct asked {
    outcome is = outcome::no_answer;
    reading read;
  };
  struct kept_login {
    reactor::result<login> is;
    reactor::steady_time at{};
  };

  policies::signal_fact fact(const policies::wanted_signal& w, const std::string& cluster,
                             const std::map<std::string, std::string>& labels);
  reactor::awaitable<void> follow(question q);
  reactor::awaitable<asked> ask(question q);
  reactor::awaitable<reactor::result<login>> login_of(std::string secret);
  reactor::nanoseconds take(const question& q, one_series& s, asked a);

  reactor::loop& loop_;
  reactor::logger log_;
  options options_;
  registry::web web_;
  std::map<question, one_series> series_;
  std::map<std::string, kept_login> logins_;
  std::size_t busy_ = 0;
  reactor::waiters free_;
  reactor::counter fetches_[4];
  reactor::gauge known_, unknown_, oldest_;
  reactor::task_group tasks_;
};

}  // namespace signals
