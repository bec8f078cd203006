#pragma once

// Inside releases/rules only: how the documents are taken apart.

#include "formats/yaml/yaml.hpp"
#include "releases/rules/document.hpp"

#include <boost/json/value.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace policies::releases {

inline constexpr std::size_t longest_field = 4096;

/// A place in a document: what it is called ("spec.components[etcd]") and the way there
/// ("spec", "components", "3").
struct place {
  std::string name;
  std::vector<std::string> steps;
  place operator/(std::string_view field) const;
  /// The entry of a list, called by `label`, or by its number from 1 where that is empty.
  place entry(std::size_t index, std::string_view label) const;
};

/// One YAML document whose scalars are known by what they stand for and by their own text.
class yaml_source {
public:
  /// Shape    a document that is a list is read as a mapping with that list in `list_name`, where
  ///          one is given.
  /// Errors   those of formats::parse_kubernetes_yaml; errc::malformed when it is no mapping.
  static reactor::result<yaml_source> read(std::string_view text, std::string file,
                                           std::string_view list_name = {});
  const boost::json::object& root() const { return root_.get_object(); }
  const std::string& file() const { return file_; }

  /// Notes a problem with a place of this document.
  void note(std::string_view id, std::string subject, const place& at, std::string why,
            std::string from = {}, std::string to = {});
  /// The text of field `name`; its own text and a problem `wrong_type` when YAML made something
  /// else of it; nothing when it is absent or null, with a problem when it is needed.
  enum class need { optional, required };
  std::optional<std::string> text(const boost::json::object& of, std::string_view name,
                                  const place& at, const std::string& subject, need n,
                                  std::string_view wrong_type = "release.schema");
  /// The list of field `name`; null when it is absent or something else, which is a problem when it
  /// is needed.
  const boost::json::array* list(const boost::json::object& of, std::string_view name,
                                 const place& at, const std::string& subject, need n);
  /// The objects of a list; others are problems.
  const boost::json::object* object(const boost::json::value& v, const place& at,
                                    const std::string& subject);
  /// The fields that are none of `known`.
  std::vector<unknown_field> others(const boost::json::object& of,
                                    std::initializer_list<std::string_view> known);
  /// The same, each a problem with its line and the known field that it may be.
  std::vector<unknown_field> unknown(const boost::json::object& of,
                                     std::initializer_list<std::string_view> known, const place& at,
                                     const std::string& subject);

  std::vector<problem> problems;
  /// A field's text was longer than the limit.
  std::optional<reactor::fault> too_long;

private:
  std::string own_text(const place& at);
  std::string text_, file_, list_name_;
  bool is_list_ = false;
  boost::json::value root_;
  // the same with each scalar's own text, when asked for
  std::optional<boost::json::value> own_;
};

/// The text put on one line of at most 100 bytes between quotes, for a sentence.
std::string quoted(std::string_view text);

}  // namespace policies::releases
