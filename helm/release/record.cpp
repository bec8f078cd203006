#include "helm/release/record.hpp"

#include "formats/base64.hpp"
#include "formats/json/json.hpp"
#include "helm/go.hpp"
#include "helm/render/render_context.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

namespace helm::release {
namespace {

constexpr const char* nanosecond_layout = "2006-01-02T15:04:05.999999999Z07:00";
constexpr const char* second_layout = "2006-01-02T15:04:05Z07:00";

constexpr std::array<std::string_view, 9> words{
    "unknown",      "deployed",        "uninstalled",     "superseded",      "failed",
    "uninstalling", "pending-install", "pending-upgrade", "pending-rollback"};

/// Thrown below write_record and read_record only; their one catch turns it into a problem.
struct codec_failure {
  std::string text;
};

std::string json_text(const value& v) {
  auto text = write_json(v);
  if (!text) throw codec_failure{text.error().text};
  return std::move(*text);
}
std::string json_text(const std::string& s) {
  return json_text(value(s));
}

/// A JSON object that is written member by member.
class object_text {
public:
  void raw(std::string_view name, std::string_view text) {
    out_ += out_.size() == 1 ? "\"" : ",\"";
    out_ += name;
    out_ += "\":";
    out_ += text;
  }
  void text(std::string_view name, const std::string& s) { raw(name, json_text(s)); }
  /// Left out when empty, as Go's omitempty does.
  void text_unless_empty(std::string_view name, const std::string& s) {
    if (!s.empty()) text(name, s);
  }
  void number_unless_zero(std::string_view name, int n) {
    if (n != 0) raw(name, std::to_string(n));
  }
  void texts_unless_empty(std::string_view name, const std::vector<std::string>& all) {
    if (!all.empty()) raw(name, json_text(value::strings(all)));
  }
  std::string close() { return take() + "}"; }
  /// What was written so far; it goes on behind that.
  std::string take() { return std::exchange(out_, {}); }

private:
  std::string out_ = "{";
};

std::string list_text(const std::vector<std::string>& items) {
  std::string out = "[";
  for (const auto& i : items) {
    if (out.size() > 1) out += ',';
    out += i;
  }
  return out + "]";
}

std::string files_text(const auto& files) {
  if (files.empty()) return "null";
  std::vector<std::string> items;
  for (const auto& f : files) {
    object_text o;
    o.text("name", f.name);
    o.raw("data", '"' + encode_base64(f.data) + '"');
    items.push_back(o.close());
  }
  return list_text(items);
}

/// Go reads the time of a lock file and writes it again, which drops zeros at its end.
std::string lock_time(const std::string& text) {
  auto t = parse_time(second_layout, text);
  return t ? format_time(*t, nanosecond_layout) : std::string(zero_time_text);
}

std::string lock_text(const chart_lock& l) {
  object_text o;
  o.text("generated", lock_time(l.generated));
  o.text("digest", l.digest);
  std::vector<std::string> items;
  for (const auto& d : l.dependencies) {
    object_text one;
    one.text("name", d.name);
    one.text_unless_empty("version", d.version);
    one.text("repository", d.repository);
    items.push_back(one.close());
  }
  o.raw("dependencies", items.empty() ? "null" : list_text(items));
  return o.close();
}

std::string chart_text(const chart& c) {
  if (c.recorded) {
    if (c.recorded->empty()) throw codec_failure{"it was read without its chart"};
    return *c.recorded;
  }
  object_text o;
  o.raw("metadata", json_text(*chart_value(c, true).object()->field("Metadata")));
  o.raw("lock", c.lock ? lock_text(*c.lock) : "null");
  o.raw("templates", files_text(c.templates));
  o.raw("values", json_text(c.values));
  o.raw("schema", c.schema ? '"' + encode_base64(*c.schema) + '"' : "null");
  o.raw("files", files_text(c.files));
  return o.close();
}

std::string hook_text(const recorded_hook& h) {
  object_text run;
  run.text("started_at", json_time(h.last_run.started));
  run.text("completed_at", json_time(h.last_run.completed));
  run.text("phase", h.last_run.phase);
  object_text o;
  o.text_unless_empty("name", h.what.name);
  o.text_unless_empty("kind", h.what.kind);
  o.text_unless_empty("path", h.what.path);
  o.text_unless_empty("manifest", h.what.content);
  o.texts_unless_empty("events", h.what.events);
  o.raw("last_run", run.close());
  o.number_unless_zero("weight", h.what.weight);
  o.texts_unless_empty("delete_policies", h.what.delete_policies);
  o.texts_unless_empty("output_log_policies", h.what.output_log_policies);
  return o.close();
}

// Reading.

const value* member(const value& v, std::string_view name) {
  const auto* found = v.is_map() ? v.find(name) : nullptr;
  return found && !found->is_nil() ? found : nullptr;
}

std::string text_in(const value& v, std::string_view name) {
  const auto* m = member(v, name);
  if (!m) return {};
  if (!m->is_string())
    throw codec_failure{"member " + std::string(name) + " is not a text but " +
                        std::string(m->kind_name())};
  return m->text();
}

int number_in(const value& v, std::string_view name) {
  const auto* m = member(v, name);
  if (!m) return 0;
  constexpr double least = std::numeric_limits<int>::min(), most = std::numeric_limits<int>::max();
  if (m->kind() != type::float64 || !(m->real() >= least && m->real() <= most) ||
      std::trunc(m->real()) != m->real())
    throw codec_failure{"member " + std::string(name) + " is not a whole number"};
  return static_cast<int>(m->real());
}

go_time time_in(const value& v, std::string_view name) {
  const auto text = text_in(v, name);
  if (text.empty()) return {};
  auto t = parse_time(second_layout, text);
  if (!t) throw codec_failure{t.error().text};
  return *t;
}

std::vector<std::string> texts_in(const value& v, std::string_view name) {
  std::vector<std::string> out;
  if (const auto* m = member(v, name); m && m->is_list())
    for (const auto& i : m->items())
      if (i.is_string()) out.push_back(i.text());
  return out;
}

std::vector<chart_file> files_in(const value& v, std::string_view name) {
  std::vector<chart_file> out;
  const auto* m = member(v, name);
  if (!m || !m->is_list()) return out;
  for (const auto& i : m->items()) {
    auto data = base64_decode(text_in(i, "data"));
    if (!data) throw codec_failure{data.error().text};
    out.push_back({text_in(i, "name"), std::move(*data)});
  }
  return out;
}

std::shared_ptr<const chart> chart_in(const value& v) {
  const auto* m = member(v, "chart");
  const auto* meta = m ? member(*m, "metadata") : nullptr;
  if (!meta) return nullptr;
  auto c = std::make_shared<chart>();
  if (auto read = metadata_from(*meta, c->meta); !read) throw codec_failure{read.error().text};
  if (const auto* lock = member(*m, "lock")) {
    chart_lock l{text_in(*lock, "digest"), text_in(*lock, "generated"), {}};
    if (const auto* all = member(*lock, "dependencies"); all && all->is_list())
      for (const auto& d : all->items())
        l.dependencies.push_back(
            {text_in(d, "name"), text_in(d, "repository"), text_in(d, "version")});
    c->lock = std::move(l);
  }
  c->templates = files_in(*m, "templates");
  if (const auto* values = member(*m, "values"); values && values->is_map()) c->values = *values;
  if (member(*m, "schema")) {
    auto schema = base64_decode(text_in(*m, "schema"));
    if (!schema) throw codec_failure{schema.error().text};
    c->schema = std::move(*schema);
  }
  c->files = files_in(*m, "files");
  return c;
}

recorded_hook hook_in(const value& v) {
  recorded_hook h;
  h.what.name = text_in(v, "name");
  h.what.kind = text_in(v, "kind");
  h.what.path = text_in(v, "path");
  h.what.content = text_in(v, "manifest");
  h.what.events = texts_in(v, "events");
  h.what.weight = number_in(v, "weight");
  h.what.delete_policies = texts_in(v, "delete_policies");
  h.what.output_log_policies = texts_in(v, "output_log_policies");
  if (const auto* run = member(v, "last_run"))
    h.last_run = {time_in(*run, "started_at"), time_in(*run, "completed_at"),
                  text_in(*run, "phase")};
  return h;
}

record record_in(const value& v) {
  record r;
  r.name = text_in(v, "name");
  r.ns = text_in(v, "namespace");
  r.revision = number_in(v, "version");
  r.manifest = text_in(v, "manifest");
  r.apply_method = text_in(v, "apply_method");
  if (const auto* info = member(v, "info")) {
    r.first_deployed = time_in(*info, "first_deployed");
    r.last_deployed = time_in(*info, "last_deployed");
    r.deleted = time_in(*info, "deleted");
    r.description = text_in(*info, "description");
    r.notes = text_in(*info, "notes");
    r.state = read_status(text_in(*info, "status"));
  }
  r.origin = chart_in(v);
  if (const auto* config = member(v, "config"); config && config->is_map()) r.config = *config;
  if (const auto* all = member(v, "hooks"); all && all->is_list())
    for (const auto& h : all->items()) r.hooks.push_back(hook_in(h));
  return r;
}

}  // namespace

std::string_view to_string(status s) {
  return words[static_cast<std::size_t>(s)];
}

status read_status(std::string_view word) {
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] == word) return static_cast<status>(i);
  return status::unknown;
}

