// `windlass pool` and `windlass chart`: what is said once at home, seen and asked for by name.
#include "fleetwide/commands/object_command.hpp"

#include "fleetwide/charts/chart_home.hpp"
#include "fleetwide/commands/fleet_kinds.hpp"
#include "fleetwide/commands/object_view.hpp"
#include "fleetwide/kinds/names.hpp"
#include "formats/yaml/yaml.hpp"
#include "k8s/informer/view.hpp"
#include "reactor/loop.hpp"
#include "reactor/system/files.hpp"
#include "service/overview/overview.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <iostream>
#include <map>

namespace cli {

using namespace app;

namespace {

namespace json = boost::json;
using fleetwide::fleet_look;
using verb = object_arguments::command;

constexpr std::size_t most_file_bytes = 4 * 1024 * 1024;

class object_work {
public:
  object_work(reactor::loop& l, service& s, const object_arguments& a,
              std::vector<fleetwide::fleet_object> assumed, command_output& out)
      : loop_(l),
        windlass_(s),
        arguments_(a),
        kind_(*a.kind),
        assumed_(std::move(assumed)),
        out_(out) {}

  reactor::awaitable<int> run() {
    co_await until_answered(windlass_, loop_, {}, loop_.now() + arguments_.timeout);
    fleetwide::fleet_home* home = part();
    for (int i = 0; !home && i < 50; ++i) {
      co_await loop_.sleep_for(std::chrono::milliseconds(100));
      home = part();
    }
    if (!home) co_return complain("home has no " + std::string(kind_.kind) + "s: " + why_none());
    const bool complete = co_await home->synced(loop_.now() + arguments_.timeout);
    if (!assumed_.empty()) home->assume(assumed_);
    if (!complete)
      co_return complain("the " + std::string(kind_.kind) +
                         "s at home could not be read: " + why_none());
    std::vector<fleet_look> all = co_await home->look_at_all();
    std::erase_if(all, [&](const fleet_look& at) { return !is_meant(at); });
    const auto selector = k8s::label_selector::parse(std::string_view(arguments_.list.selector));
    if (!selector) co_return complain("--selector: " + selector.error(), wrong_usage);
    for (fleet_look& at : all) {
      keep_chosen(at, *selector);
      std::vector<std::string> digests;
      for (const fleetwide::revision_record& r : at.object.status.history)
        digests.push_back(r.digest);
      for (const fleetwide::member& m : at.world.members)
        if (std::ranges::find(digests, m.digest) == digests.end()) digests.push_back(m.digest);
      co_await home->load(at.object, std::move(digests));
    }
    if (all.empty() && !arguments_.name.empty())
      co_return complain("home has no " + std::string(kind_.kind) + " \"" + arguments_.name + "\"");
    co_return co_await show(all);
  }

private:
  fleetwide::fleet_home* part() const {
    k8s::cluster* home = windlass_.home();
    return home ? kind_.at_home(*home) : nullptr;
  }
  std::string why_none() const {
    k8s::cluster* home = windlass_.home();
    const k8s::engagement* api = home ? home->find(kind_.api) : nullptr;
    return api ? api->says() : "no API server is home (--fleet contexts has none)";
  }
  bool is_meant(const fleet_look& at) const {
    const k8s::object_key key = at.object.meta.key();
    if (!arguments_.list.ns.empty() && arguments_.list.ns != key.ns) return false;
    if (!assumed_.empty() &&
        std::ranges::none_of(assumed_, [&](const auto& p) { return p.meta.key() == key; }))
      return false;
    return arguments_.name.empty() || arguments_.name == key.name || arguments_.name == key.text();
  }
  /// Of its clusters those that --cluster and -l ask for.
  void keep_chosen(fleet_look& at, const k8s::label_selector& selector) const {
    std::vector<fleetwide::member> members;
    std::vector<fleetwide::member_plan> plans;
    for (std::size_t i = 0; i < at.world.members.size(); ++i) {
      const fleetwide::member& m = at.world.members[i];
      k8s::cluster* c = windlass_.fleet().find(m.cluster);
      if (!arguments_.list.chooses_cluster(m.cluster)) continue;
      if (!selector.matches(c ? c->labels() : k8s::string_map())) continue;
      members.push_back(m);
      plans.push_back(at.plan.members[i]);
    }
    at.world.members = std::move(members);
    at.plan.members = std::move(plans);
  }
  int complain(std::string text, int code = failure) {
    out_.complaint(std::move(text));
    return code;
  }
  std::size_t width() const {
    return arguments_.list.output == output_format::wide ? any_width : out_.columns;
  }
  int print(const json::object& o, const page& text) {
    if (!arguments_.list.output.is_machine()) {
      out_.text(text);
      return success;
    }
    auto written = document_text(o, arguments_.list.output);
    if (!written) return complain(written.error());
    out_.bytes(std::move(*written));
    return success;
  }

