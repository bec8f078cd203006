#include "formats/gzip.hpp"

#include "reactor/plain/memory.hpp"

#include <zlib.h>

#include <algorithm>
#include <new>

namespace formats {

std::string gzip(std::string_view bytes, const gzip_form& form) {
  z_stream z{};
  const int level =
      form.how == gzip_form::effort::most ? Z_BEST_COMPRESSION : Z_DEFAULT_COMPRESSION;
  if (deflateInit2(&z, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::string comment = form.comment;
  gz_header header{};
  header.comment = reinterpret_cast<Bytef*>(comment.data());
  header.os = 255;
  if (!comment.empty()) deflateSetHeader(&z, &header);
  std::string out(deflateBound(&z, static_cast<uLong>(bytes.size())), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);  // it fits: deflateBound said so, header included
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

std::optional<std::size_t> gzip_reader::read(char* out, std::size_t n) {
  if (trouble_ != gzip_trouble::none) return std::nullopt;
  const auto stopped = [&](gzip_trouble why) {
    trouble_ = why;
    return std::optional<std::size_t>();
  };
  if (total_ + n > limit_bytes_) return stopped(gzip_trouble::too_big);
  std::size_t got = 0;
  while (got < n && !ended_) {
    const auto step = inflation_.advance(rest_, out + got, n - got);
    rest_.remove_prefix(step.read);
    got += step.written;
    if (step.now == reactor::inflation::state::damaged) return stopped(gzip_trouble::damaged);
    if (step.now == reactor::inflation::state::ended)
      ended_ = !rest_.starts_with('\x1f');  // members may follow one another
    else if (step.read == 0 && step.written == 0)
      return stopped(gzip_trouble::cut);
  }
  total_ += got;
  return got;
}

unpacked gunzip(std::string_view packed, std::size_t limit_bytes) {
  unpacked out;
  reactor::inflation from;
  for (auto now = reactor::inflation::state::running; now == reactor::inflation::state::running;) {
    const std::size_t had = out.text.size();
    if (had >= limit_bytes) return {{}, gzip_trouble::too_big};
    out.text.resize(
        std::min(limit_bytes, std::max<std::size_t>(had * 2, packed.size() * 4 + 1024)));
    const auto step = from.advance(packed, out.text.data() + had, out.text.size() - had);
    packed.remove_prefix(step.read);
    out.text.resize(had + step.written);
    now = step.now;
    if (now == reactor::inflation::state::damaged) return {{}, gzip_trouble::damaged};
    if (now == reactor::inflation::state::running && step.read == 0 && step.written == 0)
      return {{}, gzip_trouble::cut};
  }
  return out;
}

}  // namespace formats
