// `windlass trustee`: which releases there are, which instances, and what becomes of one of them.
// In one file: a release is judged by making an instance of it, on what `render` and `diff` stand.
#include "app/run_to_end.hpp"
#include "compose/commands/instance_list.hpp"
#include "compose/commands/instance_preview.hpp"
#include "compose/commands/trustee_arguments.hpp"
#include "compose/objects.hpp"
#include "compose/pack_data.hpp"
#include "formats/json/member.hpp"
#include "formats/yaml/yaml.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "reactor/loop.hpp"
#include "reactor/system/files.hpp"

#include <boost/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>

namespace cli {

using namespace app;

namespace {

namespace json = boost::json;
using formats::text_member;
using policies::value;
using policies::compose::declaration;
using policies::compose::object_name;
using policies::compose::stated_condition;
using reactor::errc;
using reactor::make_fault;
using reactor::result;

constexpr std::size_t most_manifest_bytes = 16 * 1024 * 1024;
constexpr const char *group = "confidentialcontainers.org",
                     *api_version = "confidentialcontainers.org/v1alpha1", *pack_name = "trustee";

const k8s::resource configs{group, "v1alpha1", "trusteeconfigs", "TrusteeConfig", true},
    servers{group, "v1alpha1", "kbsconfigs", "KbsConfig", true},
    deployments{"apps", "v1", "deployments", "Deployment", true},
    services{"", "v1", "services", "Service", true},
    claims{"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", true},
    volumes{"", "v1", "persistentvolumes", "PersistentVolume", false};

/// What is found of a release when an instance asks for it in an empty namespace.
struct release_row {
  std::string version;
  bool is_default = false, deprecated = false;
  std::string extends, problem;
  std::map<std::string, std::string> images;
  std::map<std::string, std::string> files;  // by ConfigMap, where each is from
};

/// What an instance may ask of a release: each may need a file of its own.
struct profile {
  std::string name;
  const char* type;
  bool ibm = false;
};
const profile profiles[] = {{"Permissive", "Permissive"},
                            {"Restricted", "Restricted"},
                            {"Permissive IBM SE", "Permissive", true},
                            {"Restricted IBM SE", "Restricted", true}};

/// What the pack says of all files together, as the service hears it.
using policies::compose::data_verdict;

std::vector<std::pair<std::string, std::string>> labels_of(const value& o) {
  std::vector<std::pair<std::string, std::string>> out;
  const value* metadata = o.find("metadata");
  const value* labels = metadata != nullptr ? metadata->find("labels") : nullptr;
  const value::object* all = labels != nullptr ? labels->if_object() : nullptr;
  if (all == nullptr) return out;
  for (const auto& [key, text] : *all)
    if (const std::string* is = text.if_string()) out.emplace_back(key, *is);
  return out;
}

page page_of(const data_verdict& v, colours tint) {
  page text;
  if (!v.problem.empty())
    text += toned("CatalogueLoaded=False CatalogueInvalid: " + v.problem, tone::bad, tint) + "\n";
  for (const std::string& warning : v.warnings) text += toned(warning, tone::bad, tint) + "\n";
  return text;
}

bool is_fine(const data_verdict& v) {
  return v.problem.empty() && v.warnings.empty();
}

class trustee_work {
public:
  trustee_work(reactor::loop& l, const trustee_arguments& a)
      : loop_(l),
        arguments_(a),
        tint_(colours_at(STDOUT_FILENO)),
        packs_(l, options_of(a)),
        data_(l, [&a](const std::string& name) {
          if (name == "TRUSTEE_TEMPLATES_DIR" && !a.templates.empty()) return a.templates;
          const char* there = std::getenv(name.c_str());
          return there != nullptr ? std::string(there) : std::string();
        }) {}

  int exit_code = failure;

  reactor::awaitable<void> run() {
    auto done = co_await carry_out();
    if (!done) exit_code = complain(done.error().message());
    if (api_) co_await api_->stop();
    loop_.stop();
  }

private:
  static policies::host::options options_of(const trustee_arguments& a) {
    policies::host::options o;
    if (!a.policies.empty()) o.folders.push_back(a.policies);
    return o;
  }

