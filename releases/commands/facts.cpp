#include "releases/commands/facts.hpp"

#include "formats/glob.hpp"
#include "reactor/loop.hpp"
#include "reactor/system/process.hpp"
#include "releases/commands/train_document.hpp"
#include "releases/trains/train.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <charconv>
#include <set>

namespace cli {
namespace {

namespace json = boost::json;
using reactor::errc;
using reactor::make_fault;
using reactor::result;

constexpr auto git_deadline = std::chrono::seconds(30);

/// One run; the members are what every part of it needs.
class collector {
public:
  collector(reactor::loop& l, registry::client& images, policies::host& packs,
            fact_settings settings, std::vector<std::string>& notes)
      : loop_(l), client_(images), packs_(packs), settings_(std::move(settings)), notes_(notes) {}

  reactor::awaitable<result<json::object>> run() {
    json::array images, tags, ancestry, pins, projects;
    for (const std::string& name : settings_.images) {
      auto done = co_await add_images(name, images);
      if (!done) co_return done.error();
    }
    for (const auto& [project, folder] : settings_.clones) {
      auto done = co_await add_tags(project, folder, tags);
      if (!done) co_return done.error();
      done = co_await add_pins(project, folder, pins, projects);
      if (!done) co_return done.error();
    }
    for (const fact_settings::range& r : settings_.ranges) {
      auto done = co_await add_distance(r, ancestry);
      if (!done) co_return done.error();
    }
    // What was asked for and is not there is a fact as well.
    json::object all;
    if (!settings_.images.empty()) all["images"] = std::move(images);
    if (!settings_.clones.empty()) all["tags"] = std::move(tags);
    if (!ancestry.empty()) all["ancestry"] = std::move(ancestry);
    if (!pins.empty()) all["pins"] = std::move(pins);
    if (!projects.empty()) all["projects"] = std::move(projects);
    co_return all;
  }

private:
  json::object fact(const std::string& source) const {
    return {{"source", source}, {"at", reactor::format_rfc3339(loop_.wall())}};
  }

  std::string known_of(const std::string& name) const {
    const auto found = settings_.known.find(name);
    return found == settings_.known.end() ? std::string() : found->second;
  }

  reactor::awaitable<result<void>> add_images(std::string name, json::array& to) {  // borrowed
    const std::string whole = settings_.registry + "/" + name;
    auto of = registry::parse_oci_reference(whole);
    if (!of)
      co_return make_fault(errc::malformed, "look at " + whole,
                           "expected a repository such as ghcr.io/example/node");
    registry::oci_reference repository = *of;
    auto listed = co_await client_.tags(repository);
    if (!listed) co_return make_fault(errc::refused, "list tags of " + whole, listed.error().text);
    std::vector<std::string> wanted;
    for (std::string& tag : *listed) {
      if (formats::fits_glob(settings_.filter, tag)) wanted.push_back(std::move(tag));
    }
    if (wanted.size() > settings_.most_tags)
      co_return make_fault(errc::limit, "list tags of " + whole,
                           std::to_string(wanted.size()) + " are like '" + settings_.filter +
                               "', more than " + std::to_string(settings_.most_tags) +
                               "; name fewer with --filter, or more with --limit");
    std::sort(wanted.begin(), wanted.end());
    const fact_settings::told tell = settings_.asks ? settings_.asks(whole) : nullptr;
    std::size_t asked = 0;
    for (const std::string& tag : wanted) {
      if (tell) tell(asked++, wanted.size());
      registry::oci_reference one = repository;
      one.tag = tag;
      const std::string ref = name + ":" + tag, known = known_of(ref);
      auto digest = co_await client_.current_digest(std::move(one), known);
      // A tag may be listed and gone: it has no digest then, which is a fact as well.
      const bool gone = !digest && digest.error().code == registry::errc::not_found;
      if (!digest && !gone)
        co_return make_fault(errc::refused, "ask for " + whole + ":" + tag, digest.error().text);
      json::object o = fact("registry " + repository.registry);
      o["ref"] = ref;
      if (!gone) {
        if (!known.empty() && known != *digest) o["was"] = known;
        o["digest"] = std::move(*digest);
      }
      to.push_back(std::move(o));
    }
    const std::string source = "registry " + repository.registry;
    add_gone(name + ":", {wanted.begin(), wanted.end()}, to, [&](const std::string& tag) {
      json::object o = fact(source);
      o["ref"] = name + ":" + tag;
      return o;
    });
    co_return result<void>();
  }

