#include "helm/charts/chart_archive.hpp"

#include "formats/go/path.hpp"
#include "helm/go.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace helm {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t block = 512;
/// All that may come out of the compression: the files, and for each its header, its padding and its extended name.
constexpr std::uint64_t stream_bytes_limit = chart_bytes_limit + chart_files_limit * 8 * block;

/// Unpacks gzip as it is asked for, so that a bomb is noticed before it is held.
class gunzip {
public:
  explicit gunzip(std::string_view in) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream_.avail_in = static_cast<uInt>(in.size());
    const int begun = inflateInit2(&stream_, 15 + 16);
    if (begun == Z_MEM_ERROR) throw std::bad_alloc();  // and no word about the archive
    ok_ = begun == Z_OK;
  }
  gunzip(const gunzip&) = delete;
  gunzip& operator=(const gunzip&) = delete;
  ~gunzip() { inflateEnd(&stream_); }

  /// Reads exactly n bytes unless the data ends; then what there is. False on damaged data.
  bool read(char* out, std::size_t n, std::size_t& got) {
    got = 0;
    if (!ok_) return false;
    if (total_ + n > stream_bytes_limit) {
      too_big = true;
      return false;
    }
    while (got < n && !ended_) {
      stream_.next_out = reinterpret_cast<Bytef*>(out + got);
      auto room = static_cast<uInt>(std::min<std::size_t>(n - got, 1u << 30));
      stream_.avail_out = room;
      int r = inflate(&stream_, Z_NO_FLUSH);
      got += room - stream_.avail_out;
      if (r == Z_STREAM_END) {
        // Members may follow one another.
        if (stream_.avail_in > 0 && inflateReset(&stream_) == Z_OK && stream_.next_in[0] == 0x1f)
          continue;
        ended_ = true;
      } else if (r == Z_BUF_ERROR && stream_.avail_in == 0) {
        truncated = true;
        return false;
      } else if (r != Z_OK) {
        return false;
      }
    }
    total_ += got;
    return true;
  }
  bool truncated = false;
  bool too_big = false;

private:
  std::uint64_t total_ = 0;
  z_stream stream_{};
  bool ok_ = false;
  bool ended_ = false;
};

problem larger_than_allowed() {
  return problem{"decompressed chart is larger than the maximum file size " +
                 std::to_string(chart_bytes_limit)};
}

struct header {
  std::string name;
  char kind = '0';
  std::uint64_t size = 0;
};

std::string text_field(const char* p, std::size_t n) {
  return std::string(p, strnlen(p, n));
}

bool number_field(const char* p, std::size_t n, std::uint64_t& out) {
  out = 0;
  if (static_cast<unsigned char>(p[0]) & 0x80) {
    for (std::size_t i = 0; i < n; ++i) {
      if (out >> 55) return false;
      out = out << 8 | static_cast<unsigned char>(i == 0 ? p[i] & 0x7f : p[i]);
    }
    return true;
  }
  for (auto digits = trim_set(std::string_view(p, n), " \0"sv); !digits.empty();
       digits.remove_prefix(1)) {
    if (digits[0] < '0' || digits[0] > '7' || out >> 60) return false;
    out = out * 8 + static_cast<unsigned>(digits[0] - '0');
  }
  return true;
}

bool checksum_ok(const char* p) {
  std::uint64_t want = 0;
  if (!number_field(p + 148, 8, want)) return false;
  std::uint64_t unsigned_sum = 0;
  std::int64_t signed_sum = 0;
  for (std::size_t i = 0; i < block; ++i) {
    char c = i >= 148 && i < 156 ? ' ' : p[i];
    unsigned_sum += static_cast<unsigned char>(c);
    signed_sum += static_cast<signed char>(c);
  }
  return unsigned_sum == want || signed_sum == static_cast<std::int64_t>(want);
}

/// Reads tar entries; extended names (pax and GNU) are folded into the entry they belong to.
class tar_reader {
public:
  explicit tar_reader(std::string_view in) : in_(in) {}

