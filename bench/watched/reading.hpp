#pragma once

#include "bench/child.hpp"
#include "bench/watched/server.hpp"

#include <boost/json/fwd.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// Who reads a corpus: this program, or a peer.
struct corpus_client {
  std::string client;    // "client-go typed"
  std::string encoding;  // "json" or "protobuf"
  std::string program;   // empty = this one
  std::string how;       // its second argument
  bool metadata_only = false;
};
/// This program.
corpus_client our_client();
/// This program, where it does no more than decrypt and parse.
corpus_client floor_client();

/// One server and one client of it, each a process of its own; both end with this object.
class corpus_reading {
public:
  /// Shape   measure: "events" or "fleet". count: events that end it.
  /// Errors  throws std::runtime_error when one of them does not come up.
  corpus_reading(const corpus_client& by, const std::string& measure, const served_corpus& what,
                 std::size_t clusters);
  ~corpus_reading();
  corpus_reading(const corpus_reading&) = delete;
  corpus_reading& operator=(const corpus_reading&) = delete;

  /// What the client prints. Errors: throws std::runtime_error when it says an error or nothing.
  boost::json::object answer(std::chrono::seconds most);
  /// What the server says of itself, after an order ("/cut") where one is named.
  boost::json::object ask_server(const std::string& method, const std::string& path);
  /// Resident memory of the client: now, or the most since forget_peak().
  double resident() const { return kilobytes("VmRSS:") * 1024; }
  double peak() const { return kilobytes("VmHWM:") * 1024; }
  void forget_peak() const;
  /// Processor time of the client so far.
  double cpu_seconds() const;

private:
  double kilobytes(std::string_view member) const;

  child server_;
  std::optional<child> client_;
  std::string name_, url_, authority_file_;
};

}  // namespace bench
