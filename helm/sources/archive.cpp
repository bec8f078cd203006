#include "helm/sources/archive.hpp"

#include "formats/gzip.hpp"
#include "formats/json/json.hpp"
#include "formats/plain/path.hpp"
#include "formats/tar.hpp"
#include "formats/yaml/writer.hpp"
#include "helm/go.hpp"
#include "helm/sources/lock.hpp"
#include "helm/sources/record.hpp"

namespace helm::sources {
namespace {

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
  for (const auto& f : c.values_files) out.file(base + f.name, f.data);
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

}  // namespace

std::string archive_name(const metadata& m) {
  return m.name + "-" + m.version + ".tgz";
}

outcome<std::string> metadata_text(const metadata& m) {
  return write_go_yaml(metadata_value(m));
}

outcome<std::string> pack_chart(const chart& c, std::int64_t modified) {
  metadata checked = c.meta;
  if (auto valid = validate_metadata(checked); !valid)
    return problem{"chart validation: " + valid.error().text};
  tar_writer out(modified);
  if (auto done = put_chart(out, c, ""); !done) return done.error();
  return gzip(std::move(out).finish(), {.comment = "Helm"});
}

}  // namespace helm::sources
