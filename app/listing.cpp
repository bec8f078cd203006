#include "app/listing.hpp"

#include "app/exit_code.hpp"
#include "app/nearest.hpp"
#include "formats/glob.hpp"
#include "formats/json/path.hpp"
#include "k8s/informer/selector.hpp"

#include <unistd.h>

#include <algorithm>
#include <functional>

namespace app {
namespace {

namespace json = boost::json;
using void_result = reactor::result<void, std::string>;

void_result list_failure(std::string why) {
  return void_result(boost::system::in_place_error, std::move(why));
}

/// Texts with numbers in them as people sort them: "node-9" before "node-10".
bool is_before(std::string_view a, std::string_view b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto digits = [&](std::string_view& text) {
    std::size_t end = 0;
    while (end < text.size() && is_digit(text[end])) ++end;
    std::string_view out = text.substr(0, end);
    text.remove_prefix(end);
    while (out.size() > 1 && out.front() == '0') out.remove_prefix(1);
    return out;
  };
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view x = digits(a), y = digits(b);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
      continue;
    }
    if (a.front() != b.front()) return a.front() < b.front();
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  return a.size() < b.size();
}

std::string plain_text(const json::value& v) {
  return v.is_string() ? std::string(v.get_string()) : json::serialize(v);
}

struct field_requirement {
  std::string path, value;
  bool equal = true;
};

reactor::result<std::vector<field_requirement>, std::string> field_requirements(
    std::string_view text) {
  std::vector<field_requirement> out;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view one = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const std::size_t equals = one.find('=');
    if (equals == one.npos || equals == 0)
      return "invalid field selector \"" + std::string(one) + "\"; expected FIELD=VALUE";
    const bool differs = one[equals - 1] == '!';
    std::string_view value = one.substr(equals + 1);
    if (value.starts_with('=')) value.remove_prefix(1);
    out.push_back(
        {std::string(one.substr(0, equals - (differs ? 1 : 0))), std::string(value), !differs});
  }
  return out;
}

k8s::string_map as_map(const std::vector<std::pair<std::string, std::string>>& labels) {
  std::vector<k8s::string_map::member> members;
  for (const auto& [key, value] : labels)
    members.emplace_back(k8s::interned(key), k8s::interned(value));
  return k8s::string_map(std::move(members));
}

/// Keeps those whose fields are as the selector says.
void_result keep_by_fields(std::vector<listed_object>& objects, const std::string& selector) {
  auto wanted = field_requirements(selector);
  if (!wanted) return list_failure(wanted.error());
  for (const field_requirement& one : *wanted) {
    const auto path = formats::json_path::parse_relaxed(one.path);
    if (!path) return list_failure("field selector " + one.path + ": " + path.error());
    bool known = objects.empty();
    std::vector<listed_object> kept;
    for (listed_object& object : objects) {
      const json::value document = object.document();
      const auto found = path->find(document);
      const bool has = found && !found->empty();
      known = known || has;
      const std::string is = has ? plain_text(*found->front()) : std::string();
      if ((is == one.value) == one.equal) kept.push_back(std::move(object));
    }
    if (!known) return list_failure("field label not supported: " + one.path);
    objects = std::move(kept);
  }
  return {};
}

void_result sort_objects(std::vector<listed_object>& objects, const std::string& by) {
  const auto path = formats::json_path::parse_relaxed(by);
  if (!path) return list_failure("--sort-by " + by + ": " + path.error());
  struct entry {
    json::value key;
    bool has = false;
    listed_object object;
  };
  std::vector<entry> all;
  bool known = objects.empty();
  for (listed_object& object : objects) {
    const json::value document = object.document();
    const auto found = path->find(document);
    if (!found) return list_failure("--sort-by " + by + ": " + found.error());
    known = known || !found->empty();
    all.push_back(
        {found->empty() ? json::value() : *found->front(), !found->empty(), std::move(object)});
  }
  if (known) {
    std::ranges::stable_sort(all, [](const entry& a, const entry& b) {
      if (a.has != b.has) return b.has;
      if (a.key.is_number() && b.key.is_number())
        return a.key.to_number<double>() < b.key.to_number<double>();
      return is_before(plain_text(a.key), plain_text(b.key));
    });
  }
  objects.clear();
  for (entry& one : all) objects.push_back(std::move(one.object));
  return known ? void_result()
               : list_failure("couldn't find any field with path \"" + by +
                              "\" in the list of objects");
}

