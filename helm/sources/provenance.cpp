#include "helm/sources/provenance.hpp"

#include "formats/digest.hpp"
#include "formats/yaml/reader.hpp"
#include "formats/yaml/writer.hpp"
#include "helm/go.hpp"
#include "helm/sources/record.hpp"

namespace helm::sources {
namespace {

constexpr std::string_view begin_message = "-----BEGIN PGP SIGNED MESSAGE-----";
constexpr std::string_view begin_signature = "-----BEGIN PGP SIGNATURE-----";
constexpr std::string_view end_signature = "-----END PGP SIGNATURE-----";

/// Where a line that holds nothing but `mark` begins at or after `from`.
std::size_t find_line(std::string_view text, std::string_view mark, std::size_t from) {
  for (auto at = text.find(mark, from); at != text.npos; at = text.find(mark, at + 1)) {
    if (at > 0 && text[at - 1] != '\n') continue;
    const auto end = std::min(text.find('\n', at), text.size());
    if (text.substr(at + mark.size(), end - at - mark.size()).find_first_not_of(" \t\r") ==
        text.npos)
      return at;
  }
  return text.npos;
}

}  // namespace

outcome<std::string_view> find_signed_block(std::string_view text) {
  const problem missing{"signature block not found"};
  if (text.size() > provenance_bytes_limit)
    return problem{"provenance file is larger than " + std::to_string(provenance_bytes_limit) +
                   " bytes"};
  const auto start = find_line(text, begin_message, 0);
  if (start == text.npos) return missing;
  const auto signature = find_line(text, begin_signature, start);
  if (signature == text.npos) return missing;
  const auto end = find_line(text, end_signature, signature);
  if (end == text.npos) return missing;
  return text.substr(start, end + end_signature.size() - start);
}

outcome<checksums> read_signed_text(std::string_view text) {
  constexpr std::string_view separator = "\n...\n";
  const auto at = text.find(separator);
  if (at == text.npos) return problem{"message block must have at least two parts"};
  metadata m;
  if (auto read = read_metadata(text.substr(0, at), m); !read) return read.error();
  auto rest = text.substr(at + separator.size());
  rest = rest.substr(0, rest.find(separator));
  auto v = read_go_yaml_map(rest, yaml_numbers::typed);
  if (!v) return v.error();
  checksums out;
  const auto* files = v->find("files");
  if (!files || files->is_nil()) return out;
  const auto mismatch = [](const value& wrong) {
    return problem{"error unmarshaling JSON: while decoding JSON: json: cannot unmarshal " +
                   std::string(json_kind(wrong)) +
                   " into Go struct field SumCollection.files of type map[string]string"};
  };
  if (!files->is_map()) return mismatch(*files);
  for (const auto& [name, sum] : files->entries()) {
    const value s = text_of_scalar(sum);
    if (!s.is_string()) return mismatch(sum);
    out[name] = s.text();
  }
  return out;
}

outcome<std::string> check_sum(const checksums& sums, const std::string& name,
                               const std::string& digest) {
  const auto found = sums.find(name);
  if (found == sums.end())
    return problem{"provenance does not contain a SHA for a file named " + quote(name)};
  if (found->second != digest)
    return problem{"sha256 sum does not match for " + name + ": " + quote(found->second) +
                   " != " + quote(digest)};
  return digest;
}

outcome<std::string> write_signed_text(const metadata& m, const std::string& name,
                                       std::string_view bytes) {
  auto chart = write_go_yaml(metadata_value(m));
  if (!chart) return chart.error();
  auto sums = write_go_yaml(value::map_type{{"files", value::map_type{{name, digest_of(bytes)}}}});
  if (!sums) return sums.error();
  return *chart + "\n...\n" + *sums;
}

}  // namespace helm::sources
