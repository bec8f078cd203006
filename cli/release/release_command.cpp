#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/release/release_view.hpp"
#include "policies/releases/consent.hpp"
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
    std::function<result<repository>()> read = [dir = arguments_.dir] {
      return read_repository(dir);
    };
    auto all = co_await loop_.offload(std::move(read));
    if (!all) co_return all.error();
    all_ = std::move(*all);
    if (!arguments_.catalogue.empty()) {
      auto text = co_await reactor::read_file(loop_, arguments_.catalogue, most_catalogue_bytes);
      if (!text) co_return text.error();
      catalogue_ = names_in(*text);
    }
    switch (arguments_.what) {
      case release_arguments::command::map: co_return co_await map();
      case release_arguments::command::diff: co_return co_await diff();
      case release_arguments::command::check: co_return co_await check();
      case release_arguments::command::show: co_return show();
      case release_arguments::command::gate: co_return co_await gate();
      case release_arguments::command::bump: co_return co_await bump();
      case release_arguments::command::images: co_return co_await images();
      case release_arguments::command::path: co_return co_await path();
      case release_arguments::command::lifecycle: co_return co_await lifecycle();
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
    policies::subject who = subject_;
    auto answer = co_await diff_releases(packs_, std::move(who), std::move(question));
    if (!answer) co_return answer.error();
    answer->findings =
        with_consent(std::move(answer->findings), all_.waivers, *release, loop_.wall());
    answer->verdict = decide(answer->findings);
    judged_release judged;
    judged.name = release->name;
    if (base) judged.from = base->name;
    judged.answer = std::move(*answer);
    co_return judged;
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

  reactor::awaitable<result<void>> check() {
    std::shared_ptr<const document> only;
    if (!arguments_.from.empty()) {
      auto found = find(arguments_.from);
      if (!found) co_return found.error();
      only = *found;
    }
    std::vector<judged_release> judged;
    for (const auto& [name, folder] : all_.folders) {
      for (std::size_t i = 0; i < folder.releases.size(); ++i) {
        const auto release = folder.releases[i];
        if (only ? release != only : release->archived && !arguments_.archived) continue;
        if (!only && !wanted(*release)) continue;
        std::shared_ptr<const document> base;
        if (i > 0) base = folder.releases[i - 1];
        auto one = co_await judge(std::move(base), release);
        if (!one) co_return one.error();
        judged.push_back(std::move(*one));
      }
    }
    if (!only) add_unreadable(judged);
    if (judged.empty())
      co_return make_fault(errc::not_found, "check Releases",
                           "there is none of " + arguments_.provider + " in " + arguments_.dir);
    decision worst = decision::allow;
    json::array releases;
    for (const judged_release& j : judged) {
      worst = std::max(worst, j.answer.verdict);
      releases.push_back(diff_json(j));
    }
    exit_code = exit_code_of(worst);
    json::object o{{"decision", to_string(worst)}, {"releases", std::move(releases)}};
    co_return print(o, only ? diff_text(judged.front(), tint_) : check_text(judged, tint_));
  }

  bool wanted(const document& d) const {
    return arguments_.provider.empty() || d.folder == arguments_.provider ||
           d.name.starts_with(arguments_.provider + "-");
  }

  /// What cannot be read is denied as well, in a row of its own.
  void add_unreadable(std::vector<judged_release>& to) const {
    for (const unreadable_file& f : all_.unreadable) {
      if (!arguments_.provider.empty() && !f.file.starts_with(arguments_.provider + "/")) continue;
      judged_release j;
      j.name = f.file;
      j.answer.level = "none";
      j.answer.rolls = "-";
      finding wrong;
      wrong.id = "release.schema";
      wrong.how = severity::error;
      wrong.subject = "release/" + f.file;
      wrong.why = f.why.message();
      wrong.evidence = f.file;
      j.answer.findings.push_back(std::move(wrong));
      j.answer.verdict = decision::deny;
      to.push_back(std::move(j));
    }
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
        if (wanted(*d)) found.push_back(d);
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

  result<void> print(const json::object& o, const page& text) {
    const bool written = arguments_.output == output_format::text
                             ? write_out(STDOUT_FILENO, text)
                             : write_bytes(STDOUT_FILENO, machine_text(o, arguments_.output));
    if (!written) exit_code = failure;
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
  reactor::task_group tasks(loop);
  tasks.start("release", command.run());
  loop.run();
  return command.exit_code;
}

}  // namespace cli