  reactor::awaitable<result<void>> carry_out() {
    auto loaded = co_await packs_.load();
    if (!loaded) co_return loaded.error();
    policies::subject who;
    who.pack = pack_name;
    auto found = packs_.select("compose.sync", who);
    if (!found) co_return found.error();
    pack_ = *found;
    auto about = policies::compose::read_declaration(pack_->about());
    if (!about) co_return about.error();
    about_ = std::make_shared<const declaration>(std::move(*about));
    declaration for_data = *about_;
    files_ = co_await data_.of(std::move(for_data), pack_);
    using command = trustee_arguments::command;
    switch (arguments_.what) {
      case command::versions: co_return co_await versions();
      case command::verify: co_return co_await verify();
      case command::list: co_return co_await list();
      case command::render: co_return co_await render();
      case command::diff: co_return co_await diff();
    }
    co_return result<void>();
  }

  instance_preview empty_world() const { return instance_preview(loop_, pack_, about_, files_); }

  // ---------------------------------------------------------------- releases

  /// The names of a list in versions.json; none where it cannot be read, which the pack says.
  static std::vector<std::string> texts_in(const json::object& of, std::string_view name) {
    std::vector<std::string> all;
    const json::value* list = of.if_contains(name);
    if (list == nullptr || !list->is_array()) return all;
    for (const json::value& one : list->get_array())
      if (one.is_string()) all.emplace_back(one.get_string());
    return all;
  }

  /// An instance of a release in a namespace of its own, with a Secret for each that it may want.
  reactor::awaitable<result<std::string>> try_release(release_row& row,
                                                      profile asked) {  // borrowed
    instance_preview world = empty_world();
    for (const char* name : {"https", "token"})
      world.put(json::object{{"apiVersion", "v1"},
                             {"kind", "Secret"},
                             {"type", "kubernetes.io/tls"},
                             {"metadata", json::object{{"name", name}, {"namespace", "verify"}}},
                             {"data", json::object{{"tls.key", "a2V5"}, {"tls.crt", "Y3J0"}}}});
    json::object volume{{"apiVersion", "v1"}, {"kind", "PersistentVolume"}};
    volume["metadata"] = json::object{{"name", "se"}};
    world.put(std::move(volume));
    json::object spec{{"version", row.version}, {"profileType", asked.type}};
    if (asked.ibm) spec["ibmSE"] = json::object{{"pvName", "se"}};
    if (asked.type == std::string_view("Restricted")) {
      spec["httpsSpec"] = json::object{{"tlsSecretName", "https"}};
      spec["attestationTokenVerificationSpec"] = json::object{{"tlsSecretName", "token"}};
    }
    json::object config{{"apiVersion", api_version}, {"kind", "TrusteeConfig"}};
    config["metadata"] = json::object{{"name", "t"}, {"namespace", "verify"}, {"generation", 1}};
    config["spec"] = std::move(spec);
    world.put(std::move(config));
    const object_name id{{api_version, "TrusteeConfig"}, "verify", "t"};
    object_name which = id;
    auto settled = co_await world.settle(std::move(which));
    if (!settled) co_return settled.error();
    const value& is = world.objects().at(id);
    for (const char* container : {"kbs", "as", "rvps"})
      row.images[container] = text_at(is, {"status", "images", container});
    std::string problem;
    for (const stated_condition& c : conditions_in(is)) {
      // Of the catalogue as a whole it is said once.
      if (c.status == "True" || c.type == "Ready" || c.type == "CatalogueLoaded") continue;
      problem += (problem.empty() ? "" : "; ") + c.type + "=" + c.status + " " + c.reason + ": " +
                 c.message;
    }
    for (const object_name& mine : world.belongings(id)) {
      if (mine.kind.kind != "ConfigMap") continue;
      const std::string file = text_at(
          world.objects().at(mine),
          {"metadata", "annotations", "trustee-operator.confidentialcontainers.org/template-file"});
      const std::string what = mine.name.substr(2);
      const auto plain = row.files.find(std::string(asked.type) + " " + what);
      if (!asked.ibm || plain == row.files.end() || plain->second != file)
        row.files[asked.name + " " + what] = file;
    }
    co_return problem;
  }

