#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/net/stream.hpp"
#include "reactor/plain/time.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace reactor {
class loop;
}

namespace bench::hostile {

using reactor::awaitable;
using namespace std::chrono_literals;

/// What a caller's script works with.
struct call {
  reactor::loop& loop;
  reactor::endpoint to;

  /// Null when it was refused.
  awaitable<std::unique_ptr<reactor::stream>> connect();
  /// Connects, says this and returns what came back: see read().
  awaitable<std::string> ask(std::string bytes, reactor::nanoseconds patience = 20s);
  /// All that comes until the listener closes; "…open" is at its end when it had not after
  /// `patience`.
  // borrowed
  awaitable<std::string> read(reactor::stream& from, reactor::nanoseconds patience = 20s);
};

/// A caller of our listeners that means harm.
struct caller {
  std::string name;  // "200 connections that never say a word"
  /// Gives what the listener answered.
  std::function<awaitable<std::string>(call& c)> run;
  /// How that begins ("HTTP/1.1 400"; several are separated by "|"; "closed": no answer, and the
  /// end of the connection; "any": the caller's own trouble), and how long it may take.
  std::string answered = {};
  reactor::nanoseconds within = 30s;
  enum class listener { health, metrics, page } at = listener::health;
};
const std::vector<caller>& callers();
/// Whether `said` begins as one of `answered`.
bool is_expected(std::string_view said, std::string_view answered);

}  // namespace bench::hostile
