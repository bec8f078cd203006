#include "formats/base64.hpp"
#include "formats/gzip.hpp"
#include "helm/go.hpp"
#include "helm/release/record.hpp"

#include <algorithm>

namespace helm::release {
namespace {

// A Secret holds 1 MiB, and text shrinks to a tenth; a record beyond this is a bomb.
constexpr std::size_t unpacked_limit = 64u << 20;

struct text_or_size {
  std::string text;
  bool is_over = false;
};

outcome<text_or_size> text_of(std::string_view packed, std::size_t limit) {
  unpacked out = gunzip(packed, limit);
  switch (out.trouble) {
    case gzip_trouble::none: return text_or_size{std::move(out.text), false};
    case gzip_trouble::too_big:
      if (limit < unpacked_limit) return text_or_size{{}, true};
      return problem{"gzip: the record is larger than 64 MiB"};
    case gzip_trouble::cut: return problem{"unexpected EOF"};
    case gzip_trouble::damaged: break;
  }
  return problem{"gzip: invalid data"};
}

}  // namespace

outcome<std::string> encode_record(const record& r) {
  auto text = write_record(r);
  if (!text) return text.error();
  return pack_record(*text);
}

std::string pack_record(const std::string& written) {
  return encode_base64(gzip(written, {.how = gzip_form::effort::most, .comment = ""}));
}

outcome<sized_record> decode_record_within(std::string_view text, std::uint64_t limit_bytes) {
  const std::size_t limit = std::min<std::uint64_t>(limit_bytes, unpacked_limit);
  auto bytes = base64_decode(text);
  if (!bytes) return bytes.error();
  if (bytes->starts_with("\x1f\x8b\x08")) {
    auto plain = text_of(*bytes, limit);
    if (!plain) return plain.error();
    if (plain->is_over) return sized_record{{}, limit + 1};
    bytes = std::move(plain->text);
  }
  if (bytes->size() > limit) return sized_record{{}, bytes->size()};
  auto r = read_record(*bytes);
  if (!r) return r.error();
  return sized_record{std::move(*r), bytes->size()};
}

outcome<record> decode_record(std::string_view text) {
  auto r = decode_record_within(text, unpacked_limit);
  if (!r) return r.error();
  return std::move(r->what);
}

}  // namespace helm::release
