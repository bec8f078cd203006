// The verbs of `release`: one class over one folder of Releases and the packs that judge it, a step
// or two for each verb.
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/release/checking.hpp"
#include "cli/release/release_view.hpp"
#include "cli/service/run_to_end.hpp"
#include "policies/releases/consent.hpp"
#include "policies/releases/offering.hpp"
#include "reactor/loop.hpp"
#include "reactor/system/files.hpp"
#include "reactor/task_group.hpp"

#include <boost/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <optional>

namespace cli {
namespace {

namespace json = boost::json;
using namespace policies::releases;
using policies::releases::document;  // not cli::document, which is text for machines
using reactor::errc;
using reactor::make_fault;
using reactor::result;

constexpr std::size_t most_catalogue_bytes = 16 * 1024 * 1024;

policies::host::options options_of(const release_arguments& a) {
  policies::host::options o;
  if (!a.policies.empty()) o.folders.push_back(a.policies);
  return o;
}

/// The names on the lines of a text.
std::vector<std::string> names_in(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string name = text.substr(at, end - at);
    if (name.ends_with('\r')) name.pop_back();
    if (!name.empty()) names.push_back(std::move(name));
    at = end + 1;
  }
  return names;
}

/// One command while it runs.
class releases {
public:
  releases(reactor::loop& l, const release_arguments& a)
      : loop_(l), arguments_(a), tint_(colours_at(STDOUT_FILENO)), packs_(l, options_of(a)) {}

  int exit_code = failure;

  reactor::awaitable<void> run() {
    auto done = co_await carry_out();
    if (!done) exit_code = complain(done.error().message());
    loop_.stop();
  }

private:
  reactor::awaitable<result<void>> carry_out() {
    auto loaded = co_await packs_.load();
    if (!loaded) co_return loaded.error();
    if (!arguments_.catalogue.empty()) {
      auto text = co_await reactor::read_file(loop_, arguments_.catalogue, most_catalogue_bytes);
      if (!text) co_return text.error();
      catalogue_ = names_in(*text);
    }
    if (arguments_.what == release_arguments::command::check) co_return co_await check();
    std::function<result<repository>()> read = [dir = arguments_.dir] {
      return read_repository(dir);
    };
    auto all = co_await loop_.offload(std::move(read));
    if (!all) co_return all.error();
    all_ = std::move(*all);
    switch (arguments_.what) {
      case release_arguments::command::map: co_return co_await map();
      case release_arguments::command::diff: co_return co_await diff();
      case release_arguments::command::check: break;  // reads the folder itself, perhaps often
      case release_arguments::command::show: co_return show();
      case release_arguments::command::gate: co_return co_await gate();
      case release_arguments::command::bump: co_return co_await bump();
      case release_arguments::command::images: co_return co_await images();
      case release_arguments::command::path: co_return co_await path();
      case release_arguments::command::lifecycle: co_return co_await lifecycle();
      case release_arguments::command::notes: co_return co_await notes();
      case release_arguments::command::pin: co_return co_await pin();
      case release_arguments::command::join: co_return co_await join();
      case release_arguments::command::retag: co_return co_await retag();
    }
    co_return result<void>();
  }

  result<std::shared_ptr<const document>> find(const std::string& version) const {
    if (auto found = all_.find(arguments_.provider, version)) return found;
    const std::string wanted = arguments_.provider + " " + version;
    for (const unreadable_file& f : all_.unreadable) {
      if (f.file.find("/v" + (version.starts_with('v') ? version.substr(1) : version)) !=
          std::string::npos)
        return f.why;
    }
    return make_fault(errc::not_found, "find Release " + wanted,
                      "there is none in " + arguments_.dir);
  }

  std::vector<pool_facts> pools() const {
    pool_facts p;
    p.kind = arguments_.kind;
    p.architecture = arguments_.architecture;
    p.channel = arguments_.channel;
    p.suffix = arguments_.suffix;
    p.image = arguments_.image;
    p.running = arguments_.running;
    return {p};
  }

  reactor::awaitable<result<void>> map() {
    auto release = find(arguments_.from);
    if (!release) co_return release.error();
    auto question = std::make_shared<map_question>();
    question->release = *release;
    question->pools = pools();
    question->catalogue = catalogue_;
    policies::subject who = subject_;
    auto answer = co_await map_release(packs_, std::move(who), std::move(question));
    if (!answer) co_return answer.error();
    exit_code = exit_code_of(answer->verdict);
    co_return print(map_json((*release)->name, *answer),
                    map_text((*release)->name, *answer, tint_));
  }

