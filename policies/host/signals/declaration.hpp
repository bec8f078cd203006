#pragma once

#include "policies/host/shape.hpp"
#include "reactor/plain/result.hpp"
#include "reactor/plain/time.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace policies {

/// A fact that a pack needs from outside: what `signals` of policy.lua says of one. The service
/// fetches it (signals/keeper.hpp), the pack's hooks see it as `fleet.signals.NAME`.
struct signal_declaration {
  enum class source { prometheus, http };
  std::string name;
  source from = source::prometheus;
  /// Of a Prometheus, up to where /api/v1/query follows; else the whole address.
  std::string url;
  std::string query;                   // PromQL; empty for source::http
  reactor::nanoseconds every{};        // between two questions
  reactor::nanoseconds window{};       // how far back values are kept; 0: the last alone
  reactor::nanoseconds stale_after{};  // a value older than that is none
  std::string secret;                  // name of the Secret with the login; empty: none
  friend bool operator==(const signal_declaration&, const signal_declaration&) = default;
};

/// Limits of what a pack may declare.
namespace signal_limits {
inline constexpr std::size_t most = 16, name_bytes = 63, url_bytes = 1'024, query_bytes = 2'048,
                             samples = 1'000;
inline constexpr reactor::nanoseconds least_every = std::chrono::seconds(5),
                                      most_every = std::chrono::hours(1),
                                      most_window = std::chrono::hours(24);
}  // namespace signal_limits

/// What `signals` is, for the reference and the editor.
shape signals_shape();

/// Reads `signals`, a list of tables.
/// Errors   errc::malformed names entry, field and reason: "signals[2].every: …".
reactor::result<std::vector<signal_declaration>> read_signals(const value& declared);

/// What a text with placeholders becomes for one cluster.
/// Shape    `${cluster}` is the cluster's name, `${label:KEY}` a label of its Secret at home.
enum class filled_for { address, query };
/// Fills every placeholder. In an address a value is percent-encoded, so that it changes no other
/// part of it; in a query it stands inside of quotes, and a value that could end them is refused.
/// Errors   errc::refused: the cluster has no such label, or its value is refused.
reactor::result<std::string> fill_placeholders(std::string_view text, filled_for what,
                                               const std::string& cluster,
                                               const std::map<std::string, std::string>& labels);

}  // namespace policies
