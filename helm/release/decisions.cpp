#include "helm/release/decisions.hpp"

#include "formats/yaml/reader.hpp"
#include "helm/go.hpp"
#include "helm/values/values.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace helm::release {
namespace {

constexpr std::array<std::string_view, 6> system_labels{"name",    "owner",     "status",
                                                        "version", "createdAt", "modifiedAt"};

std::tuple<std::int64_t, std::int32_t> moment(const record& r) {
  return {r.last_deployed.seconds, r.last_deployed.nanoseconds};
}

/// The annotation of a document that was valid when it was stored.
std::optional<std::string> annotation(const std::string& document, std::string_view name) {
  auto v = read_go_yaml(document);
  if (!v || !v->is_map()) return std::nullopt;
  value at = *v;
  for (const auto* step : {"metadata", "annotations"}) {
    const auto* next = at.find(step);
    if (!next || !next->is_map()) return std::nullopt;
    value keep = *next;
    at = keep;
  }
  const auto* found = at.find(name);
  if (!found || !found->is_string()) return std::nullopt;
  return found->text();
}

}  // namespace

std::string no_deployed_text(const std::string& name) {
  return quote(name) + " has no deployed releases";
}

void sort_history(history& h) {
  std::stable_sort(h.begin(), h.end(),
                   [](const record& a, const record& b) { return a.revision < b.revision; });
}

const record* newest_deployed(const history& h) {
  auto found = std::find_if(h.rbegin(), h.rend(),
                            [](const record& r) { return r.state == status::deployed; });
  return found == h.rend() ? nullptr : &*found;
}

const record* find_revision(const history& h, int revision) {
  auto found =
      std::find_if(h.begin(), h.end(), [&](const record& r) { return r.revision == revision; });
  return found == h.end() ? nullptr : &*found;
}

void keep_what_counts(history& h) {
  const record* const deployed = newest_deployed(h);
  for (record& r : h) {
    if (&r == &h.back() || &r == deployed) continue;
    std::string().swap(r.manifest);
    std::string().swap(r.notes);
    std::vector<recorded_hook>().swap(r.hooks);
    r.config = value();
    r.origin.reset();
  }
}

std::vector<int> revisions_to_prune(const history& h, int limit) {
  std::vector<int> out;
  if (limit <= 0) return out;
  const auto room = static_cast<std::size_t>(limit) - 1;
  const auto* deployed = newest_deployed(h);
  for (const auto& r : h) {
    if (h.size() - out.size() <= room) break;
    if (&r != deployed) out.push_back(r.revision);
  }
  return out;
}

outcome<const record*> upgrade_base(const history& h, const std::string& name) {
  if (h.empty()) return problem{no_deployed_text(name)};
  const auto& last = h.back();
  if (is_pending(last.state)) return problem{pending_text};
  if (const auto* deployed = newest_deployed(h)) return deployed;
  if (last.state == status::failed || last.state == status::superseded) return &last;
  return problem{no_deployed_text(name)};
}

outcome<chosen_values> choose_values(reuse how, const record& current, value given,
                                     const std::function<void(const std::string&)>& warn) {
  chosen_values out;
  if (!given.is_map()) given = value(value::map_type{});
  if (how == reuse::unless_given) {
    out.config = given.size() == 0 && current.config.size() > 0 ? current.config : given;
    return out;
  }
  out.config = std::move(given);
  if (how == reuse::reset) return out;
  const value old = current.config.is_map() ? current.config : value(value::map_type{});
  if (how == reuse::keep) {
    static const chart none;
    auto all = coalesce_values(current.origin ? *current.origin : none, old, nulls::remove, warn);
    if (!all) return problem{"failed to rebuild old values: " + all.error().text};
    out.chart_values = deep_copy(*all);
  }
  out.config = deep_copy(out.config);
  coalesce_tables(out.config, deep_copy(old), nulls::remove, "", warn);
  return out;
}

label_map merge_labels(const label_map& current, const label_map& desired) {
  label_map out = current;
  for (const auto& [name, text] : desired) out[name] = text;
  std::erase_if(out, [](const auto& l) { return l.second == "null"; });
  return out;
}

