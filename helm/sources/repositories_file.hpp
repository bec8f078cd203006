#pragma once

#include "helm/go.hpp"
#include "reactor/plain/secret.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace helm::sources {

inline constexpr std::size_t repositories_bytes_limit = 4u << 20;

/// One repository a person added.
struct repository_entry {
  std::string name, url, username;
  reactor::secret password;
  std::string certificate_file, key_file, ca_file;
  bool skip_tls_verify = false;
  bool pass_credentials_all = false;

  friend bool operator==(const repository_entry&, const repository_entry&) = default;
};

/// repositories.yaml, as stock helm keeps it: what it holds besides its entries is written back.
struct repositories_file {
  std::string api_version, generated;
  std::vector<repository_entry> entries;

  const repository_entry* find(std::string_view name) const;
  /// Replaces the entry of that name, or adds it.
  void put(repository_entry entry);
  bool remove(std::string_view name);
};

/// Errors   those of the YAML reader; never the file's text, which holds passwords.
outcome<repositories_file> read_repositories(std::string_view text);
/// The file's text, with the passwords in it: for a file that only its owner may read.
outcome<std::string> write_repositories(const repositories_file& file);

}  // namespace helm::sources