  /// The question that the service asks when files are new: one function judges for both.
  reactor::awaitable<result<data_verdict>> judge_files() {
    data_verdict out;
    if (pack_->has("compose.data")) {
      policies::judge accept = [&out](const value& v) -> result<void> {
        auto read = policies::compose::read_verdict(v);
        if (!read) return read.error();
        out = std::move(*read);
        return {};
      };
      auto arguments = policies::compose::data_arguments(files_);
      auto said =
          co_await policies::pack::call(pack_, "compose.data", std::move(arguments),
                                        policies::compose::data_instructions, std::move(accept));
      if (!said) co_return said.error();
      if (!said->accepted) co_return said->accepted.error();
    }
    if (!files_->problem.empty()) out.problem = files_->problem;  // they cannot even be read
    co_return out;
  }

  /// The catalogue's own words; the pack judges them.
  reactor::awaitable<result<std::vector<release_row>>> rows() {
    std::vector<release_row> all;
    // A flat folder has none: it is release latest.
    const auto text = files_->text.find("versions.json");
    boost::system::error_code wrong;
    const json::value read =
        text == files_->text.end() ? json::value() : json::parse(text->second, wrong);
    const json::object nothing;
    const json::object& catalogue = !wrong && read.is_object() ? read.get_object() : nothing;
    std::vector<std::string> names = texts_in(catalogue, "supported_versions");
    if (names.empty()) names.push_back("latest");  // whatever is wrong, the pack says it
    const json::value* mappings = catalogue.if_contains("version_mappings");
    for (const std::string& name : names) {
      release_row row;
      row.version = name;
      row.is_default = text_member(catalogue, "default_version") == name;
      const json::value* mapping = mappings != nullptr && mappings->is_object()
                                       ? mappings->get_object().if_contains(name)
                                       : nullptr;
      if (mapping != nullptr && mapping->is_object()) {
        row.extends = text_member(mapping->get_object(), "extends");
        const json::value* old = mapping->get_object().if_contains("deprecated");
        row.deprecated = old != nullptr && old->is_bool() && old->get_bool();
      }
      std::vector<std::pair<std::string, std::string>> problems;  // and the objects that have them
      for (const profile& one : profiles) {
        profile asked = one;
        auto problem = co_await try_release(row, std::move(asked));
        if (!problem) co_return problem.error();
        if (problem->empty()) continue;
        const auto known =
            std::ranges::find(problems, *problem, &std::pair<std::string, std::string>::first);
        if (known == problems.end())
          problems.emplace_back(*problem, one.name);
        else
          known->second += ", " + one.name;
      }
      for (const auto& [problem, whose] : problems)
        row.problem += (row.problem.empty() ? "" : "; ") + whose + ": " + problem;
      all.push_back(std::move(row));
    }
    co_return all;
  }

  static json::object json_of(const release_row& r) {
    json::object o{{"version", r.version},
                   {"default", r.is_default},
                   {"deprecated", r.deprecated},
                   {"extends", r.extends.empty() ? json::value() : json::value(r.extends)}};
    json::object images, files;
    for (const auto& [container, image] : r.images) images[container] = image;
    for (const auto& [name, file] : r.files) files[name] = file;
    o["images"] = std::move(images);
    o["files"] = std::move(files);
    o["problem"] = r.problem.empty() ? json::value() : json::value(r.problem);
    return o;
  }

  static json::object catalogue_json(const data_verdict& v, json::array list) {
    json::object o{{"versions", std::move(list)}};
    o["problem"] = v.problem.empty() ? json::value() : json::value(v.problem);
    json::array warnings;
    for (const std::string& warning : v.warnings) warnings.emplace_back(warning);
    o["warnings"] = std::move(warnings);
    return o;
  }