  reactor::awaitable<int> show(const std::vector<fleet_look>& all) {  // borrowed
    switch (arguments_.what) {
      case verb::list:
        co_return show_list(objects_listing(kind_, all, out_.tint), arguments_.list, kind_.all,
                            document(std::string(kind_.kind) + "List", {}));
      case verb::status:
      case verb::plan: co_return show_state(all);
      case verb::diff: co_return show_diff(all);
      case verb::history:
        for (const fleet_look& at : all)
          co_return print(object_history_document(kind_, at),
                          object_history_text(kind_, at, width()));
        co_return success;
      case verb::values: co_return show_values(all);
      default: break;
    }
    int code = success;
    for (const fleet_look& at : all) {
      const int one = co_await change(at);
      code = std::max(code, one);
    }
    co_return code;
  }

  int show_state(const std::vector<fleet_look>& all) {
    json::array pools;
    page text;
    for (const fleet_look& at : all) {
      json::object one{{"name", at.object.meta.key().text()}};
      for (auto& m : object_json(kind_, at)) one[m.key()] = std::move(m.value());
      pools.push_back(std::move(one));
      if (!text.empty()) text += "\n";
      text += arguments_.what == verb::plan ? object_plan_text(kind_, at, out_.tint, width())
                                            : object_status_text(kind_, at, out_.tint, width());
    }
    if (all.empty()) text = "no " + std::string(kind_.kind) + " is at home\n";
    json::object o;
    o[kind_.all] = std::move(pools);
    return print(
        document(std::string(kind_.kind) + (arguments_.what == verb::plan ? "Plan" : "Status"),
                 std::move(o)),
        text);
  }

  int show_diff(const std::vector<fleet_look>& all) {
    int code = success;
    for (const fleet_look& at : all) {
      std::map<std::string, object_difference> by_digest;
      for (const fleetwide::member& m : at.world.members) {
        if (!m.is_selected || !m.is_granted || m.digest == at.world.wanted) continue;
        object_difference& d = by_digest[m.digest];
        d.has = m.digest;
        d.clusters.push_back(m.cluster);
      }
      std::vector<object_difference> groups;
      for (auto& [digest, d] : by_digest) {
        fleetwide::fleet_home* home = part();
        const fleetwide::revision_content* had =
            home ? home->content_of(digest, at.object) : nullptr;
        if (had) d.changes = changes_between(kind_, *had, at.wanted);
        groups.push_back(std::move(d));
      }
      const int one = print(object_diff_document(kind_, at, groups),
                            object_diff_text(kind_, at, groups, width()));
      code = std::max(code, one);
    }
    return code;
  }

  int show_values(const std::vector<fleet_look>& all) {
    auto* home = dynamic_cast<fleetwide::chart_home*>(part());
    json::array clusters;
    std::string text;
    for (const fleet_look& at : all)
      for (const fleetwide::member& m : at.world.members) {
        if (!home) break;
        const auto is = home->values_before_secrets(at, m.cluster);
        json::object one{{"fleetChart", at.object.meta.key().text()}, {"cluster", m.cluster}};
        text += "# " + at.object.meta.key().text() + " on " + m.cluster + "\n";
        if (!is.problem.empty()) {
          one["problem"] = is.problem;
          text += "# " + page(is.problem).text() + "\n";
        } else {
          boost::system::error_code wrong;
          one["values"] = json::parse(is.json, wrong);
          text += is.yaml;
        }
        for (const fleetwide::values_source& s : at.object.chart.sources)
          if (s.is_secret) text += "# and Secret " + s.name + ", key " + s.key + "\n";
        clusters.push_back(std::move(one));
      }
    json::object o;
    o["clusters"] = std::move(clusters);
    if (arguments_.list.output.is_machine())
      return print(document("FleetChartValues", std::move(o)), page());
    out_.bytes(std::move(text));
    return success;
  }

