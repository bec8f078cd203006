// `windlass pool`: pools that are said once at home, seen and asked for by name.
#include "fleetwide/api.hpp"
#include "fleetwide/commands/pool.hpp"
#include "fleetwide/commands/pool_view.hpp"
#include "fleetwide/kinds/fleet_pool.hpp"
#include "fleetwide/kinds/names.hpp"
#include "formats/yaml/yaml.hpp"
#include "k8s/informer/view.hpp"
#include "reactor/loop.hpp"
#include "reactor/system/files.hpp"
#include "service/overview/overview.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <map>

namespace cli {

using namespace app;

namespace {

namespace json = boost::json;
using fleetwide::fleet_look;
using verb = pool_arguments::command;

constexpr std::size_t most_file_bytes = 4 * 1024 * 1024;

class pool_work {
public:
  pool_work(reactor::loop& l, service& s, const pool_arguments& a,
            const std::vector<k8s::object_key>& in_file, command_output& out)
      : loop_(l), windlass_(s), arguments_(a), in_file_(in_file), out_(out) {}

  reactor::awaitable<int> run() {
    co_await until_answered(windlass_, loop_, {}, loop_.now() + arguments_.timeout);
    fleetwide::fleet_home* home = part();
    for (int i = 0; !home && i < 50; ++i) {
      co_await loop_.sleep_for(std::chrono::milliseconds(100));
      home = part();
    }
    if (!home) co_return complain("home has no FleetPools: " + why_none());
    const bool complete = co_await home->synced(loop_.now() + arguments_.timeout);
    if (!complete) co_return complain("the FleetPools at home could not be read: " + why_none());
    std::vector<fleet_look> all = co_await home->look_at_all();
    std::erase_if(all, [&](const fleet_look& at) { return !is_meant(at); });
    const auto selector = k8s::label_selector::parse(std::string_view(arguments_.list.selector));
    if (!selector) co_return complain("--selector: " + selector.error(), wrong_usage);
    for (fleet_look& at : all) keep_chosen(at, *selector);
    if (all.empty() && !arguments_.name.empty())
      co_return complain("home has no FleetPool \"" + arguments_.name + "\"");
    co_return co_await show(all);
  }

private:
  fleetwide::fleet_home* part() const {
    k8s::cluster* home = windlass_.home();
    return home ? fleetwide::at_home(*home) : nullptr;
  }
  std::string why_none() const {
    k8s::cluster* home = windlass_.home();
    const k8s::engagement* api = home ? home->find(fleetwide::pools_api) : nullptr;
    return api ? api->says() : "no API server is home";
  }
  bool is_meant(const fleet_look& at) const {
    const k8s::object_key key = at.object.meta.key();
    if (!arguments_.list.ns.empty() && arguments_.list.ns != key.ns) return false;
    if (!in_file_.empty() && std::ranges::find(in_file_, key) == in_file_.end()) return false;
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
        co_return show_list(pools_listing(all, out_.tint), arguments_.list, "fleetPools",
                            document("FleetPoolList", {}));
      case verb::status:
      case verb::plan: co_return show_state(all);
      case verb::diff: co_return show_diff(all);
      case verb::history:
        for (const fleet_look& at : all)
          co_return print(pool_history_document(at), pool_history_text(at, width()));
        co_return success;
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
      for (auto& m : pool_json(at)) one[m.key()] = std::move(m.value());
      pools.push_back(std::move(one));
      if (!text.empty()) text += "\n";
      text += arguments_.what == verb::plan ? pool_plan_text(at, out_.tint, width())
                                            : pool_status_text(at, out_.tint, width());
    }
    if (all.empty()) text = "no FleetPool is at home\n";
    json::object o;
    o["fleetPools"] = std::move(pools);
    return print(
        document(arguments_.what == verb::plan ? "FleetPoolPlan" : "FleetPoolStatus", std::move(o)),
        text);
  }