  reactor::awaitable<result<void>> versions() {
    auto verdict = co_await judge_files();
    if (!verdict) co_return verdict.error();
    auto all = co_await rows();
    if (!all) co_return all.error();
    json::array list;
    table text({"VERSION", "", "EXTENDS", "KBS IMAGE", "PROBLEM"});
    exit_code = is_fine(*verdict) ? success : failure;
    for (const release_row& r : *all) {
      list.push_back(json_of(r));
      if (!r.problem.empty()) exit_code = failure;
      const auto image = r.images.find("kbs");
      text.row({r.version,
                page(r.is_default ? "default" : "") + (r.deprecated ? page(" deprecated") : page()),
                r.extends, image == r.images.end() ? std::string() : image->second,
                toned(r.problem, tone::bad, tint_)});
    }
    print(catalogue_json(*verdict, std::move(list)), page_of(*verdict, tint_) + text.text());
    co_return result<void>();
  }

  /// Where each file of each release comes from; folders that say nothing new, where that is asked.
  reactor::awaitable<result<void>> verify() {
    auto verdict = co_await judge_files();
    if (!verdict) co_return verdict.error();
    auto all = co_await rows();
    if (!all) co_return all.error();
    json::array list, same;
    page text = page_of(*verdict, tint_);
    exit_code = is_fine(*verdict) ? success : failure;
    for (const release_row& r : *all) {
      list.push_back(json_of(r));
      text += page(r.version) + "\n";
      if (!r.problem.empty()) {
        exit_code = failure;
        text += page("  ") + toned(r.problem, tone::bad, tint_) + "\n";
      }
      table rows({"FILE OF", "FROM"});
      for (const auto& [name, file] : r.files) rows.row({name, file});
      text += rows.text("  ");
    }
    if (arguments_.dedupe) {
      for (const auto& [name, of] : repeated(*all)) {
        same.push_back(json::object{{"file", name}, {"equals", of}});
        text += page(name) + " equals " + of + "\n";
      }
    }
    json::object o = catalogue_json(*verdict, std::move(list));
    if (arguments_.dedupe) o["repeated"] = std::move(same);
    print(o, text);
    co_return result<void>();
  }

  /// Files that an ancestor along `extends` has as well, byte for byte.
  std::map<std::string, std::string> repeated(const std::vector<release_row>& all) const {
    std::map<std::string, std::string> parents, out;
    for (const release_row& r : all) parents[r.version] = r.extends;
    for (const auto& [path, text] : files_->text) {
      const std::size_t slash = path.find('/');
      if (slash == path.npos) continue;
      std::set<std::string> seen;
      for (std::string up = parents[path.substr(0, slash)]; !up.empty() && seen.insert(up).second;
           up = parents[up]) {
        const auto there = files_->text.find(up + path.substr(slash));
        if (there == files_->text.end()) continue;
        if (there->second == text) out[path] = there->first;
        break;  // the nearest one is what it would have without its own
      }
    }
    return out;
  }

  // ---------------------------------------------------------------- instances

  reactor::awaitable<result<instance_preview>> read_world() {
    instance_preview world = empty_world();
    if (!arguments_.file.empty()) {
      auto text = co_await reactor::read_file(loop_, arguments_.file, most_manifest_bytes);
      if (!text) co_return text.error();
      auto documents = formats::parse_kubernetes_documents(*text, "read " + arguments_.file);
      if (!documents) co_return documents.error();
      for (json::value& one : *documents) add(world, std::move(one));
      co_return world;
    }
    auto to = k8s::load_default(arguments_.kubeconfig, arguments_.context,
                                k8s::environment::of_process());
    if (!to) co_return to.error();
    api_.emplace(loop_, std::move(*to));
    std::vector<k8s::resource> kinds{configs};
    if (arguments_.what != trustee_arguments::command::list)
      kinds.insert(kinds.end(), {servers, deployments, services, claims, volumes,
                                 k8s::resources::config_maps(), k8s::resources::secrets()});
    for (const k8s::resource& kind : kinds) {
      auto listed = co_await list_into(world, kind);
      if (!listed) co_return listed.error();
    }
    co_return world;
  }

