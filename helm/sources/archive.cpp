#include "helm/sources/archive.hpp"

#include "formats/go/path.hpp"
#include "formats/json/json.hpp"
#include "formats/yaml/writer.hpp"
#include "helm/go.hpp"
#include "helm/sources/lock.hpp"
#include "helm/sources/record.hpp"

#include <zlib.h>

#include <array>
#include <cstring>
#include <new>

namespace helm::sources {
namespace {

constexpr std::size_t block = 512;
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

class tar_writer {
public:
  explicit tar_writer(std::int64_t modified) : modified_(modified) {}

  void file(const std::string& name, std::string_view data) {
    if (name.size() > short_name_limit)
      put_entry(out_, "PaxHeaders.0/" + base_name(name), pax_record(name), modified_, 'x');
    put_entry(out_, name, data, modified_, '0');
  }
  std::string finish() && {
    out_.append(2 * block, '\0');
    return std::move(out_);
  }

private:
  std::int64_t modified_;
  std::string out_;
};

outcome<bool> put_chart(tar_writer& out, const chart& c, const std::string& prefix) {
  if (base_name(c.name()) != c.name())
    return problem{"chart.metadata.name " + quote(c.name()) + " is invalid"};
  const std::string base = prefix + c.name() + "/";
  metadata m = c.meta;
  // They stay in requirements.yaml, which is among the files.
  if (m.api_version == "v1") m.dependencies.clear();
  auto text = metadata_text(m);
  if (!text) return text.error();
  out.file(base + "Chart.yaml", *text);
  if (m.api_version == "v2" && c.lock) out.file(base + "Chart.lock", write_lock(*c.lock));
  for (const auto& f : c.raw)
    if (f.name == "values.yaml") out.file(base + f.name, f.data);
  if (c.schema) {
    if (!read_json(*c.schema)) return problem{"Invalid JSON in values.schema.json"};
    out.file(base + "values.schema.json", *c.schema);
  }
  for (const auto* list : {&c.templates, &c.files})
    for (const auto& f : *list) out.file(base + f.name, f.data);
  for (const auto& d : c.dependencies)
    if (auto done = put_chart(out, *d, base + "charts/"); !done) return done;
  return true;
}

std::string gzip(std::string_view data) {
  z_stream s{};
  if (deflateInit2(&s, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::string comment("Helm");
  gz_header header{};
  header.comment = reinterpret_cast<Bytef*>(comment.data());
  header.os = 255;
  deflateSetHeader(&s, &header);
  std::string out(deflateBound(&s, data.size()) + 256, '\0');
  s.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  s.avail_in = static_cast<uInt>(data.size());
  s.next_out = reinterpret_cast<Bytef*>(out.data());
  s.avail_out = static_cast<uInt>(out.size());
  deflate(&s, Z_FINISH);
  out.resize(s.total_out);
  deflateEnd(&s);
  return out;
}

}  // namespace

std::string archive_name(const metadata& m) {
  return m.name + "-" + m.version + ".tgz";
}

outcome<std::string> metadata_text(const metadata& m) {
  return write_yaml(metadata_value(m));
}

outcome<std::string> pack_chart(const chart& c, std::int64_t modified) {
  metadata checked = c.meta;
  if (auto valid = validate_metadata(checked); !valid)
    return problem{"chart validation: " + valid.error().text};
  tar_writer out(modified);
  if (auto done = put_chart(out, c, ""); !done) return done.error();
  return gzip(std::move(out).finish());
}

}  // namespace helm::sources