  int show_diff(const std::vector<fleet_look>& all) {
    int code = success;
    for (const fleet_look& at : all) {
      std::map<std::string, pool_difference> by_digest;
      for (const fleetwide::member& m : at.world.members) {
        if (!m.is_selected || !m.is_granted || m.digest == at.world.wanted) continue;
        pool_difference& d = by_digest[m.digest];
        d.has = m.digest;
        d.clusters.push_back(m.cluster);
      }
      std::vector<pool_difference> groups;
      for (auto& [digest, d] : by_digest) {
        fleetwide::fleet_home* home = part();
        const fleetwide::revision_content* had =
            home ? home->content_of(digest, at.object) : nullptr;
        if (had) d.changes = changes_between(*had, at.wanted);
        groups.push_back(std::move(d));
      }
      const int one = print(pool_diff_document(at, groups), pool_diff_text(at, groups, width()));
      code = std::max(code, one);
    }
    return code;
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
          e.problem = "nothing of FleetPool " + p.meta.key().text() + " waits for approval";
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
          "FleetPool " + p.meta.key().text() +
          (arguments_.to_revision > 0 ? " has no revision " + std::to_string(arguments_.to_revision)
                                      : std::string(" has no revision to go back to"));
      return e;
    }
    json::object made = json::parse(content->template_json).as_object();
    json::value& metadata = made["metadata"];
    if (!metadata.is_object()) metadata.emplace_object();
    json::object& m = metadata.get_object();
    m["name"] = p.claim;
    json::object spec;
    spec["template"] = std::move(made);
    std::string ref = content->ref;
    if (content->is_by_tag() && !back->image_digest.empty()) ref += "@" + back->image_digest;
    json::object image{{"ref", ref}, {"updates", p.follows_tag ? "Auto" : "Manual"}};
    spec["image"] = std::move(image);
    e.patch["spec"] = std::move(spec);
    e.says = "go back to revision " + std::to_string(back->revision) + ", " + ref;
    return e;
  }

  /// Written as one replaces a field: members of the template that the revision did not have go.
  static void drop_others(json::object& patch, const json::object& now) {
    for (const auto& m : now) {
      const json::value* mine = patch.if_contains(m.key());
      if (!mine)
        patch[m.key()] = nullptr;
      else if (mine->is_object() && m.value().is_object())
        drop_others(patch[m.key()].as_object(), m.value().as_object());
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
        auto now = co_await home->api().get(fleetwide::fleet_pools(), at.object.meta.key());
        if (!now) co_return complain(now.error().message());
        const json::value* spec = now->if_contains("spec");
        const json::value* made =
            spec && spec->is_object() ? spec->get_object().if_contains("template") : nullptr;
        if (made && made->is_object())
          drop_others(e.patch["spec"].as_object()["template"].as_object(), made->get_object());
      }
      auto done = co_await home->api().merge_patch(fleetwide::fleet_pools(), at.object.meta.key(),
                                                   std::move(e.patch));
      if (!done) error = done.error().message();
    }
    json::object o{{"fleetPool", name}, {"change", e.says}, {"dryRun", !arguments_.yes}};
    if (!error.empty()) o["error"] = error;
    if (!error.empty() && !arguments_.list.output.is_machine()) co_return complain(error);
    page text = page(name) + ": " + e.says;
    text += arguments_.yes ? page("\n") : page(" (shown only; --yes does it)\n");
    const int code = print(document("FleetPoolChange", std::move(o)), folded(text, width()));
    co_return error.empty() ? code : failure;
  }

  reactor::loop& loop_;
  service& windlass_;
  const pool_arguments& arguments_;
  const std::vector<k8s::object_key>& in_file_;
  command_output& out_;
};

}  // namespace

reactor::result<std::vector<fleetwide::fleet_object>, std::string> pools_in(const std::string& text,
                                                                            const std::string& file,
                                                                            const std::string& ns) {
  auto documents = formats::parse_kubernetes_documents(text, file);
  if (!documents) return documents.error().message();
  std::vector<fleetwide::fleet_object> out;
  for (const json::value& one : *documents) {
    const json::object* o = one.if_object();
    const json::value* kind = o ? o->if_contains("kind") : nullptr;
    if (!kind || *kind != json::string("FleetPool")) continue;
    json::object copy = *o;
    json::value& metadata = copy["metadata"];
    if (!metadata.is_object()) metadata.emplace_object();
    json::object& m = metadata.get_object();
    if (!m.contains("namespace")) m["namespace"] = ns;
    m["uid"] = "assumed";
    m["resourceVersion"] = "1";
    m.erase("managedFields");
    auto read = k8s::parse_view<fleetwide::fleet_pool>(json::serialize(copy));
    if (!read) return file + ": " + read.error().message();
    if (!read->spec_problem().empty())
      return file + ": FleetPool " + read->meta.key().text() + ": " + read->spec_problem();
    out.push_back(std::move(*read));
  }
  if (out.empty()) return file + ": no FleetPool is in it";
  return out;
}

reactor::awaitable<int> work_on_pools(reactor::loop& l, service& s, pool_arguments a,
                                      std::vector<k8s::object_key> in_file, command_output& out) {
  pool_work work(l, s, a, in_file, out);
  co_return co_await work.run();
}

