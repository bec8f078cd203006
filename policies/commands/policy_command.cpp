#include "policies/commands/explain.hpp"
#include "policies/commands/pack_list.hpp"
#include "policies/commands/policy_new.hpp"
#include "policies/commands/replay.hpp"
#include "policies/host/host.hpp"
#include "policies/host/pack.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/printable.hpp"
#include "reactor/system/files.hpp"
#include "reactor/task_group.hpp"
#include "service/overview/pack_view.hpp"

#include <boost/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

namespace cli {
namespace {

namespace json = boost::json;
using policies::pack_report;
using reports = reactor::result<std::vector<pack_report>>;

/// Runs one task to its end on a loop of its own.
void run_once(reactor::loop& l, const std::function<reactor::awaitable<void>()>& body) {
  reactor::task_group tasks(l);
  tasks.start("policy", [&]() -> reactor::awaitable<void> {
    co_await body();
    l.stop();
  });
  l.run();
}

struct counted {
  std::size_t tests = 0, failed = 0, lines = 0, ran = 0;
  bool passed = true;
  double percent() const {
    return lines == 0 ? 100.0 : 100.0 * static_cast<double>(ran) / static_cast<double>(lines);
  }
};

void count(const pack_report& r, counted& c) {
  for (const policies::test_outcome& t : r.tests) {
    ++c.tests;
    if (!t.passed) ++c.failed;
  }
  for (const policies::file_coverage& f : r.coverage) {
    c.lines += f.lines;
    c.ran += f.ran;
  }
  c.passed = c.passed && r.passed();
}

std::string percent_text(double percent) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1f %%", percent);
  return text;
}

/// "3-5, 9"
std::string ranges(const std::set<int>& lines) {
  std::string out;
  for (auto i = lines.begin(); i != lines.end();) {
    const int first = *i;
    int last = first;
    for (++i; i != lines.end() && *i == last + 1; ++i) last = *i;
    out += (out.empty() ? "" : ", ") + std::to_string(first);
    if (last != first) out += "-" + std::to_string(last);
  }
  return out;
}

json::object as_json(const policies::hook_trial& t) {
  json::object o{{"hook", t.hook},
                 {"instructions", t.cost.instructions},
                 {"budget", t.budget},
                 {"heap_bytes", t.cost.heap_bytes}};
  if (t.fault) o["fault"] = t.fault->message();
  return o;
}

json::object as_json(const pack_report& r, bool tested) {
  json::object pack{
      {"folder", r.folder}, {"name", r.name}, {"version", r.version}, {"passed", r.passed()}};
  if (r.fault) pack["refused"] = r.fault->message();
  json::array hooks, trials, tests, slips, files;
  for (const std::string& h : r.hooks) hooks.emplace_back(h);
  for (const auto& t : r.trials) trials.push_back(as_json(t));
  pack["hooks"] = std::move(hooks);
  pack["trials"] = std::move(trials);
  if (!tested) {
    for (const auto& s : r.slips)
      slips.push_back(
          json::object{{"file", s.file}, {"line", s.line}, {"wrong", s.wrong}, {"right", s.right}});
    pack["slips"] = std::move(slips);
    return pack;
  }
  for (const auto& t : r.tests)
    tests.push_back(json::object{
        {"file", t.file}, {"name", t.name}, {"passed", t.passed}, {"message", t.message}});
  pack["tests"] = std::move(tests);
  counted c;
  count(r, c);
  for (const auto& f : r.coverage)
    files.push_back(json::object{
        {"file", f.file}, {"lines", f.lines}, {"ran", f.ran}, {"missed", ranges(f.missed)}});
  pack["coverage"] = json::object{{"lines", c.lines}, {"ran", c.ran}, {"files", std::move(files)}};
  return pack;
}

page trial_line(const policies::hook_trial& t, colours tint) {
  if (t.fault)
    return page("  ") + toned("FAIL", tone::bad, tint) + " " + t.hook + ": " + t.fault->message() +
           "\n";
  return page("  ") + toned("ok  ", tone::good, tint) + " " + t.hook +
         " answers what usually comes up: " + std::to_string(t.cost.instructions) + " of " +
         std::to_string(t.budget) + " instructions\n";
}

page head_of(const pack_report& r, colours tint) {
  page text = page(r.folder) + ": ";
  if (r.fault) return text + toned("refused", tone::bad, tint) + ": " + r.fault->message() + "\n";
  text += page(r.name) + (r.version.empty() ? page() : page(" ") + r.version);
  return text;
}

page text_of_tests(const pack_report& r, colours tint) {
  page text = head_of(r, tint);
  if (r.fault) return text;
  counted c;
  count(r, c);
  text += page(", ") + std::to_string(r.tests.size()) +
          (r.tests.size() == 1 ? page(" test") : page(" tests"));
  if (c.lines > 0)
    text += page(", ") + percent_text(c.percent()) + " of " + std::to_string(c.lines) + " lines";
  text += "\n";
  for (const policies::test_outcome& t : r.tests)
    text += page("  ") +
            toned(t.passed ? "ok  " : "FAIL", t.passed ? tone::good : tone::bad, tint) + " " +
            t.name + (t.passed ? page() : page(": ") + t.message) + "\n";
  for (const policies::hook_trial& t : r.trials) text += trial_line(t, tint);
  for (const policies::file_coverage& f : r.coverage) {
    if (!f.missed.empty())
      text += page("  no test reaches ") + f.file + ":" + ranges(f.missed) + "\n";
  }
  return text;
}

std::string xml(std::string_view text) {
  std::string out;
  for (const char c : reactor::printable(text)) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string junit_of(const std::vector<pack_report>& all) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (const pack_report& r : all) {
    struct row {
      std::string name, file, message;
      bool passed;
    };
    std::vector<row> rows;
    if (r.fault) rows.push_back({"loads", "policy.lua", r.fault->message(), false});
    for (const auto& t : r.tests) rows.push_back({t.name, t.file, t.message, t.passed});
    for (const auto& t : r.trials)
      rows.push_back({t.hook + " answers what usually comes up", "policy.lua",
                      t.fault ? t.fault->message() : "", !t.fault});
    const auto failed =
        std::count_if(rows.begin(), rows.end(), [](const row& x) { return !x.passed; });
    out += "  <testsuite name=\"" + xml(r.folder) + "\" tests=\"" + std::to_string(rows.size()) +
           "\" failures=\"" + std::to_string(failed) + "\">\n";
    for (const row& x : rows) {
      out += "    <testcase classname=\"" + xml(r.folder) + "\" name=\"" + xml(x.name) +
             "\" file=\"" + xml(x.file) + "\"";
      out += x.passed ? "/>\n"
                      : ">\n      <failure message=\"" + xml(x.message) + "\"/>\n    </testcase>\n";
    }
    out += "  </testsuite>\n";
  }
  return out + "</testsuites>\n";
}

int test(const policy_arguments& a) {
  reactor::loop loop;
  reports found = std::vector<pack_report>();
  run_once(loop, [&]() -> reactor::awaitable<void> {
    using policies::run_tests;
    found = co_await policies::test_packs(
        loop, a.dir, a.hooks, a.fail_fast ? run_tests::until_one_fails : run_tests::all);
  });
  if (!found) return complain(found.error().message());
  counted all;
  std::vector<std::string> untested;
  for (const pack_report& r : *found) {
    count(r, all);
    if (!r.fault && r.tests.empty()) untested.push_back(r.folder);
  }
  if (a.junit) {
    write_bytes(STDOUT_FILENO, junit_of(*found));
  } else if (a.output == output_format::text) {
    const colours tint = colours_at(STDOUT_FILENO);
    page text;
    for (const pack_report& r : *found) text += text_of_tests(r, tint);
    text += page(std::to_string(all.tests)) + " tests, " + std::to_string(all.failed) + " failed";
    if (all.lines > 0)
      text += page("; ") + percent_text(all.percent()) + " of " + std::to_string(all.lines) +
              " lines are reached";
    text += "\n";
    write_out(STDOUT_FILENO, text);
  } else {
    json::array packs;
    for (const pack_report& r : *found) {
      json::object pack = as_json(r, true);
      if (r.tests.empty() && !a.allow_none) pack["passed"] = false;
      packs.push_back(std::move(pack));
    }
    json::object body{{"passed", all.passed && (untested.empty() || a.allow_none)}};
    body["packs"] = std::move(packs);
    if (write_document(document("PolicyTest", std::move(body)), a.output) != success)
      return failure;
  }
  if (!untested.empty() && !a.allow_none) {
    std::string names;
    for (const std::string& name : untested) names += (names.empty() ? "" : ", ") + name;
    return complain("no tests: " + names + "; --allow-none takes that");
  }
  return all.passed ? success : failure;
}

int check(const policy_arguments& a) {
  reactor::loop loop;
  reports found = std::vector<pack_report>();
  run_once(loop, [&]() -> reactor::awaitable<void> {
    found = co_await policies::check_packs(loop, a.dir, a.hooks);
  });
  if (!found) return complain(found.error().message());
  const colours tint = colours_at(STDOUT_FILENO);
  bool good = true;
  page text;
  json::array packs;
  for (const pack_report& r : *found) {
    good = good && r.passed();
    packs.push_back(as_json(r, false));
    text += head_of(r, tint);
    if (r.fault) continue;
    std::string hooks;
    for (const std::string& h : r.hooks) hooks += (hooks.empty() ? "" : ", ") + h;
    text += page(hooks.empty() ? ", no hooks" : ", answers ") + hooks + "\n";
    for (const auto& s : r.slips)
      text +=
          page("  ") + toned("FAIL", tone::bad, tint) + " " + r.folder + "/" + s.message() + "\n";
    for (const auto& t : r.trials) text += trial_line(t, tint);
  }
  if (a.output == output_format::text)
    write_out(STDOUT_FILENO, text);
  else if (write_document(document("PolicyCheck", {{"passed", good}, {"packs", std::move(packs)}}),
                          a.output) != success)
    return failure;
  return good ? success : failure;
}

int replay(const policy_arguments& a) {
  std::ifstream in(a.record, std::ios::binary);
  if (!in) return complain("read record " + a.record + ": cannot open it");
  std::stringstream bytes;
  bytes << in.rdbuf();
  auto record = policies::read_record(bytes.str(), a.record);
  if (!record) return complain(record.error().message());
  reactor::loop loop;
  policies::host::options options;
  options.folders.push_back(a.dir);
  options.limits.hooks = a.hooks;
  policies::host packs(loop, std::move(options));
  reactor::result<void> loaded;
  replayed found;
  run_once(loop, [&]() -> reactor::awaitable<void> {
    loaded = co_await packs.load();
    if (loaded) found = co_await ask_again(packs, std::move(record->questions));
  });
  if (!loaded) return complain(loaded.error().message());
  if (record->cut_short)
    write_out(STDERR_FILENO, page("windlass: ") + a.record +
                                 " ends in the middle of a line, as its writer was stopped; "
                                 "what is whole was asked\n");
  if (a.output != output_format::text) {
    json::array rows;
    for (const changed_answer& c : found.changed)
      rows.push_back(json::object{{"question", c.question},
                                  {"at", c.at},
                                  {"hook", c.hook},
                                  {"cluster", c.cluster},
                                  {"unit", c.unit},
                                  {"was", json::object{{"pack", c.was_pack}, {"answer", c.was}}},
                                  {"now", json::object{{"pack", c.is_pack}, {"answer", c.is}}}});
    if (write_document(document("PolicyReplay", {{"questions", found.questions},
                                                 {"differences", found.changed.size()},
                                                 {"cutShort", record->cut_short},
                                                 {"changed", std::move(rows)}}),
                       a.output) != success)
      return failure;
    return success;
  }
  page text;
  for (const changed_answer& c : found.changed) text += row_of(c);
  text += page(std::to_string(found.questions)) + " questions, " +
          std::to_string(found.changed.size()) + " are answered otherwise\n";
  write_out(STDOUT_FILENO, text);
  return success;
}

int make(const policy_arguments& a) {
  auto files = new_pack(a.name, a.hook, *a.hooks);
  if (!files) return complain(files.error().message());
  const std::filesystem::path folder = std::filesystem::path(a.dir.empty() ? "." : a.dir) / a.name;
  std::error_code ec;
  if (std::filesystem::exists(folder, ec)) return complain(folder.string() + " is there already");
  page text;
  for (const auto& [name, content] : *files) {
    const std::filesystem::path to = folder / name;
    std::filesystem::create_directories(to.parent_path(), ec);
    if (ec) return complain("create " + to.parent_path().string() + ": " + ec.message());
    auto stored = reactor::store_file(to.string(), content);
    if (!stored) return complain(stored.error().message());
    text += page(to.string()) + "\n";
  }
  text += page("Next: windlass policy test ") + folder.string() + "\n";
  write_out(STDOUT_FILENO, text);
  return success;
}

int list(const policy_arguments& a) {
  reactor::loop loop;
  policies::host::options options;
  if (!a.dir.empty()) options.folders.push_back(a.dir);
  options.limits.hooks = a.hooks;
  policies::host packs(loop, std::move(options));
  reactor::result<void> loaded;
  run_once(loop, [&]() -> reactor::awaitable<void> { loaded = co_await packs.load(); });
  if (!loaded) return complain(loaded.error().message());
  const std::vector<policies::pack_status> all = packs.status();
  if (a.what == policy_arguments::command::show) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto& p) { return p.name == a.name; });
    if (found == all.end()) {
      std::string known;
      for (const auto& p : all) known += (known.empty() ? "" : ", ") + p.name;
      return complain("there is no policy pack named " + a.name + "; there are " + known);
    }
    if (a.output != output_format::text) {
      if (write_document(document("PolicyPack", pack_json(*found)), a.output) != success)
        return failure;
      return success;
    }
    char order[32];
    std::snprintf(order, sizeof order, "%g", found->order);
    page text = page("name     ") + found->name + "\nversion  " + found->version + "\ndigest   " +
                found->digest + "\nfolder   " + found->folder +
                (found->stock ? page(" (stock)") : page()) + "\norder    " + std::string(order) +
                "\nhooks    " + joined_hooks(*found) + "\n";
    for (const std::string& name : found->hooks) {
      const policies::hook* h = policies::find_hook(*a.hooks, name);
      if (h != nullptr && h->is_described()) text += page("  ") + name + ": " + h->question + "\n";
    }
    write_out(STDOUT_FILENO, text);
    return success;
  }
  return show_packs(all, a);
}