  /// Judges one of them; consent counts.
  reactor::awaitable<result<judged_release>> judge(std::shared_ptr<const document> base,
                                                   std::shared_ptr<const document> release) {
    auto question = std::make_shared<diff_question>(question_about(all_, base, release));
    question->pools = pools();
    question->catalogue = catalogue_;
    co_return co_await judge_step(loop_, packs_, all_, std::move(question));
  }

  reactor::awaitable<result<void>> diff() {
    auto from = find(arguments_.from);
    if (!from) co_return from.error();
    auto to = find(arguments_.to);
    if (!to) co_return to.error();
    auto judged = co_await judge(*from, *to);
    if (!judged) co_return judged.error();
    exit_code = exit_code_of(judged->answer.verdict);
    co_return print(diff_json(*judged), diff_text(*judged, tint_));
  }

  check_settings what_to_check() const {
    return {arguments_.dir, arguments_.provider, arguments_.from, arguments_.archived, catalogue_};
  }

  bool show_check(const check_outcome& outcome) {
    exit_code = exit_code_of(outcome.worst);
    switch (arguments_.report) {
      case release_arguments::report_form::junit:
        return write_bytes(STDOUT_FILENO, check_junit(outcome));
      case release_arguments::report_form::github:
        return write_bytes(STDOUT_FILENO, check_github(outcome, arguments_.dir));
      case release_arguments::report_form::as_output: break;
    }
    json::array releases;
    for (const judged_release& j : outcome.releases) releases.push_back(diff_json(j));
    json::object o{{"decision", to_string(outcome.worst)}, {"releases", std::move(releases)}};
    const bool one = !arguments_.from.empty();
    return written(
        o, one ? diff_text(outcome.releases.front(), tint_) : check_text(outcome.releases, tint_));
  }

  reactor::awaitable<result<void>> check() {
    if (arguments_.watch) co_return co_await follow();
    check_settings settings = what_to_check();
    auto outcome = co_await check_releases(loop_, packs_, std::move(settings));
    if (!outcome) co_return outcome.error();
    if (!show_check(*outcome)) exit_code = failure;
    co_return result<void>();
  }

  /// Until somebody ends it, or nobody reads on.
  reactor::awaitable<result<void>> follow() {
    packs_.on_event = [](const policies::pack_event& e) { complain(e.message()); };
    reactor::event nobody_reads(loop_);
    release_follower follower(loop_, packs_, what_to_check(), arguments_.policies,
                              [&](const result<check_outcome>& outcome) {
                                if (!outcome) {
                                  complain(outcome.error().message());
                                } else if (!show_check(*outcome)) {
                                  nobody_reads.set();
                                }
                              });
    follower.start();
    co_await nobody_reads.wait();
    co_await follower.stop();
    exit_code = failure;
    co_return result<void>();
  }

  reactor::awaitable<result<void>> gate() {
    auto from = find(arguments_.from);
    if (!from) co_return from.error();
    auto to = find(arguments_.to);
    if (!to) co_return to.error();
    auto question = std::make_shared<gate_question>();
    question->step = question_about(all_, *from, *to);
    question->step.pools = pools();
    question->step.catalogue = catalogue_;
    question->stage.is = arguments_.stage;
    question->stage.to = arguments_.to_stage;
    const std::string file = arguments_.dir + "/suites.yaml";
    auto text = co_await reactor::read_file(loop_, file, most_catalogue_bytes);
    if (text) {
      auto suites = read_suites(*text, "suites.yaml");
      if (!suites) co_return suites.error();
      question->suites = std::move(*suites);
    } else if (text.error().code != errc::not_found) {
      co_return text.error();
    }
    policies::subject who = subject_;
    auto answer = co_await may_pass(packs_, std::move(who), std::move(question));
    if (!answer) co_return answer.error();
    answer->findings = with_consent(std::move(answer->findings), all_.waivers, **to, loop_.wall());
    answer->verdict = decide(answer->findings);
    judged_release judged;
    judged.name = (*to)->name;
    judged.from = (*from)->name;
    judged.answer = std::move(*answer);
    exit_code = exit_code_of(judged.answer.verdict);
    co_return print(diff_json(judged), diff_text(judged, tint_));
  }

