#include "helm/values/values.hpp"

#include "formats/go/format.hpp"
#include "formats/plain/deep_stack.hpp"
#include "helm/go.hpp"

#include <utility>
#include <vector>

namespace helm {
namespace {

bool is_table(const value& v) {
  return v.kind() == type::map;
}

std::string joined(const std::string& prefix, const std::string& key) {
  return prefix.empty() ? key : prefix + "." + key;
}

class coalescer {
public:
  coalescer(nulls mode, const warning_sink& warn) : mode_(mode), warn_(warn) {}

  outcome<bool> run(const chart& c, value& into, const std::string& prefix) {
    own(c, into, prefix);
    return subcharts(c, into, prefix);
  }

  void tables(value& into, value from, nulls mode, const std::string& prefix) {
    if (from.is_nil_reference() || !from.is_map()) return;
    count_steps(1 + from.size());
    auto& target = into.entries();
    // Helm writes the nulls of `into` into `from`, which other values may share.
    std::vector<std::string> nulls_of_target;
    for (const auto& [key, v] : target)
      if (v.is_nil()) nulls_of_target.push_back(key);
    for (const auto& [key, v] : std::as_const(from).entries()) {
      auto full = joined(prefix, key);
      auto found = target.find(key);
      if (found == target.end()) {
        target.emplace(key, v);
        continue;
      }
      auto& mine = found->second;
      if (mine.is_nil()) {
        // A null of the user's deletes a default; without a default it stays.
        if (mode == nulls::remove && !v.is_nil()) target.erase(found);
      } else if (is_table(v)) {
        if (is_table(mine))
          tables(mine, v, mode, full);
        else
          warn("warning: cannot overwrite table with non table for " + full + " (" +
               format_value(v) + ")");
      } else if (is_table(mine) && !v.is_nil()) {
        warn("warning: destination for " + full + " is a table. Ignoring non-table value (" +
             format_value(v) + ")");
      }
    }
    for (auto& key : nulls_of_target) from.entries().insert_or_assign(std::move(key), value());
  }

private:
  void warn(const std::string& text) const {
    if (warn_) warn_(text);
  }

  void own(const chart& c, value& into, const std::string& prefix) {
    auto inner = joined(prefix, c.name());
    auto defaults = deep_copy(c.values);
    if (!defaults.is_map()) return;
    auto& target = into.entries();
    for (const auto& [key, v] : defaults.entries()) {
      auto found = target.find(key);
      if (found == target.end()) {
        target.emplace(key, v);
      } else if (found->second.is_nil() && mode_ == nulls::remove) {
        target.erase(found);
      } else if (is_table(found->second)) {
        if (!is_table(v)) {
          if (!v.is_nil())
            warn("warning: skipped value for " + inner + "." + key + ": Not a table.");
          continue;
        }
        // A subchart's section keeps its nulls: they still have to meet the subchart's own
        // defaults.
        auto mode = mode_;
        for (const auto& d : c.dependencies)
          if (d->name() == key) mode = nulls::keep;
        tables(found->second, v, mode, joined(inner, key));
      }
    }
  }

  outcome<bool> subcharts(const chart& c, value& into, const std::string& prefix) {
    for (const auto& d : c.dependencies) {
      auto& target = into.entries();
      auto found = target.find(d->name());
      if (found == target.end()) found = target.emplace(d->name(), value(value::map_type{})).first;
      if (!is_table(found->second))
        return problem{"type mismatch on " + d->name() + ": " +
                       sprintf("%t", std::span(&found->second, 1))};
      auto inner = joined(prefix, c.name());
      value section = found->second;
      globals(section, into, inner);
      auto done = run(*d, section, inner);
      if (!done) return done;
    }
    return true;
  }

  void globals(value& into, const value& from, const std::string& prefix) {
    value mine(value::map_type{}), theirs(value::map_type{});
    if (const auto* g = into.find("global")) {
      if (!is_table(*g)) {
        warn("warning: skipping globals because destination global is not a table.");
        return;
      }
      mine = *g;
    }
    if (const auto* g = from.find("global")) {
      if (!is_table(*g)) {
        warn("warning: skipping globals because source global is not a table.");
        return;
      }
      theirs = *g;
    }
    count_steps(1 + theirs.size());
    for (const auto& [key, v] : theirs.entries()) {
      auto& target = mine.entries();
      auto found = target.find(key);
      if (is_table(v)) {
        value copy(std::as_const(v).entries());
        if (found == target.end()) {
          target.emplace(key, copy);
        } else if (!is_table(found->second)) {
          warn("Conflict: cannot merge map onto non-map for " + quote(key) + ". Skipping.");
        } else {
          tables(copy, found->second, nulls::keep, joined(prefix, key));
          found->second = copy;
        }
      } else if (found != target.end() && is_table(found->second)) {
        warn("key " + key + " is table. Skipping");
      } else {
        target.insert_or_assign(key, v);
      }
    }
    into.entries().insert_or_assign("global", mine);
  }

  nulls mode_;
  const warning_sink& warn_;
};

}  // namespace

outcome<value> coalesce_values(const chart& c, const value& user, nulls mode,
                               const warning_sink& warn) {
  value out =
      user.is_map() && !user.is_nil_reference() ? deep_copy(user) : value(value::map_type{});
  auto done = coalescer(mode, warn).run(c, out, "");
  if (!done) return done.error();
  return out;
}

void coalesce_tables(value& into, const value& from, nulls mode, const std::string& prefix,
                     const warning_sink& warn) {
  coalescer(mode, warn).tables(into, from, mode, prefix);
}

void merge_maps(value& into, const value& from) {
  auto& target = into.entries();
  for (const auto& [key, v] : from.entries()) {
    auto found = target.find(key);
    if (found != target.end() && is_table(found->second) && is_table(v))
      merge_maps(found->second, v);
    else
      target.insert_or_assign(key, v);
  }
}

const value* find_table(const value& v, const std::vector<std::string>& path) {
  const auto* at = &v;
  for (const auto& name : path) {
    at = at->find(name);
    if (!at || !at->is_any_map()) return nullptr;
  }
  return at;
}

}  // namespace helm