  void add(instance_preview& world, json::value one) const {
    if (!one.is_object()) return;
    json::object& o = one.get_object();
    if (json::value* items = o.if_contains("items"); items != nullptr && items->is_array()) {
      for (json::value& item : items->get_array()) add(world, std::move(item));
      return;
    }
    if (!o.contains("kind") || !o.contains("metadata") || !o.at("metadata").is_object()) return;
    json::object& metadata = o.at("metadata").get_object();
    const bool nowhere = text_member(o, "kind") == "PersistentVolume";
    if (!nowhere && !metadata.contains("namespace")) metadata["namespace"] = space();
    if (!metadata.contains("generation")) metadata["generation"] = 1;
    world.put(std::move(o));
  }

  std::string space() const { return arguments_.ns.empty() ? "default" : arguments_.ns; }

  reactor::awaitable<result<void>> list_into(instance_preview& world,
                                             k8s::resource kind) {  // borrowed
    k8s::list_options o;
    o.managed_fields = true;  // the preview applies with what the pack's manager applied
    if (kind.namespaced && arguments_.what != trustee_arguments::command::list)
      o.ns = space();
    else if (kind.namespaced && !arguments_.list.all_namespaces)
      o.ns = arguments_.list.ns;
    for (;;) {
      k8s::list_options asked = o;
      auto page = co_await api_->list(kind, std::move(asked));
      if (!page) co_return make_fault(errc::refused, {}, page.error().message());
      if (json::value* items = page->if_contains("items"); items != nullptr && items->is_array()) {
        for (json::value& one : items->get_array()) {
          if (!one.is_object()) continue;
          one.get_object()["apiVersion"] = kind.api_version();
          one.get_object()["kind"] = kind.kind;
          add(world, std::move(one));
        }
      }
      const json::value* metadata = page->if_contains("metadata");
      o.continue_token = metadata != nullptr && metadata->is_object()
                             ? text_member(metadata->get_object(), "continue")
                             : std::string();
      if (o.continue_token.empty()) co_return result<void>();
    }
  }

  reactor::awaitable<result<void>> list() {
    auto world = co_await read_world();
    if (!world) co_return world.error();
    std::vector<listed_instance> all;
    for (const object_name& id : world->instances()) {
      const value& o = world->objects().at(id);
      listed_instance one{id.ns, id.name};
      one.message = "no service has reported on it yet";
      for (const stated_condition& c : conditions_in(o)) {
        if (c.type == "Ready") {
          one.ready = c.status;
          one.reason = c.reason;
          one.message = c.message;
        } else if (c.status == "False") {
          one.problem +=
              (one.problem.empty() ? "" : "; ") + c.type + " " + c.reason + ": " + c.message;
        }
      }
      one.asked = text_at(o, {"spec", "version"});
      one.runs = text_at(o, {"status", "effectiveVersion"});
      one.labels = labels_of(o);
      all.push_back(std::move(one));
    }
    exit_code = show_instances(all, arguments_.list, tint_);
    co_return result<void>();
  }

  struct chosen {
    instance_preview world;
    object_name id;
  };
  /// The instance that the command line names, in the world that was read.
  reactor::awaitable<result<chosen>> choose() {
    auto world = co_await read_world();
    if (!world) co_return world.error();
    auto id = instance_in(*world);
    if (!id) co_return id.error();
    co_return chosen{std::move(*world), std::move(*id)};
  }

  result<object_name> instance_in(const instance_preview& world) const {
    const object_name id{{api_version, "TrusteeConfig"}, space(), arguments_.name};
    if (world.objects().contains(id)) return id;
    std::string others;
    for (const object_name& one : world.instances())
      others += (others.empty() ? "; there are " : ", ") + one.ns + "/" + one.name;
    return make_fault(errc::not_found, "find TrusteeConfig " + id.ns + "/" + id.name,
                      "it is not there" + others);
  }