void_result keep_by_names(std::vector<listed_object>& objects,
                          const std::vector<std::string>& names) {
  std::string missing;
  for (const std::string& name : names) {
    if (std::ranges::any_of(objects, [&](const auto& o) { return o.is_called(name); })) continue;
    std::vector<std::string> candidates;
    for (const listed_object& o : objects) {
      candidates.push_back(o.name);
      candidates.push_back(o.path());
    }
    const std::string kind = objects.empty() ? "object" : objects.front().kind;
    missing += (missing.empty() ? "" : "\n") + ("no " + kind + " \"" + name + "\" is found") +
               did_you_mean(name, candidates);
  }
  std::erase_if(objects, [&](const listed_object& o) {
    return std::ranges::none_of(names, [&](const auto& name) { return o.is_called(name); });
  });
  return missing.empty() ? void_result() : list_failure(std::move(missing));
}

}  // namespace

bool list_request::chooses_cluster(std::string_view name) const {
  return clusters.empty() || std::ranges::any_of(clusters, [&](const std::string& pattern) {
           return formats::fits_glob(pattern, name);
         });
}

std::string list_request::only_cluster() const {
  return clusters.size() == 1 && clusters.front().find_first_of("*?") == std::string::npos
             ? clusters.front()
             : std::string();
}

void declare_clusters(flags& f, list_request& to) {
  f.value("--cluster", to.clusters, "only these clusters; * and ? stand for any letters")
      .separated(',')
      .repeated()
      .takes("NAME,GLOB");
  f.value("-l,--selector", to.selector,
          "only clusters whose labels match, as in env=prod,tier!=edge")
      .takes("SELECTOR");
}

namespace {

void declare_rows(flags& f, list_request& to) {
  f.value("--sort-by", to.sort_by, "a path of the documents, as in .metadata.name").takes("PATH");
  f.on("--no-headers", to.output.no_headers, "only the rows of the table");
}

void declare_formats(flags& f, output_choice& to, const std::optional<list_flags::formats>& own) {
  if (!own) {
    f.output(to, output_format::wide);
    return;
  }
  std::vector<std::string> names = own->names;
  names.emplace_back("wide");
  f.output(to, names, own->about, [&to, chosen = own->chosen](const std::string& name) {
    if (name == "wide")
      to.format = output_format::wide;
    else
      chosen(name);
  });
}

}  // namespace

void declare_order(flags& f, list_request& to) {
  declare_rows(f, to);
  f.on("--show-labels", to.show_labels, "labels as the last column");
}

list_flags of_files() {
  return {.follows = list_flags::watch::none, .lie = list_flags::place::files};
}

void declare_listing(flags& f, list_request& to, const list_flags& has) {
  using watching = list_flags::watch;
  if (has.names) f.value(has.argument, to.names, has.names).takes(std::string(has.argument) + " …");
  declare_formats(f, to.output, has.own);
  using place = list_flags::place;
  if (has.lie == place::fleet) declare_clusters(f, to);
  if (has.lie == place::server)
    f.value("-l,--selector", to.selector, "only objects whose labels match, as in env=prod")
        .takes("SELECTOR");
  f.value("--field-selector", to.field_selector,
          "only objects with these fields, as in metadata.name=workers,state!=Live")
      .takes("FIELD=VALUE");
  if (has.lie == place::fleet)
    f.value("-n", to.ns, "only objects of this namespace; those without one are shown as well")
        .takes("NAMESPACE");
  if (has.lie == place::server)
    f.value("-n,--namespace", to.ns, "only objects of this namespace").takes("NAMESPACE");
  if (has.lie != place::files)
    f.on("-A,--all-namespaces", to.all_namespaces, "objects of every namespace, as without -n");
  if (has.lie == place::files)
    declare_rows(f, to);
  else
    declare_order(f, to);
  if (has.follows == watching::none) return;
  f.on("-w,--watch", to.watch, "go on, and print each object that changes");
  f.on("--watch-only", to.watch_only, "the same without what there is at the beginning");
}

json::object listed_object::document() const {
  std::string spelled = kind;
  if (!spelled.empty() && spelled[0] >= 'a' && spelled[0] <= 'z')
    spelled[0] = static_cast<char>(spelled[0] - 'a' + 'A');
  json::object metadata{{"name", name}};
  if (!ns.empty()) metadata["namespace"] = ns;
  json::object with;
  for (const auto& [key, value] : labels) with[key] = value;
  if (!with.empty()) metadata["labels"] = std::move(with);
  json::object out{{"metadata", std::move(metadata)}};
  if (!cluster.empty()) out["cluster"] = cluster;
  for (const auto& member : body)
    if (!out.contains(member.key())) out[member.key()] = member.value();
  return app::document(spelled, std::move(out));
}

std::string listed_object::path() const {
  return (cluster.empty() ? "" : cluster + "/") + (ns.empty() ? "" : ns + "/") + name;
}

