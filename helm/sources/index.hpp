#pragma once

#include "formats/yaml/reader.hpp"
#include "helm/charts/chart.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace helm::sources {

/// What a repository may send, and how many versions it may list: the largest public one has some
/// 20 MiB.
inline constexpr std::size_t index_bytes_limit = 48u << 20;
inline constexpr std::size_t index_versions_limit = 200'000;

/// One version of one chart.
struct chart_version {
  metadata meta;
  std::vector<std::string> urls;
  std::string created;  // RFC 3339
  std::string digest;   // hexadecimal SHA-256 of the archive, perhaps with "sha256:"; may be empty
  bool removed = false;
};

/// index.yaml.
struct repository_index {
  std::string api_version = "v1";
  std::string generated;
  std::map<std::string, std::vector<chart_version>> entries;  // each newest first
  std::vector<std::string> public_keys;
  std::map<std::string, std::string> annotations;

  /// Newest first, what is no version last.
  void sort();
  /// The exact version text first, else the newest that satisfies the constraint; "" is any
  /// release. Lifetime views this index.
  /// Errors   "no chart name found", "no chart version found", "no chart version found for %s-%s".
  outcome<const chart_version*> find(const std::string& name, const std::string& version) const;
  /// Adds what `other` has and we have not.
  void merge(repository_index other);
};

struct read_index_result {
  repository_index index;
  std::vector<std::string> skipped;  // a sentence for each entry that cannot be used
};

/// Reads JSON, or YAML with no unknown member and no key twice.
/// Shape    `source` is what messages name: a path or URL.
/// Errors   "empty index.yaml file", "no API version specified", those of the YAML reader, and ours
///          for too much.
outcome<read_index_result> read_index(std::string_view text, std::string_view source);

/// One chart of an index, and no more of it: a long text is passed over, not taken apart.
/// Shape    `index.entries` has only `name`, and nothing where the repository has no such chart.
/// Errors   those of read_index; also ours where it takes more memory than `memory_bytes`.
outcome<read_index_result> read_index_of(std::string_view text, const std::string& name,
                                         std::string_view source, std::uint64_t memory_bytes);

/// The same of a text that comes in pieces. YAML is held nowhere; JSON is gathered, within
/// index_bytes_limit.
outcome<read_index_result> read_index_of(const text_source& from, const std::string& name,
                                         std::string_view source, std::uint64_t memory_bytes);

enum class index_form : std::uint8_t { yaml, json };
outcome<std::string> write_index(const repository_index& index, index_form form);

}  // namespace helm::sources
