#include "formats/tar.hpp"

#include "formats/go/literal.hpp"
#include "formats/plain/path.hpp"
#include "formats/plain/text.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace formats {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t block = tar_block_bytes;
constexpr std::uint64_t extended_bytes_limit = 1u << 20;

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

// Names longer than this need a record of their own before the entry (POSIX pax).
constexpr std::size_t short_name_limit = 100;

void put_octal(char* field, std::size_t width, std::uint64_t number) {
  for (std::size_t i = width - 1; i-- > 0; number >>= 3)
    field[i] = static_cast<char>('0' + (number & 7));
}

void pad(std::string& out) {
  out.append((block - out.size() % block) % block, '\0');
}

void put_entry(std::string& out, std::string_view name, std::string_view data,
               std::int64_t modified, char kind) {
  std::array<char, block> header{};
  std::memcpy(header.data(), name.data(), std::min(name.size(), short_name_limit));
  put_octal(&header[100], 8, 0644);
  put_octal(&header[108], 8, 0);
  put_octal(&header[116], 8, 0);
  put_octal(&header[124], 12, data.size());
  put_octal(&header[136], 12, static_cast<std::uint64_t>(modified));
  std::memset(&header[148], ' ', 8);
  header[156] = kind;
  std::memcpy(&header[257], "ustar\00000", 8);
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  put_octal(&header[148], 7, sum);
  out.append(header.data(), header.size());
  out.append(data);
  pad(out);
}

/// "27 path=charts/x/Chart.yaml\n": its own length is part of what it counts.
std::string pax_record(std::string_view name) {
  const std::string rest = " path=" + std::string(name) + "\n";
  std::size_t length = rest.size() + 1;
  while (std::to_string(length).size() + rest.size() != length)
    length = std::to_string(length).size() + rest.size();
  return std::to_string(length) + rest;
}

}  // namespace

struct tar_reader::extended {
  std::string name;
  std::uint64_t size_bytes = 0;
  bool has_size = false;
};

bool tar_reader::read_pax(std::string_view body, extended& to) {
  while (!body.empty()) {
    auto space = body.find(' ');
    if (space == body.npos) return false;
    auto n = parse_uint(body.substr(0, space), 10);
    if (n.error != int_error::none || n.number <= space + 1 || n.number > body.size()) return false;
    auto record = body.substr(space + 1, n.number - space - 2);
    body.remove_prefix(n.number);
    auto equals = record.find('=');
    if (equals == record.npos) return false;
    auto key = record.substr(0, equals);
    if (key == "path") to.name = record.substr(equals + 1);
    if (key == "size") {
      auto s = parse_uint(record.substr(equals + 1), 10);
      if (s.error != int_error::none) return false;
      to.size_bytes = s.number;
      to.has_size = true;
    }
  }
  return true;
}

tar_reader::step tar_reader::failed(gzip_trouble otherwise) {
  trouble_ = in_.trouble() == gzip_trouble::none ? otherwise : in_.trouble();
  return step::failed;
}

tar_reader::step tar_reader::next(tar_entry& to) {
  extended told;
  for (;;) {
    char b[block];
    const auto got = in_.read(b, block);
    if (!got) return failed(gzip_trouble::damaged);
    if (*got == 0) return step::end;
    if (*got < block) return failed(gzip_trouble::cut);
    if (std::all_of(b, b + block, [](char c) { return c == 0; })) return step::end;
    if (!checksum_ok(b)) return failed(gzip_trouble::damaged);
    to = {};
    to.kind = b[156] == 0 ? '0' : b[156];
    if (!number_field(b + 124, 12, to.size_bytes)) return failed(gzip_trouble::damaged);
    to.name = text_field(b, 100);
    if (std::memcmp(b + 257, "ustar", 5) == 0 && b[262] == 0)
      if (auto prefix = text_field(b + 345, 155); !prefix.empty()) to.name = prefix + "/" + to.name;
    if (to.kind == 'x' || to.kind == 'L' || to.kind == 'K') {
      std::string body;
      if (to.size_bytes > extended_bytes_limit || !read_body(to.size_bytes, body))
        return failed(gzip_trouble::damaged);
      if (to.kind == 'L') told.name = text_field(body.data(), body.size());
      if (to.kind == 'x' && !read_pax(body, told)) return failed(gzip_trouble::damaged);
      continue;
    }
    if (!told.name.empty()) to.name = told.name;
    if (told.has_size) to.size_bytes = told.size_bytes;
    return step::entry;
  }
}

bool tar_reader::read_body(std::uint64_t size_bytes, std::string& out) {
  const auto padded = (size_bytes + block - 1) / block * block;
  out.resize(static_cast<std::size_t>(padded));
  const auto got = in_.read(out.data(), out.size());
  if (!got || *got < size_bytes) return false;
  out.resize(static_cast<std::size_t>(size_bytes));
  return true;
}

void tar_writer::file(const std::string& name, std::string_view data) {
  if (name.size() > short_name_limit)
    put_entry(out_, "PaxHeaders.0/" + base_name(name), pax_record(name), modified_, 'x');
  put_entry(out_, name, data, modified_, '0');
}

std::string tar_writer::finish() && {
  out_.append(2 * block, '\0');
  return std::move(out_);
}

}  // namespace formats