  /// Adds what was known of a tag that is not listed any more: its note of what it was stays.
  template <class Fact>
  void add_gone(const std::string& prefix, const std::set<std::string>& listed, json::array& to,
                Fact&& fact_of) const {
    for (auto at = settings_.known.lower_bound(prefix);
         at != settings_.known.end() && at->first.starts_with(prefix); ++at) {
      const std::string tag = at->first.substr(prefix.size());
      if (listed.contains(tag) || !formats::fits_glob(settings_.filter, tag)) continue;
      json::object o = fact_of(tag);
      o["was"] = at->second;
      to.push_back(std::move(o));
    }
  }

  /// What git prints; its own words where it fails.
  reactor::awaitable<result<std::string>> git(std::string folder,
                                              std::vector<std::string> arguments) {
    reactor::command c;
    // A clone is looked at, and nothing in it is run.
    c.argv = {"git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-C", folder};
    c.argv.insert(c.argv.end(), arguments.begin(), arguments.end());
    c.environment = {{"GIT_DIR", std::nullopt},
                     {"GIT_WORK_TREE", std::nullopt},
                     {"GIT_TERMINAL_PROMPT", "0"},
                     {"GIT_OPTIONAL_LOCKS", "0"},
                     {"LC_ALL", "C"}};
    c.out_limit_bytes = 4u << 20;
    auto ended = co_await reactor::run_process(loop_, std::move(c), loop_.now() + git_deadline);
    if (!ended) co_return ended.error();
    if (!ended->succeeded())
      co_return make_fault(errc::refused, "ask git in " + folder,
                           ended->err.empty() ? ended->text() : ended->err);
    co_return std::move(ended->out);
  }

  reactor::awaitable<result<void>> add_tags(std::string project, std::string folder,
                                            json::array& to) {  // borrowed
    std::vector<std::string> arguments = {
        "for-each-ref", "refs/tags", "--format=%(refname:strip=2) %(objectname) %(*objectname)"};
    auto text = co_await git(folder, std::move(arguments));
    if (!text) co_return text.error();
    std::set<std::string> listed;
    for (std::size_t at = 0; at < text->size();) {
      const std::size_t end = std::min(text->find('\n', at), text->size());
      const std::string line = text->substr(at, end - at);
      at = end + 1;
      const std::size_t first = line.find(' '), second = line.find(' ', first + 1);
      if (first == line.npos || second == line.npos) continue;
      const std::string tag = line.substr(0, first);
      if (!formats::fits_glob(settings_.filter, tag)) continue;
      // An annotated tag is an object of its own; what it names is the commit.
      std::string commit = line.substr(second + 1);
      if (commit.empty()) commit = line.substr(first + 1, second - first - 1);
      json::object o = fact("git " + folder);
      o["project"] = project;
      o["tag"] = tag;
      const std::string known = known_of(project + " " + tag);
      if (!known.empty() && known != commit) o["was"] = known;
      o["commit"] = commit;
      listed.insert(tag);
      to.push_back(std::move(o));
    }
    add_gone(project + " ", listed, to, [&](const std::string& tag) {
      json::object o = fact("git " + folder);
      o["project"] = project;
      o["tag"] = tag;
      return o;
    });
    co_return result<void>();
  }

  /// What git prints, without the line break behind it.
  reactor::awaitable<result<std::string>> git_word(std::string folder,
                                                   std::vector<std::string> arguments) {
    auto text = co_await git(std::move(folder), std::move(arguments));
    if (text) text->erase(text->find_last_not_of('\n') + 1);
    co_return text;
  }