namespace {

int pool_command(const pool_arguments& a, const invocation& i) {
  reactor::loop loop;
  int code = success;
  auto prepared = prepare_service(loop, a.fleet, i, code);
  if (!prepared) return code;
  prepared->options.does = units::mode::look;
  std::vector<k8s::object_key> in_file;
  if (!a.file.empty()) {
    const auto text = reactor::load_file(a.file, most_file_bytes);
    if (!text) return complain(text.error().message());
    auto read = pools_in(*text, a.file, a.fleet.ns);
    if (!read) return complain(read.error());
    for (const fleetwide::fleet_object& p : *read) in_file.push_back(p.meta.key());
    fleetwide::settings s;
    s.ns = a.fleet.ns;
    s.assumed = std::move(*read);
    fleetwide::set_up(units::named(prepared->options.apis, fleetwide::pools_api), std::move(s));
  }
  service windlass(loop, std::move(prepared->options), prepared->log);
  command_output out = standard_output();
  return run_started(loop, windlass, "pool",
                     [&] { return work_on_pools(loop, windlass, a, std::move(in_file), out); });
}

void add_common(flags& f, pool_arguments& to) {
  declare_fleet(f, to.fleet);
  f.seconds("--timeout", to.timeout, "seconds to wait for the clusters' answers").shows_default();
  declare_listing(f, to.list, {.follows = list_flags::watch::none});
}
void add_pool_name(flags& f, pool_arguments& to, bool required) {
  f.value("NAME", to.name, "[NAMESPACE/]NAME of the FleetPool").required(required);
}
void add_yes(flags& f, pool_arguments& to, const std::string& example) {
  add_pool_name(f, to, true);
  f.on("-y,--yes", to.yes, "do it; without it only shown").matters();
  f.footer("Example:\n  windlass pool " + example);
}
void add_file(flags& f, pool_arguments& to) {
  f.value("-f,--filename", to.file, "FleetPools of this file, as if they were at home")
      .takes("FILE")
      .matters();
}

void declare_pool_list(flags& f, pool_arguments&) {
  f.footer("Examples:\n  windlass pool list\n  windlass pool list -o wide");
}
void declare_pool_status(flags& f, pool_arguments& to) {
  add_pool_name(f, to, true);
  f.footer("Example:\n  windlass pool status workers");
}
void declare_pool_plan(flags& f, pool_arguments& to) {
  add_pool_name(f, to, false);
  add_file(f, to);
  f.footer("Examples:\n  windlass pool plan\n  windlass pool plan -f workers.yaml");
}
void declare_pool_diff(flags& f, pool_arguments& to) {
  add_pool_name(f, to, false);
  add_file(f, to);
  f.footer("Examples:\n  windlass pool diff workers\n  windlass pool diff -f workers.yaml");
}
void declare_pool_history(flags& f, pool_arguments& to) {
  add_pool_name(f, to, true);
  f.footer("Example:\n  windlass pool history workers");
}
void declare_pool_undo(flags& f, pool_arguments& to) {
  f.value("--to-revision", to.to_revision, "that one of `pool history`; else the one before")
      .takes("N");
  add_yes(f, to, "undo workers --yes");
}
void declare_pool_pause(flags& f, pool_arguments& to) {
  add_yes(f, to, "pause workers --yes");
}
void declare_pool_resume(flags& f, pool_arguments& to) {
  add_yes(f, to, "resume workers --yes");
}
void declare_pool_approve(flags& f, pool_arguments& to) {
  f.on("--adopt", to.adopt,
       "take over what is there already, on the clusters of --cluster or on every one")
      .matters();
  add_yes(f, to, "approve workers --yes");
}
void declare_pool_retry(flags& f, pool_arguments& to) {
  add_yes(f, to, "retry workers --yes");
}

}  // namespace

std::vector<app::command> pool_commands() {
  pool_arguments begin;
  begin.fleet.apis = {std::string(fleetwide::pools_api)};
  begin.fleet.apis_named = true;
  return family<pool_arguments>(
      {"pool", "Pools that are said once at home for clusters by label (FleetPools)"},
      {{"list", "Every FleetPool: how many clusters have it", verb::list, declare_pool_list},
       {"status", "One FleetPool: each cluster, and why it waits", verb::status,
        declare_pool_status},
       {"plan", "What is done next, and why every other cluster waits", verb::plan,
        declare_pool_plan},
       {"diff", "What clusters would get otherwise than they have", verb::diff, declare_pool_diff},
       {"history", "The revisions, who asked for them, and what came of them", verb::history,
        declare_pool_history},
       {"undo", "Ask for the revision before, or that one", verb::undo, declare_pool_undo},
       {"pause", "No further cluster begins", verb::pause, declare_pool_pause},
       {"resume", "Go on", verb::resume, declare_pool_resume},
       {"approve", "Let a tag with manual updates move, or take over what is there", verb::approve,
        declare_pool_approve},
       {"retry", "Try again a revision that failed", verb::retry, declare_pool_retry}},
      add_common, pool_command, begin);
}

}  // namespace cli
