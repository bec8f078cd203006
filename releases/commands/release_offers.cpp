// The verbs of `release` about what is offered: the next one, the way there, what is kept, pinned,
// published.
#include "app/exit_code.hpp"
#include "app/output.hpp"
#include "reactor/loop.hpp"
#include "reactor/system/files.hpp"
#include "releases/commands/release_work.hpp"
#include "releases/rules/offering.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>

namespace cli {

using namespace app;

namespace {

namespace json = boost::json;
using namespace policies::releases;
using reactor::errc;
using reactor::make_fault;
using reactor::result;

/// How many pairs of Releases are judged to find a way; each takes some milliseconds.
constexpr std::size_t most_judged_steps = 500;

using shared_release = std::shared_ptr<const policies::releases::document>;

shared_release release_named(const std::vector<shared_release>& releases, const std::string& name) {
  const auto found =
      std::ranges::find_if(releases, [&](const auto& release) { return release->name == name; });
  return found == releases.end() ? nullptr : *found;
}

/// What denies a step, in one line.
std::string errors_of(const std::vector<finding>& findings) {
  std::string text;
  for (const finding& f : findings)
    if (f.how == severity::error) text += (text.empty() ? "" : ", ") + f.id + " " + f.subject;
  return text;
}

std::string called(const pool_image& image) {
  std::string name = image.image;
  for (const std::string& tag : image.tags) name += (name.empty() ? "" : ",") + tag;
  return name;
}

}  // namespace

reactor::awaitable<result<std::shared_ptr<const bump_question>>> release_work::what_to_bump(
    std::shared_ptr<const document> base, std::string kind) {
  auto question = std::make_shared<bump_question>();
  const diff_question known = question_about(all_, nullptr, base);
  question->base = std::move(base);
  question->kind = std::move(kind);
  question->catalogue = catalogue_;
  question->requests = known.requests;
  question->others = known.others;
  question->stage.is = arguments_.stage;
  question->stage.action = arguments_.action;
  question->stage.actor = arguments_.actor;
  question->stage.age_hours = arguments_.age_hours;
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
  co_return std::shared_ptr<const bump_question>(std::move(question));
}

reactor::awaitable<result<void>> release_work::bump() {
  auto base = find(arguments_.from);
  if (!base) co_return base.error();
  auto question = co_await what_to_bump(*base, arguments_.release_kind);
  if (!question) co_return question.error();
  policies::subject who = subject_;
  auto answer = co_await next_release(packs_, std::move(who), *question);
  if (!answer) co_return answer.error();
  exit_code = exit_code_of(answer->verdict);
  std::string text, stored;
  if (answer->verdict != decision::deny) {
    document draft = draft_of(**question, *answer, reactor::format_rfc3339(loop_.wall()));
    text = write_document(draft);
    if (!arguments_.into.empty()) {
      std::string like = arguments_.dir + "/" + (*base)->folder + "/" + (*base)->stored_as;
      auto file = co_await store(std::move(draft), text, std::move(like));
      if (!file) co_return file.error();
      stored = std::move(*file);
    }
  }
  json::object o = bump_json(*answer, text);
  if (!stored.empty()) o["file"] = stored;
  co_return print(o, bump_text(*answer, tint_) +
                         (stored.empty() ? page() : page("written to ") + stored + "\n"));
}

reactor::awaitable<result<std::string>> release_work::store(document draft, std::string text,
                                                            std::string base) {
  const std::string folder = arguments_.into + "/" + draft.folder,
                    own = folder + "/" + draft.stored_as, file = own + "/release.yaml",
                    index = folder + "/kustomization.yaml";
  std::error_code wrong;
  if (std::filesystem::exists(file, wrong))
    co_return make_fault(errc::refused, "write " + file, "it is there already; remove it first");
  // `check` wants each Release among the resources, where there are any. Nothing is written when
  // the list cannot be edited.
  auto listed = co_await reactor::read_file(loop_, index, most_input_bytes);
  if (!listed && listed.error().code != errc::not_found) co_return listed.error();
  result<std::string> more = std::string();
  if (listed) more = edited_resources(*listed, index, draft.stored_as);
  if (!more) co_return more.error();
  std::filesystem::create_directories(own, wrong);
  if (wrong) co_return make_fault(errc::refused, "write " + file, wrong.message());
  auto written = co_await reactor::write_file_atomically(loop_, file, std::move(text));
  if (!written) co_return written.error();
  if (!listed) co_return file;
  // As the Release has it that it was made from.
  auto inner = co_await reactor::read_file(loop_, base + "/kustomization.yaml", most_input_bytes);
  if (!inner && inner.error().code != errc::not_found) co_return inner.error();
  std::string resources = "resources:\n- release.yaml\n";
  if (inner) resources = std::move(*inner);
  auto copied =
      co_await reactor::write_file_atomically(loop_, own + "/kustomization.yaml", resources);
  if (!copied) co_return copied.error();
  auto noted = co_await reactor::write_file_atomically(loop_, index, std::move(*more));
  if (!noted) co_return noted.error();
  co_return file;
}

reactor::awaitable<result<void>> release_work::add_image(std::shared_ptr<const document> release,
                                                         std::string shown,
                                                         std::vector<needed_image>& to) {
  auto question = std::make_shared<map_question>();
  question->release = release;
  question->pools = pools();
  question->values = values();
  policies::subject who = subject_;
  auto answer = co_await map_release(packs_, std::move(who), std::move(question));
  if (!answer) co_return answer.error();
  needed_image one;
  if (!answer->images.empty()) {
    one.image = called(answer->images.front());
    // The provider's own: nothing is built.
    if (one.image.empty()) co_return result<void>();
  } else {
    for (const finding& f : answer->findings)
      if (f.how == severity::error) one.why_none = f.id + ": " + f.why;
  }
  const auto same = std::ranges::find_if(to, [&](const needed_image& other) {
    return !one.image.empty() && other.image == one.image;
  });
  if (same != to.end()) {
    same->releases.push_back(std::move(shown));
    co_return result<void>();
  }
  one.releases.push_back(std::move(shown));
  one.built = catalogue_ && !one.image.empty() &&
              std::ranges::find(*catalogue_, one.image) != catalogue_->end();
  to.push_back(std::move(one));
  co_return result<void>();
}

listed_object release_work::row_of(const needed_image& one) const {
  json::array releases;
  page names;
  for (const std::string& name : one.releases) {
    names += (releases.empty() ? page() : page(", ")) + name;
    releases.emplace_back(name);
  }
  // One without an image stands as the Release that has none.
  const bool has_image = !one.image.empty();
  listed_object o{.kind = has_image ? "image" : "release",
                  .cluster = {},
                  .ns = {},
                  .name = has_image ? one.image : one.releases.front()};
  o.cells = {has_image ? page(one.image) : page("none: ") + one.why_none,
             !catalogue_ ? page("?")
             : one.built ? page("yes")
                         : page("no"),
             names};
  o.body = {{"release", one.releases.front()}, {"image", one.image}};
  o.body["releases"] = std::move(releases);
  if (!one.why_none.empty()) o.body["why"] = one.why_none;
  if (catalogue_) o.body["built"] = one.built;
  return o;
}

reactor::awaitable<result<void>> release_work::images() {
  if (arguments_.missing && !catalogue_)
    co_return make_fault(errc::refused, "release images --missing",
                         "say with --catalogue what was built");
  auto found = of_provider();
  if (!found) co_return found.error();
  std::vector<needed_image> all;
  for (const auto& release : *found) {
    if (release->archived && !arguments_.archived) continue;
    auto added = co_await add_image(release, release->name, all);
    if (!added) co_return added.error();
  }
  // What there is could be released as well: the image comes first, the Release after it.
  for (const auto& [name, folder] : all_.folders) {
    if (arguments_.available.empty()) break;
    const auto newest = to_be_pinned(folder, {});
    if (!newest || !is_of(*newest, arguments_.provider)) continue;
    for (const char* kind : {"minor", "major"}) {
      auto asked = co_await what_to_bump(newest, kind);
      if (!asked) co_return asked.error();
      bump_question question = **asked;
      question.catalogue.reset();  // the newest of all, built or not
      auto shared = std::make_shared<const bump_question>(std::move(question));
      policies::subject who = subject_;
      auto answer = co_await next_release(packs_, std::move(who), shared);
      if (!answer) co_return answer.error();
      if (answer->verdict == decision::deny) continue;
      auto draft = std::make_shared<document>(draft_of(*shared, *answer, newest->date));
      std::string shown = draft->name + " (could be)";
      auto added = co_await add_image(std::move(draft), std::move(shown), all);
      if (!added) co_return added.error();
    }
  }
  listing rows({{"IMAGE"}, {"BUILT"}, {"RELEASES", 1}});
  bool all_there = true;
  for (const needed_image& one : all) {
    all_there = all_there && one.built;
    if (!arguments_.missing || !one.built) rows.add(row_of(one));
  }
  exit_code = arguments_.missing && !all_there ? denied : success;
  co_return print_list(std::move(rows), "images", {}, {});
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

reactor::awaitable<result<path_answer>> release_work::way_of(path_question question) {
  auto shared = std::make_shared<const path_question>(std::move(question));
  policies::subject who = subject_;
  co_return co_await find_path(packs_, std::move(who), std::move(shared));
}

reactor::awaitable<result<void>> release_work::path() {
  auto found = of_provider();
  if (!found) co_return found.error();
  const auto bare = [](const std::string& v) { return v.starts_with('v') ? v.substr(1) : v; };
  path_question question;
  question.releases = std::move(*found);
  question.from = bare(arguments_.from);
  question.to = bare(arguments_.to);
  // Each step of a way is judged as `diff` judges it; with one that is denied another way is asked
  // for.
  std::set<std::pair<std::string, std::string>> judged;
  auto answer = co_await way_of(question);
  for (bool again = true; answer && again;) {
    again = false;
    for (const path_step& step : answer->steps) {
      if (!judged.emplace(step.from, step.to).second) continue;
      if (judged.size() > most_judged_steps)
        co_return make_fault(errc::limit, "find the way",
                             "more than " + std::to_string(most_judged_steps) +
                                 " steps were judged, and each way that is left has a denied one");
      const shared_release before = release_named(question.releases, step.from),
                           after = release_named(question.releases, step.to);
      auto one = co_await judge(before, after);
      if (!one) co_return one.error();
      if (one->answer.verdict != decision::deny) continue;
      question.denied.push_back({step.from, step.to, errors_of(one->answer.findings)});
      again = true;
    }
    if (again) answer = co_await way_of(question);
  }
  if (!answer) co_return answer.error();
  for (path_step& step : answer->steps)
    for (const denied_step& d : question.denied)
      if (d.from == step.from && d.to == step.to) {
        step.denied = d.why;
        answer->verdict = decision::deny;  // whatever the pack makes of it
      }
  exit_code = exit_code_of(answer->verdict);
  co_return print_list(path_list(*answer), "steps", answer_json(answer->verdict, answer->findings),
                       {{}, findings_text(answer->findings, tint_)});
}

reactor::awaitable<result<void>> release_work::lifecycle() {
  auto found = of_provider();
  if (!found) co_return found.error();
  auto question = std::make_shared<lifecycle_question>();
  question->releases = std::move(*found);
  if (!arguments_.in_use.empty()) {
    auto text = co_await reactor::read_file(loop_, arguments_.in_use, most_input_bytes);
    if (!text) co_return text.error();
    // An empty file is what a source leaves that was down: then it is unknown.
    std::vector<std::string> names = names_in(*text);
    if (!names.empty()) question->in_use = std::move(names);
  }
  policies::subject who = subject_;
  auto answer = co_await plan_lifecycle(packs_, std::move(who), std::move(question));
  if (!answer) co_return answer.error();
  exit_code = exit_code_of(answer->verdict);
  co_return print_list(lifecycle_list(*answer), "releases",
                       answer_json(answer->verdict, answer->findings),
                       {{}, findings_text(answer->findings, tint_)});
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
  listing rows({{"FOLDER"}, {"RELEASES"}, {"EDIT"}, {"WHY", 1}});
  for (const pin_edit& e : answer->pins) {
    listed_object one{.kind = "folder", .cluster = {}, .ns = {}, .name = e.folder};
    one.cells = {e.folder, e.range, e.edit, e.why};
    one.body = {{"folder", e.folder},
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
      one.body["document"] = std::move(*edited);
    }
    rows.add(std::move(one));
  }
  co_return print_list(std::move(rows), "pins", answer_json(answer->verdict, answer->findings),
                       {{}, findings_text(answer->findings, tint_)});
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
  listing rows({{"PROVIDER"}, {"LATEST"}, {"JOINS"}, {"WHY", 1}});
  for (const join_row& r : answer->rows) {
    listed_object one{.kind = "provider", .cluster = {}, .ns = {}, .name = r.provider};
    one.cells = {r.provider, r.latest, r.joins ? page("yes") : page("no"), r.why};
    one.body = {{"provider", r.provider}, {"latest", r.latest}, {"joins", r.joins}, {"why", r.why}};
    rows.add(std::move(one));
  }
  json::object o = answer_json(answer->verdict, answer->findings);
  o["target"] = answer->target;
  const page head = answer->target.empty() ? page() : page("target ") + answer->target + "\n";
  co_return print_list(std::move(rows), "providers", std::move(o),
                       {head, findings_text(answer->findings, tint_)});
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
  listing rows({{"FROM"}, {"TO"}, {"VALUE"}});
  for (const published_chart& c : answer->charts) {
    listed_object one{.kind = "chart", .cluster = {}, .ns = {}, .name = c.to};
    one.cells = {c.from, c.to, page(c.value) + "=" + c.text};
    one.body = {{"from", c.from}, {"to", c.to}, {"value", c.value}, {"text", c.text}};
    rows.add(std::move(one));
  }
  co_return print_list(std::move(rows), "retag", answer_json(answer->verdict, answer->findings),
                       {{}, findings_text(answer->findings, tint_)});
}

}  // namespace cli