  reactor::awaitable<result<void>> bump() {
    auto base = find(arguments_.from);
    if (!base) co_return base.error();
    auto question = std::make_shared<bump_question>();
    question->base = *base;
    question->kind = arguments_.release_kind;
    question->catalogue = catalogue_;
    question->requests = question_about(all_, nullptr, *base).requests;
    question->stage.is = arguments_.stage;
    question->stage.action = arguments_.action;
    question->stage.actor = arguments_.actor;
    question->stage.age_hours = arguments_.age_hours;
    question->others = question_about(all_, nullptr, *base).others;
    question->prefix = arguments_.prefix;
    question->asked = arguments_.asked;
    for (const std::string& text : arguments_.picks) {
      auto wanted = read_pick(text);
      if (!wanted)
        co_return make_fault(errc::malformed, "--pick " + text,
                             "expected NAME@VERSION, or NAME@VERSION@@DEP#DEP");
      question->picks.push_back(std::move(*wanted));
    }
    if (!arguments_.available.empty()) {
      auto text = co_await reactor::read_file(loop_, arguments_.available, most_catalogue_bytes);
      if (!text) co_return text.error();
      auto versions = read_available(*text, arguments_.available);
      if (!versions) co_return versions.error();
      question->available = std::move(*versions);
    }
    policies::subject who = subject_;
    auto answer = co_await next_release(packs_, std::move(who), question);
    if (!answer) co_return answer.error();
    exit_code = exit_code_of(answer->verdict);
    std::string document;
    if (answer->verdict != decision::deny)
      document =
          write_document(draft_of(*question, *answer, reactor::format_rfc3339(loop_.wall())));
    co_return print(bump_json(*answer, document), bump_text(*answer, tint_));
  }

  /// What each offered Release needs, and whether somebody built it.
  reactor::awaitable<result<void>> images() {
    if (arguments_.missing && !catalogue_)
      co_return make_fault(errc::refused, "release images --missing",
                           "say with --catalogue what was built");
    auto found = of_provider();
    if (!found) co_return found.error();
    table rows({"RELEASE", "IMAGE", "BUILT"});
    json::array list;
    bool all_there = true;
    for (const auto& release : *found) {
      if (release->archived && !arguments_.archived) continue;
      auto question = std::make_shared<map_question>();
      question->release = release;
      policies::subject who = subject_;
      auto answer = co_await map_release(packs_, std::move(who), std::move(question));
      if (!answer) co_return answer.error();
      const std::string image =
          answer->images.empty() ? std::string() : answer->images.front().image;
      const bool built =
          !catalogue_ || image.empty() ||
          std::find(catalogue_->begin(), catalogue_->end(), image) != catalogue_->end();
      all_there = all_there && built;
      if (arguments_.missing && built) continue;
      rows.row({release->name, image.empty() ? page("-") : page(image),
                !catalogue_ ? page("?")
                : built     ? page("yes")
                            : page("no")});
      json::object o{{"release", release->name}, {"image", image}};
      if (catalogue_) o["built"] = built;
      list.push_back(std::move(o));
    }
    exit_code = arguments_.missing && !all_there ? denied : success;
    json::object o;
    o["images"] = std::move(list);
    co_return print(o, rows.text());
  }

  /// The Releases of the provider that was asked about.
  result<std::vector<std::shared_ptr<const document>>> of_provider() const {
    std::vector<std::shared_ptr<const document>> found;
    for (const auto& [name, folder] : all_.folders) {
      for (const auto& d : folder.releases) {
        if (is_of(*d, arguments_.provider)) found.push_back(d);
      }
    }
    if (found.empty())
      return make_fault(errc::not_found, "find Releases",
                        "there is none of " + arguments_.provider + " in " + arguments_.dir);
    return found;
  }

  reactor::awaitable<result<void>> path() {
    auto found = of_provider();
    if (!found) co_return found.error();
    const auto bare = [](const std::string& v) { return v.starts_with('v') ? v.substr(1) : v; };
    auto question = std::make_shared<path_question>();
    question->releases = std::move(*found);
    question->from = bare(arguments_.from);
    question->to = bare(arguments_.to);
    policies::subject who = subject_;
    auto answer = co_await find_path(packs_, std::move(who), std::move(question));
    if (!answer) co_return answer.error();
    exit_code = exit_code_of(answer->verdict);
    co_return print(path_json(*answer), path_text(*answer, tint_));
  }

