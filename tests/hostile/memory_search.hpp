// Looks for secrets in everything that this process may write to. What is looked for stands nowhere
// as it is: each byte of a needle is scrambled, and so are the bytes that are searched.
#pragma once

#include "reactor/plain/secret.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace canary_run {

constexpr char scramble = 0x55;
/// What is larger is a sanitizer's shadow: what it knows of the bytes elsewhere, not bytes.
constexpr unsigned long shadow_bytes = 1ul << 36;

inline std::string scrambled(std::string_view text) {
  std::string out(text);
  for (char& c : out) c ^= scramble;
  return out;
}

struct needle {
  std::string name;   // "the token"
  std::string bytes;  // scrambled
};

/// How often each needle stands in the writable memory of this process.
inline std::vector<std::size_t> find_in_memory(const std::vector<needle>& needles) {
  std::vector<std::size_t> found(needles.size());
  std::FILE* maps = std::fopen("/proc/self/maps", "re");
  std::FILE* memory = std::fopen("/proc/self/mem", "re");
  if (!maps || !memory) return found;
  std::setvbuf(memory, nullptr, _IONBF, 0);
  std::vector<char, reactor::wiping_allocator<char>> piece;
  constexpr std::size_t most_bytes = 1024 * 1024, longest = 64;
  piece.resize(most_bytes + longest);
  unsigned long begin = 0, end = 0;
  char mode[8], line[512];
  while (std::fgets(line, sizeof line, maps)) {
    if (std::sscanf(line, "%lx-%lx %7s", &begin, &end, mode) != 3 || mode[1] != 'w') continue;
    if (end - begin > shadow_bytes) continue;
    for (unsigned long at = begin; at < end; at += most_bytes) {
      const std::size_t wanted = std::min<std::size_t>(end - at, most_bytes + longest - 1);
      if (std::fseek(memory, static_cast<long>(at), SEEK_SET) != 0) break;
      const std::size_t got = std::fread(piece.data(), 1, wanted, memory);
      for (std::size_t i = 0; i < got; ++i) piece[i] ^= scramble;
      for (std::size_t n = 0; n < needles.size(); ++n) {
        const std::string& bytes = needles[n].bytes;
        const char* from = piece.data();
        const char* const stop = piece.data() + got;
        while (const void* hit = ::memmem(from, static_cast<std::size_t>(stop - from), bytes.data(),
                                          bytes.size())) {
          from = static_cast<const char*>(hit) + 1;
          if (static_cast<std::size_t>(from - piece.data()) <= most_bytes) ++found[n];
        }
      }
      reactor::wipe(piece.data(), got);
    }
  }
  std::fclose(maps);
  std::fclose(memory);
  return found;
}

}  // namespace canary_run
