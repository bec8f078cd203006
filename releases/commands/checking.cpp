#include "releases/commands/checking.hpp"

#include "app/workflow_line.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/printable.hpp"
#include "reactor/system/files.hpp"
#include "releases/rules/consent.hpp"
#include "releases/rules/offering.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace cli {
namespace {

using namespace policies::releases;
using reactor::errc;
using reactor::make_fault;
using reactor::result;

constexpr std::size_t most_rendered_bytes = 8 * 1024 * 1024;

const policies::subject who_asks{"releases", {}, {}, {}};

/// Whether a file is one of a Release, by its name: release.yaml or v1.2.3.yaml.
bool is_release_file(const std::string& file) {
  const std::string name = file.substr(file.rfind('/') + 1);
  return name == "release.yaml" || name.starts_with('v') || (name[0] >= '0' && name[0] <= '9');
}

/// What cannot be read is denied as well, in a row of its own.
judged_release unreadable_row(const unreadable_file& f) {
  judged_release j;
  j.name = f.file;
  j.folder = f.file.substr(0, f.file.find('/'));
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
  return j;
}

/// Consent that counts for nothing, in a row of its own where there is any.
void add_lost_waivers(const repository& all, const std::set<std::string>& rules,
                      const std::string& provider, std::vector<judged_release>& to) {
  std::vector<std::string> names;
  for (const auto& [name, folder] : all.folders)
    for (const auto& release : folder.releases) names.push_back(release->name);
  std::vector<waiver> asked;
  for (const waiver& w : all.waivers)
    if (provider.empty() || w.of.starts_with(provider + "-")) asked.push_back(w);
  judged_release j;
  j.name = j.folder = "waivers.yaml";
  j.answer.level = "-";
  j.answer.rolls = "-";
  j.answer.findings = lost_waivers(asked, names, {rules.begin(), rules.end()});
  j.answer.verdict = decide(j.answer.findings);
  if (!j.answer.findings.empty()) to.push_back(std::move(j));
}

/// What is said of a folder as a whole, in a row of its own where there is something.
reactor::awaitable<result<void>> add_folder(policies::host& packs, const repository& all,
                                            const provider_folder& folder,
                                            std::set<std::string>& rules,
                                            std::vector<judged_release>& to) {  // borrowed
  auto question = std::make_shared<const folder_question>(question_about(all, folder));
  policies::subject who = who_asks;
  auto said = co_await judge_folder(packs, std::move(who), std::move(question));
  if (!said) co_return said.error();
  rules.insert(said->rules.begin(), said->rules.end());
  if (said->findings.empty()) co_return result<void>();
  judged_release j;
  j.name = folder.name + "/";
  j.folder = folder.name;
  j.answer.level = "-";
  j.answer.rolls = "-";
  j.answer.findings = std::move(said->findings);
  j.answer.verdict = said->verdict;
  to.push_back(std::move(j));
  co_return result<void>();
}

std::string xml(std::string_view text) {
  const std::string shown = reactor::printable(text);
  std::string out;
  for (const char c : shown) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

bool fails(const finding& f) {
  return f.how == severity::error || !f.blocking.empty();
}

}  // namespace

bool is_of(const policies::releases::document& d, const std::string& provider) {
  return provider.empty() || d.folder == provider || d.name.starts_with(provider + "-");
}

reactor::awaitable<result<judged_release>> judge_step(
    reactor::loop& l, policies::host& packs, const repository& all,
    std::shared_ptr<const diff_question> question) {
  judged_release judged;
  judged.name = question->release->name;
  judged.folder = question->release->folder;
  judged.hash = question->release->hash;
  if (question->base) judged.from = question->base->name;
  const auto release = question->release;
  policies::subject who = who_asks;
  auto answer = co_await diff_releases(packs, std::move(who), std::move(question));
  if (!answer) co_return answer.error();
  answer->findings = with_consent(std::move(answer->findings), all.waivers, *release, l.wall());
  answer->verdict = decide(answer->findings);
  judged.answer = std::move(*answer);
  co_return judged;
}

namespace {

reactor::awaitable<result<std::optional<rendered_chart>>> rendered_of(
    reactor::loop& l, std::string folder,
    std::shared_ptr<const policies::releases::document> release) {
  std::optional<rendered_chart> all;
  for (const entry& e : release->components) {
    std::string name = e.name + "-" + e.version + ".yaml";
    if (name.find('/') != name.npos) continue;
    std::string path = folder + "/" + name;
    auto text = co_await reactor::read_file(l, std::move(path), most_rendered_bytes);
    if (!text && text.error().code == errc::not_found) continue;
    if (!text) co_return text.error();
    auto one = read_rendered(*text, std::move(name));
    if (!one) co_return one.error();
    if (!all) {
      all = std::move(*one);
      continue;
    }
    all->file += ", " + one->file;
    all->objects.insert(all->objects.end(), one->objects.begin(), one->objects.end());
  }
  co_return all;
}

}  // namespace

reactor::awaitable<result<void>> add_rendered(reactor::loop& l, std::string folder,
                                              diff_question& question) {  // borrowed
  if (folder.empty() || !question.base) co_return result<void>();
  auto from = co_await rendered_of(l, folder, question.base);
  if (!from) co_return from.error();
  auto to = co_await rendered_of(l, folder, question.release);
  if (!to) co_return to.error();
  question.rendered_from = std::move(*from);
  question.rendered_to = std::move(*to);
  co_return result<void>();
}

reactor::awaitable<result<check_outcome>> check_releases(reactor::loop& l, policies::host& packs,
                                                         check_settings settings) {
  const auto read = [](const std::string& dir) { return read_repository(dir); };
  auto all = co_await l.offload(read, settings.dir);
  if (!all) co_return all.error();
  std::shared_ptr<const policies::releases::document> only;
  if (!settings.version.empty()) {
    only = all->find(settings.provider, settings.version);
    if (const unreadable_file* f = all->unreadable_of(settings.provider, settings.version);
        !only && f != nullptr)
      co_return f->why;
    // One Release is judged by the files beside it as well, whatever another one is like.
    for (const unreadable_file& f : all->unreadable)
      if (!is_release_file(f.file) && all->may_be_of(f.file, settings.provider)) co_return f.why;
    if (!only)
      co_return make_fault(errc::not_found,
                           "find Release " + settings.provider + " " + settings.version,
                           "there is none in " + settings.dir);
  }
  check_outcome out;
  std::set<std::string> rules;
  std::size_t done = 0, of = 0;
  for (const auto& [name, folder] : all->folders) of += folder.releases.size();
  for (const auto& [name, folder] : all->folders) {
    bool any = false;
    for (std::size_t i = 0; i < folder.releases.size(); ++i) {
      const auto release = folder.releases[i];
      if (settings.looked_at) settings.looked_at(done++, of);
      if (only ? release != only : release->archived && !settings.archived) continue;
      if (!only && !is_of(*release, settings.provider)) continue;
      const auto base = base_of(folder, i);
      auto question = std::make_shared<diff_question>(question_about(*all, base, release));
      question->catalogue = settings.catalogue;
      if (!only) question->within = "folder";
      auto added = co_await add_rendered(l, settings.rendered, *question);
      if (!added) co_return added.error();
      auto one = co_await judge_step(l, packs, *all, std::move(question));
      if (!one) co_return one.error();
      out.releases.push_back(std::move(*one));
      any = true;
    }
    if (any && !only) {
      auto done = co_await add_folder(packs, *all, folder, rules, out.releases);
      if (!done) co_return done.error();
    }
  }
  if (!only) {
    for (const unreadable_file& f : all->unreadable) {
      if (all->may_be_of(f.file, settings.provider)) out.releases.push_back(unreadable_row(f));
    }
    add_lost_waivers(*all, rules, settings.provider, out.releases);
  }
  if (out.releases.empty())
    co_return make_fault(errc::not_found, "check Releases",
                         "there is none of " + settings.provider + " in " + settings.dir);
  for (const judged_release& j : out.releases) out.worst = std::max(out.worst, j.answer.verdict);
  co_return out;
}

release_follower::release_follower(reactor::loop& l, policies::host& packs, check_settings settings,
                                   const std::string& policies, shower show)
    : loop_(l),
      packs_(packs),
      settings_(std::move(settings)),
      show_(std::move(show)),
      releases_(l, settings_.dir),
      changed_(l),
      tasks_(l) {
  if (!policies.empty()) tables_.emplace(l, policies);
}

void release_follower::start() {
  tasks_.start("judge Releases", judge());
  tasks_.start("watch Releases", watch(releases_));
  if (tables_) tasks_.start("watch policies", watch(*tables_));
}

reactor::awaitable<void> release_follower::watch(reactor::file_watch& what) {  // a member
  for (;;) {
    co_await what.changed();
    changed_.set();
  }
}

reactor::awaitable<void> release_follower::judge() {
  for (;;) {
    check_settings again = settings_;
    const auto outcome = co_await check_releases(loop_, packs_, std::move(again));
    show_(outcome);
    co_await changed_.wait();
    changed_.reset();
    if (tables_) co_await packs_.reload();
  }
}

std::string check_junit(const check_outcome& outcome) {
  std::map<std::string, std::vector<const judged_release*>> suites;
  for (const judged_release& j : outcome.releases) suites[j.folder].push_back(&j);
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (const auto& [name, cases] : suites) {
    std::size_t failed = 0;
    for (const judged_release* j : cases) failed += j->answer.verdict != decision::allow;
    out += "  <testsuite name=\"" + xml(name) + "\" tests=\"" + std::to_string(cases.size()) +
           "\" failures=\"" + std::to_string(failed) + "\">\n";
    for (const judged_release* j : cases) {
      out += "    <testcase classname=\"" + xml(name) + "\" name=\"" + xml(j->name) + "\">\n";
      for (const finding& f : j->answer.findings) {
        if (fails(f))
          out += "      <failure type=\"" + xml(f.id) + "\" message=\"" + xml(f.subject) + "\">" +
                 xml(f.why + " (" + f.evidence + ")") + "</failure>\n";
      }
      std::string notes;
      for (const finding& f : j->answer.findings) {
        if (!fails(f))
          notes +=
              xml(std::string(to_string(f.how)) + " " + f.id + " " + f.subject + ": " + f.why) +
              "\n";
      }
      if (!notes.empty()) out += "      <system-out>" + notes + "</system-out>\n";
      out += "    </testcase>\n";
    }
    out += "  </testsuite>\n";
  }
  return out + "</testsuites>\n";
}

std::string check_github(const check_outcome& outcome, const std::string& dir) {
  std::string out;
  for (const judged_release& j : outcome.releases) {
    for (const finding& f : j.answer.findings) {
      const char* level = f.how == severity::error  ? "error"
                          : f.how == severity::warn ? "warning"
                                                    : "notice";
      const std::string file = f.evidence.substr(0, f.evidence.find(": "));
      const bool is_yaml = file.find(".yaml") != std::string::npos;
      out += app::workflow_line(level, is_yaml ? dir + "/" + file : std::string(),
                                f.id + " " + f.subject, f.why);
    }
  }
  return out;
}

}  // namespace cli
