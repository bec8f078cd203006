#pragma once

#include "k8s/sim/objects/kind.hpp"
#include "k8s/sim/store.hpp"

#include <string>
#include <string_view>

namespace k8s::sim {

/// How a client wants to see objects: which of the kind's versions, and as what.
struct representation {
  enum class form { whole, partial, table };
  enum class embedded { metadata, none, object };  // includeObject of tables

  kind_ptr kind;
  form as = form::whole;
  embedded include = embedded::metadata;
  bool drops_managers = false;  // without metadata.managedFields; not in tables
  reactor::wall_time now{};

  /// True when stored bytes are what the client wants, those of as_stored().
  bool raw() const;
  std::string as_stored(const version& v) const {
    return drops_managers ? v.bytes_without_managers() : v.bytes;
  }
  std::string render(const json::object& stored) const;
  std::string render(const version& v) const;
  /// An element of a list: built-in kinds leave out kind and apiVersion there.
  std::string render_item(const version& v) const;
  json::object in_version(const json::object& stored) const;
  /// What stands in a watch's bookmark.
  std::string bookmark(std::uint64_t revision, bool initial_events_end) const;
  std::string list_kind() const;
  std::string list_api_version() const;
};

/// The stored form of `o`, which a client sent in one of the kind's versions.
json::object to_storage(const kind_info& kind, json::object o);
json::object from_storage(const kind_info& kind, json::object o);

std::string table(const representation& as, const std::vector<json::object>& stored,
                  json::object metadata, bool with_columns);

}  // namespace k8s::sim
