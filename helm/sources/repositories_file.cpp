#include "helm/sources/repositories_file.hpp"

#include "formats/go/time.hpp"
#include "formats/yaml/reader.hpp"
#include "formats/yaml/writer.hpp"
#include "helm/go.hpp"

#include <algorithm>

namespace helm::sources {
namespace {

problem mismatch(const value& v, const char* name, const char* wanted) {
  return {"error unmarshaling JSON: while decoding JSON: json: cannot unmarshal " +
          std::string(json_kind(v)) + " into Go struct field Entry.repositories." + name +
          " of type " + wanted};
}

class entry_decoder {
public:
  explicit entry_decoder(const value& v) : v_(v) {}
  problem failure;

  std::string text(const char* name) {
    const auto* v = find(name);
    if (!v) return {};
    const value s = text_of_scalar(*v);
    if (s.is_string()) return s.text();
    if (failure.text.empty()) failure = mismatch(*v, name, "string");
    return {};
  }
  bool flag(const char* name) {
    const auto* v = find(name);
    if (!v) return false;
    if (v->kind() == type::boolean) return v->boolean();
    if (failure.text.empty()) failure = mismatch(*v, name, "bool");
    return false;
  }

private:
  const value* find(const char* name) const {
    const auto* v = v_.find(name);
    return v && !v->is_nil() ? v : nullptr;
  }
  const value& v_;
};

}  // namespace

const repository_entry* repositories_file::find(std::string_view name) const {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const repository_entry& e) { return e.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

void repositories_file::put(repository_entry entry) {
  for (auto& e : entries)
    if (e.name == entry.name) {
      e = std::move(entry);
      return;
    }
  entries.push_back(std::move(entry));
}

bool repositories_file::remove(std::string_view name) {
  return std::erase_if(entries, [&](const repository_entry& e) { return e.name == name; }) > 0;
}

outcome<repositories_file> read_repositories(std::string_view text) {
  if (text.size() > repositories_bytes_limit)
    return problem{"repositories file is larger than " + std::to_string(repositories_bytes_limit) +
                   " bytes"};
  // A message of the reader may quote a value; with passwords around only its position is told.
  auto v = read_go_yaml(text, yaml_numbers::typed);
  if (!v) {
    const auto& why = v.error().text;
    return problem{
        "error converting YAML to JSON: " +
        (why.find_first_of("`'\"{") == why.npos ? why : "yaml: a value that cannot be decoded")};
  }
  repositories_file out;
  if (v->is_nil()) return out;
  if (!v->is_map())
    return problem{"error unmarshaling JSON: while decoding JSON: json: cannot unmarshal " +
                   std::string(json_kind(*v)) + " into Go value of type repo.File"};
  entry_decoder top(*v);
  out.api_version = top.text("apiVersion");
  out.generated = top.text("generated");
  if (!top.failure.text.empty()) return top.failure;
  const auto* list = v->find("repositories");
  if (!list || list->is_nil()) return out;
  if (!list->is_list()) return mismatch(*list, "repositories", "[]*repo.Entry");
  for (const auto& item : list->items()) {
    if (item.is_nil()) continue;
    if (!item.is_map()) return mismatch(item, "repositories", "repo.Entry");
    entry_decoder d(item);
    repository_entry e;
    e.name = d.text("name");
    e.url = d.text("url");
    e.username = d.text("username");
    e.password = reactor::secret(d.text("password"));
    e.certificate_file = d.text("certFile");
    e.key_file = d.text("keyFile");
    e.ca_file = d.text("caFile");
    e.skip_tls_verify = d.flag("insecure_skip_tls_verify");
    e.pass_credentials_all = d.flag("pass_credentials_all");
    if (!d.failure.text.empty()) return d.failure;
    out.entries.push_back(std::move(e));
  }
  return out;
}

outcome<std::string> write_repositories(const repositories_file& file) {
  value::list_type list;
  for (const auto& e : file.entries)
    list.push_back(value::map_type{{"name", e.name},
                                   {"url", e.url},
                                   {"username", e.username},
                                   {"password", e.password.reveal()},
                                   {"certFile", e.certificate_file},
                                   {"keyFile", e.key_file},
                                   {"caFile", e.ca_file},
                                   {"insecure_skip_tls_verify", e.skip_tls_verify},
                                   {"pass_credentials_all", e.pass_credentials_all}});
  return write_go_yaml(value::map_type{
      {"apiVersion", file.api_version},
      {"generated", file.generated.empty() ? std::string(zero_time_text) : file.generated},
      {"repositories", value(std::move(list))}});
}

}  // namespace helm::sources
