#include "helm/release/rendering.hpp"

#include "formats/go/function_error.hpp"
#include "formats/json/json.hpp"
#include "helm/charts/bounded.hpp"
#include "helm/go.hpp"
#include "helm/render/installation.hpp"
#include "helm/render/manifest_text.hpp"
#include "helm/values/dependencies.hpp"

#include <algorithm>

namespace helm::release {
namespace {

void drop_schemas(chart& c) {
  c.schema.reset();
  for (auto& d : c.dependencies) drop_schemas(*d);
}

/// Into `out`; what it returns is why there is nothing.
outcome<bool> render_into(rendered& out, const render_request& r) {
  const auto warn = [&](const std::string& line) { out.lines.push_back(line); };
  prepared_chart* engine = r.chart.get();
  std::unique_ptr<prepared_chart> variant;
  if (r.chart_values || r.skip_schema) {
    auto tree = r.chart->copy();
    if (r.chart_values) tree->values = detached_copy(*r.chart_values);
    if (r.skip_schema) drop_schemas(*tree);
    variant = std::make_unique<prepared_chart>(std::move(tree));
    engine = variant.get();
  }
  render_options options;
  options.limits.cancelled = r.cancelled.get();
  options.limits.time = r.time;
  options.limits.walk_steps = r.limits.steps;
  options.limits.memory_bytes = r.limits.memory_bytes;
  options.limits.output_bytes = std::min(options.limits.output_bytes, 2 * r.limits.memory_bytes);
  options.runtime.log = warn;
  options.runtime.impure = &out.impure;
  if (r.random)
    options.runtime.random = [&](std::span<unsigned char> bytes) { r.random->fill(bytes); };
  options.runtime.now = [&] { return r.now; };
  options.runtime.steady = [&] { return r.steady.now(); };
  if (r.look_up)
    options.runtime.lookup = [&](const std::string& api_version, const std::string& kind,
                                 const std::string& ns, const std::string& name) -> value {
      const lookup_key key{api_version, kind, ns, name};
      const auto known = r.answers ? r.answers->find(key) : lookup_answers::const_iterator();
      if (!r.answers || known == r.answers->end()) {
        out.missing = key;
        throw render_stopped("it waits for a lookup");
      }
      if (!known->second.error.empty()) throw function_error(known->second.error);
      if (known->second.json.empty()) return {};
      auto v = read_json(known->second.json);
      if (!v) throw function_error(v.error().text);
      return *v;
    };
  auto files = engine->render(r.values, r.release, r.caps, options);
  if (out.missing) return true;
  if (!files) return files.error();
  auto tree = r.chart->copy();
  if (r.chart_values) tree->values = detached_copy(*r.chart_values);
  // It went well a moment ago, and its warnings were said then.
  if (auto again = process_dependencies(*tree, r.values, {}); !again) return again.error();
  out.notes =
      take_notes(*files, tree->name(), r.sub_notes ? notes_of::subcharts_too : notes_of::chart);
  auto sorted = sort_manifests(*files, kind_order::install, warn);
  if (!sorted) return sorted.error();
  manifest_options how;
  how.hide_secrets = r.hide_secrets;
  how.after = r.after;
  how.steady = options.runtime.steady;
  how.cancelled = r.cancelled.get();
  auto manifest = manifest_of(*sorted, std::string(), how);
  if (!manifest) return manifest.error();
  out.hooks = std::move(sorted->hooks);
  out.manifest = std::move(*manifest);
  // Imported values may be the user's; the record leaves this thread.
  tree->values = detached_copy(tree->values);
  tree->dependencies.clear();
  tree->values_files = {};
  out.processed = std::move(tree);
  return true;
}

}  // namespace

rendered render_release(const render_request& r) {
  rendered out;
  auto done = bounded("rendering failed", r.limits, [&] { return render_into(out, r); });
  if (!done) out.failure = done.error();
  return out;
}

outcome<std::vector<std::pair<std::string, std::string>>> crds_of(prepared_chart& c,
                                                                  const value& values,
                                                                  const chart_limits& limits) {
  using files = std::vector<std::pair<std::string, std::string>>;
  return bounded("the chart's definitions cannot be read", limits, [&]() -> outcome<files> {
    files out;
    auto tree = c.copy();
    if (auto done = process_dependencies(*tree, values, {}); !done) return done.error();
    for (const auto& f : crd_files(*tree)) {
      formats::hold_bytes(f.data->size());
      out.emplace_back(f.name, *f.data);
    }
    return out;
  });
}

}  // namespace helm::release
