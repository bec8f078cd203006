#include "app/exit_code.hpp"
#include "app/output.hpp"
#include "app/progress.hpp"
#include "app/run_to_end.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/printable.hpp"
#include "reactor/system/files.hpp"
#include "reactor/task_group.hpp"
#include "releases/commands/checking.hpp"
#include "releases/commands/facts.hpp"
#include "releases/commands/release_view.hpp"
#include "releases/commands/release_work.hpp"
#include "releases/rules/consent.hpp"
#include "releases/rules/offering.hpp"
#include "releases/trains/train.hpp"

#include <boost/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <optional>

namespace cli {

using namespace app;

namespace {

namespace json = boost::json;
using namespace policies::releases;
using reactor::errc;
using reactor::make_fault;
using reactor::result;

policies::host::options options_of(const release_arguments& a) {
  policies::host::options o;
  if (!a.policies.empty()) o.folders.push_back(a.policies);
  return o;
}

}  // namespace

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

namespace {

/// The images that were built, as `file` says it: a name on each line, or the tags of a file of
/// facts.
/// Errors   errc::malformed: neither. errc::limit: too many facts.
result<std::vector<std::string>> catalogue_in(const std::string& text, const std::string& file) {
  const auto facts = policies::trains::read_train(text, file);
  if (facts) {
    if (auto images = images_in(*facts)) return std::move(*images);
  }
  std::vector<std::string> names = names_in(text);
  for (const std::string& name : names) {
    if (name.find_first_of(" \t\"'{}[]:") == name.npos) continue;
    if (!facts && facts.error().code == reactor::errc::limit) return facts.error();
    return make_fault(reactor::errc::malformed, file,
                      "expected the name of an image on each line, or what `train facts` wrote; "
                      "got '" +
                          reactor::printable(name, 80) + "'");
  }
  return names;
}

/// What stands on both sides of the first '=', which is there.
std::pair<std::string, std::string> parted(const std::string& pair) {
  const std::size_t equals = pair.find('=');
  return {pair.substr(0, equals), pair.substr(equals + 1)};
}

}  // namespace

release_work::release_work(reactor::loop& l, const release_arguments& a)
    : loop_(l), arguments_(a), tint_(colours_at(STDOUT_FILENO)), packs_(l, options_of(a)) {}

reactor::awaitable<void> release_work::run() {
  auto done = co_await carry_out();
  if (!done) exit_code = complain(done.error().message());
  loop_.stop();
}

reactor::awaitable<result<void>> release_work::carry_out() {
  auto loaded = co_await packs_.load();
  if (!loaded) co_return loaded.error();
  if (!arguments_.catalogue.empty()) {
    auto text = co_await reactor::read_file(loop_, arguments_.catalogue, most_input_bytes);
    if (!text) co_return text.error();
    auto names = catalogue_in(*text, arguments_.catalogue);
    if (!names) co_return names.error();
    catalogue_ = std::move(*names);
  }
  if (arguments_.what == release_arguments::command::check) co_return co_await check();
  const auto read = [](const std::string& dir) { return read_repository(dir); };
  auto all = co_await loop_.offload(read, arguments_.dir);
  if (!all) co_return all.error();
  all_ = std::move(*all);
  // "release bump … > capa/v34.6.0/release.yaml": the file is there before its text is.
  if (arguments_.what == release_arguments::command::bump)
    std::erase_if(all_.unreadable, [](const unreadable_file& f) { return f.is_empty; });
  // What looks at more than one Release says nothing of a folder of which it cannot read a part.
  const bool looks_at_one = arguments_.what == release_arguments::command::map ||
                            arguments_.what == release_arguments::command::show ||
                            arguments_.what == release_arguments::command::retag;
  if (const unreadable_file* f = all_.unreadable_of(arguments_.provider);
      !looks_at_one && f != nullptr)
    co_return f->why;
  switch (arguments_.what) {
    case release_arguments::command::map: co_return co_await map();
    case release_arguments::command::diff: co_return co_await diff();
    case release_arguments::command::check: break;  // reads the folder itself, perhaps often
    case release_arguments::command::show: co_return co_await show();
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

result<std::shared_ptr<const policies::releases::document>> release_work::find(
    const std::string& version) const {
  // `show aws-34.5.0`, as the object is called.
  if (version.empty()) {
    if (auto found = all_.find(arguments_.provider)) return found;
  } else if (auto found = all_.find(arguments_.provider, version)) {
    return found;
  }
  const std::string wanted = arguments_.provider + (version.empty() ? "" : " ") + version;
  if (const unreadable_file* f = all_.unreadable_of(arguments_.provider, version);
      !version.empty() && f != nullptr)
    return f->why;
  std::string folders;
  for (const auto& [name, folder] : all_.folders)
    folders += (folders.empty() ? " (which has " : ", ") + name;
  return make_fault(errc::not_found, "find Release " + wanted,
                    "there is none in " + arguments_.dir + folders + (folders.empty() ? "" : ")"));
}

std::vector<pool_facts> release_work::pools() const {
  pool_facts p;
  p.kind = arguments_.kind;
  p.architecture = arguments_.architecture;
  p.channel = arguments_.channel;
  p.suffix = arguments_.suffix;
  p.image = arguments_.image;
  p.running = arguments_.running;
  return {p};
}

std::map<std::string, std::string> release_work::values() const {
  std::map<std::string, std::string> all;
  for (const std::string& pair : arguments_.values) {
    auto [name, text] = parted(pair);
    all[std::move(name)] = std::move(text);
  }
  return all;
}

reactor::awaitable<result<void>> release_work::map() {
  auto release = find(arguments_.from);
  if (!release) co_return release.error();
  auto question = std::make_shared<map_question>();
  question->release = *release;
  question->pools = pools();
  question->catalogue = catalogue_;
  question->values = values();
  for (const std::string& pair : arguments_.tools) {
    auto [name, version] = parted(pair);
    question->tools.push_back({std::move(name), std::move(version)});
  }
  policies::subject who = subject_;
  auto answer = co_await map_release(packs_, std::move(who), std::move(question));
  if (!answer) co_return answer.error();
  exit_code = exit_code_of(answer->verdict);
  co_return print(map_json((*release)->name, *answer), map_text((*release)->name, *answer, tint_));
}

reactor::awaitable<result<judged_release>> release_work::judge(
    std::shared_ptr<const policies::releases::document> base,
    std::shared_ptr<const document> release) {
  auto question = std::make_shared<diff_question>(question_about(all_, base, release));
  question->pools = pools();
  question->catalogue = catalogue_;
  question->values = values();
  auto added = co_await add_rendered(loop_, arguments_.rendered, *question);
  if (!added) co_return added.error();
  co_return co_await judge_step(loop_, packs_, all_, std::move(question));
}

reactor::awaitable<result<judged_release>> release_work::judge_the_two() {
  auto from = find(arguments_.from);
  if (!from) co_return from.error();
  auto to = find(arguments_.to);
  if (!to) co_return to.error();
  co_return co_await judge(*from, *to);
}

reactor::awaitable<result<void>> release_work::diff() {
  auto judged = co_await judge_the_two();
  if (!judged) co_return judged.error();
  exit_code = exit_code_of(judged->answer.verdict);
  co_return print(diff_json(*judged), diff_text(*judged, tint_));
}

check_settings release_work::what_to_check() const {
  return {arguments_.dir,      arguments_.provider, arguments_.from,
          arguments_.archived, catalogue_,          arguments_.rendered};
}

bool release_work::show_check(const check_outcome& outcome) {
  exit_code = exit_code_of(outcome.worst);
  switch (arguments_.report) {
    case release_arguments::report_form::junit:
      return write_bytes(STDOUT_FILENO, check_junit(outcome));
    case release_arguments::report_form::github:
      return write_bytes(STDOUT_FILENO, check_github(outcome, arguments_.dir));
    case release_arguments::report_form::as_output: break;
  }
  const bool is_one = !arguments_.from.empty();
  if (is_one && arguments_.list.output == output_format::text)
    return written({}, diff_text(outcome.releases.front(), tint_));
  const int shown = show_list(check_list(outcome.releases, tint_), arguments_.list, "releases",
                              {{"decision", to_string(outcome.worst)}});
  return shown == success;
}

reactor::awaitable<result<void>> release_work::check() {
  if (arguments_.watch) co_return co_await follow();
  check_settings settings = what_to_check();
  settings.looked_at = told_to_a_person("checking", "Releases");
  auto outcome = co_await check_releases(loop_, packs_, std::move(settings));
  if (!outcome) co_return outcome.error();
  if (!show_check(*outcome)) exit_code = failure;
  co_return result<void>();
}

reactor::awaitable<result<void>> release_work::follow() {
  packs_.on_event = [](const policies::pack_event& e) { complain(e.message()); };
  reactor::event reader_left(loop_);
  release_follower follower(loop_, packs_, what_to_check(), arguments_.policies,
                            [&](const result<check_outcome>& outcome) {
                              if (!outcome) {
                                complain(outcome.error().message());
                              } else if (!show_check(*outcome)) {
                                reader_left.set();
                              }
                            });
  follower.start();
  co_await reader_left.wait();
  co_await follower.stop();
  exit_code = failure;
  co_return result<void>();
}

template <class T>
reactor::awaitable<result<std::optional<T>>> release_work::beside(
    std::string name, result<T> (*read)(std::string_view text, std::string file)) {
  const std::string path = arguments_.dir + "/" + name;
  auto text = co_await reactor::read_file(loop_, path, most_input_bytes);
  if (!text && text.error().code == errc::not_found) co_return std::optional<T>();
  if (!text) co_return text.error();
  auto found = read(*text, name);
  if (!found) co_return found.error();
  co_return std::optional<T>(std::move(*found));
}

reactor::awaitable<result<void>> release_work::gate() {
  auto from = find(arguments_.from);
  if (!from) co_return from.error();
  auto to = find(arguments_.to);
  if (!to) co_return to.error();
  auto question = std::make_shared<gate_question>();
  question->step = question_about(all_, *from, *to);
  question->step.pools = pools();
  question->step.catalogue = catalogue_;
  question->step.values = values();
  auto added = co_await add_rendered(loop_, arguments_.rendered, question->step);
  if (!added) co_return added.error();
  question->stage.is = arguments_.stage;
  question->stage.to = arguments_.to_stage;
  auto suites = co_await beside("suites.yaml", read_suites);
  if (!suites) co_return suites.error();
  question->suites = std::move(*suites);
  auto readiness = co_await beside("readiness.yaml", read_readiness);
  if (!readiness) co_return readiness.error();
  question->readiness = std::move(*readiness);
  policies::subject who = subject_;
  auto answer = co_await may_pass(packs_, std::move(who), std::move(question));
  if (!answer) co_return answer.error();
  answer->findings = with_consent(std::move(answer->findings), all_.waivers, **to, loop_.wall());
  answer->verdict = decide(answer->findings);
  judged_release judged;
  judged.name = (*to)->name;
  judged.from = (*from)->name;
  judged.folder = (*to)->folder;
  judged.hash = (*to)->hash;
  judged.answer = std::move(*answer);
  exit_code = exit_code_of(judged.answer.verdict);
  co_return print(diff_json(judged), diff_text(judged, tint_));
}

reactor::awaitable<result<void>> release_work::show() {
  auto release = find(arguments_.from);
  if (!release) co_return release.error();
  const document& d = **release;
  auto question = std::make_shared<map_question>();
  question->release = *release;
  policies::subject who = subject_;
  auto answer = co_await map_release(packs_, std::move(who), std::move(question));
  if (!answer) co_return answer.error();
  json::object o{{"kind", "Release"},      {"metadata", json::object{{"name", d.name}}},
                 {"name", d.name},         {"file", d.file},
                 {"archived", d.archived}, {"state", d.state},
                 {"date", d.date},         {"hash", d.hash}};
  for (const auto& [key, list] : {std::pair{"components", &d.components}, {"apps", &d.apps}}) {
    json::object entries;
    for (const entry& e : *list) entries[e.name] = e.version;
    o[key] = std::move(entries);
  }
  if (!answer->inside.empty()) o["inside"] = inside_json(answer->inside);
  table rows({"NAME", "VERSION", "CATALOG"});
  for (const auto* list : {&d.components, &d.apps}) {
    for (const entry& e : *list) rows.row({e.name, e.version, e.catalog});
  }
  for (const baked_tool& t : answer->inside) rows.row({page("  inside: ") + t.name, t.version, ""});
  exit_code = success;
  co_return print(o, page(d.name) + "  " + d.state + "  " + d.date + "  " + d.file + "\nhash " +
                         d.hash + "\n" + rows.text("  ", output_columns()));
}

bool release_work::written(const json::object& o, const page& text) const {
  // Notes are Markdown, whose lines end where they end.
  const bool fits = arguments_.what != release_arguments::command::notes;
  return arguments_.list.output == output_format::text
             ? write_out(STDOUT_FILENO, folded(text, fits ? output_columns() : any_width, 4))
             : (write_document(o, arguments_.list.output) == success);
}

result<void> release_work::print(const json::object& o, const page& text) {
  if (!written(o, text)) exit_code = failure;
  return {};
}

result<void> release_work::print_list(listing rows, std::string_view key, json::object document,
                                      const around_list& around) {
  if (show_list(std::move(rows), arguments_.list, key, std::move(document), around) != success)
    exit_code = failure;
  return {};
}

int release_command(const release_arguments& a) {
  reactor::loop loop;
  release_work command(loop, a);
  run_to_end(loop, "release", command.run());
  return command.exit_code;
}

}  // namespace cli