bool is_system_label(std::string_view name) {
  return std::find(system_labels.begin(), system_labels.end(), name) != system_labels.end();
}

label_map without_system_labels(const label_map& all) {
  label_map out = all;
  std::erase_if(out, [](const auto& l) { return is_system_label(l.first); });
  return out;
}

std::optional<std::string> label_problem(const label_map& given) {
  for (const auto& [name, text] : given)
    if (is_system_label(name))
      return "user supplied labels contains system reserved label name. System labels: [name owner "
             "status version createdAt modifiedAt]";
  return std::nullopt;
}

std::vector<std::size_t> hooks_for(const std::vector<recorded_hook>& all, std::string_view event) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const auto& e : all[i].what.events)
      if (e == event) out.push_back(i);
  std::stable_sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) {
    const auto &x = all[a].what, &y = all[b].what;
    return x.weight != y.weight ? x.weight < y.weight : x.name < y.name;
  });
  return out;
}

bool has_policy(const hook& h, std::string_view policy) {
  return std::find(h.delete_policies.begin(), h.delete_policies.end(), policy) !=
         h.delete_policies.end();
}

outcome<uninstall_split> split_for_uninstall(const std::string& manifest) {
  // Documents are taken in the text order of their numbers, 10 before 2, as Helm does.
  std::map<std::string, std::string> files;
  for (auto& document : split_documents(manifest)) {
    auto name = "manifest-" + std::to_string(files.size());
    files.emplace(std::move(name), std::move(document));
  }
  auto sorted = sort_manifests(files, kind_order::uninstall, {});
  if (!sorted)
    return problem{"corrupted release record. You must manually delete the resources: " +
                   sorted.error().text};
  uninstall_split out;
  for (const auto& m : sorted->manifests) {
    const auto policy = annotation(m.content, "helm.sh/resource-policy");
    if (!policy)
      out.doomed += "\n---\n" + m.content;
    else if (lower(trim_space(*policy)) == "keep")
      out.kept += "[" + m.kind + "] " + m.name + "\n";
  }
  return out;
}

bool is_abandoned(const record& r, std::string_view instance, std::int64_t now_seconds) {
  if (!is_pending(r.state)) return false;
  const auto who = r.labels.find(instance_label);
  const auto until = r.labels.find(deadline_label);
  if (who == r.labels.end() || until == r.labels.end() || who->second != instance) return false;
  std::int64_t deadline = 0;
  const auto& text = until->second;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), deadline);
  return ec == std::errc{} && end == text.data() + text.size() && deadline < now_seconds;
}

std::string failed_description(const record& r, std::string_view why) {
  const char* verb = r.state == status::pending_upgrade    ? "Upgrade "
                     : r.state == status::pending_rollback ? "Rollback "
                                                           : "Release ";
  return verb + quote(r.name) + " failed: " + std::string(why);
}

history choose_listed(history all, const list_choice& c) {
  if (c.latest_only) {
    std::map<std::pair<std::string, std::string>, std::size_t> latest;
    for (std::size_t i = 0; i < all.size(); ++i) {
      auto [at, fresh] = latest.try_emplace({all[i].ns, all[i].name}, i);
      if (!fresh && all[at->second].revision <= all[i].revision) at->second = i;
    }
    history kept;
    for (const auto& [key, i] : latest) kept.push_back(std::move(all[i]));
    all = std::move(kept);
  }
  if (!c.states.empty())
    std::erase_if(all, [&](const record& r) {
      return std::find(c.states.begin(), c.states.end(), r.state) == c.states.end();
    });
  if (c.matches) std::erase_if(all, [&](const record& r) { return !c.matches(r); });
  std::stable_sort(all.begin(), all.end(), [&](const record& a, const record& b) {
    return c.by_date ? moment(a) < moment(b) : a.name < b.name;
  });
  if (c.reverse) std::reverse(all.begin(), all.end());
  const auto offset = static_cast<std::size_t>(std::max(c.offset, 0));
  if (offset >= all.size()) return {};
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(offset));
  if (c.limit > 0 && all.size() > static_cast<std::size_t>(c.limit))
    all.resize(static_cast<std::size_t>(c.limit));
  return all;
}

}  // namespace helm::release
