#pragma once

#include "formats/go/regex.hpp"
#include "helm/go.hpp"
#include "helm/schema/document.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace helm::schemas {

struct node;

/// What additionalProperties and additionalItems say.
struct remainder {
  enum class what : unsigned char { unsaid, allowed, refused, schema } kind = what::unsaid;
  const node* schema = nullptr;
};

struct pattern_schema {
  std::shared_ptr<const formats::regex> pattern;
  const node* schema;
};

/// The types of JSON as bits, in the order in which messages name them.
enum type_bit : unsigned {
  null_type = 1,
  boolean_type = 2,
  number_type = 4,
  integer_type = 8,
  string_type = 16,
  array_type = 32,
  object_type = 64
};

/// One schema, its keywords taken apart and its references followed. A missing keyword is nothing,
/// empty or nullptr. Lifetime nodes point at one another; a `library` owns them.
struct node {
  place at;
  int draft = 2020;
  const node* resource = nullptr;  // the schema at the head of what this one stands in

  std::optional<bool> always;  // `true`, `false` and the empty schema
  unsigned types = 0;
  std::optional<value> constant;
  std::vector<value> enumeration;
  bool enumerated = false;
  std::string format;  // only where it is more than a remark

  const node* reference = nullptr;
  const node* recursive_reference = nullptr;
  bool recursive_anchor = false;
  const node* dynamic_reference = nullptr;
  std::string dynamic_reference_anchor;
  std::string dynamic_anchor;
  std::map<std::string, const node*, std::less<>> dynamic_anchors;  // of a resource

  std::vector<const node*> all_of, any_of, one_of;
  const node* negated = nullptr;
  const node* condition = nullptr;
  const node* consequence = nullptr;
  const node* alternative = nullptr;

  std::map<std::string, const node*, std::less<>> properties;
  std::vector<pattern_schema> pattern_properties;
  remainder additional_properties;
  const node* property_names = nullptr;
  std::map<std::string, const node*, std::less<>> dependency_schemas, dependent_schemas;
  std::map<std::string, std::vector<std::string>, std::less<>> dependency_lists, dependent_required;
  std::vector<std::string> required;
  std::optional<double> min_properties, max_properties;
  const node* unevaluated_properties = nullptr;

  std::vector<const node*> prefix_items;  // or the list under `items` of earlier drafts
  const node* items = nullptr;            // for what comes after those
  remainder additional_items;
  const node* contains = nullptr;
  std::optional<double> min_contains, max_contains;
  std::optional<double> min_items, max_items;
  bool unique_items = false;
  const node* unevaluated_items = nullptr;

  std::optional<double> min_length, max_length;
  std::shared_ptr<const formats::regex> pattern;
  std::optional<double> minimum, maximum, exclusive_minimum, exclusive_maximum, multiple_of;

  // Which members it evaluates whatever they are.
  bool every_property = false, every_item = false;
  std::size_t first_items = 0;
};

}  // namespace helm::schemas