int policy_command(const policy_arguments& given, const invocation& i) {
  policy_arguments a = given;
  a.hooks = units::hooks_of(i.apis());
  using command = policy_arguments::command;
  switch (a.what) {
    case command::test: return test(a);
    case command::check: return check(a);
    case command::make: return make(a);
    case command::replay: return replay(a);
    case command::explain: return explain_policy(a, i);
    case command::list:
    case command::show: return list(a);
    case command::types:
      write_bytes(STDOUT_FILENO, policies::editor_types(*a.hooks));
      return success;
    case command::reference:
      write_bytes(STDOUT_FILENO, policies::reference_page(*a.hooks));
      return success;
  }
  return failure;
}

using policy_verb = policy_arguments::command;

void add_packs(flags& f, policy_arguments& to) {
  f.value("DIR", to.dir, "folder of the pack, or of several packs").required();
}
void add_policies(flags& f, policy_arguments& to) {
  f.value("--policies", to.dir, "folder of policy packs that come before the stock ones");
  f.output(to.output);
}

void declare_list(flags& f, policy_arguments& to) {
  f.value("--policies", to.dir, "folder of policy packs that come before the stock ones");
  list_flags has = of_files();
  has.names = "names; none = all";
  has.argument = "PACK";
  declare_listing(f, to.list, has);
}

