// The verbs of `release` about what is offered: the next one, the way there, what is kept, pinned,
// published.
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/release/release_work.hpp"
#include "policies/releases/offering.hpp"
#include "reactor/loop.hpp"
#include "reactor/system/files.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cctype>

namespace cli {
namespace {

namespace json = boost::json;
using namespace policies::releases;
using reactor::errc;
using reactor::make_fault;
using reactor::result;

}  // namespace

reactor::awaitable<result<void>> release_work::bump() {
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
    auto text = co_await reactor::read_file(loop_, arguments_.available, most_input_bytes);
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
    document = write_document(draft_of(*question, *answer, reactor::format_rfc3339(loop_.wall())));
  co_return print(bump_json(*answer, document), bump_text(*answer, tint_));
}

reactor::awaitable<result<void>> release_work::images() {
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
    const std::string image = answer->images.empty() ? std::string() : answer->images.front().image;
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
  co_return print(o, rows.text({}, output_columns()));
}

result<std::vector<std::shared_ptr<const policies::releases::document>>> release_work::of_provider()
    const {
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

reactor::awaitable<result<void>> release_work::path() {
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

reactor::awaitable<result<void>> release_work::lifecycle() {
  auto found = of_provider();
  if (!found) co_return found.error();
  auto question = std::make_shared<lifecycle_question>();
  question->releases = std::move(*found);
  if (!arguments_.in_use.empty()) {
    auto text = co_await reactor::read_file(loop_, arguments_.in_use, most_input_bytes);
    if (!text) co_return text.error();
    // An empty file is what a source leaves that was down: nobody knows then. A cluster's label may
    // have the version alone.
    std::vector<std::string> names = names_in(*text);
    for (std::string& name : names) {
      if (std::isdigit(static_cast<unsigned char>(name.front())))
        name = arguments_.provider + "-" + name;
    }
    if (!names.empty()) question->in_use = std::move(names);
  }
  policies::subject who = subject_;
  auto answer = co_await plan_lifecycle(packs_, std::move(who), std::move(question));
  if (!answer) co_return answer.error();
  exit_code = exit_code_of(answer->verdict);
  co_return print(lifecycle_json(*answer), lifecycle_text(*answer, tint_));
}

reactor::awaitable<result<void>> release_work::notes() {
  auto judged = co_await judge_the_two();
  if (!judged) co_return judged.error();
  exit_code = success;  // they say what is there, whatever is thought of it
  co_return print(diff_json(*judged), notes_text(*judged));
}

std::shared_ptr<const policies::releases::document> release_work::to_be_pinned(
    const provider_folder& folder, const std::string& version) {
  std::shared_ptr<const document> newest;
  for (const auto& d : folder.releases) {
    if (d->stored_as == "v" + version) return d;
    if (!d->archived) newest = d;
  }
  return newest;
}

reactor::awaitable<result<void>> release_work::pin() {
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
      auto text = co_await reactor::read_file(loop_, path, most_input_bytes);
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
  co_return print(o, rows.text({}, output_columns()) + findings_text(answer->findings, tint_));
}

reactor::awaitable<result<void>> release_work::join() {
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
  const page head = answer->target.empty() ? page()
                                           : page("target ") + answer->target + "\n" +
                                                 rows.text("  ", output_columns());
  co_return print(o, head + findings_text(answer->findings, tint_));
}

reactor::awaitable<result<void>> release_work::retag() {
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
  co_return print(o, rows.text({}, output_columns()) + findings_text(answer->findings, tint_));
}

}  // namespace cli