bool is_pending(status s) {
  return s == status::pending_install || s == status::pending_upgrade ||
         s == status::pending_rollback;
}

std::string json_time(const go_time& t) {
  return is_zero(t) ? std::string() : format_time(t, nanosecond_layout);
}

std::string record_text::whole() const {
  object_text o;
  o.text_unless_empty("manifest", manifest);
  if (!hooks.empty()) {
    std::vector<std::string> items;
    for (const auto& h : hooks) items.push_back(hook_text(h));
    o.raw("hooks", list_text(items));
  }
  std::string own = o.take();
  own[0] = ',';
  return before + (own.size() > 1 ? own : std::string()) + after;
}

outcome<record_text> write_record_in_parts(const record& r, record_parts parts,
                                           const std::string& resources) {
  try {
    object_text info;
    info.text("first_deployed", json_time(r.first_deployed));
    info.text("last_deployed", json_time(r.last_deployed));
    info.text("deleted", json_time(r.deleted));
    info.text_unless_empty("description", r.description);
    info.text("status", std::string(to_string(r.state)));
    info.text_unless_empty("notes", r.notes);
    if (!resources.empty()) info.raw("resources", resources);
    object_text o;
    o.text_unless_empty("name", r.name);
    o.raw("info", info.close());
    if (r.origin && parts == record_parts::all) o.raw("chart", chart_text(*r.origin));
    if (r.config.size() > 0) o.raw("config", json_text(r.config));
    record_text out;
    out.before = o.take();
    out.manifest = r.manifest;
    out.hooks = r.hooks;
    o.number_unless_zero("version", r.revision);
    o.text_unless_empty("namespace", r.ns);
    o.text_unless_empty("apply_method", r.apply_method);
    out.after = o.close();
    return out;
  } catch (const codec_failure& f) {
    return problem{f.text};
  }
}

