#include "policies/host/pack.hpp"

#include "formats/digest.hpp"
#include "policies/host/hooks/hook_version.hpp"
#include "reactor/loop.hpp"

#include <algorithm>
#include <functional>

namespace policies {
namespace {

using reactor::awaitable;
using reactor::errc;
using reactor::fault;
using reactor::make_fault;
using reactor::result;

constexpr std::int64_t load_instructions = 2'000'000, test_instructions = 20'000'000;
// Of all tests of a pack together, some ten seconds.
constexpr std::int64_t run_instructions = 50 * test_instructions;
/// What a pack says about itself, and the names of its tests: read on the loop.
constexpr value_limits about_limits{.depth = 6, .nodes = 2'000, .text_bytes = 64 * 1024};
constexpr std::size_t max_version_bytes = 63;

/// What the prelude is told about hooks; nothing where none are known.
std::vector<argument> what_is_known(const sandbox_limits& limits,
                                    value (*in_words)(const hook_list&)) {
  std::vector<argument> out;
  if (limits.hooks && !limits.hooks->empty()) out.emplace_back(in_words(*limits.hooks));
  return out;
}

bool one_of(const std::vector<std::string>& all, std::string_view wanted) {
  return std::find(all.begin(), all.end(), wanted) != all.end();
}

reactor::fault wrong(const std::string& where, std::string_view expected, const value& got) {
  return make_fault(errc::malformed, {},
                    "policy.lua: " + where + ": expected " + std::string(expected) + ", got " +
                        std::string(got.kind()));
}

result<std::vector<std::string>> read_texts(const std::string& where, const value& v) {
  const value::array* list = v.if_array();
  if (list == nullptr) return wrong(where, "a list of strings", v);
  std::vector<std::string> texts;
  for (const value& entry : *list) {
    if (entry.if_string() == nullptr)
      return wrong(where + "[" + std::to_string(texts.size() + 1) + "]", "a string", entry);
    texts.push_back(*entry.if_string());
  }
  return texts;
}

result<label_selector> read_selector(const std::string& where, const value& v) {
  const value::object* object = v.if_object();
  if (object == nullptr) return wrong(where, "a table of labels", v);
  label_selector selector;
  for (const auto& [key, wanted] : *object) {
    label_requirement requirement;
    if (const bool* present = wanted.if_bool()) {
      requirement.present = *present;
    } else if (const std::string* text = wanted.if_string()) {
      requirement.values = {*text};
    } else if (wanted.if_array() != nullptr && !wanted.if_array()->empty()) {
      auto texts = read_texts(where + "." + key, wanted);
      if (!texts) return texts.error();
      requirement.values = std::move(*texts);
    } else {
      return wrong(where + "." + key, "a value, a list of values, true or false", wanted);
    }
    selector.emplace(key, std::move(requirement));
  }
  return selector;
}

/// Signals that no hook of the pack sees would be a silent mistake.
result<void> check_signals(const manifest& m) {
  if (m.signals.empty() || m.hooks.empty()) return {};
  for (const char* sees : {"rollout.plan", "disruption.admit", "fleet.revision"})
    if (one_of(m.hooks, sees)) return {};
  return make_fault(errc::malformed, {},
                    "policy.lua: signals: only rollout.plan, disruption.admit and fleet.revision "
                    "see them, and the pack has none of them");
}

/// What hooks want to be said beside them.
result<void> check_declarations(const manifest& m, const sandbox_limits& limits) {
  if (!limits.hooks) return {};
  for (const hook& h : *limits.hooks) {
    if (h.declares.name != "composes" || !one_of(m.hooks, h.name)) continue;
    if (m.composes.is_null())
      return make_fault(errc::malformed, {},
                        "policy.lua: " + h.name + ": `composes` is missing: " + h.declares.about);
    if (auto fine = check(m.composes, h.declares.is); !fine)
      return make_fault(errc::malformed, {}, "policy.lua: composes: " + fine.error().detail);
  }
  return {};
}

/// An API that asks none of its hooks would leave the pack unasked without a word.
result<void> check_apis(const manifest& m, const sandbox_limits& limits) {
  if (!limits.hooks) return {};
  std::vector<std::string> known;
  for (const hook& h : *limits.hooks) {
    if (!m.hooks.empty() && !one_of(m.hooks, h.name)) continue;
    if (h.apis.empty()) return {};
    for (const std::string& api : h.apis)
      if (!one_of(known, api)) known.push_back(api);
  }
  if (known.empty()) return {};
  for (std::size_t i = 0; i < m.apis.size(); ++i) {
    if (one_of(known, m.apis[i])) continue;
    std::string all, meant;
    for (const std::string& api : known) {
      all += (all.empty() ? "" : ", ") + api;
      if (meant.empty() && is_slip(m.apis[i], api)) meant = ", is it " + api + "?";
    }
    return make_fault(errc::malformed, {},
                      "policy.lua: applies.apis[" + std::to_string(i + 1) + "]: no API '" +
                          m.apis[i] + "' asks its hooks" + meant + "; known are " + all);
  }
  return {};
}

result<manifest> read_manifest(const value& about) {
  manifest m;
  if (const value* name = about.find("name")) m.name = *name->if_string();
  if (const value* version = about.find("version")) {
    m.version = *version->if_string();
    const bool plain =
        m.version.size() <= max_version_bytes &&
        std::all_of(m.version.begin(), m.version.end(), [](char c) { return c >= ' ' && c < 127; });
    if (!plain)
      return make_fault(errc::malformed, {},
                        "policy.lua: version: expected printable characters (63 at most)");
  }
  if (const value* api = about.find("api")) {
    const double number = *api->if_number();
    if (const std::string problem = version_problem(number); !problem.empty())
      return make_fault(errc::malformed, {}, "policy.lua: api: " + problem);
    m.api = static_cast<int>(number);
  }
  if (const value* order = about.find("order")) m.order = *order->if_number();
  if (const value* hooks = about.find("hooks")) {
    auto texts = read_texts("hooks", *hooks);
    if (!texts) return texts.error();
    m.hooks = std::move(*texts);
  }
  if (const value* composes = about.find("composes")) m.composes = *composes;
  if (const value* declared = about.find("signals")) {
    auto signals = read_signals(*declared);
    if (!signals) return signals.error();
    m.signals = std::move(*signals);
  }
  const value* applies = about.find("applies");
  if (applies == nullptr) return m;
  const value::object* limits = applies->if_object();
  if (limits == nullptr) return wrong("applies", "a table", *applies);
  for (const auto& [key, limit] : *limits) {
    if (key == "apis") {
      auto texts = read_texts("applies.apis", limit);
      if (!texts) return texts.error();
      m.apis = std::move(*texts);
    } else if (key == "clusters" || key == "objects") {
      auto selector = read_selector("applies." + key, limit);
      if (!selector) return selector.error();
      (key == "clusters" ? m.clusters : m.objects) = std::move(*selector);
    } else {
      return make_fault(
          errc::malformed, {},
          "policy.lua: applies: unknown entry '" + key + "'; known are apis, clusters, objects");
    }
  }
  return m;
}

/// What we have written stays as it is while the program runs.
std::string shelf_key(const std::string& folder, author by,
                      const std::function<std::string()>& digest) {
  return by == author::ourselves ? folder + " ours" : folder + " theirs " + digest();
}

}  // namespace

std::string digest_of(const pack_files& files) {
  std::string lines;
  for (const auto& [name, content] : files)
    lines += formats::sha256_hex(content) + "  " + name + "\n";
  return formats::digest_of(lines);
}

std::shared_ptr<pack> pack_shelf::find(const std::string& folder, const pack_files& files,
                                       author by) const {
  const auto found = packs_.find(shelf_key(folder, by, [&] { return digest_of(files); }));
  return found == packs_.end() ? nullptr : found->second;
}

void pack_shelf::keep(const std::shared_ptr<pack>& loaded, author by) {
  packs_[shelf_key(loaded->folder(), by, [&] { return loaded->digest(); })] = loaded;
}

bool matches(const label_selector& selector, const labels& of) {
  return std::all_of(selector.begin(), selector.end(), [&](const auto& entry) {
    const auto& [key, requirement] = entry;
    const auto found = of.find(key);
    if (found == of.end()) return !requirement.present;
    return requirement.present &&
           (requirement.values.empty() || one_of(requirement.values, found->second));
  });
}

bool pack::has(std::string_view hook) const {
  return one_of(about_.hooks, hook);
}

bool pack::applies_to(const subject& s) const {
  return (about_.apis.empty() || one_of(about_.apis, s.api)) &&
         matches(about_.clusters, s.cluster_labels) && matches(about_.objects, s.object_labels);
}

awaitable<result<std::shared_ptr<pack>>> pack::load(reactor::loop& l, std::string folder,
                                                    pack_files files, sandbox_limits limits,
                                                    author by) {
  const std::string doing = "load policy pack " + folder;
  if (!files.contains("policy.lua"))
    co_return make_fault(errc::not_found, doing, "it has no policy.lua");
  auto opened = co_await sandbox::open_aside(l, folder, std::move(files), limits, by);
  if (!opened) co_return reactor::while_doing(doing, opened.error());
  std::vector<argument> about_hooks = what_is_known(limits, names_of);
  auto loaded = co_await sandbox::run(*opened, "load_pack", std::move(about_hooks),
                                      load_instructions, {}, about_limits);
  if (!loaded) co_return reactor::while_doing(doing, loaded.error());
  auto about = read_manifest(*loaded->answer);
  if (!about) co_return reactor::while_doing(doing, about.error());
  if (auto said = check_declarations(*about, limits); !said)
    co_return reactor::while_doing(doing, said.error());
  if (auto said = check_signals(*about); !said) co_return reactor::while_doing(doing, said.error());
  if (auto said = check_apis(*about, limits); !said)
    co_return reactor::while_doing(doing, said.error());
  std::shared_ptr<pack> made(new pack);
  made->folder_ = std::move(folder);
  made->about_ = std::move(*about);
  made->sandbox_ = std::move(*opened);
  co_return made;
}

const std::string& pack::digest() const {
  if (digest_.empty()) digest_ = digest_of(files());
  return digest_;
}

awaitable<result<call_answer>> pack::call(std::shared_ptr<const pack> self, std::string hook,
                                          std::vector<argument> arguments,
                                          std::int64_t instructions, judge accept) {
  const std::string doing = "policy " + self->about_.name + ": " + hook;
  if (!self->has(hook)) co_return make_fault(errc::not_found, doing, "the pack has no such hook");
  const std::size_t dot = hook.find('.');
  arguments.insert(arguments.begin(),
                   {argument(value(hook.substr(0, dot))), argument(value(hook.substr(dot + 1)))});
  auto answer = co_await sandbox::run(self->sandbox_, "call", std::move(arguments), instructions,
                                      std::move(accept));
  if (!answer) co_return reactor::while_doing(doing, answer.error());
  co_return std::move(answer);
}

awaitable<result<std::vector<test_outcome>>> run_pack_tests(reactor::loop& l, std::string folder,
                                                            pack_files files, sandbox_limits limits,
                                                            run_tests which_ones) {
  const std::string doing = "test policy pack " + folder;
  std::vector<std::string> test_files;
  for (const auto& [name, content] : files) {
    if (name.ends_with("_test.lua")) test_files.push_back(name.substr(0, name.size() - 4));
  }
  std::vector<test_outcome> outcomes;
  std::int64_t left = run_instructions;
  if (test_files.empty()) co_return outcomes;
  auto opened = co_await sandbox::open_aside(l, folder, std::move(files), limits, author::stranger);
  if (!opened) co_return reactor::while_doing(doing, opened.error());
  for (const std::string& file : test_files) {
    std::string name = file;
    std::replace(name.begin(), name.end(), '/', '.');
    std::vector<argument> which = what_is_known(limits, arguments_of);
    which.insert(which.begin(), argument(value(name)));
    auto tests = co_await sandbox::run(*opened, "load_tests", std::move(which), load_instructions,
                                       {}, about_limits);
    if (!tests) co_return reactor::while_doing(doing, tests.error());
    auto names = read_texts(file, *tests->answer);
    if (!names) co_return reactor::while_doing(doing, names.error());
    for (std::size_t i = 0; i < names->size(); ++i) {
      if (left <= 0) {
        outcomes.push_back({file + ".lua", (*names)[i], false,
                            "the tests before it took " + std::to_string(run_instructions) +
                                " instructions together, the most that a pack's tests may take; "
                                "it and those after it did not run"});
        co_return outcomes;
      }
      std::vector<argument> number{argument(value(static_cast<double>(i + 1)))};
      auto ran = co_await sandbox::run(*opened, "run_test", std::move(number), test_instructions,
                                       {}, about_limits);
      test_outcome outcome{file + ".lua", (*names)[i], ran.has_value(), {}};
      left -= ran.cost.instructions;
      if (!ran) outcome.message = ran.error().message();
      outcomes.push_back(std::move(outcome));
      if (!ran && which_ones == run_tests::until_one_fails) co_return outcomes;
    }
  }
  co_return outcomes;
}

placed_reason take_apart(const std::string& text) {
  const std::size_t file_end = text.find(".lua:");
  if (file_end == std::string::npos || text.find_first_of(" \n") < file_end) return {{}, 0, text};
  std::size_t at = file_end + 5;
  int line = 0;
  while (at < text.size() && text[at] >= '0' && text[at] <= '9' && line < 1'000'000)
    line = line * 10 + (text[at++] - '0');
  const std::size_t reason = text.compare(at, 2, ": ") == 0 ? at + 2
                             : text[at] == ' '              ? at + 1
                                                            : at;
  return {text.substr(0, file_end + 4), line, text.substr(reason)};
}

awaitable<result<void>> pass_tests(reactor::loop& l, std::string folder, pack_files files,
                                   sandbox_limits limits) {
  auto tests = co_await run_pack_tests(l, folder, std::move(files), std::move(limits));
  if (!tests) co_return tests.error();
  std::size_t failed = 0;
  const test_outcome* first = nullptr;
  for (const test_outcome& t : *tests) {
    if (t.passed) continue;
    if (failed++ == 0) first = &t;
  }
  if (first == nullptr) co_return result<void>();
  const placed_reason place = take_apart(first->message);
  std::string why = place.file.empty() ? folder + "/" + first->file + ":0"
                                       : place.file + ":" + std::to_string(place.line);
  why += ": test \"" + first->name + "\" failed: " + place.reason;
  if (failed > 1) why += " (and " + std::to_string(failed - 1) + " more)";
  co_return make_fault(errc::refused, "test policy pack " + folder, why);
}

fault name_is_taken_by(const std::string& other_folder, const std::string& folder,
                       const std::string& name) {
  return make_fault(errc::refused, "load policy pack " + folder,
                    "its name " + name + " belongs to the pack in " + other_folder);
}

bool pack_report::passed() const {
  return !fault && slips.empty() &&
         std::all_of(tests.begin(), tests.end(), [](const test_outcome& t) { return t.passed; }) &&
         std::all_of(trials.begin(), trials.end(), [](const hook_trial& t) { return !t.fault; });
}

awaitable<std::vector<hook_trial>> try_hooks(std::shared_ptr<const pack> of, shared_hooks hooks) {
  std::vector<hook_trial> trials;
  if (!hooks) co_return trials;
  for (const hook& h : *hooks) {
    if (!h.typical || !of->has(h.name)) continue;
    hook_trial trial{h.name, {}, {}, h.instructions};
    std::vector<std::vector<argument>> questions = h.typical(*of);
    for (std::vector<argument>& question : questions) {
      judge accept = [hooks, &h, of, question](const value& v) {
        return h.takes(v, {question, of->about().composes});
      };
      auto said =
          co_await pack::call(of, h.name, std::move(question), h.instructions, std::move(accept));
      if (said && !said->accepted)
        said = reactor::while_doing("policy " + of->about().name + ": " + h.name,
                                    said->accepted.error());
      if (!said) {
        trial.fault = said.error();
        break;
      }
      if (said->cost.instructions > trial.cost.instructions) trial.cost = said->cost;
    }
    trials.push_back(std::move(trial));
  }
  co_return trials;
}

namespace {

enum class depth { source, tests, tests_until_one_fails };

awaitable<pack_report> examine(reactor::loop& l, pack_source source, shared_hooks hooks,
                               depth how) {
  pack_report report;
  report.folder = source.folder;
  report.fault = source.unreadable;
  if (report.fault) co_return report;
  sandbox_limits limits;
  limits.hooks = hooks;
  auto loaded = co_await pack::load(l, source.folder, source.files, limits);
  if (!loaded) {
    report.fault = loaded.error();
    co_return report;
  }
  report.name = (*loaded)->about().name;
  report.version = (*loaded)->about().version;
  report.hooks = (*loaded)->about().hooks;
  if (how == depth::source) {
    hook_list answered;
    for (const std::string& name : report.hooks) {
      if (const hook* h = hooks ? find_hook(*hooks, name) : nullptr) answered.push_back(*h);
    }
    report.slips = find_slips(source.files, answered, (*loaded)->about().signals);
    auto passed = co_await pass_tests(l, source.folder, source.files, limits);
    if (!passed) {
      report.fault = passed.error();
      co_return report;
    }
  } else {
    const bool whole = how == depth::tests;
    if (whole) limits.coverage = std::make_shared<line_coverage>();
    auto tests = co_await run_pack_tests(l, source.folder, source.files, limits,
                                         whole ? run_tests::all : run_tests::until_one_fails);
    if (!tests) {
      report.fault = tests.error();
      co_return report;
    }
    report.tests = std::move(*tests);
    if (!whole && !report.passed()) co_return report;
    if (whole) {
      const auto count = [](const pack_files& files, const std::shared_ptr<line_coverage>& seen) {
        return lines_of(files, *seen);
      };
      report.coverage = co_await l.offload(count, source.files, limits.coverage);
    }
  }
  report.trials = co_await try_hooks(*loaded, hooks);
  co_return report;
}

awaitable<result<std::vector<pack_report>>> examine_all(reactor::loop& l, std::string root,
                                                        shared_hooks hooks, depth how) {
  auto sources = co_await l.offload(&read_packs, root);
  if (!sources) co_return sources.error();
  std::vector<pack_report> reports;
  for (pack_source& source : *sources) {
    auto report = co_await examine(l, std::move(source), hooks, how);
    // As a service that reads the folder: the second one of a name is not taken.
    for (const pack_report& other : reports)
      if (!report.fault && !other.fault && other.name == report.name)
        report.fault = name_is_taken_by(other.folder, report.folder, report.name);
    reports.push_back(std::move(report));
    if (how == depth::tests_until_one_fails && !reports.back().passed()) break;
  }
  co_return reports;
}

}  // namespace

awaitable<result<std::vector<pack_report>>> test_packs(reactor::loop& l, std::string root,
                                                       shared_hooks hooks, run_tests which) {
  return examine_all(l, std::move(root), std::move(hooks),
                     which == run_tests::all ? depth::tests : depth::tests_until_one_fails);
}

awaitable<result<std::vector<pack_report>>> check_packs(reactor::loop& l, std::string root,
                                                        shared_hooks hooks) {
  return examine_all(l, std::move(root), std::move(hooks), depth::source);
}

}  // namespace policies
