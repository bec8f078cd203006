#include "app/api/target_history.hpp"

#include "formats/json/member.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <array>

namespace units {
namespace {

namespace json = boost::json;
using formats::text_member;

/// Of all records together; what an annotation may hold is 256 KiB for all of them.
constexpr std::size_t annotation_limit_bytes = 16 * 1024;

const json::value* at(const json::object& object, const std::vector<std::string>& path) {
  const json::object* in = &object;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const json::value* v = in->if_contains(path[i]);
    if (!v || i + 1 == path.size()) return v;
    in = v->if_object();
    if (!in) return nullptr;
  }
  return nullptr;
}

void collect(const json::object& patch, std::vector<std::string>& path,
             std::vector<std::vector<std::string>>& into) {
  for (const auto& [name, value] : patch) {
    path.emplace_back(name);
    if (value.is_object() && !value.get_object().empty())
      collect(value.get_object(), path, into);
    else
      into.push_back(path);
    path.pop_back();
  }
}

/// A count that a record has; 0 where there is none that can be meant.
std::size_t count_member(const json::object& o, std::string_view name) {
  const json::value* v = o.if_contains(name);
  constexpr std::int64_t most = 1'000'000'000;
  return v && v->is_int64() && v->get_int64() > 0 && v->get_int64() <= most
             ? static_cast<std::size_t>(v->get_int64())
             : 0;
}

/// An entry that owns a field names each step of its path; one that ends before owns all below.
bool owns(const json::object& fields, const std::vector<std::string>& path) {
  const json::object* in = &fields;
  for (const std::string& step : path) {
    const json::value* v = in->if_contains("f:" + step);
    if (!v || !v->is_object()) return false;
    in = &v->get_object();
    if (in->empty()) return true;
  }
  return true;
}

}  // namespace

std::vector<std::vector<std::string>> fields_of(const json::object& patch) {
  std::vector<std::vector<std::string>> out;
  std::vector<std::string> path;
  collect(patch, path, out);
  return out;
}

std::string text_at(const json::object& object, const std::vector<std::string>& path) {
  const json::value* v = at(object, path);
  return v && v->is_string() ? std::string(v->get_string()) : std::string();
}

std::string text_of_field(const std::vector<std::string>& path) {
  std::string out;
  for (const std::string& step : path)
    out += step.find('.') != step.npos ? "[" + step + "]" : (out.empty() ? "" : ".") + step;
  return out;
}

std::vector<std::string> target_field(const units::api::edits& by) {
  const auto patch = by.retarget("example.com/any:tag");
  const auto fields = patch ? fields_of(*patch) : std::vector<std::vector<std::string>>();
  return fields.empty() ? std::vector<std::string>() : fields.front();
}

std::vector<std::string> pause_field(const units::api::edits& by) {
  const auto fields = fields_of(by.pause(true));
  return fields.empty() ? std::vector<std::string>() : fields.front();
}

std::vector<field_owner> owners_of(const json::object& object,
                                   const std::vector<std::string>& path) {
  std::vector<field_owner> out;
  const json::value* all = at(object, {"metadata", "managedFields"});
  if (!all || !all->is_array()) return out;
  for (const json::value& entry : all->get_array()) {
    const json::object* one = entry.if_object();
    const json::value* fields = one ? one->if_contains("fieldsV1") : nullptr;
    if (!fields || !fields->is_object() || !owns(fields->get_object(), path)) continue;
    out.push_back({text_member(*one, "manager"), text_member(*one, "time")});
  }
  std::ranges::stable_sort(out, std::ranges::greater(), &field_owner::at);
  return out;
}

bool is_by_hand(std::string_view manager, std::string_view ours) {
  return manager == ours || manager == "kubectl" || manager.starts_with("kubectl-");
}

std::string outcome_text(std::size_t updated, std::size_t units, std::size_t degraded) {
  std::string text = std::to_string(updated) + " of " + std::to_string(units) + " updated";
  if (degraded > 0) text += ", " + std::to_string(degraded) + " degraded";
  return text;
}

