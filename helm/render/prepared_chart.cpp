#include "helm/render/prepared_chart.hpp"

#include "helm/charts/bounded.hpp"
#include "helm/render/installation.hpp"
#include "helm/schema/schema.hpp"
#include "helm/values/render_values.hpp"

#include <algorithm>

namespace helm {
namespace {

constexpr std::size_t shape_limit = 8;
// A node takes about 250 bytes and stands for some twenty characters of a template.
constexpr std::size_t parsed_bytes_per_character = 12;
// Values as text and as a tree, schemas, metadata.
constexpr std::size_t loaded_bytes_per_character = 3;

/// The tree with metadata of its own: process_dependencies changes it. Files and default values are
/// shared.
chart_ptr copy_tree(const chart& c) {
  count_chart(c);
  auto out = std::make_shared<chart>(c);
  out->place = nullptr;
  for (auto& d : out->meta.dependencies)
    if (d) d = std::make_shared<dependency>(*d);
  for (auto& child : out->dependencies) child = copy_tree(*child);
  return out;
}

/// The paths of the charts in the tree, and whose files each has.
void append_key(const chart& c, const std::string& above, std::string& out) {
  const auto path = chart_path(c, above);
  out += path;
  out += '\x1f';
  for (const auto* list : {&c.templates, &c.files})
    out += std::to_string(reinterpret_cast<std::uintptr_t>(list->identity())) + '(';
  for (const auto& d : c.dependencies) append_key(*d, path, out);
  out += "))";
}

void count(const chart& c, std::size_t& files, std::size_t& templates) {
  for (const auto* list : {&c.templates, &c.files, &c.values_files})
    for (const auto& f : *list) files += f.data.size() + f.name.size();
  for (const auto& f : c.templates) templates += f.data.size();
  for (const auto& d : c.dependencies) count(*d, files, templates);
}

}  // namespace

prepared_chart::prepared_chart(chart_ptr loaded, std::vector<std::string> warnings,
                               std::string digest)
    : loaded_(std::move(loaded)), digest_(std::move(digest)), warnings_(std::move(warnings)) {
  count(*loaded_, source_bytes_, template_bytes_);
  weigh();
}

prepared_chart::prepared_chart(archived_chart a, metadata meta)
    : loaded_(std::make_shared<chart>()), archived_(std::move(a)) {
  loaded_->meta = std::move(meta);
  bytes_ = archived_->archive->size();
}

outcome<const parsed_chart*> prepared_chart::parsed(const chart_ptr& tree) {
  std::string key;
  append_key(*tree, "", key);
  auto found =
      std::find_if(shapes_.begin(), shapes_.end(), [&](const auto& s) { return s->key == key; });
  if (found == shapes_.end()) {
    std::size_t files = 0, templates = 0;
    count(*tree, files, templates);  // a chart that has two names is parsed twice
    hold_bytes(templates * parsed_bytes_per_character);
    count_steps(templates);
    auto fresh = parsed_chart::parse(tree);
    if (!fresh) return fresh.error();
    if (shapes_.size() == shape_limit) shapes_.pop_back();
    shapes_.push_back(std::make_unique<shape>(shape{std::move(key), std::move(*fresh)}));
    found = shapes_.end() - 1;
  }
  std::rotate(shapes_.begin(), found, found + 1);
  return &shapes_.front()->parsed;
}

outcome<rendered_files> prepared_chart::render(const value& user, const release_options& release,
                                               const capabilities& caps,
                                               const render_options& options) {
  if (archived_) return problem{"the chart was not unpacked in this process"};
  std::lock_guard lock(in_use_);
  chart_limits limits;
  limits.steps = options.limits.walk_steps == 0 ? unbounded : options.limits.walk_steps;
  limits.memory_bytes = options.limits.memory_bytes == 0 ? unbounded : options.limits.memory_bytes;
  return bounded("rendering failed", limits,
                 [&] { return render_within(user, release, caps, options); });
}

outcome<rendered_files> prepared_chart::render_within(const value& user,
                                                      const release_options& release,
                                                      const capabilities& caps,
                                                      const render_options& options) {
  const warning_sink& warn = options.runtime.log;
  if (auto fit = check_installable(*loaded_); !fit) return fit.error();
  bool alone = loaded_->dependencies.empty() && loaded_->meta.dependencies.empty();
  auto tree = alone ? loaded_ : copy_tree(*loaded_);
  auto values = values_to_render(*tree, user, schema_check::done, warn);
  if (!values) return values.error();
  if (auto unfit = kube_version_problem(*tree, caps)) return problem{*unfit};
  auto ready = parsed(tree);
  if (!ready) return ready.error();
  auto out = (*ready)->render(*tree, std::move(*values), release, caps, options);
  weigh();
  return out;
}

std::shared_ptr<const std::string> prepared_chart::packed(
    const std::function<std::string(const chart&)>& pack) {
  std::lock_guard lock(in_use_);
  if (!packed_) packed_ = std::make_shared<const std::string>(pack(*loaded_));
  weigh();
  return packed_;
}

chart_ptr prepared_chart::copy() {
  std::lock_guard lock(in_use_);
  auto out = copy_tree(*loaded_);
  // Counted values may not be shared with a thread that does not wait for the lock.
  auto detach = [](auto&& self, chart& c) -> void {
    c.values = detached_copy(c.values);
    for (auto& d : c.meta.dependencies)
      if (d) d->import_values = detached_copy(d->import_values);
    if (c.compiled) c.compiled = std::make_shared<schema_memo>();
    for (auto& d : c.dependencies) self(self, *d);
  };
  detach(detach, *out);
  return out;
}

void prepared_chart::weigh() {
  if (archived_) return;
  std::size_t parsed = shapes_.size() * template_bytes_;
  for (const auto& s : shapes_) parsed += s->parsed.text_bytes();
  bytes_ = source_bytes_ * loaded_bytes_per_character + parsed * parsed_bytes_per_character +
           (packed_ ? packed_->size() : 0);
}

}  // namespace helm
