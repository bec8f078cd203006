#include "helm/values/dependencies.hpp"

#include "formats/go/format.hpp"
#include "formats/plain/deep_stack.hpp"
#include "formats/semver.hpp"
#include "helm/charts/bounded.hpp"
#include "helm/go.hpp"

#include <algorithm>
#include <set>

namespace helm {
namespace {

bool in_range(const std::string& constraint, const std::string& text) {
  count_steps(100 + (constraint.size() + text.size()) / 4);
  auto v = parse_lenient_version(text);
  if (!v) return false;
  auto c = version_constraint::parse(constraint);
  return c && c->check(*v);
}

/// The value at a dotted path that is not a table, or nothing.
const value* plain_value(const value& v, const std::string& path) {
  auto parts = split(path, ".");
  auto key = parts.back();
  parts.pop_back();
  const auto* table = parts.empty() ? &v : find_table(v, parts);
  if (!table) return nullptr;
  const auto* found = table->find(key);
  return found && found->kind() != type::map ? found : nullptr;
}

/// Gives every chart of a loaded tree its place.
void place(chart& c, std::shared_ptr<const chart_place> parent) {
  count_steps(1);
  c.place = std::make_shared<chart_place>(c.name(), std::move(parent));
  for (auto& d : c.dependencies) with_room([&] { place(*d, c.place); });
}

class processor {
public:
  explicit processor(const warning_sink& warn) : warn_(warn) {}

  outcome<bool> enable(chart& c, const value& user, const std::string& path) {
    if (!c.meta.has_dependencies) return true;
    std::vector<chart_ptr> kept;
    for (const auto& loaded : c.dependencies) {
      count_steps(c.meta.dependencies.size());
      bool declared =
          std::any_of(c.meta.dependencies.begin(), c.meta.dependencies.end(), [&](const auto& d) {
            return d && d->name == loaded->name() && in_range(d->version, loaded->meta.version);
          });
      if (!declared) kept.push_back(loaded);
    }
    for (const auto& d : c.meta.dependencies) {
      if (!d) continue;
      count_steps(c.dependencies.size());
      for (const auto& loaded : c.dependencies) {
        if (loaded->name() != d->name || !in_range(d->version, loaded->meta.version)) continue;
        // A copy, so that one chart can appear under several names; its own dependencies are
        // shared, as in Helm.
        count_chart(*loaded);
        auto copy = std::make_shared<chart>(*loaded);
        if (!d->alias.empty()) copy->meta.name = d->alias;
        copy->place = std::make_shared<chart_place>(copy->name(), c.place);
        kept.push_back(std::move(copy));
        break;
      }
      if (!d->alias.empty()) d->name = d->alias;
    }
    c.dependencies = std::move(kept);
    for (auto& d : c.dependencies) d->place->parent = c.place;
    for (auto& d : c.meta.dependencies)
      if (d) d->enabled = true;
    auto values = coalesce_values(c, user, nulls::remove, warn_);
    if (!values) return values.error();
    tags(c, *values);
    conditions(c, *values, path);
    std::set<std::string> removed;
    for (const auto& d : c.meta.dependencies)
      if (d && !d->enabled) removed.insert(d->name);
    std::erase_if(c.dependencies, [&](const chart_ptr& d) { return removed.contains(d->name()); });
    std::erase_if(c.meta.dependencies,
                  [&](const auto& d) { return d && removed.contains(d->name); });
    // Several copies may share this chart, which comes here for each: Helm's list is nil then.
    c.meta.has_dependencies = !c.meta.dependencies.empty();
    for (auto& d : c.dependencies) {
      auto done = enable(*d, *values, path + d->name() + ".");
      if (!done) return done;
    }
    return true;
  }

