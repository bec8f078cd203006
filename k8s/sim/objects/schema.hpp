#pragma once

#include "formats/go/regex.hpp"
#include "k8s/sim/objects/failure.hpp"
#include "k8s/sim/objects/json.hpp"
#include "k8s/sim/objects/rule.hpp"
#include "k8s/sim/objects/shape.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace k8s::sim {

/// A structural schema of a custom kind: prunes what it does not know, fills in defaults, and says
/// what is wrong.
/// Source  apiextensions.k8s.io/v1 JSONSchemaProps. A rule in CEL (x-kubernetes-validations) that
///         rule::compile() does not take is not judged.
struct schema {
  /// Where in an object a value is: spelt only when there is something to say about it.
  struct place {
    const place* within = nullptr;  // borrowed from who calls
    std::string_view name;
    std::size_t index = 0;  // of an element, which has no name
    bool is_element = false;

    std::string text() const;  // "spec.taints[2].key"
  };

  std::string type, format;
  bool int_or_string = false, preserve_unknown = false, nullable = false, embedded = false,
       additional_any = false;
  std::map<std::string, std::shared_ptr<schema>, std::less<>> properties;
  std::shared_ptr<schema> additional, items, negated;
  std::vector<std::shared_ptr<schema>> all_of, any_of, one_of;
  std::vector<std::string> required;
  std::optional<json::value> fallback;
  std::optional<json::array> allowed;
  std::optional<double> minimum, maximum, multiple_of;
  bool exclusive_minimum = false, exclusive_maximum = false, unique_items = false;
  std::optional<std::size_t> min_length, max_length, min_items, max_items, min_properties,
      max_properties;
  std::shared_ptr<const formats::regex> matches;
  std::string list_type, map_type;
  std::vector<std::string> list_keys;
  struct validation {
    rule is;
    std::string message;
  };
  std::vector<validation> rules;
  bool rules_below = false;  // here or in a part

  static std::shared_ptr<schema> read(const json::object& props);

  /// Removes unknown fields of a whole object and names them ("spec.colour").
  void prune(json::object& o, std::vector<std::string>* unknown) const;
  void set_defaults(json::object& o) const;
  /// Changes nothing: the object is only lent to the value that is read. What is as in `old`, the
  /// state before an update, was accepted once and is not judged again: a schema that has become
  /// stricter must not keep others from writing the rest.
  void validate(json::object& o, field_errors& errors, const json::object* old = nullptr) const;
  std::shared_ptr<shape> merge_shape(bool root = true) const;

private:
  void prune_value(json::value& v, const place& where, bool root,
                   std::vector<std::string>* unknown) const;
  void default_value(json::value& v, bool root) const;
  /// What stood there before; nothing at a new place.
  struct former {  // null = none
    const json::object* object;
    const json::array* array;
    static former of(const json::value* v) noexcept {
      return v ? former{v->if_object(), v->if_array()} : former{};
    }
  };
  void validate_value(const json::value& v, const place& where, bool root, field_errors& errors,
                      former before = {}) const;
  void judge_rules(const json::value& v, const place& where, field_errors& errors,
                   const json::value* was) const;
  using by_key = std::map<std::string, const json::value*>;
  json::value key_of(const json::value& element) const;
  const json::value* twin_of(const json::value& element, std::size_t at, former before,
                             by_key& known) const;
  void validate_keys(const json::array& all, const place& where, field_errors& errors) const;
  bool type_fits(const json::value& v) const;
};

field_errors validate_crd(const json::object& crd);

}  // namespace k8s::sim