  /// Adds what the project's own files say at its commit; the clone's work tree does not matter.
  reactor::awaitable<result<void>> add_pins(std::string project, std::string folder,
                                            json::array& pins, json::array& projects) {  // borrowed
    policies::subject who;
    who.api = "trains";
    policies::subject again = who;
    std::map<std::string, std::string> texts;
    auto read = co_await policies::trains::ask_sources(packs_, std::move(who), project, texts);
    if (!read) co_return read.error();
    if (!read->known && !read->near.empty() && !settings_.own.contains(project))
      co_return make_fault(errc::not_found, "--clone " + project + "=" + folder,
                           "no project is called " + project + "; is it '" + read->near + "'?");
    if (!read->known) {
      notes_.push_back("train facts: no table says which files of " + project +
                       " name its pins, so only its tags were read");
      co_return result<void>();
    }
    const auto at = settings_.revisions.find(project);
    if (at == settings_.revisions.end()) {
      notes_.push_back("train facts: nothing says at which commit " + project + " is read (--at " +
                       project + "=…), so only its tags were");
      co_return result<void>();
    }
    std::vector<std::string> arguments = {"rev-parse", "--quiet", "--verify",
                                          at->second + "^{commit}"};
    auto commit = co_await git_word(folder, std::move(arguments));
    if (!commit)
      co_return make_fault(
          errc::not_found, "read " + project + " at " + at->second,
          "the clone " + folder + " does not have it; fetch it (a shallow clone lacks most)");
    arguments = {"ls-tree", "--name-only", "--full-tree", *commit, "--"};
    arguments.insert(arguments.end(), read->files.begin(), read->files.end());
    auto there = co_await git(folder, std::move(arguments));
    if (!there) co_return there.error();
    for (const std::string& file : read->files) {
      if (("\n" + *there).find("\n" + file + "\n") == std::string::npos) continue;
      arguments = {"show", "--no-textconv", *commit + ":" + file};
      auto text = co_await git(folder, std::move(arguments));
      if (!text) co_return text.error();
      texts.emplace(file, std::move(*text));
    }
    read =
        co_await policies::trains::ask_sources(packs_, std::move(again), project, std::move(texts));
    if (!read) co_return read.error();
    for (const policies::trains::pin_fact& p : read->pins) pins.push_back(pin_json(p, *commit));
    if (!read->protocol.empty())
      projects.push_back(json::object{{"name", project}, {"protocol", read->protocol}});
    // A pin that no file has any more may be why the next check is wrong.
    for (const auto& [key, pin] : settings_.pins) {
      const bool found = std::any_of(read->pins.begin(), read->pins.end(),
                                     [&key = key](const policies::trains::pin_fact& p) {
                                       return p.holder + "/" + p.project + "." + p.field == key;
                                     });
      if (key.starts_with(project + "/") && !found)
        notes_.push_back("train facts: no file of " + project + " at " + *commit + " has " + key +
                         ", which stays as the document says");
    }
    for (const std::string& what : read->absent)
      notes_.push_back("train facts: no file of " + project + " at " + *commit + " has " + what);
    co_return result<void>();
  }

  json::object pin_json(const policies::trains::pin_fact& p, const std::string& commit) const {
    json::object o = fact("git " + p.holder + " " + commit + ":" + p.source);
    o["holder"] = p.holder;
    o["project"] = p.project;
    o["field"] = p.field;
    o["value"] = p.value;
    if (!p.image.empty()) o["image"] = p.image;
    if (!p.comment.empty()) o["comment"] = p.comment;
    const auto known = settings_.pins.find(p.holder + "/" + p.project + "." + p.field);
    if (known != settings_.pins.end() && known->second.value != p.value)
      o["was"] = known->second.was.empty() ? known->second.value : known->second.was;
    return o;
  }

