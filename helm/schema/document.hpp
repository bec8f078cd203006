#pragma once

#include "helm/go.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace helm::schemas {

/// Where a schema stands: the address of its document and the JSON pointer in it.
struct place {
  std::string url;
  std::string pointer;

  std::string text() const;  // "file:///values.schema.json#/properties/a"
  friend auto operator<=>(const place&, const place&) = default;
};

/// "/a~1b" for the member "a/b".
std::string pointer_step(std::string_view name);

/// A reference taken to its absolute address; `fragment` is decoded.
struct address {
  std::string url;
  std::string fragment;
};
/// Errors   "error in parsing \"…\": …"
outcome<address> join_address(const std::string& base, const std::string& reference);

/// A part of a document that has an address of its own.
struct resource {
  std::string pointer;
  std::string id;
  int draft = 2020;
  std::map<std::string, std::string> anchors;  // to pointers
  std::vector<std::string> dynamic_anchors;
};

/// One JSON document that holds schemas: which parts are schemas, their addresses and their names.
class document {
public:
  /// Errors   what is wrong with ids, anchors and $schema: "duplicate id …", "error in parsing id
  ///          at …".
  static outcome<document> read(std::string url, value root);

  const std::string& url() const { return url_; }
  const value& root() const { return root_; }
  const std::map<std::string, resource>& resources() const { return resources_; }

  /// The innermost resource around `pointer`.
  const resource& resource_of(std::string pointer) const;
  /// The resource with this address, or nullptr.
  const resource* find(const std::string& id) const;
  /// Errors   "anchor in … not found in schema …"
  outcome<std::string> resolve(const resource& in, const std::string& fragment) const;
  /// Errors   "invalid json-pointer …", "json-pointer in … not found"
  outcome<const value*> at(const std::string& pointer) const;

  bool holds_schema(const std::string& pointer) const { return schemas_.contains(pointer); }
  /// Takes what stands at `pointer` for a schema too, because something refers to it.
  std::optional<problem> add_schema(const std::string& pointer);

private:
  std::optional<problem> collect(const value& schema, const std::string& base,
                                 const std::string& pointer, int draft);
  std::optional<problem> collect_here(const value& schema, std::string base,
                                      const std::string& pointer, int draft);
  std::optional<problem> collect_anchors(const value& schema, const std::string& pointer,
                                         resource& in);

  std::string url_;
  value root_;
  std::map<std::string, resource> resources_;  // by pointer
  std::set<std::string> schemas_;              // pointers
};

/// The draft that an address names: 4, 6, 7, 2019 or 2020.
std::optional<int> draft_named(std::string_view schema_url);

/// "failing loading …" with the reason, for an address that is not in memory.
problem not_loaded(const std::string& url);

}  // namespace helm::schemas