  reactor::awaitable<result<void>> lifecycle() {
    auto found = of_provider();
    if (!found) co_return found.error();
    auto question = std::make_shared<lifecycle_question>();
    question->releases = std::move(*found);
    if (!arguments_.in_use.empty()) {
      auto text = co_await reactor::read_file(loop_, arguments_.in_use, most_catalogue_bytes);
      if (!text) co_return text.error();
      question->in_use = names_in(*text);
    }
    policies::subject who = subject_;
    auto answer = co_await plan_lifecycle(packs_, std::move(who), std::move(question));
    if (!answer) co_return answer.error();
    exit_code = exit_code_of(answer->verdict);
    co_return print(lifecycle_json(*answer), lifecycle_text(*answer, tint_));
  }

  reactor::awaitable<result<void>> notes() {
    auto from = find(arguments_.from);
    if (!from) co_return from.error();
    auto to = find(arguments_.to);
    if (!to) co_return to.error();
    auto judged = co_await judge(*from, *to);
    if (!judged) co_return judged.error();
    exit_code = success;  // they say what is there, whatever is thought of it
    co_return print(diff_json(*judged), notes_text(*judged));
  }

  /// The newest Release of a folder that is offered, or the one of that version.
  static std::shared_ptr<const document> to_be_pinned(const provider_folder& folder,
                                                      const std::string& version) {
    std::shared_ptr<const document> newest;
    for (const auto& d : folder.releases) {
      if (d->stored_as == "v" + version) return d;
      if (!d->archived) newest = d;
    }
    return newest;
  }

  reactor::awaitable<result<void>> pin() {
    const auto wanted = read_pick(arguments_.item);
    if (!wanted)
      co_return make_fault(errc::malformed, "release pin " + arguments_.item,
                           "expected NAME@VERSION");
    auto question = std::make_shared<pin_question>();
    question->release = arguments_.from;
    question->name = wanted->name;
    question->version = wanted->version;
    question->up_to = arguments_.up_to;
    const std::string bare =
        arguments_.from.starts_with('v') ? arguments_.from.substr(1) : arguments_.from;
    for (const auto& [name, folder] : all_.folders) {
      const auto release = to_be_pinned(folder, bare);
      if (!release || !is_of(*release, arguments_.provider)) continue;
      pin_folder f{name, name + "/requests.yaml", {}, false};
      if (folder.requests) f.blocks = folder.requests->blocks;
      for (const auto* list : {&release->components, &release->apps}) {
        for (const entry& e : *list) f.has = f.has || e.name == wanted->name;
      }
      question->folders.push_back(std::move(f));
    }
    policies::subject who = subject_;
    auto answer = co_await plan_pin(packs_, std::move(who), question);
    if (!answer) co_return answer.error();
    exit_code = exit_code_of(answer->verdict);
    json::array pins;
    table rows({"FOLDER", "RELEASES", "EDIT", "WHY"});
    for (const pin_edit& e : answer->pins) {
      rows.row({e.folder, e.range, e.edit, e.why});
      json::object o{{"folder", e.folder},
                     {"file", e.file},
                     {"range", e.range},
                     {"edit", e.edit},
                     {"why", e.why}};
      if (e.edit == "new" || e.edit == "extended") {
        const std::string path = arguments_.dir + "/" + e.file;
        auto text = co_await reactor::read_file(loop_, path, most_catalogue_bytes);
        if (!text && text.error().code != errc::not_found) co_return text.error();
        auto edited = edited_requests(text ? std::string_view(*text) : "releases: []\n", e,
                                      wanted->name, wanted->version);
        if (!edited) co_return edited.error();
        if (arguments_.write) {
          auto stored = co_await reactor::write_file_atomically(loop_, path, *edited);
          if (!stored) co_return stored.error();
        }
        o["document"] = std::move(*edited);
      }
      pins.push_back(std::move(o));
    }
    json::object o{{"decision", to_string(answer->verdict)}};
    o["pins"] = std::move(pins);
    o["findings"] = findings_json(answer->findings);
    co_return print(o, rows.text() + findings_text(answer->findings, tint_));
  }

