#pragma once

#include "k8s/client/client.hpp"

#include <boost/json/object.hpp>

#include <cstddef>
#include <optional>

namespace k8s {

/// A collection read page by page, for callers that want whole documents; informers read theirs
/// from the bytes.
/// Lifetime  the client outlives it; one next() at a time.
class list_pages {
public:
  /// 500,000 objects at the usual page. A server that still has more does not end its list.
  static constexpr std::size_t most_pages = 1'000;

  list_pages(client& api, resource r, list_options options)
      : api_(api),
        resource_(std::move(r)),
        options_(std::move(options)),
        whole_(options_.limit) {}

  /// One page without its continue token; nothing after the last.
  /// Errors: the request's own; errc::invalid after most_pages.
  awaitable<result<std::optional<boost::json::object>>> next();
  /// Of the pages from here on; what was asked for and had more is asked for again.
  void allow(std::uint64_t most_bytes) noexcept { options_.most_bytes = most_bytes; }

private:
  client& api_;
  resource resource_;
  list_options options_;
  const std::uint32_t whole_;     // how many objects a page has
  std::size_t read_in_parts_ = 0;  // since a page was more than is taken at once
  std::size_t pages_ = 0;
  bool ended_ = false;
};

/// metadata.resourceVersion of a page; empty where it has none.
std::string version_of(const boost::json::object& page);
/// The items of a page; null where it has none.
const boost::json::array* items_of(const boost::json::object& page) noexcept;

}  // namespace k8s
