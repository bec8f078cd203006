#include "app/exit_code.hpp"
#include "app/login_helpers.hpp"
#include "app/output.hpp"
#include "app/progress.hpp"
#include "app/run_to_end.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/time.hpp"
#include "reactor/system/files.hpp"
#include "releases/commands/fact_file.hpp"
#include "releases/commands/facts.hpp"
#include "releases/commands/promotion.hpp"
#include "releases/commands/release_view.hpp"
#include "releases/commands/train_answer.hpp"
#include "releases/commands/train_diff.hpp"
#include "releases/commands/train_document.hpp"
#include "releases/trains/known.hpp"
#include "releases/trains/train.hpp"

#include <boost/json.hpp>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

namespace cli {

using namespace app;

namespace {

namespace json = boost::json;
using namespace policies::trains;
using policies::value;
using reactor::result;

constexpr std::size_t most_document_bytes = 1024 * 1024;

hook hook_of(train_arguments::command what) {
  using command = train_arguments::command;
  switch (what) {
    case command::check:
    case command::diff: return hook::check;
    case command::plan:
    case command::explain:
    case command::notes: return hook::plan;
    case command::promote: return hook::promote;
    case command::match: return hook::match;
    case command::facts: break;  // asks another one
  }
  return hook::check;
}

struct asking {
  reactor::loop& loop;
  const train_arguments& arguments;
  policies::host packs;
  train_document train = {};         // as it was asked about
  value former = {};                 // the train before
  registry::web* network = nullptr;  // promote: where images get their names; null: they get none
  int exit_code = failure;
};

/// The file that is judged: of `diff` it is the later one.
const std::string& judged_file(const train_arguments& a) {
  return a.what == train_arguments::command::diff ? a.former : a.file;
}
const std::string& former_file(const train_arguments& a) {
  return a.what == train_arguments::command::diff ? a.file : a.former;
}

/// The document of a question about what was released together: what a file has, else what comes
/// with the program.
void add_trains(value& document) {
  auto& said = std::get<value::object>(document.data);
  if (!said.contains("trains")) said["trains"] = known_train_rows();
}

reactor::awaitable<result<void>> read_documents(asking& a) {  // borrowed
  const train_arguments& arguments = a.arguments;
  std::string file = judged_file(arguments);
  if (file.empty()) {  // match of what comes with the program
    auto added = a.train.add("train: known\n", "known trains");
    if (!added) co_return added.error();
  } else {
    std::string from = file;
    auto text = co_await train_text(a.loop, std::move(from));
    if (!text) co_return text.error();
    auto added = a.train.add(std::move(*text), std::move(file));
    if (!added) co_return added.error();
  }
  for (const std::string& name : arguments.with_facts) {
    auto said = co_await reactor::read_file(a.loop, name, most_document_bytes);
    if (!said) co_return said.error();
    auto added = a.train.add(std::move(*said), name);
    if (!added) co_return added.error();
  }
  if (former_file(arguments).empty()) co_return result<void>();
  std::string before = former_file(arguments);
  auto text = co_await train_text(a.loop, std::move(before));
  if (!text) co_return text.error();
  auto former = read_train(*text, former_file(arguments));
  if (!former) co_return former.error();
  a.train.add_former(*former);
  a.former = std::move(*former);
  co_return result<void>();
}

reactor::awaitable<result<train_answer>> answer_of(asking& a) {
  auto loaded = co_await a.packs.load();
  if (!loaded) co_return loaded.error();
  auto read = co_await read_documents(a);
  if (!read) co_return read.error();
  value& document = a.train.content();
  train_consent agreed;
  if (const value* name = document.find("train"); name != nullptr && name->if_string() != nullptr)
    agreed.train = *name->if_string();
  agreed.now = a.loop.wall();
  if (!judged_file(a.arguments).empty()) {
    const std::string beside =
        (std::filesystem::path(judged_file(a.arguments)).parent_path() / "waivers.yaml").string();
    auto waivers = co_await reactor::read_file(a.loop, beside, most_document_bytes);
    if (!waivers && waivers.error().code != reactor::errc::not_found) co_return waivers.error();
    if (waivers) {
      auto given = policies::releases::read_waivers(*waivers, beside);
      if (!given) co_return given.error();
      agreed.waivers = std::move(*given);
    }
  }
  // Policies have no clock: ages are counted to what the document says, else to now.
  auto& said = std::get<value::object>(document.data);
  if (!said.contains("now")) said["now"] = reactor::format_rfc3339(a.loop.wall());
  if (a.arguments.what == train_arguments::command::promote)
    said["promote"] = value::object{{"project", a.arguments.project}, {"tag", a.arguments.tag}};
  if (a.arguments.what == train_arguments::command::match) {
    add_trains(document);
    said["match"] = value::object{{"client", a.arguments.client},
                                  {"server", a.arguments.server},
                                  {"bundle", a.arguments.bundle},
                                  {"train", a.arguments.train},
                                  {"protocol", a.arguments.protocol}};
  }
  policies::subject who;
  who.api = "trains";
  value question = document;
  auto answer = co_await ask_train(a.packs, std::move(who), hook_of(a.arguments.what),
                                   std::move(question), std::move(agreed));
  if (answer) a.train.add_lines(answer->findings);
  co_return answer;
}

std::string in_environment(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  return value != nullptr ? value : "";
}

registry::client_options options_of_client(reactor::loop& l, const train_arguments& a) {
  registry::client_options options;
  options.plain_http = a.plain_http;
  std::string docker = in_environment("DOCKER_CONFIG");
  if (docker.empty()) docker = in_environment("HOME") + "/.docker";
  options.config_files = {docker + "/config.json"};
  options.other_realms = registry::token_realms_in(in_environment(registry::token_realms_variable));
  options.helpers = app::login_helpers(l);
  return options;
}

/// What is denied or has to be tested again gets no name.
reactor::awaitable<result<std::vector<named_image>>> name_images(asking& a,
                                                                 train_answer plan) {  // borrowed
  if (plan.retest != "skipped") {
    std::string why;
    for (const policies::releases::finding& f : plan.findings)
      if (f.id == "train.retest-required") why = ": " + f.subject + ": " + f.why;
    co_return reactor::make_fault(reactor::errc::refused, "train promote --write",
                                  "nothing gets a name before it is tested again" + why);
  }
  registry::client client(a.loop, *a.network, options_of_client(a.loop, a.arguments));
  std::string place = a.arguments.registry;
  co_return co_await give_names(client, std::move(place), std::move(plan));
}

json::array named_json(const std::vector<named_image>& named) {
  json::array all;
  for (const named_image& n : named)
    all.push_back(
        json::object{{"ref", n.ref},
                     {"digest", n.digest},
                     {"how", n.how == named_image::naming::given ? "given" : "there already"}});
  return all;
}

page named_text(const std::vector<named_image>& named) {
  table rows({"NAMED", "DIGEST", ""});
  for (const named_image& n : named)
    rows.row({n.ref, with_short_digests(n.digest),
              n.how == named_image::naming::given ? page() : page("there already")});
  return rows.text("  ", output_columns());
}

struct shown_answer : train_view {
  std::string plain;  // a list to tick off, a graph, notes: written as it is
};

result<shown_answer> show(const asking& a, const train_answer& answer) {
  using command = train_arguments::command;
  using form = train_arguments::plan_form;
  const train_arguments& arguments = a.arguments;
  const value& train = a.train.content();
  const colours tint = colours_at(STDOUT_FILENO);
  shown_answer out;
  switch (arguments.what) {
    case command::notes: out.plain = release_notes(answer, train, a.former); return out;
    case command::explain:
      out.machine = explain_json(answer, arguments.about);
      out.text.head = explain_text(answer, arguments.about, tint);
      if (out.machine.empty())
        return reactor::make_fault(reactor::errc::not_found, "explain " + arguments.about,
                                   "no check, step, finding or subject is called so");
      return out;
    case command::diff: {
      const std::vector<train_change> changes = changes_of(a.former, train);
      out.machine = view_of({}, command::check, answer, train, tint).machine;
      out.machine["changes"] = changes_json(changes);
      out.text.head = page("train ") + arguments.file + " to " + arguments.former +
                      "   decision: " + decision_text(answer.verdict, tint) + "\n" +
                      changes_text(changes) + findings_text(answer.findings, tint);
      return out;
    }
    default: break;
  }
  if (arguments.form == form::markdown) out.plain = checklist(answer, train);
  if (arguments.form == form::dot) out.plain = graph(answer, train);
  const std::string file = arguments.file.empty() ? "match" : arguments.file;
  static_cast<train_view&>(out) = view_of(file, arguments.what, answer, train, tint);
  return out;
}

/// The exit code of an answer: a second test that is due holds a promotion up as an approval does.
/// What only tells succeeds.
int exit_code_for(const train_arguments& asked, const train_answer& a) {
  using command = train_arguments::command;
  if (asked.what == command::explain || asked.what == command::notes) return success;
  if (a.verdict == policies::releases::decision::allow && a.retest == "required")
    return exit_code_of(policies::releases::decision::needs_approval);
  return exit_code_of(a.verdict);
}

bool is_written(shown_answer shown, const list_request& asked) {
  if (!shown.plain.empty()) return write_bytes(STDOUT_FILENO, shown.plain);
  if (!shown.key.empty())
    return show_list(std::move(shown.rows), asked, shown.key, std::move(shown.machine),
                     shown.text) == success;
  if (asked.output.is_machine()) return write_document(shown.machine, asked.output) == success;
  return write_out(STDOUT_FILENO, folded(shown.text.head + shown.text.tail, output_columns(), 4));
}

reactor::awaitable<void> answer_and_name(asking& a) {  // borrowed
  auto answer = co_await answer_of(a);
  if (!answer) {
    a.exit_code = complain(answer.error().message());
    co_return;
  }
  auto shown = show(a, *answer);
  if (!shown) {
    a.exit_code = complain(shown.error().message());
    co_return;
  }
  std::string failed;
  int failed_with = failure;
  if (a.network != nullptr && answer->verdict == policies::releases::decision::allow) {
    auto named = co_await name_images(a, *answer);
    if (!named) {
      failed = named.error().message();
      if (answer->retest == "required") failed_with = exit_code_for(a.arguments, *answer);
    } else {
      shown->machine["named"] = named_json(*named);
      shown->text.tail += named_text(*named);
    }
  }
  const bool written = is_written(std::move(*shown), a.arguments.list);
  a.exit_code = !failed.empty() ? complain(failed, failed_with)
                : written       ? exit_code_for(a.arguments, *answer)
                                : failure;
}

reactor::awaitable<void> ask_and_show(asking& a) {  // borrowed
  co_await answer_and_name(a);
  if (a.network != nullptr) co_await a.network->stop();
  a.loop.stop();
}

/// The two sides of "PROJECT=WORD".
result<std::pair<std::string, std::string>> named_word(const std::string& option,
                                                       const std::string& text,
                                                       const std::string& form) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == text.npos || equals + 1 == text.size())
    return reactor::make_fault(reactor::errc::malformed, option + " " + text, "expected " + form);
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

result<fact_settings> fact_settings_of(const train_arguments& a) {
  fact_settings settings;
  settings.registry = a.registry;
  settings.images = a.images;
  settings.filter = a.filter;
  settings.most_tags = a.most_tags;
  for (const std::string& text : a.clones) {
    auto clone = named_word("--clone", text, "PROJECT=FOLDER");
    if (!clone) return clone.error();
    settings.clones.insert(std::move(*clone));
  }
  for (const std::string& text : a.revisions) {
    auto revision = named_word("--at", text, "PROJECT=REVISION");
    if (!revision) return revision.error();
    if (!settings.clones.contains(revision->first))
      return reactor::make_fault(reactor::errc::not_found, "--at " + text,
                                 "name its clone with --clone");
    if (!is_revision(revision->second))
      return reactor::make_fault(reactor::errc::malformed, "--at " + text,
                                 "expected a commit, tag or branch");
    settings.revisions.insert(std::move(*revision));
  }
  for (const std::string& text : a.ranges) {
    auto range = read_fact_range(text);
    if (!range)
      return reactor::make_fault(reactor::errc::malformed, "--range " + text,
                                 "expected PROJECT=FROM..TO");
    settings.ranges.push_back(std::move(*range));
  }
  if (!settings.images.empty() && settings.registry.empty())
    return reactor::make_fault(reactor::errc::malformed, "--image", "name its --registry");
  return settings;
}

reactor::awaitable<result<void>> write_facts(reactor::loop& l, const train_arguments& a,
                                             policies::host& packs,
                                             registry::client& client) {  // borrowed
  auto settings = fact_settings_of(a);
  if (!settings) co_return settings.error();
  auto loaded = co_await packs.load();
  if (!loaded) co_return loaded.error();
  auto before = co_await reactor::read_file(l, a.file, most_document_bytes);
  if (!before && before.error().code != reactor::errc::not_found) co_return before.error();
  std::string text = before ? std::move(*before) : std::string();
  if (!text.empty()) {
    auto known = read_train(text, a.file);
    if (!known) co_return known.error();
    add_known(*known, *settings);
  }
  settings->asks = [](const std::string& repository) {
    return told_to_a_person("asking " + repository, "tags");
  };
  std::vector<std::string> notes;
  auto facts = co_await collect_facts(l, client, packs, std::move(*settings), notes);
  if (!facts) co_return facts.error();
  for (const std::string& note : notes) complain(note);
  auto updated = with_facts(std::move(text), a.file, *facts);
  if (!updated) co_return updated.error();
  co_return co_await reactor::write_file_atomically(l, a.file, std::move(*updated));
}

policies::host::options options_of(const train_arguments& a) {
  policies::host::options o;
  if (!a.policies.empty()) o.folders.push_back(a.policies);
  return o;
}

reactor::awaitable<void> look(reactor::loop& l, const train_arguments& a, registry::web& network,
                              int& exit_code) {
  // A task that never waits would end behind the stop that it asks for.
  co_await l.yield();
  registry::client client(l, network, options_of_client(l, a));
  policies::host packs(l, options_of(a));
  auto done = co_await write_facts(l, a, packs, client);
  exit_code = done ? success : complain(done.error().message());
  co_await network.stop();
  l.stop();
}

int facts_command(const train_arguments& a) {
  if (a.images.empty() && a.clones.empty() && a.ranges.empty())
    return complain(
        "train facts " + a.file + ": nothing is asked for; name --image, --clone or --range",
        wrong_usage);
  reactor::loop loop;
  registry::web network(loop, in_environment);
  int exit_code = failure;
  run_to_end(loop, "facts", look(loop, a, network, exit_code));
  return exit_code;
}

}  // namespace

int train_command(const train_arguments& a) {
  if (a.what == train_arguments::command::facts) return facts_command(a);
  reactor::loop loop;
  std::optional<registry::web> network;
  asking question{loop, a, policies::host(loop, options_of(a))};
  if (a.what == train_arguments::command::promote && a.write)
    question.network = &network.emplace(loop, in_environment);
  run_to_end(loop, "train", ask_and_show(question));
  return question.exit_code;
}

}  // namespace cli