  /// 1 and a sentence for each reason why the instance is not what it asks for.
  int code_of(const value& instance) const {
    int code = success;
    for (const stated_condition& c : conditions_in(instance)) {
      const bool decides =
          c.type == "VersionResolved" || c.type == "TemplatesResolved" || c.type == "InputsValid";
      if (decides && c.status == "False")
        code = complain(c.type + "=" + c.status + " " + c.reason + ": " + c.message);
    }
    return code;
  }

  /// Every object that it becomes, as YAML; of Secrets their names.
  reactor::awaitable<result<void>> render() {
    auto found = co_await choose();
    if (!found) co_return found.error();
    auto& [world, id] = *found;
    object_name which = id;
    auto held = arguments_.to.empty() ? co_await world.settle(std::move(which))
                                      : co_await with_version(world, std::move(which));
    if (!held) co_return held.error();
    json::array all;
    std::string text;
    for (const object_name& mine : world.belongings(id)) {
      value copy = world.objects().at(mine);
      json::value o = compose::to_json(copy);
      json::object& members = o.get_object();
      members.erase("digests");
      members.erase("status");
      json::object& metadata = members.at("metadata").get_object();
      for (const char* field :
           {"uid", "resourceVersion", "creationTimestamp", "generation", "ownerReferences"})
        metadata.erase(field);
      text += "---\n" + formats::write_kubernetes_yaml(o, formats::key_order::sorted,
                                                       formats::yaml_text::printable);
      all.push_back(std::move(o));
    }
    for (const std::string& h : *held) text += "# " + page(h).text() + "\n";
    exit_code = code_of(world.objects().at(id));
    const bool written = arguments_.output == output_format::text
                             ? write_bytes(STDOUT_FILENO, text)
                             : (write_document(json::object{{"objects", std::move(all)}},
                                               arguments_.output) == success);
    if (!written) exit_code = failure;
    co_return result<void>();
  }

  /// A running instance keeps its files when its version changes; one that runs nothing is made of
  /// the version at once.
  reactor::awaitable<result<std::vector<std::string>>> with_version(instance_preview& world,
                                                                    object_name id) {  // borrowed
    std::string version = arguments_.to;
    if (world.belongings(id).empty()) {
      world.ask_for(id, version);
      co_return co_await world.settle(std::move(id));
    }
    auto changed = co_await world.change(std::move(id), std::move(version));
    if (!changed) co_return changed.error();
    co_return changed->holds;
  }

  reactor::awaitable<result<void>> diff() {
    auto found = co_await choose();
    if (!found) co_return found.error();
    auto& [world, id] = *found;
    object_name which = id;
    std::string version = arguments_.to;
    auto changed = co_await world.change(std::move(which), std::move(version));
    if (!changed) co_return changed.error();
    const trustee_change& c = *changed;
    page text = page("trustee ") + c.ns + "/" + c.name + "  " + c.from + " -> " + c.to + "\n";
    table images({"IMAGE", "FROM", "TO"});
    for (const auto& [container, both] : c.images)
      if (both.first != both.second) images.row({container, both.first, both.second});
    text += images.text("  ");
    table files({"FILE", "ACTION", "KEYS"});
    for (const trustee_file& f : c.files) {
      std::string keys;
      for (const std::string& key : f.keys) keys += (keys.empty() ? "" : ", ") + key;
      files.row({f.name, f.action, keys.empty() ? f.why : keys});
    }
    text += files.text("  ");
    for (const trustee_restart& r : c.restarts) {
      text += page("  pods restart  ") + r.name + "\n";
      for (const std::string& line : r.lines) text += page("    ") + line + "\n";
    }
    if (c.restarts.empty()) text += page("  no pods restart\n");
    table conditions({"CONDITION", "", "REASON", "MESSAGE"});
    for (const stated_condition& d : c.conditions)
      conditions.row({d.type, d.status, d.reason, d.message});
    text += conditions.text("  ");
    for (const std::string& h : c.holds) text += page("  held  ") + h + "\n";
    exit_code = code_of(world.objects().at(id));
    print(change_json(c), text);
    co_return result<void>();
  }

