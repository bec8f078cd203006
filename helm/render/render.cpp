#include "helm/render/render.hpp"

#include "formats/plain/deep_stack.hpp"
#include "formats/plain/path.hpp"
#include "helm/chart_types.hpp"
#include "helm/go.hpp"
#include "helm/template/parser.hpp"

#include <algorithm>

namespace helm {
namespace {

bool is_library(const chart& c) {
  return equal_fold(c.meta.type, "library");
}

/// "parse error at (<location>): <what comes after the last colon>"
std::string clean_parse_error(const std::string& file, const std::string& text) {
  auto parts = split(text, ": ");
  if (parts.size() == 1) return "parse error in (" + file + "): " + text;
  return "parse error at (" + parts[1] + "): " + parts.back();
}

/// The message of `fail` or `required`, with the outermost location.
std::string clean_execution_error(const std::string& file, const template_error& e) {
  std::string text = e.what();
  if (!e.execution) return text;
  auto parts = split(text, ": ", 3);
  if (parts.size() != 3) return "execution error in (" + file + "): " + text;
  auto start = parts[2].find(warning_start);
  auto end = parts[2].rfind(warning_end);
  if (start == std::string::npos || end == std::string::npos || end < start + warning_start.size())
    return text;
  auto from = start + warning_start.size();
  return "execution error at (" + parts[1] + "): " + parts[2].substr(from, end - from);
}

/// The contexts of a chart and, below it, of its subcharts; `scopes` gets subcharts before what
/// they belong to.
value make_context(const chart& c, bool is_root, const value& values, const value& release,
                   const value& caps, const std::vector<value>& files, std::vector<value>& scopes) {
  value subcharts(value::map_type{});
  value own = values.is_any_map() ? values.as(chart_type::values)
                                  : value(value::map_type{}, chart_type::values);
  value context(value::map_type{{"Chart", chart_value(c, is_root)},
                                {"Release", release},
                                {"Capabilities", caps},
                                {"Values", own},
                                {"Subcharts", subcharts}});
  for (const auto& child : c.dependencies) {
    value table;
    // A name with dots is looked up as a path, as Helm does.
    value at = own;
    bool found = true;
    for (const auto& part : split(child->name(), ".")) {
      const auto* next = at.find(part);
      found = next && next->is_any_map();
      if (!found) break;
      value keep = *next;
      at = keep;
    }
    if (found) table = at;
    subcharts.entries()[child->name()] =
        make_context(*child, false, table, release, caps, files, scopes);
  }
  context.entries()["Files"] = files.at(scopes.size());
  scopes.push_back(context);
  return context;
}

}  // namespace

outcome<parsed_chart> parsed_chart::parse(chart_ptr c) {
  parsed_chart out;
  out.chart_ = std::move(c);
  out.templates_ = std::make_unique<template_set>();
  out.texts_ = std::make_unique<parsed_texts>();
  struct source {
    file f;
    std::shared_ptr<const std::string> text;
  };
  std::map<std::string, source> all;
  auto collect = [&](auto&& self, const chart& c, const std::string& path) -> void {
    for (const auto& child : c.dependencies) self(self, *child, chart_path(*child, path));
    auto scope = out.chart_files_.size();
    out.chart_files_.push_back(files_value(c.files));
    for (std::size_t i = 0; i < c.templates.size(); ++i) {
      const auto& t = c.templates[i];
      if (is_library(c) && !base_name(t.name).starts_with('_')) continue;
      auto name = clean_path(path + "/" + t.name);
      all.insert_or_assign(
          name, source{{name, clean_path(path + "/templates"), scope}, c.templates.text(i)});
    }
  };
  collect(collect, *out.chart_, out.chart_->name());
  std::vector<const source*> order;
  for (const auto& [name, s] : all) order.push_back(&s);
  std::sort(order.begin(), order.end(), [](const source* a, const source* b) {
    auto depth = [](const std::string& s) { return std::count(s.begin(), s.end(), '/'); };
    auto x = depth(a->f.name), y = depth(b->f.name);
    return x != y ? x > y : a->f.name > b->f.name;
  });
  for (const auto* s : order) {
    try {
      for (auto& t : parse_template(s->f.name, s->text,
                                    [](std::string_view name) { return find_function(name); }))
        out.templates_->add(std::move(t));
    } catch (const template_error& e) {
      return problem{clean_parse_error(s->f.name, e.what())};
    } catch (const std::length_error& e) {
      return problem{"parse error in (" + s->f.name + "): " + e.what()};
    }
    out.files_.push_back(s->f);
  }
  return out;
}

outcome<rendered_files> parsed_chart::render(value values, const release_options& release,
                                             const capabilities& caps,
                                             const render_options& options) const {
  return render(*chart_, std::move(values), release, caps, options);
}

outcome<rendered_files> parsed_chart::render(const chart& tree, value values,
                                             const release_options& release,
                                             const capabilities& caps,
                                             const render_options& options) const {
  std::vector<value> scopes;
  scopes.reserve(chart_files_.size());
  make_context(tree, true, values, release_value(release), capabilities_value(caps), chart_files_,
               scopes);
  executor engine(*templates_, options.runtime, options.limits, options.missing, options.lint,
                  texts_.get());
  const auto most = [](std::uint64_t limit) { return limit == 0 ? unbounded : limit; };
  const work_limit bound(most(options.limits.walk_steps), most(options.limits.memory_bytes));
  rendered_files out;
  held_bytes printed;
  std::string failure;
  for (const auto& f : files_) {
    if (base_name(f.name).starts_with('_')) continue;
    auto& context = scopes[f.scope];
    context.entries()["Template"] =
        value(value::map_type{{"Name", f.name}, {"BasePath", f.base_path}}, chart_type::values);
    std::string text;
    text.reserve(f.printed);
    try {
      engine.run(text, f.name, context.as(chart_type::values));
      printed.add(text.size());
    } catch (const template_error& e) {
      failure = clean_execution_error(f.name, e);
      break;
    } catch (const render_stopped& e) {
      failure = std::string("rendering template failed: ") + e.what();
      break;
    } catch (const std::length_error& e) {
      failure = std::string("rendering template failed: ") + e.what();
      break;
    } catch (const std::bad_alloc&) {
      failure = "rendering template failed: out of memory";
      break;
    }
    f.printed = text.size();
    out[f.name] = without_missing(std::move(text));
  }
  // The contexts refer to one another through their maps; taking them apart frees what a template
  // tied into a knot at the top.
  for (auto& s : scopes) s.entries().clear();
  if (!failure.empty()) return problem{failure};
  return out;
}

}  // namespace helm
