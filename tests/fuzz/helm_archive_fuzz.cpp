#include "helm/charts/chart_archive.hpp"
#include "tests/gzip.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

constexpr std::size_t block = 512;

/// Mends the checksum of every block that a tar reader may take for a header, so that changes
/// behind it are seen.
void mend_checksums(std::string& tar) {
  for (std::size_t at = 0; at + block <= tar.size();) {
    char* header = tar.data() + at;
    std::fill_n(header + 148, 8, ' ');
    unsigned sum = 0;
    for (std::size_t i = 0; i < block; ++i) sum += static_cast<unsigned char>(header[i]);
    if (sum == 8 * ' ')
      std::fill_n(header + 148, 8, '\0');  // all zeros: the end
    else
      for (int i = 5; i >= 0; --i, sum /= 8) header[148 + i] = static_cast<char>('0' + sum % 8);
    const std::string digits(header + 124, 11);
    const auto size = std::min<std::size_t>(std::strtoull(digits.c_str(), nullptr, 8), tar.size());
    at += block + (size + block - 1) / block * block;
  }
}

}  // namespace

/// Any bytes as a packed chart: as they are when they begin like gzip, else as the tar inside.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (!bytes.starts_with("\x1f\x8b")) {
    mend_checksums(bytes);
    bytes = tests::gzip(bytes, 0);
  }
  auto files = helm::read_archive(bytes);
  std::vector<std::string> warnings;
  if (files) static_cast<void>(helm::load_files(std::move(*files), warnings));
  return 0;
}