outcome<std::string> write_record(const record& r, record_parts parts,
                                  const std::string& resources) {
  auto written = write_record_in_parts(r, parts, resources);
  if (!written) return written.error();
  return written->whole();
}

outcome<std::string> write_chart(const chart& c) {
  try {
    return chart_text(c);
  } catch (const codec_failure& f) {
    return problem{f.text};
  }
}

outcome<record> read_record(std::string_view text) {
  auto v = read_json(text);
  if (!v) return v.error();
  if (!v->is_map()) return problem{"a release record is an object"};
  try {
    return record_in(*v);
  } catch (const codec_failure& f) {
    return problem{f.text};
  }
}

std::string content_of(const record& r) {
  std::string text;
  const auto add = [&text](std::string_view part) {
    text += std::to_string(part.size()) + ":";
    text += part;
  };
  for (const std::string_view part :
       {std::string_view(r.name), std::string_view(r.ns), std::string_view(r.apply_method),
        std::string_view(r.manifest)})
    add(part);
  add(std::to_string(r.revision));
  for (recorded_hook h : r.hooks) {
    h.last_run = {};
    if (h.what.delete_policies.empty())  // filled in when it runs
      h.what.delete_policies = {"before-hook-creation"};
    add(hook_text(h));
  }
  return text;
}

std::string storage_name(std::string_view release, int revision) {
  return "sh.helm.release.v1." + std::string(release) + ".v" + std::to_string(revision);
}

std::optional<int> revision_in(std::string_view stored, std::string_view release) {
  constexpr int beyond = 1'000'000'000;
  const std::string before = storage_name(release, 0);
  const std::string_view prefix = std::string_view(before).substr(0, before.size() - 1);
  if (!stored.starts_with(prefix)) return std::nullopt;
  int revision = 0;
  const char* const past = stored.data() + stored.size();
  const auto [end, wrong] = std::from_chars(stored.data() + prefix.size(), past, revision);
  if (wrong != std::errc{} || end != past || revision < 1 || revision >= beyond)
    return std::nullopt;
  return revision;
}

std::string chart_label(const record& r) {
  return r.origin ? r.origin->name() + "-" + r.origin->meta.version : "MISSING";
}

std::string app_version(const record& r) {
  return r.origin ? r.origin->meta.app_version : "MISSING";
}

}  // namespace helm::release