  /// The patch of what is asked for, and what it does as a sentence.
  struct edit {
    json::object patch;
    std::string says, problem;
  };

  edit annotated(std::string_view key, const std::string& value, std::string says) const {
    json::object annotations, metadata;
    edit e;
    annotations[key] = value;
    metadata["annotations"] = std::move(annotations);
    e.patch["metadata"] = std::move(metadata);
    e.says = std::move(says);
    return e;
  }

  edit edit_of(const fleet_look& at) const {
    edit e;
    const fleetwide::fleet_object& p = at.object;
    switch (arguments_.what) {
      case verb::pause:
      case verb::resume:
        e.patch["spec"] = json::object{{"paused", arguments_.what == verb::pause}};
        e.says = arguments_.what == verb::pause ? "pause: no further cluster begins" : "resume";
        return e;
      case verb::retry:
        return annotated(fleetwide::names::retry, reactor::format_rfc3339(loop_.wall()),
                         "try revision " + std::to_string(at.number) + " again");
      case verb::approve:
        if (arguments_.adopt) {
          const std::vector<std::string>& some = arguments_.list.clusters;
          std::string names;
          for (const std::string& c : some) names += (names.empty() ? "" : ",") + c;
          if (names.empty()) names = fleetwide::names::all_clusters;
          return annotated(
              fleetwide::names::adopt, names,
              "take over what is there on " + (some.empty() ? "every cluster" : names));
        }
        if (at.available.empty())
          e.problem = "nothing of " + std::string(kind_.kind) + " " + p.meta.key().text() +
                      " waits for approval";
        else
          return annotated(fleetwide::names::approve, at.available, "approve " + at.available);
        return e;
      case verb::undo: return undo_of(at);
      default: return e;
    }
  }

  edit undo_of(const fleet_look& at) const {
    edit e;
    const fleetwide::fleet_object& p = at.object;
    const fleetwide::revision_record* back = nullptr;
    for (const fleetwide::revision_record& r : p.status.history) {
      const bool other = r.digest != at.world.wanted;
      if (arguments_.to_revision > 0
              ? r.revision == static_cast<std::int64_t>(arguments_.to_revision)
              : other && r.outcome != fleetwide::outcome::returned &&
                    r.outcome != fleetwide::outcome::halted)
        back = &r;
    }
    fleetwide::fleet_home* home = part();
    const fleetwide::revision_content* content =
        back && home ? home->content_of(back->digest, p) : nullptr;
    if (!content) {
      e.problem =
          std::string(kind_.kind) + " " + p.meta.key().text() +
          (arguments_.to_revision > 0 ? " has no revision " + std::to_string(arguments_.to_revision)
                                      : std::string(" has no revision to go back to"));
      return e;
    }
    e.patch["spec"] = kind_.undo(p, *content, back->image_digest);
    e.says = "go back to revision " + std::to_string(back->revision) + ", " + back->ref;
    return e;
  }

  /// Written as one replaces a field: of what a revision says, members that it did not have go.
  void drop_others(json::object& patch, const json::object& now) const {
    for (const std::string_view member : kind_.replaced) {
      const json::value* had = now.if_contains(member);
      json::value* mine = patch.if_contains(member);
      if (had && !mine)
        patch[member] = nullptr;
      else if (had && mine->is_object() && had->is_object())
        drop_within(mine->as_object(), had->as_object());
    }
  }
  static void drop_within(json::object& patch, const json::object& now) {
    for (const auto& m : now) {
      const json::value* mine = patch.if_contains(m.key());
      if (!mine)
        patch[m.key()] = nullptr;
      else if (mine->is_object() && m.value().is_object())
        drop_within(patch[m.key()].as_object(), m.value().as_object());
    }
  }

