#include "formats/base64.hpp"
#include "formats/gzip.hpp"
#include "helm/go.hpp"
#include "helm/release/record.hpp"

namespace helm::release {
namespace {

// A Secret holds 1 MiB, and text shrinks to a tenth; a record beyond this is a bomb.
constexpr std::size_t unpacked_limit = 64u << 20;

outcome<std::string> text_of(std::string_view packed) {
  unpacked out = gunzip(packed, unpacked_limit);
  switch (out.trouble) {
    case gzip_trouble::none: return std::move(out.text);
    case gzip_trouble::too_big: return problem{"gzip: the record is larger than 64 MiB"};
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

outcome<record> decode_record(std::string_view text) {
  auto bytes = base64_decode(text);
  if (!bytes) return bytes.error();
  if (bytes->starts_with("\x1f\x8b\x08")) {
    auto plain = text_of(*bytes);
    if (!plain) return plain.error();
    bytes = std::move(*plain);
  }
  return read_record(*bytes);
}

}  // namespace helm::release