  outcome<bool> import(chart& c) {
    count_steps(16);
    for (auto& d : c.dependencies) {
      auto done = import(*d);
      if (!done) return done;
    }
    if (!c.meta.has_dependencies) return true;
    auto values = coalesce_values(c, value(), nulls::keep, warn_);
    if (!values) return values.error();
    value imported(value::map_type{});
    for (auto& d : c.meta.dependencies) {
      value::list_type shown;
      for (const auto& entry : d->import_values.items()) {
        std::string child, parent = ".";
        // What an import was turned into is no import: a chart that is there twice imports once.
        if (entry.kind() == type::map) {
          auto text = [&](const char* key) {
            const auto* v = entry.find(key);
            return v ? format_value(*v) : std::string("<nil>");
          };
          child = text("child");
          parent = text("parent");
        } else if (entry.is_string()) {
          child = "exports." + entry.text();
        } else {
          continue;
        }
        shown.push_back(
            value(value::map_type{{"child", child}, {"parent", parent}}, type::string_map));
        auto path = split(d->name + "." + child, ".");
        const auto* table = find_table(*values, path);
        if (!table) {
          std::string missing = path.back();
          std::vector<std::string> so_far;
          for (const auto& p : path) {
            so_far.push_back(p);
            if (!find_table(*values, so_far)) {
              missing = p;
              break;
            }
          }
          if (warn_)
            warn_(entry.is_map() ? "Warning: ImportValues missing table from chart " + d->name +
                                       ": " + quote(missing) + " is not a table"
                                 : "Warning: ImportValues missing table: " + quote(missing) +
                                       " is not a table");
          continue;
        }
        // What is imported is the child's own table, which a later import adds to; an empty one is
        // another.
        value wrapped = table->size() == 0 ? value(value::map_type{}) : *table;
        if (parent != ".") {
          auto steps = split(parent, ".");
          for (auto step = steps.rbegin(); step != steps.rend(); ++step)
            wrapped = value(value::map_type{{*step, wrapped}});
        }
        coalesce_tables(imported, wrapped, nulls::keep, "", warn_);
      }
      d->import_values = shown.empty() ? value() : value(std::move(shown));
    }
    // What is imported ranks below the parent's own defaults, with whose tables it shares some.
    if (imported.size() > 0) {
      *values = deep_copy(*values);
      coalesce_tables(*values, imported, nulls::keep, "", warn_);
    }
    c.values = std::move(*values);
    return true;
  }

private:
  void tags(chart& c, const value& values) {
    const auto* table = find_table(values, {"tags"});
    if (!table) return;
    for (auto& d : c.meta.dependencies) {
      bool yes = false, no = false;
      for (const auto& tag : d->tags) {
        const auto* v = table->find(tag);
        if (!v) continue;
        if (v->kind() == type::boolean)
          (v->boolean() ? yes : no) = true;
        else if (warn_)
          warn_("Warning: Tag '" + tag + "' for chart " + d->name + " returned non-bool value");
      }
      d->enabled = yes || !no;
    }
  }

  void conditions(chart& c, const value& values, const std::string& path) {
    for (auto& d : c.meta.dependencies) {
      for (const auto& condition : split(trim_space(d->condition), ",")) {
        if (condition.empty()) continue;
        const auto* v = plain_value(values, path + condition);
        if (!v) continue;
        if (v->kind() == type::boolean) {
          d->enabled = v->boolean();
          break;
        }
        if (warn_)
          warn_("Warning: Condition path '" + condition + "' for chart " + d->name +
                " returned non-bool value");
      }
    }
  }

  const warning_sink& warn_;
};

}  // namespace

outcome<bool> process_dependencies(chart& c, const value& user, const warning_sink& warn) {
  place(c, nullptr);
  processor p(warn);
  auto enabled = p.enable(c, user, "");
  if (!enabled) return enabled;
  return p.import(c);
}

outcome<bool> check_dependencies(const chart& c) {
  std::string missing;
  for (const auto& d : c.meta.dependencies) {
    bool there = std::any_of(c.dependencies.begin(), c.dependencies.end(),
                             [&](const chart_ptr& l) { return l->name() == d->name; });
    if (!there) missing += (missing.empty() ? "" : ", ") + d->name;
  }
  if (missing.empty()) return true;
  return problem{"found in Chart.yaml, but missing in charts/ directory: " + missing};
}

}  // namespace helm
