#include "helm/charts/chart_archive.hpp"

#include "formats/plain/deep_stack.hpp"
#include "formats/plain/path.hpp"
#include "formats/tar.hpp"
#include "helm/go.hpp"

#include <algorithm>

namespace helm {
namespace {

/// All that may come out of the compression: the files, and for each its header, its padding and
/// its extended name.
std::uint64_t stream_bytes(const chart_budget& left) {
  return left.bytes + left.files * 4 * tar_block_bytes;
}

problem larger_than_allowed(const chart_budget& left) {
  return problem{"decompressed chart is larger than the maximum file size " +
                 std::to_string(left.all.unpacked_bytes)};
}

/// Why the archive cannot be read, as Go says it.
problem problem_of(gzip_trouble t, const chart_budget& left) {
  if (t == gzip_trouble::too_big) return larger_than_allowed(left);
  return problem{t == gzip_trouble::cut ? "unexpected EOF" : "archive/tar: invalid tar header"};
}

}  // namespace

std::string without_bom(std::string data) {
  if (data.starts_with("\xef\xbb\xbf")) data.erase(0, 3);
  return data;
}

outcome<std::vector<chart_file>> read_archive(std::string_view bytes) {
  chart_budget left;
  return read_archive(bytes, left);
}

outcome<std::vector<chart_file>> read_archive(std::string_view bytes, chart_budget& left) {
  if (bytes.size() < 10) return problem{bytes.empty() ? "EOF" : "unexpected EOF"};
  if (!bytes.starts_with("\x1f\x8b\x08")) return problem{"gzip: invalid header"};
  if (left.nesting <= 0)
    return problem{"chart archives are nested more than " + std::to_string(left.all.nesting) +
                   " deep"};
  tar_reader tar(bytes, stream_bytes(left));
  std::vector<chart_file> out;
  tar_entry h;
  for (;;) {
    auto step = tar.next(h);
    if (step == tar_reader::step::end) break;
    if (step == tar_reader::step::failed) return problem_of(tar.trouble(), left);
    bool directory = h.kind == '5' || (h.kind == '0' && h.name.ends_with('/'));
    if (directory || h.kind == 'g') {
      std::string skipped;
      if (h.size_bytes > (1u << 20) || !tar.read_body(h.size_bytes, skipped))
        return problem{"unexpected EOF"};
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
    if (h.size_bytes > left.bytes) return larger_than_allowed(left);
    if (h.size_bytes > left.all.file_bytes)
      return problem{"decompressed chart file " + quote(h.name) +
                     " is larger than the maximum file size " +
                     std::to_string(left.all.file_bytes)};
    if (left.files-- == 0) {
      left.files = 0;
      return problem{"chart archive holds more than " + std::to_string(left.all.files) + " files"};
    }
    // Links and devices have no content; they become empty files, as they do in Helm.
    std::string data;
    const bool has_body = std::string_view("12346").find(h.kind) == std::string_view::npos;
    if (has_body && !tar.read_body(h.size_bytes, data)) return problem{"unexpected EOF"};
    left.bytes -= data.size();
    count_steps(1 + data.size() / 256);
    hold_bytes(data.size() + name.size() + bytes_per_file);
    out.push_back({name, without_bom(std::move(data))});
  }
  if (out.empty()) return problem{"no files in chart archive"};
  return out;
}

}  // namespace helm
