#pragma once

#include "reactor/plain/result.hpp"

#include <boost/json/fwd.hpp>
#include <boost/json/storage_ptr.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace formats {

/// What plain scalars become: what they stand for, or the text as it was written, for those who
/// must say what was meant.
enum class yaml_scalars : bool { resolved, own_text };

struct yaml_limits {
  std::size_t bytes = 4 * 1024 * 1024;
  std::size_t depth = 64;
  std::size_t nodes = 200'000;  // every alias counts what it stands for
  std::size_t documents = 1'000;
  boost::json::storage_ptr storage = {};  // where the values' memory comes from
  yaml_scalars scalars = yaml_scalars::resolved;
};

/// Reads Kubernetes manifests: each YAML document as the JSON value that kubectl would send.
/// Shape   plain scalars resolve as go-yaml v2 does (yes/no/on/off are booleans, 0x and 0 prefixes
///         are numbers, times stay text); keys become text; merge keys are merged; empty documents
///         are left out.
/// Errors  errc::malformed with line and column; errc::limit. Duplicate keys, tags of other
///         languages and numbers JSON has no form for are malformed. `doing` names `source`.
///         Nothing of the text is quoted: any of it may be a password.
/// Source  sigs.k8s.io/yaml, which reads through go-yaml v2.
reactor::result<std::vector<boost::json::value>> parse_kubernetes_documents(
    std::string_view text, std::string_view source, yaml_limits limits = {});
/// The same for a text that must hold exactly one document.
reactor::result<boost::json::value> parse_kubernetes_yaml(std::string_view text,
                                                          std::string_view source,
                                                          yaml_limits limits = {});

/// The line, from 1, of what `path` leads to in the first document ({"users", "3", "user"}), or of
/// the last of its steps that is there. For the sentence about a text that parse_kubernetes_yaml
/// has read.
std::size_t yaml_line_of(std::string_view text, std::span<const std::string> path);

enum class key_order { sorted, kept };
/// printable: a document that holds what is not fit to be seen is written in ASCII, the rest as
/// escapes.
enum class yaml_text { as_it_is, printable };
/// One document in block style, ending in a newline, as `kubectl -o yaml` prints it. What it
/// writes, parse_kubernetes_yaml reads back equal.
std::string write_kubernetes_yaml(const boost::json::value& value,
                                  key_order order = key_order::sorted,
                                  yaml_text how = yaml_text::as_it_is);

}  // namespace formats
