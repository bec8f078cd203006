#include "formats/go/base64.hpp"
#include "helm/go.hpp"
#include "helm/release/record.hpp"

#include <zlib.h>

#include <algorithm>

namespace helm::release {
namespace {

// A Secret holds 1 MiB, and text shrinks to a tenth; a record beyond this is a bomb.
constexpr std::size_t unpacked_limit = 64u << 20;
constexpr int gzip_window = 15 + 16;

std::string gzip(std::string_view in) {
  z_stream z{};
  std::string out;
  if (deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, gzip_window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  out.resize(deflateBound(&z, static_cast<uLong>(in.size())));
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
  z.avail_in = static_cast<uInt>(in.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);  // it fits: deflateBound said so
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

outcome<std::string> gunzip(std::string_view in) {
  z_stream z{};
  if (inflateInit2(&z, gzip_window) != Z_OK) throw std::bad_alloc();
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
  z.avail_in = static_cast<uInt>(in.size());
  std::string out;
  int state = Z_OK;
  while (state == Z_OK) {
    const std::size_t had = out.size();
    if (had >= unpacked_limit) {
      inflateEnd(&z);
      return problem{"gzip: the record is larger than 64 MiB"};
    }
    out.resize(std::min(unpacked_limit, std::max<std::size_t>(had * 2, in.size() * 4 + 1024)));
    z.next_out = reinterpret_cast<Bytef*>(out.data() + had);
    z.avail_out = static_cast<uInt>(out.size() - had);
    state = inflate(&z, Z_NO_FLUSH);
    out.resize(out.size() - z.avail_out);
  }
  inflateEnd(&z);
  if (state != Z_STREAM_END)
    return problem{state == Z_BUF_ERROR ? "unexpected EOF" : "gzip: invalid data"};
  return out;
}

}  // namespace

outcome<std::string> encode_record(const record& r) {
  auto text = write_record(r);
  if (!text) return text.error();
  return base64_encode(gzip(*text));
}

outcome<record> decode_record(std::string_view text) {
  auto bytes = base64_decode(text);
  if (!bytes) return bytes.error();
  if (bytes->starts_with("\x1f\x8b\x08")) {
    auto unpacked = gunzip(*bytes);
    if (!unpacked) return unpacked.error();
    bytes = std::move(*unpacked);
  }
  return read_record(*bytes);
}

}  // namespace helm::release
