#include "tests/helm/questions.hpp"

#include "formats/go/format.hpp"
#include "formats/json/json.hpp"
#include "formats/semver.hpp"
#include "formats/yaml/reader.hpp"
#include "helm/go.hpp"
#include "helm/render/manifests.hpp"
#include "helm/render/render.hpp"
#include "helm/schema/schema.hpp"
#include "helm/values/set_values.hpp"

namespace helm::tests {
namespace {

std::string text(const value& q, const char* key) {
  const auto* v = q.find(key);
  return v ? v->text() : "";
}

/// The chart that main.go builds, with the question's templates.
chart_ptr sample(const value& files) {
  auto c = std::make_shared<chart>();
  c->meta.api_version = "v2";
  c->meta.name = "c";
  c->meta.version = "1.2.3";
  c->meta.app_version = "4.5";
  c->meta.kube_version = ">=1.20.0-0";
  c->meta.keywords = {"k1", "k2"};
  auto m = std::make_shared<maintainer>();
  m->name = "m";
  m->email = "m@example.com";
  c->meta.maintainers = {m};
  c->meta.annotations["a"] = "b";
  c->meta.has_annotations = true;
  c->files = {{"conf/a.txt", "one\ntwo\n"}, {"conf/b.txt", "b"}, {"README.md", "# r"}};
  for (const auto& [name, data] : files.entries())
    c->templates.push_back({"templates/" + name, data.text()});
  return c;
}

answer render(const value& q, const render_runtime& runtime) {
  auto values = read_go_yaml_map(text(q, "values"));
  if (!values) return {"", values.error().text};
  auto parsed = parsed_chart::parse(sample(*q.find("files")));
  if (!parsed) return {"", parsed.error().text};
  release_options release;
  release.name = "r";
  release.name_space = "ns";
  render_options options;
  options.runtime = runtime;
  if (const auto* strict = q.find("strict"); strict && strict->truth())
    options.missing = missing_keys::error;
  auto files = parsed->render(*values, release, default_capabilities(), options);
  if (!files) return {"", files.error().text};
  std::string out;
  for (const auto& [name, content] : *files) {
    if (files->size() > 1) out += (out.empty() ? "== " : "\n== ") + name + "\n";
    out += content;
  }
  return {out, ""};
}

answer set(const value& q) {
  value base(value::map_type{});
  if (!text(q, "values").empty()) {
    auto v = read_go_yaml_map(text(q, "values"));
    if (!v) return {"", v.error().text};
    base = *v;
  }
  const auto& lines = q.find("lines")->items();
  for (std::size_t i = 0; i + 1 < lines.size(); i += 2) {
    const auto& flag = lines[i].text();
    auto kind = flag == "--set"          ? set_kind::typed
                : flag == "--set-string" ? set_kind::text
                : flag == "--set-json"   ? set_kind::json
                                         : set_kind::literal;
    auto done = apply_set(base, lines[i + 1].text(), kind);
    if (!done) return {"", done.error().text};
  }
  return {sprintf("%#v", std::span(&base, 1)), ""};
}

std::string listed(const std::vector<std::string>& names) {
  std::string out = "[";
  for (std::size_t i = 0; i < names.size(); ++i) out += (i > 0 ? " " : "") + names[i];
  return out + "]";
}

answer sort(const value& q) {
  std::map<std::string, std::string> files;
  for (const auto& [name, data] : q.find("files")->entries()) files[name] = data.text();
  auto sorted = sort_manifests(files, kind_order::install, {});
  if (!sorted) return {"", sorted.error().text};
  std::string out;
  for (const auto& m : sorted->manifests)
    out += "---\n# Source: " + m.path + "\n" + m.content + "\n";
  for (const auto& h : sorted->hooks)
    out += "hook " + h.name + " " + h.kind + " " + h.path + " " + listed(h.events) + " " +
           std::to_string(h.weight) + " " + listed(h.delete_policies) + "\n" + h.content + "\n";
  return {out, ""};
}

answer check(const value& q) {
  auto values = read_go_yaml_map(text(q, "values"));
  if (!values) return {"", values.error().text};
  auto schema = json_schema::compile(text(q, "schema"));
  return {"", schema ? schema->check(*values) : schema.error().text};
}

answer compare(const value& q) {
  auto c = version_constraint::parse(text(q, "constraint"));
  if (!c) return {"", c.error().text};
  auto v = parse_lenient_version(text(q, "version"));
  if (!v) return {"", v.error().text};
  return {v->text() + (c->check(*v) ? " true" : " false"), ""};
}

}  // namespace

void count_words(std::string_view text, std::map<std::string, int>& count) {
  std::string word;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    char c = i < text.size() ? text[i] : ' ';
    bool part =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (part) {
      word += c;
    } else if (!word.empty()) {
      ++count[word];
      word.clear();
    }
  }
}

render_runtime recorded_day() {
  render_runtime runtime;
  runtime.now = [] { return std::chrono::system_clock::from_time_t(1795262400); };
  return runtime;
}

answer ask(const value& q, const render_runtime& runtime) {
  auto kind = text(q, "kind");
  if (kind == "template") return render(q, runtime);
  if (kind == "set") return set(q);
  if (kind == "sort") return sort(q);
  if (kind == "schema") return check(q);
  if (kind == "constraint") return compare(q);
  return {"", "unknown kind " + kind};
}

std::string answer_line(const std::string& line, const render_runtime& runtime) {
  auto q = read_json(line);
  auto a = q ? ask(*q, runtime) : answer{"", "bad question: " + q.error().text};
  return *write_json(value(value::map_type{{"out", a.out}, {"err", a.err}}),
                     {.escapes = json_escapes::none});
}

}  // namespace helm::tests