  reactor::awaitable<result<void>> join() {
    auto question = std::make_shared<join_question>();
    question->kind = arguments_.release_kind;
    question->target = arguments_.to;
    for (const auto& [name, folder] : all_.folders) {
      provider_versions p{name, {}};
      for (const auto& d : folder.releases) {
        if (!d->archived && d->state != "wip" && d->state != "preview")
          p.versions.push_back(d->stored_as.substr(1));
      }
      if (!p.versions.empty()) question->providers.push_back(std::move(p));
    }
    policies::subject who = subject_;
    auto answer = co_await plan_join(packs_, std::move(who), question);
    if (!answer) co_return answer.error();
    exit_code = exit_code_of(answer->verdict);
    json::array list;
    table rows({"PROVIDER", "LATEST", "JOINS", "WHY"});
    for (const join_row& r : answer->rows) {
      rows.row({r.provider, r.latest, r.joins ? page("yes") : page("no"), r.why});
      list.push_back(json::object{
          {"provider", r.provider}, {"latest", r.latest}, {"joins", r.joins}, {"why", r.why}});
    }
    json::object o{{"decision", to_string(answer->verdict)}, {"target", answer->target}};
    o["providers"] = std::move(list);
    o["findings"] = findings_json(answer->findings);
    const page head =
        answer->target.empty() ? page() : page("target ") + answer->target + "\n" + rows.text("  ");
    co_return print(o, head + findings_text(answer->findings, tint_));
  }

  reactor::awaitable<result<void>> retag() {
    auto release = find(arguments_.from);
    if (!release) co_return release.error();
    auto question = std::make_shared<publish_question>();
    question->release = *release;
    question->commit = arguments_.commit;
    policies::subject who = subject_;
    auto answer = co_await plan_publishing(packs_, std::move(who), question);
    if (!answer) co_return answer.error();
    exit_code = exit_code_of(answer->verdict);
    json::array list;
    table rows({"FROM", "TO", "VALUE"});
    for (const published_chart& c : answer->charts) {
      rows.row({c.from, c.to, page(c.value) + "=" + c.text});
      list.push_back(
          json::object{{"from", c.from}, {"to", c.to}, {"value", c.value}, {"text", c.text}});
    }
    json::object o{{"decision", to_string(answer->verdict)}};
    o["retag"] = std::move(list);
    o["findings"] = findings_json(answer->findings);
    co_return print(o, rows.text() + findings_text(answer->findings, tint_));
  }

  result<void> show() {
    auto release = find(arguments_.from);
    if (!release) return release.error();
    const document& d = **release;
    json::object o{{"name", d.name},   {"file", d.file}, {"archived", d.archived},
                   {"state", d.state}, {"date", d.date}, {"hash", d.hash}};
    for (const auto& [key, list] : {std::pair{"components", &d.components}, {"apps", &d.apps}}) {
      json::object entries;
      for (const entry& e : *list) entries[e.name] = e.version;
      o[key] = std::move(entries);
    }
    table rows({"NAME", "VERSION", "CATALOG"});
    for (const auto* list : {&d.components, &d.apps}) {
      for (const entry& e : *list) rows.row({e.name, e.version, e.catalog});
    }
    exit_code = success;
    return print(o, page(d.name) + "  " + d.state + "  " + d.date + "  " + d.file + "\nhash " +
                        d.hash + "\n" + rows.text("  "));
  }

  bool written(const json::object& o, const page& text) const {
    return arguments_.output == output_format::text
               ? write_out(STDOUT_FILENO, text)
               : write_bytes(STDOUT_FILENO, machine_text(o, arguments_.output));
  }
  result<void> print(const json::object& o, const page& text) {
    if (!written(o, text)) exit_code = failure;
    return {};
  }

  reactor::loop& loop_;
  const release_arguments& arguments_;
  const colours tint_;
  const policies::subject subject_{"releases", {}, {}, {}};
  policies::host packs_;
  repository all_;
  std::optional<std::vector<std::string>> catalogue_;
};

}  // namespace

int release_command(const release_arguments& a) {
  reactor::loop loop;
  releases command(loop, a);
  run_to_end(loop, "release", command.run());
  return command.exit_code;
}

}  // namespace cli