  reactor::awaitable<int> change(const fleet_look& at) {  // borrowed
    edit e = edit_of(at);
    const std::string name = at.object.meta.key().text();
    if (!e.problem.empty()) co_return complain(e.problem);
    std::string error;
    k8s::cluster* home = windlass_.home();
    if (arguments_.yes) {
      if (arguments_.what == verb::undo) {
        auto now = co_await home->api().get(kind_.resource(), at.object.meta.key());
        if (!now) co_return complain(now.error().message());
        const json::value* spec = now->if_contains("spec");
        if (spec && spec->is_object()) drop_others(e.patch["spec"].as_object(), spec->get_object());
      }
      auto done = co_await home->api().merge_patch(kind_.resource(), at.object.meta.key(),
                                                   std::move(e.patch));
      if (!done) error = done.error().message();
    }
    json::object o{{kind_.one, name}, {"change", e.says}, {"dryRun", !arguments_.yes}};
    if (!error.empty()) o["error"] = error;
    if (!error.empty() && !arguments_.list.output.is_machine()) co_return complain(error);
    page text = page(name) + ": " + e.says;
    text += arguments_.yes ? page("\n") : page(" (shown only; --yes does it)\n");
    const int code =
        print(document(std::string(kind_.kind) + "Change", std::move(o)), folded(text, width()));
    co_return error.empty() ? code : failure;
  }