  enum class step : std::uint8_t { entry, end, damaged };
  step next(header& h) {
    std::string long_name;
    std::uint64_t long_size = 0;
    bool has_size = false;
    for (;;) {
      char b[block];
      std::size_t got = 0;
      if (!in_.read(b, block, got)) return step::damaged;
      if (got == 0) return step::end;
      if (got < block) {
        in_.truncated = true;
        return step::damaged;
      }
      if (std::all_of(b, b + block, [](char c) { return c == 0; })) return step::end;
      if (!checksum_ok(b)) return step::damaged;
      h = {};
      h.kind = b[156] == 0 ? '0' : b[156];
      if (!number_field(b + 124, 12, h.size)) return step::damaged;
      h.name = text_field(b, 100);
      if (std::memcmp(b + 257, "ustar", 5) == 0 && b[262] == 0)
        if (auto prefix = text_field(b + 345, 155); !prefix.empty()) h.name = prefix + "/" + h.name;
      if (h.kind == 'x' || h.kind == 'L' || h.kind == 'K') {
        if (h.size > (1u << 20)) return step::damaged;
        std::string body;
        if (!read_body(h.size, body)) return step::damaged;
        if (h.kind == 'L') long_name = text_field(body.data(), body.size());
        if (h.kind == 'x' && !pax(body, long_name, long_size, has_size)) return step::damaged;
        continue;
      }
      if (!long_name.empty()) h.name = long_name;
      if (has_size) h.size = long_size;
      return step::entry;
    }
  }
  bool read_body(std::uint64_t size, std::string& out) {
    auto padded = (size + block - 1) / block * block;
    out.resize(static_cast<std::size_t>(padded));
    std::size_t got = 0;
    if (!in_.read(out.data(), out.size(), got) || got < size) return false;
    out.resize(static_cast<std::size_t>(size));
    return true;
  }
  /// Why the last step or body failed.
  problem why() const {
    if (in_.too_big) return larger_than_allowed();
    return problem{in_.truncated ? "unexpected EOF" : "archive/tar: invalid tar header"};
  }

private:
  static bool pax(std::string_view body, std::string& name, std::uint64_t& size, bool& has_size) {
    while (!body.empty()) {
      auto space = body.find(' ');
      if (space == body.npos) return false;
      auto n = parse_uint(body.substr(0, space), 10);
      if (n.error != int_error::none || n.number <= space + 1 || n.number > body.size())
        return false;
      auto record = body.substr(space + 1, n.number - space - 2);
      body.remove_prefix(n.number);
      auto equals = record.find('=');
      if (equals == record.npos) return false;
      auto key = record.substr(0, equals);
      if (key == "path") name = record.substr(equals + 1);
      if (key == "size") {
        auto s = parse_uint(record.substr(equals + 1), 10);
        if (s.error != int_error::none) return false;
        size = s.number;
        has_size = true;
      }
    }
    return true;
  }
  gunzip in_;
};

}  // namespace

std::string without_bom(std::string data) {
  if (data.starts_with("\xef\xbb\xbf")) data.erase(0, 3);
  return data;
}

outcome<std::vector<chart_file>> read_archive(std::string_view bytes) {
  if (bytes.size() < 10) return problem{bytes.empty() ? "EOF" : "unexpected EOF"};
  if (!bytes.starts_with("\x1f\x8b\x08")) return problem{"gzip: invalid header"};
  tar_reader tar(bytes);
  std::vector<chart_file> out;
  std::uint64_t remaining = chart_bytes_limit;
  header h;
  for (;;) {
    auto step = tar.next(h);
    if (step == tar_reader::step::end) break;
    if (step == tar_reader::step::damaged) return tar.why();
    bool directory = h.kind == '5' || (h.kind == '0' && h.name.ends_with('/'));
    if (directory || h.kind == 'g') {
      std::string skipped;
      if (h.size > (1u << 20) || !tar.read_body(h.size, skipped)) return problem{"unexpected EOF"};
      continue;
    }
    char delimiter = h.name.find('\\') != h.name.npos ? '\\' : '/';
    auto first = h.name.find(delimiter);
    auto top = h.name.substr(0, first);
    auto name = first == h.name.npos ? "" : h.name.substr(first + 1);
    std::replace(name.begin(), name.end(), delimiter, '/');
    if (name.starts_with('/')) return problem{"chart illegally contains absolute paths"};
    name = clean_path(name);
    if (name == ".")
      return problem{"chart illegally contains content outside the base directory: " +
                     quote(h.name)};
    if (name.starts_with("..")) return problem{"chart illegally references parent directory"};
    bool drive = name.size() > 1 &&
                 ((name[0] >= 'a' && name[0] <= 'z') || (name[0] >= 'A' && name[0] <= 'Z')) &&
                 name.substr(1).starts_with(":/");
    if (drive) return problem{"chart contains illegally named files"};
    if (top == "Chart.yaml") return problem{"chart yaml not in base directory"};
    if (h.size > remaining) return larger_than_allowed();
    if (h.size > chart_file_bytes_limit)
      return problem{"decompressed chart file " + quote(h.name) +
                     " is larger than the maximum file size " +
                     std::to_string(chart_file_bytes_limit)};
    if (out.size() >= chart_files_limit)
      return problem{"chart archive holds more than " + std::to_string(chart_files_limit) +
                     " files"};
    // Links and devices have no content; they become empty files, as they do in Helm.
    std::string data;
    const bool has_body = std::string_view("12346").find(h.kind) == std::string_view::npos;
    if (has_body && !tar.read_body(h.size, data)) return problem{"unexpected EOF"};
    remaining -= data.size();
    out.push_back({name, without_bom(std::move(data))});
  }
  if (out.empty()) return problem{"no files in chart archive"};
  return out;
}

}  // namespace helm