bool listed_object::is_called(std::string_view asked) const {
  for (const char* behind : {"/", "s/"})
    if (const std::string prefix = kind + behind; asked.starts_with(prefix))
      if (is_called(asked.substr(prefix.size()))) return true;
  return asked == name || asked == path() || (!ns.empty() && asked == ns + "/" + name) ||
         (!cluster.empty() && asked == cluster + "/" + name);
}

void_result listing::choose(const list_request& r) {
  std::erase_if(objects_, [&](const listed_object& o) {
    return !r.chooses_cluster(o.cluster.empty() ? o.name : o.cluster) ||
           (!r.ns.empty() && !r.all_namespaces && !o.ns.empty() && o.ns != r.ns);
  });
  if (!r.names.empty())
    if (auto kept = keep_by_names(objects_, r.names); !kept) return kept;
  if (!r.selector.empty()) {
    auto selector = k8s::label_selector::parse(std::string_view(r.selector));
    if (!selector) return list_failure("--selector " + r.selector + ": " + selector.error());
    std::erase_if(objects_,
                  [&](const listed_object& o) { return !selector->matches(as_map(o.labels)); });
  }
  if (!r.field_selector.empty())
    if (auto kept = keep_by_fields(objects_, r.field_selector); !kept) return kept;
  if (!r.sort_by.empty()) return sort_objects(objects_, r.sort_by);
  return {};
}

void listing::arrange(const list_request& r) {
  if (!r.sort_by.empty()) (void)sort_objects(objects_, r.sort_by);
}

table listing::table_of(const list_request& r,
                        const std::vector<const listed_object*>& shown) const {
  std::vector<page> heads;
  std::vector<unsigned> importance;
  for (const list_column& c : columns_) {
    heads.push_back(c.head);
    importance.push_back(c.importance);
  }
  if (r.show_labels) {
    heads.emplace_back("LABELS");
    importance.push_back(table::must_stay);
  }
  table t(std::move(heads));
  t.importance(std::move(importance));
  for (const listed_object* o : shown) {
    std::vector<page> cells = o->cells;
    if (r.show_labels) {
      std::string labels;
      for (const auto& [key, value] : o->labels)
        labels += (labels.empty() ? "" : ",") + key + "=" + value;
      cells.emplace_back(labels.empty() ? std::string("<none>") : labels);
    }
    t.row(std::move(cells));
  }
  return t;
}

page listing::text(const list_request& r, std::size_t columns, std::size_t rows) const {
  if (objects_.empty()) return {};
  std::vector<const listed_object*> shown;
  for (const listed_object& o : objects_) shown.push_back(&o);
  std::size_t left_out = 0;
  if (rows > 0 && shown.size() > rows && r.output != output_format::wide) {
    if (r.sort_by.empty())
      std::ranges::stable_sort(shown, std::greater<>(), &listed_object::trouble);
    left_out = shown.size() - rows;
    shown.resize(rows);
  }
  const table t = table_of(r, shown);
  page out = r.output.no_headers ? t.without_head({}, columns) : t.text({}, columns);
  if (left_out > 0)
    out += page("and ") + std::to_string(left_out) +
           " more; -o wide lists all, NAME or --cluster some\n";
  return out;
}

json::array listing::items() const {
  json::array out;
  for (const listed_object& o : objects_) out.push_back(o.document());
  return out;
}

std::vector<std::size_t> listing::changed(std::map<std::string, std::string>& last) const {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    std::string now;
    for (const page& cell : objects_[i].cells) now += cell.text() + "\n";
    std::string& known = last[objects_[i].kind + "/" + objects_[i].path()];
    if (known == now) continue;
    known = std::move(now);
    out.push_back(i);
  }
  return out;
}

page listing::rows_text(const list_request& r, const std::vector<std::size_t>& which) const {
  std::vector<const listed_object*> shown;
  for (const std::size_t i : which) shown.push_back(&objects_[i]);
  return table_of(r, shown).without_head();
}

page listing::below() const {
  page out;
  for (const listed_object& o : objects_) out += o.below;
  return out;
}

int show_list(listing rows, const list_request& r, std::string_view key, json::object document,
              const around_list& around) {
  if (auto chosen = rows.choose(r); !chosen) return complain(chosen.error());
  if (r.output.is_machine()) {
    json::array bodies;
    for (const listed_object& one : rows.objects()) bodies.push_back(one.body);
    document[key] = std::move(bodies);
    document["items"] = rows.items();
    return write_document(document, r.output);
  }
  const std::size_t columns = r.output == output_format::wide ? any_width : output_columns();
  page text = rows.text(r, columns);
  if (!r.output.no_headers)
    text = folded(around.head, columns, 4) + text + folded(rows.below() + around.tail, columns, 4);
  if (text.empty()) write_out(STDERR_FILENO, page("no ") + std::string(key) + " found\n");
  return write_out(STDOUT_FILENO, text) ? success : failure;
}

}  // namespace app