  reactor::awaitable<result<void>> add_distance(fact_settings::range r,
                                                json::array& to) {  // borrowed
    const auto clone = settings_.clones.find(r.project);
    if (clone == settings_.clones.end())
      co_return make_fault(errc::not_found, "--range " + r.project, "name its clone with --clone");
    const std::string folder = clone->second;
    std::vector<std::string> ask_depth = {"rev-parse", "--is-shallow-repository"};
    auto shallow = co_await git_word(folder, std::move(ask_depth));
    if (!shallow) co_return shallow.error();
    if (*shallow == "true")
      co_return make_fault(
          errc::refused, "--range " + r.project,
          "the clone " + folder + " is shallow, so it cannot count commits; git fetch --unshallow");
    std::vector<std::string> arguments = {"rev-list", "--left-right", "--count",
                                          r.from + "..." + r.to, "--"};
    auto text = co_await git(folder, std::move(arguments));
    if (!text) co_return text.error();
    const std::size_t tab = text->find('\t');
    if (tab == text->npos)
      co_return make_fault(errc::malformed, "ask git in " + folder, "expected two numbers");
    json::object o = fact("git " + folder);
    o["project"] = r.project;
    o["from"] = r.from;
    o["to"] = r.to;
    o["behind"] = text->substr(0, tab);
    o["ahead"] = text->substr(tab + 1, text->find('\n') - tab - 1);
    to.push_back(std::move(o));
    co_return result<void>();
  }

  reactor::loop& loop_;
  registry::client& client_;
  policies::host& packs_;
  const fact_settings settings_;
  std::vector<std::string>& notes_;
};

}  // namespace

std::optional<fact_settings::range> read_fact_range(std::string_view text) {
  const std::size_t equals = text.find('='), dots = text.find("..", equals);
  if (equals == text.npos || equals == 0 || dots == text.npos) return std::nullopt;
  fact_settings::range r{std::string(text.substr(0, equals)),
                         std::string(text.substr(equals + 1, dots - equals - 1)),
                         std::string(text.substr(dots + 2))};
  if (!is_revision(r.from) || !is_revision(r.to)) return std::nullopt;
  return r;
}

bool is_revision(std::string_view text) {
  return !text.empty() && text.front() != '-' && text.find("..") == text.npos &&
         text.find_first_of(" \t\n") == text.npos;
}

std::optional<std::vector<std::string>> images_in(const policies::value& facts) {
  const policies::value::array* all = facts.list_of("images");
  if (!all) return std::nullopt;
  std::vector<std::string> names;
  for (const policies::value& one : *all) {
    const std::string ref = one.text_of("ref");
    const std::size_t colon = ref.rfind(':');
    // A tag that is listed and gone has no digest.
    if (colon != ref.npos && !one.text_of("digest").empty()) names.push_back(ref.substr(colon + 1));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::map<std::string, std::string> known_by(const policies::value& facts) {
  std::map<std::string, std::string> known;
  const auto each = [&](std::string_view list, auto&& name_of, std::string_view is) {
    const policies::value::array* all = facts.list_of(list);
    for (std::size_t i = 0; all && i < all->size(); ++i) {
      const policies::value& one = (*all)[i];
      const std::string was = one.text_of("was"), now = one.text_of(is);
      if (!now.empty() || !was.empty()) known[name_of(one)] = was.empty() ? now : was;
    }
  };
  each("images", [&](const policies::value& v) { return v.text_of("ref"); }, "digest");
  each(
      "tags",
      [&](const policies::value& v) { return v.text_of("project") + " " + v.text_of("tag"); },
      "commit");
  return known;
}

void add_known(const policies::value& document, fact_settings& settings) {
  settings.known = known_by(document);
  if (const policies::value::array* pins = document.list_of("pins")) {
    for (const policies::value& pin : *pins)
      settings.pins[pin_key(pin)] = {pin.text_of("value"), pin.text_of("was")};
  }
  const policies::value::array* projects = document.list_of("projects");
  if (projects == nullptr) return;
  for (const policies::value& project : *projects) {
    std::string at = project.text_of("candidate");
    if (at.empty()) at = project.text_of("release");
    settings.own.insert(project.text_of("name"));
    if (is_revision(at)) settings.revisions.emplace(project.text_of("name"), std::move(at));
  }
}

reactor::awaitable<result<json::object>> collect_facts(reactor::loop& l, registry::client& images,
                                                       policies::host& packs,
                                                       fact_settings settings,
                                                       std::vector<std::string>& notes) {
  collector work(l, images, packs, std::move(settings), notes);
  co_return co_await work.run();
}

}  // namespace cli