  reactor::loop& loop_;
  service& windlass_;
  const object_arguments& arguments_;
  const fleet_kind& kind_;
  std::vector<fleetwide::fleet_object> assumed_;
  command_output& out_;
};

}  // namespace

reactor::result<std::vector<fleetwide::fleet_object>, std::string> objects_in(
    const fleet_kind& kind, const std::string& text, const std::string& file,
    const std::string& ns) {
  auto documents = formats::parse_kubernetes_documents(text, file);
  if (!documents) return documents.error().message();
  std::vector<fleetwide::fleet_object> out;
  for (const json::value& one : *documents) {
    const json::object* o = one.if_object();
    const json::value* is = o ? o->if_contains("kind") : nullptr;
    if (!is || *is != json::string(kind.kind)) continue;
    json::object copy = *o;
    json::value& metadata = copy["metadata"];
    if (!metadata.is_object()) metadata.emplace_object();
    json::object& m = metadata.get_object();
    if (!m.contains("namespace")) m["namespace"] = ns;
    m["uid"] = "assumed";
    m["resourceVersion"] = "1";
    m.erase("managedFields");
    auto read = kind.read(json::serialize(copy));
    if (!read) return file + ": " + read.error().message();
    if (!read->spec_problem().empty())
      return file + ": " + std::string(kind.kind) + " " + read->meta.key().text() + ": " +
             read->spec_problem();
    out.push_back(std::move(*read));
  }
  if (out.empty()) return file + ": no " + std::string(kind.kind) + " is in it";
  return out;
}

reactor::awaitable<int> work_on_objects(reactor::loop& l, service& s, object_arguments a,
                                        std::vector<fleetwide::fleet_object> assumed,
                                        command_output& out) {
  object_work work(l, s, a, std::move(assumed), out);
  co_return co_await work.run();
}

namespace {

int object_command(const object_arguments& a, const invocation& i) {
  reactor::loop loop;
  int code = success;
  auto prepared = prepare_service(loop, a.fleet, i, code);
  if (!prepared) return code;
  prepared->options.does = units::mode::look;
  std::vector<fleetwide::fleet_object> assumed;
  if (!a.file.empty()) {
    std::string text;
    if (a.file == "-") {
      text.resize(most_file_bytes);
      std::cin.read(text.data(), static_cast<std::streamsize>(text.size()));
      text.resize(static_cast<std::size_t>(std::cin.gcount()));
    } else {
      auto loaded = reactor::load_file(a.file, most_file_bytes);
      if (!loaded) return complain(loaded.error().message());
      text = std::move(*loaded);
    }
    auto read = objects_in(*a.kind, text, a.file == "-" ? "standard input" : a.file, a.fleet.ns);
    if (!read) return complain(read.error());
    assumed = std::move(*read);
  }
  service windlass(loop, std::move(prepared->options), prepared->log);
  command_output out = standard_output();
  return run_started(loop, windlass, std::string(a.kind->command),
                     [&] { return work_on_objects(loop, windlass, a, std::move(assumed), out); });
}

std::string example(const object_arguments& to, const std::string& words) {
  return "windlass " + std::string(to.kind->command) + " " + words;
}
std::string one_of(const object_arguments& to) {
  return std::string(to.kind->example);
}

void add_common(flags& f, object_arguments& to) {
  declare_fleet(f, to.fleet);
  f.seconds("--timeout", to.timeout, "seconds to wait for the clusters' answers").shows_default();
  declare_listing(f, to.list, {.follows = list_flags::watch::none});
}
void add_object_name(flags& f, object_arguments& to, bool required) {
  f.value("NAME", to.name, "[NAMESPACE/]NAME of the " + std::string(to.kind->kind))
      .required(required);
}
void add_yes(flags& f, object_arguments& to, const std::string& verb) {
  add_object_name(f, to, true);
  f.on("-y,--yes", to.yes, "do it; without it only shown").matters();
  f.footer("Example:\n  " + example(to, verb + " " + one_of(to) + " --yes"));
}
void add_file(flags& f, object_arguments& to, const std::string& verb) {
  add_object_name(f, to, false);
  f.value("-f,--filename", to.file,
          std::string(to.kind->kind) +
              "s of this file (-: of standard input), as if they were at home")
      .takes("FILE")
      .matters();
  f.footer("Examples:\n  " + example(to, verb + (verb == "diff" ? " " + one_of(to) : "")) + "\n  " +
           example(to, verb + " -f " + one_of(to) + ".yaml"));
}
void add_example(flags& f, object_arguments& to, const std::string& verb) {
  add_object_name(f, to, true);
  f.footer("Example:\n  " + example(to, verb + " " + one_of(to)));
}

void declare_list(flags& f, object_arguments& to) {
  f.footer("Examples:\n  " + example(to, "list") + "\n  " + example(to, "list -o wide"));
}
void declare_status(flags& f, object_arguments& to) {
  add_example(f, to, "status");
}
void declare_plan(flags& f, object_arguments& to) {
  add_file(f, to, "plan");
}
void declare_diff(flags& f, object_arguments& to) {
  add_file(f, to, "diff");
}
void declare_history(flags& f, object_arguments& to) {
  add_example(f, to, "history");
}
void declare_undo(flags& f, object_arguments& to) {
  f.value("--to-revision", to.to_revision, "that one of `history`; else the one before").takes("N");
  add_yes(f, to, "undo");
}
void declare_pause(flags& f, object_arguments& to) {
  add_yes(f, to, "pause");
}
void declare_resume(flags& f, object_arguments& to) {
  add_yes(f, to, "resume");
}
void declare_approve(flags& f, object_arguments& to) {
  f.on("--adopt", to.adopt,
       "take over what is there already, on the clusters of --cluster or on every one")
      .matters();
  add_yes(f, to, "approve");
}
void declare_retry(flags& f, object_arguments& to) {
  add_yes(f, to, "retry");
}
void declare_values(flags& f, object_arguments& to) {
  add_object_name(f, to, true);
  f.footer("Example:\n  " + example(to, "values " + one_of(to) + " --cluster cluster-001"));
}

std::vector<app::command> commands_of(const fleet_kind& kind, app::command group,
                                      const std::vector<verb_of<object_arguments>>& more = {}) {
  object_arguments begin;
  begin.kind = &kind;
  begin.fleet.apis = {std::string(kind.api)};
  begin.fleet.apis_named = true;
  std::vector<verb_of<object_arguments>> all{
      {"list", "Every one of them: how many clusters have it", verb::list, declare_list},
      {"status", "One of them: each cluster, and why it waits", verb::status, declare_status},
      {"plan", "What is done next, and why every other cluster waits", verb::plan, declare_plan},
      {"diff", "What clusters would get otherwise than they have", verb::diff, declare_diff},
      {"history", "The revisions, who asked for them, and what came of them", verb::history,
       declare_history},
      {"undo", "Ask for the revision before, or that one", verb::undo, declare_undo},
      {"pause", "No further cluster begins", verb::pause, declare_pause},
      {"resume", "Go on", verb::resume, declare_resume},
      {"approve", "Let a tag with manual updates move, or take over what is there", verb::approve,
       declare_approve},
      {"retry", "Try again a revision that failed", verb::retry, declare_retry}};
  all.insert(all.end(), more.begin(), more.end());
  return family<object_arguments>(std::move(group), all, add_common, object_command, begin);
}

}  // namespace

std::vector<app::command> pool_commands() {
  return commands_of(
      pools_for_commands(),
      {"pool", "Pools that are said once at home for clusters by label (FleetPools)"});
}

std::vector<app::command> chart_commands() {
  return commands_of(
      charts_for_commands(),
      {"chart", "Charts that are said once at home for clusters by label (FleetCharts)"},
      {{"values", "The values that a cluster gets, without what Secrets add", verb::values,
        declare_values}});
}

}  // namespace cli