  void print(const json::object& o, const page& text) {
    const bool written = arguments_.output == output_format::text
                             ? write_out(STDOUT_FILENO, text)
                             : (write_document(o, arguments_.output) == success);
    if (!written) exit_code = failure;
  }

  reactor::loop& loop_;
  const trustee_arguments& arguments_;
  const colours tint_;
  policies::host packs_;
  compose::pack_data data_;
  std::optional<k8s::client> api_;
  std::shared_ptr<const policies::pack> pack_;
  std::shared_ptr<const declaration> about_;
  compose::pack_data::files files_;
};

int trustee_command(const trustee_arguments& a, const invocation&) {
  reactor::loop loop;
  trustee_work command(loop, a);
  run_to_end(loop, "trustee", command.run());
  return command.exit_code;
}

using trustee_verb = trustee_arguments::command;

void add_common(flags& f, trustee_arguments& to) {
  f.value("--policies", to.policies, "folder of policy packs that come before the stock ones")
      .takes("DIR");
  if (to.what != trustee_arguments::command::list) f.output(to.output);
}
void add_templates(flags& f, trustee_arguments& to) {
  f.value("--templates", to.templates,
          "folder with versions.json and the files of each release, instead of "
          "TRUSTEE_TEMPLATES_DIR or those that the program carries")
      .takes("DIR");
}
void add_place(flags& f, trustee_arguments& to) {
  f.value("-f,--file", to.file, "objects of a file in place of a cluster's").takes("FILE");
  f.value("--kubeconfig", to.kubeconfig, "the cluster's").takes("FILE");
  f.value("--context", to.context, "context of the kubeconfig");
}
void add_instance(flags& f, trustee_arguments& to) {
  f.value("NAME", to.name, "of the TrusteeConfig").required();
  f.value("-n,--namespace", to.ns, "namespace of the instance");
  add_templates(f, to);
  add_place(f, to);
}
void declare_list(flags& f, trustee_arguments& to) {
  add_place(f, to);
  declare_listing(f, to.list,
                  {.names = "names; none = all",
                   .argument = "NAME",
                   .follows = list_flags::watch::none,
                   .lie = list_flags::place::server});
  f.footer("Example:\n  windlass trustee list -n shops --field-selector ready!=True");
}
void declare_verify(flags& f, trustee_arguments& to) {
  f.value("DIR", to.templates, "folder with versions.json; without it what is in force").takes("");
  f.on("--dedupe", to.dedupe, "files that a release would have without its own copy");
}
void declare_render(flags& f, trustee_arguments& to) {
  add_instance(f, to);
  f.value("--version,--to", to.to, "of another version than it asks for");
}
void declare_diff_of_versions(flags& f, trustee_arguments& to) {
  add_instance(f, to);
  f.value("--to", to.to, "such as v0.21.0").required();
  f.footer("Example:\n  windlass trustee diff a -n shops --to v0.21.0 -o json");
}

}  // namespace

std::vector<app::command> trustee_commands() {
  return family<trustee_arguments>(
      {"trustee", "Trustee's releases and instances: what there is, what a change would do"},
      {{"list", "Instances, what they ask for and what they run", trustee_verb::list, declare_list},
       {"versions", "Releases of the catalogue, with their images", trustee_verb::versions,
        add_templates},
       {"verify", "Where each file of each release comes from, and what is wrong",
        trustee_verb::verify, declare_verify},
       {"render", "The objects that an instance becomes; of Secrets no data", trustee_verb::render,
        declare_render},
       {"diff", "What another version would change: images, files, pods, conditions",
        trustee_verb::diff, declare_diff_of_versions}},
      add_common, trustee_command);
}

}  // namespace cli
