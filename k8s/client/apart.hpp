#pragma once

#include "k8s/client/wire.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/secret.hpp"
#include "reactor/waiters.hpp"

#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace k8s {

using reactor::awaitable;

/// Texts that are longer are parsed off the loop: at worst a microsecond for 25 bytes (long
/// fractions), so that this takes 3 ms.
inline constexpr std::size_t parsed_on_loop_bytes = 64 * 1024;

/// A JSON text that was parsed off the loop; its memory goes back there, too.
class wire_document {
public:
  wire_document(reactor::loop& l, std::shared_ptr<wire_parser> parser, std::string problem)
      : loop_(l), parser_(std::move(parser)), problem_(std::move(problem)) {}
  ~wire_document() {
    if (parser_) loop_.start_on_worker([](auto& parser) { parser.reset(); }, std::move(parser_));
  }
  wire_document(const wire_document&) = delete;
  wire_document& operator=(const wire_document&) = delete;
  /// Why it is not JSON; empty when it is.
  const std::string& problem() const noexcept { return problem_; }
  wire_value root() const noexcept { return parser_->root(); }

private:
  reactor::loop& loop_;
  std::shared_ptr<wire_parser> parser_;
  std::string problem_;
};

/// Long pure computations for one cluster, one at a time off the loop, so that a cluster which asks
/// for many keeps one worker busy and leaves the others.
/// Lifetime  outlives what it runs.
class apart {
public:
  explicit apart(reactor::loop& l) : loop_(l), turn_(l) {}

  /// As loop::offload.
  template <class F, class... A, class T = std::invoke_result_t<F&, std::decay_t<A>&...>>
    requires reactor::detached_job<F, std::decay_t<A>...>
  awaitable<T> run(F f, A&&... values) {
    return run_alone<T>(f, std::tuple<std::decay_t<A>...>(std::forward<A>(values)...));
  }

  awaitable<std::unique_ptr<wire_document>> parse(reactor::wiped_string text) {
    struct parsed {
      std::shared_ptr<wire_parser> parser;
      std::string problem;
    };
    const auto job = [](reactor::wiped_string& text) {
      parsed p{std::make_shared<wire_parser>(), {}};
      if (const auto root = p.parser->parse(text); !root) p.problem = root.error().detail;
      reactor::wiped_string().swap(text);
      return p;
    };
    parsed p = co_await run(job, std::move(text));
    co_return std::make_unique<wire_document>(loop_, std::move(p.parser), std::move(p.problem));
  }

private:
  template <class T, class F, class Values>
  awaitable<T> run_alone(F f, Values values) {
    while (busy_) (void)co_await turn_.wait();
    const taken turn(*this);
    awaitable<T> job =
        std::apply([&](auto&... v) { return loop_.offload(f, std::move(v)...); }, values);
    co_return co_await std::move(job);
  }

  class taken {
  public:
    explicit taken(apart& of) noexcept : of_(of) { of_.busy_ = true; }
    ~taken() {
      of_.busy_ = false;
      of_.turn_.wake_one();
    }
    taken(const taken&) = delete;
    taken& operator=(const taken&) = delete;

  private:
    apart& of_;
  };

  reactor::loop& loop_;
  bool busy_ = false;
  reactor::waiters turn_;
};

}  // namespace k8s