std::vector<target_record> records_in(std::string_view annotation) {
  std::vector<target_record> out;
  json::error_code failed;
  json::value parsed;
  if (!annotation.empty() && annotation.size() <= annotation_limit_bytes)
    parsed = json::parse(annotation, failed);
  if (failed || !parsed.is_array()) return out;
  for (const json::value& each : parsed.get_array()) {
    const json::object* o = each.if_object();
    if (!o) continue;
    target_record r;
    r.revision = count_member(*o, "revision");
    r.target = text_member(*o, "target");
    r.manager = text_member(*o, "manager");
    r.by = text_member(*o, "by");
    r.at = text_member(*o, "at");
    r.outcome = text_member(*o, "outcome");
    r.done = text_member(*o, "done");
    r.units = count_member(*o, "units");
    r.at_once = count_member(*o, "atOnce");
    if (r.revision > 0 && !r.target.empty() && (out.empty() || out.back().revision < r.revision))
      out.push_back(std::move(r));
  }
  return out;
}

std::optional<reactor::nanoseconds> step_time(const target_record& r) {
  const auto from = reactor::parse_rfc3339(r.at), to = reactor::parse_rfc3339(r.done);
  if (!from || !to || *to <= *from || r.units == 0 || r.at_once == 0) return std::nullopt;
  const std::size_t steps = (r.units + r.at_once - 1) / r.at_once;
  return reactor::nanoseconds(*to - *from) / static_cast<std::int64_t>(steps);
}

std::vector<target_record> history_of(const json::object& object,
                                      const std::vector<std::string>& field, std::string outcome) {
  std::vector<target_record> out =
      records_in(text_at(object, {"metadata", "annotations", std::string(history_annotation)}));
  const std::string present = text_at(object, field);
  if (present.empty()) return out;
  if (out.empty() || out.back().target != present) {
    const std::vector<field_owner> owners = owners_of(object, field);
    target_record r;
    r.target = present;
    if (!owners.empty()) {
      r.manager = owners.front().manager;
      r.at = owners.front().at;
    }
    add_record(out, std::move(r));
  }
  out.back().outcome = std::move(outcome);
  return out;
}

void add_record(std::vector<target_record>& to, target_record next) {
  next.revision = to.empty() ? 1 : to.back().revision + 1;
  to.push_back(std::move(next));
  if (to.size() > most_records)
    to.erase(to.begin(), to.end() - static_cast<std::ptrdiff_t>(most_records));
}

json::array history_json(const std::vector<target_record>& all) {
  json::array out;
  for (const target_record& r : all) {
    json::object o{{"revision", r.revision}, {"target", r.target}};
    const std::array<std::pair<const char*, const std::string*>, 5> rest{{{"manager", &r.manager},
                                                                          {"by", &r.by},
                                                                          {"at", &r.at},
                                                                          {"outcome", &r.outcome},
                                                                          {"done", &r.done}}};
    for (const auto& [name, value] : rest)
      if (!value->empty()) o[name] = *value;
    if (r.units > 0) o["units"] = r.units;
    if (r.at_once > 0) o["atOnce"] = r.at_once;
    out.push_back(std::move(o));
  }
  return out;
}

std::string annotation_of(const std::vector<target_record>& all) {
  for (std::size_t from = 0; from < all.size(); ++from) {
    const std::vector<target_record> some(all.begin() + static_cast<std::ptrdiff_t>(from),
                                          all.end());
    std::string text = json::serialize(history_json(some));
    if (text.size() <= annotation_limit_bytes) return text;
  }
  return "[]";
}

const target_record* undo_target(const std::vector<target_record>& all, std::size_t revision) {
  for (auto r = all.rbegin(); r != all.rend(); ++r) {
    if (revision > 0 ? r->revision == revision : r->target != all.back().target) return &*r;
  }
  return nullptr;
}

}  // namespace units