void declare_new(flags& f, policy_arguments& to) {
  f.value("NAME", to.name, "name of the pack and of its folder").required();
  f.value("--hook", to.hook, "the answer it begins with").shows_default();
  f.value("--dir", to.dir, "where the folder goes (default: here)");
}
void declare_check(flags& f, policy_arguments& to) {
  add_packs(f, to);
  f.output(to.output);
}
void declare_test(flags& f, policy_arguments& to) {
  add_packs(f, to);
  f.on("--allow-none", to.allow_none, "a pack without tests is no failure");
  f.on("--fail-fast", to.fail_fast, "end with the first test that fails, and count no lines");
  f.output(to.output, {"junit"}, "text, json, yaml or junit",
           [&to](const std::string&) { to.junit = true; });
}
void declare_explain_of_policy(flags& f, policy_arguments& to) {
  f.value("UNIT", to.name, "node, or cluster/node").required();
  declare_fleet(f, to.fleet);
  f.output(to.output);
}
void declare_replay(flags& f, policy_arguments& to) {
  f.value("--record", to.record, "file that `run --record` wrote").required().takes("FILE");
  f.output(to.output);
  add_packs(f, to);
}
void declare_show(flags& f, policy_arguments& to) {
  f.value("NAME", to.name, "name of the pack").required();
  add_policies(f, to);
}
void declare_nothing(flags&, policy_arguments&) {}

}  // namespace

std::vector<app::command> policy_commands() {
  return family<policy_arguments>(
      {"policy",
       "Work on policy packs",
       {},
       "Examples:\n  windlass policy new mine\n  windlass policy check mine\n  windlass policy "
       "test "
       "mine -o junit"},
      {{"new", "Write a pack that answers one hook, with its test", policy_verb::make, declare_new},
       {"check",
        "Does a pack load, does it know its hooks and fields, and what does a question cost?",
        policy_verb::check, declare_check},
       {"test", "Run a pack's *_test.lua and say which lines they reach", policy_verb::test,
        declare_test},
       {"explain", "Which pack answered for a unit, what it was given, and what was not taken",
        policy_verb::explain, declare_explain_of_policy},
       {"replay", "Ask other policies what was asked before, and say which answers differ",
        policy_verb::replay, declare_replay},
       {"list", "The packs in the order they are asked", policy_verb::list, declare_list},
       {"show", "What a pack says about itself", policy_verb::show, declare_show},
       {"types", "Print the annotations of hooks for the Lua language server", policy_verb::types,
        declare_nothing},
       {"reference", "Print the reference of hooks (docs/hooks.md)", policy_verb::reference,
        declare_nothing}},
      declare_nothing, policy_command);
}

}  // namespace cli
