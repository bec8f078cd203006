#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/plain/result.hpp"
#include "reactor/plain/secret.hpp"

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace reactor {

class loop;

/// The whole file. Blocks: for the start of the process and for workers.
/// Errors: errc::not_found; errc::limit above `limit_bytes`; errc::refused for what is not a
/// regular file; the system's.
result<std::string> load_file(const std::string& path, std::size_t limit_bytes);

/// The same for what no other may see: no copy of it stays behind.
result<secret> load_secret(const std::string& path, std::size_t limit_bytes);

/// Replaces the file in one step: a reader sees the old bytes or the new ones, and a failure (disk
/// full) leaves the old ones. A symbolic link stays and its target is replaced. Blocks.
result<void> store_file(const std::string& path, std::string_view bytes, mode_t mode = 0644);

/// The same off the loop.
awaitable<result<std::string>> read_file(loop& l, std::string path, std::size_t limit_bytes);
awaitable<result<void>> write_file_atomically(loop& l, std::string path, std::string bytes,
                                              mode_t mode = 0644);

}  // namespace reactor
