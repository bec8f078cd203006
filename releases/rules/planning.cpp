#include "releases/rules/planning.hpp"

#include "releases/rules/ask.hpp"
#include "releases/rules/difference_table.hpp"
#include "releases/rules/fields.hpp"
#include "releases/rules/hooks.hpp"
#include "releases/rules/typical.hpp"
#include "releases/rules/views.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace policies {

template <>
struct view_record<releases::suite_run> {
  static constexpr const char* name = "run of a suite";
  static constexpr field fields[] = {
      field_of<&releases::suite_run::suite>("suite"),
      field_of<&releases::suite_run::hash>("hash", "of the content that it ran on"),
      field_of<&releases::suite_run::result>("result", "\"passed\", or what else came out"),
  };
};

template <>
struct view_record<releases::readiness_item> {
  static constexpr const char* name = "readiness item";
  static constexpr field fields[] = {
      field_of<&releases::readiness_item::item>("item",
                                                "what must be done before a major is offered"),
      field_of<&releases::readiness_item::closed>("closed"),
  };
};

template <>
struct view_record<releases::stage_facts> {
  static constexpr const char* name = "stage";
  static constexpr field fields[] = {
      field_of<&releases::stage_facts::is>("is", "where the draft stands"),
      field_of<&releases::stage_facts::to>("to", "where it should go"),
      field_of<&releases::stage_facts::action>("action", "version, pin or refresh"),
      field_of<&releases::stage_facts::actor>("actor", "who wants it"),
      field_of<&releases::stage_facts::age_hours>("age_hours", "of the draft; below 0: not known"),
  };
};

template <>
struct view_record<releases::gate_question> {
  static constexpr const char* name = "gate question";
  static constexpr field fields[] = {
      field_of<&releases::gate_question::step>("step", "from the Release before"),
      field_of<&releases::gate_question::suites>("suites", "which suites ran, where that is known"),
      field_of<&releases::gate_question::readiness>("readiness", "where that is known"),
      field_of<&releases::gate_question::stage>("stage"),
  };
};

template <>
struct view_record<releases::pick> {
  static constexpr const char* name = "pick";
  static constexpr field fields[] = {
      field_of<&releases::pick::name>("name"),
      field_of<&releases::pick::version>("version"),
      field_of<&releases::pick::depends_on>("depends_on",
                                            "replaces what it had when it is not empty"),
      field_of<&releases::pick::catalog>("catalog", "empty: the one that it had"),
  };
};

template <>
struct view_record<releases::bump_question> {
  static constexpr const char* name = "bump question";
  static constexpr field fields[] = {
      field_of<&releases::bump_question::base>("base", "the Release before"),
      field_of<&releases::bump_question::kind>("kind", "major, minor, patch or test"),
      field_of<&releases::bump_question::available>("available", "versions by item"),
      field_of<&releases::bump_question::catalogue>(
          "catalogue", "the images that were built, where that is known"),
      field_of<&releases::bump_question::requests>("requests", "requests.yaml of the provider"),
      field_of<&releases::bump_question::picks>("picks", "when there are any, nothing else moves"),
      field_of<&releases::bump_question::stage>("stage"),
      field_of<&releases::bump_question::others>("others", "all Releases of the provider"),
      field_of<&releases::bump_question::prefix>("prefix", "of the pre-release of a test"),
      field_of<&releases::bump_question::asked>("asked",
                                                "a test gets a pre-release whatever is picked"),
  };
};

template <>
struct view_record<releases::denied_step> {
  static constexpr const char* name = "denied step";
  static constexpr field fields[] = {
      field_of<&releases::denied_step::from>("from", "a Release"),
      field_of<&releases::denied_step::to>("to", "a Release"),
      field_of<&releases::denied_step::why>("why", "a sentence"),
  };
};

template <>
struct view_record<releases::path_question> {
  static constexpr const char* name = "path question";
  static constexpr field fields[] = {
      field_of<&releases::path_question::releases>("releases", "of one provider"),
      field_of<&releases::path_question::from>("from", "a version"),
      field_of<&releases::path_question::to>("to", "a version"),
      field_of<&releases::path_question::denied>("denied", "by release.diff: no way leads there"),
  };
};

template <>
struct view_record<releases::lifecycle_question> {
  static constexpr const char* name = "lifecycle question";
  static constexpr field fields[] = {
      field_of<&releases::lifecycle_question::releases>("releases", "of one provider"),
      field_of<&releases::lifecycle_question::in_use>("in_use", "names; nil: not known"),
  };
};

namespace releases {

template <>
struct answer_record<bump_item> {
  static constexpr const char* name = "item of a bump";
  static constexpr answer_field<bump_item> fields[] = {
      word_of<&bump_item::kind, "component", "app">("kind"),
      taken<&bump_item::name>("name"),
      taken<&bump_item::from>("from", "empty: it comes"),
      taken<&bump_item::to>("to", "empty: it goes"),
      taken<&bump_item::why>("why", "a sentence"),
  };
};

template <>
struct answer_record<bump_answer> {
  static constexpr const char* name = "next Release";
  static constexpr answer_field<bump_answer> fields[] = {
      taken<&bump_answer::version>("version", "of the next Release"),
      taken<&bump_answer::items>("items", "components first, each by name"),
      findings_of<bump_answer>(),
  };
};

template <>
struct answer_record<path_downgrade> {
  static constexpr const char* name = "downgrade";
  static constexpr answer_field<path_downgrade> fields[] = {
      taken<&path_downgrade::subject>("subject", "what goes back"),
      taken<&path_downgrade::from>("from"),
      taken<&path_downgrade::to>("to"),
  };
};

template <>
struct answer_record<path_step> {
  static constexpr const char* name = "step of a path";
  static constexpr answer_field<path_step> fields[] = {
      taken<&path_step::from>("from", "the version before"),
      taken<&path_step::to>("to", "the version after"),
      taken<&path_step::level>("level", "of the step"),
      taken<&path_step::downgrades>("downgrades", "what goes back on the way"),
      taken<&path_step::denied>("denied",
                                "why release.diff denies it; only where there is no other way"),
  };
};

template <>
struct answer_record<path_answer> {
  static constexpr const char* name = "path";
  static constexpr answer_field<path_answer> fields[] = {
      taken<&path_answer::steps>("steps", "from the first Release to the last"),
      findings_of<path_answer>(),
  };
};

template <>
struct answer_record<lifecycle_row> {
  static constexpr const char* name = "Release and what becomes of it";
  static constexpr answer_field<lifecycle_row> fields[] = {
      taken<&lifecycle_row::name>("name"),
      taken<&lifecycle_row::state>("state", "the state that it has"),
      word_of<&lifecycle_row::action, "keep", "deprecate", "archive">("action"),
      taken<&lifecycle_row::why>("why", "a sentence"),
  };
};

template <>
struct answer_record<lifecycle_answer> {
  static constexpr const char* name = "lifecycle";
  static constexpr answer_field<lifecycle_answer> fields[] = {
      taken<&lifecycle_answer::releases>("releases"),
      findings_of<lifecycle_answer>(),
  };
};

namespace {

namespace json = boost::json;
using reactor::result;

std::size_t entries_of(const std::vector<std::shared_ptr<const document>>& releases) {
  std::size_t entries = 0;
  for (const auto& d : releases) entries += releases::entries_of(*d);
  return entries;
}

}  // namespace

result<bump_answer> read_bump_answer(const value& answer) {
  return read_answer<bump_answer>(answer);
}
result<path_answer> read_path_answer(const value& answer) {
  return read_answer<path_answer>(answer);
}
result<lifecycle_answer> read_lifecycle_answer(const value& answer) {
  return read_answer<lifecycle_answer>(answer);
}

std::vector<hook> planning_hooks() {
  gate_question gate;
  gate.step.base = typical_release();
  gate.step.release = typical_release_after();
  gate.stage = {"development", "active", "", "", -1};
  bump_question bump;
  bump.base = typical_release();
  bump.kind = "patch";
  bump.available = {{"flatcar", {"4593.2.3", "4593.2.4"}}};
  path_question path;
  path.releases = {typical_release(), typical_release_after()};
  path.from = "34.4.1";
  path.to = "34.5.0";
  lifecycle_question life;
  life.releases = path.releases;
  std::vector<hook> all;
  all.push_back(hook_of<diff_answer>({"release.gate", "may this Release become active?",
                                      "by `windlass release gate`", "it does not become active"},
                                     std::move(gate), 20, read_diff_answer));
  all.push_back(hook_of<bump_answer>({"release.bump", "what would the next Release be?",
                                      "by `windlass release bump`", "there is no next Release"},
                                     std::move(bump), 200, read_bump_answer));
  all.push_back(
      hook_of<path_answer>({"release.path", "how does a cluster get from one Release to another?",
                            "by `windlass release path`", "the cluster stays where it is"},
                           std::move(path), 64, read_path_answer));
  all.push_back(
      hook_of<lifecycle_answer>({"release.lifecycle", "which Releases are still offered?",
                                 "by `windlass release lifecycle`", "all of them, as they are"},
                                std::move(life), 2, read_lifecycle_answer));
  return all;
}

reactor::awaitable<result<diff_answer>> may_pass(host& packs, subject s,
                                                 std::shared_ptr<const gate_question> question) {
  const std::size_t entries =
      releases::entries_of(question->step) + (question->suites ? question->suites->size() / 10 : 0);
  co_return co_await ask<diff_answer>(packs, "release.gate", std::move(s), std::move(question),
                                      entries, read_diff_answer);
}

reactor::awaitable<result<bump_answer>> next_release(
    host& packs, subject s, std::shared_ptr<const bump_question> question) {
  // Every version that there is may be compared with every other, the combinations of what is
  // baked in are tried, and each proposal is judged as `check` judges it, until one has no error.
  constexpr std::size_t judged = 10;
  std::size_t entries = 500 + 4 * releases::entries_of(*question->base);
  diff_question step;
  step.base = step.release = question->base;
  step.others = question->others;
  step.requests = question->requests;
  step.catalogue = question->catalogue;
  entries += judged * releases::entries_of(step);
  for (const auto& [name, versions] : question->available) entries += 4 * versions.size();
  if (question->requests)
    entries += question->requests->blocks.size() * releases::entries_of(*question->base);
  if (question->others) entries += question->others->size() / 8;
  co_return co_await ask<bump_answer>(packs, "release.bump", std::move(s), std::move(question),
                                      entries, read_bump_answer);
}

namespace {

entry new_entry(const bump_item& item) {
  entry e;
  e.name = item.name;
  e.version = item.to;
  e.catalog = default_catalog(item.kind == "app");
  return e;
}

}  // namespace

document draft_of(const bump_question& question, const bump_answer& answer, std::string date) {
  document d = *question.base;
  const std::size_t digit = d.name.find_first_of("0123456789");
  d.name = d.name.substr(0, digit) + answer.version;
  d.file.clear();
  d.stored_as = "v" + answer.version;
  d.archived = false;
  d.state = "wip";
  d.date = std::move(date);
  d.annotations.clear();
  d.problems.clear();
  for (const bump_item& item : answer.items) {
    auto& list = item.kind == "app" ? d.apps : d.components;
    if (item.to.empty()) {
      std::erase_if(list, [&](const entry& e) { return e.name == item.name; });
    } else if (item.from.empty()) {
      list.push_back(new_entry(item));
    }
    for (entry& e : list) {
      if (e.name == item.name) e.version = item.to;
    }
  }
  for (const pick& p : question.picks) {
    for (auto* list : {&d.components, &d.apps}) {
      for (entry& e : *list) {
        if (e.name != p.name) continue;
        if (!p.depends_on.empty() && list == &d.apps) e.depends_on = p.depends_on;
        if (!p.catalog.empty()) e.catalog = p.catalog;
      }
    }
  }
  renew_hash(d);
  return d;
}

reactor::awaitable<result<path_answer>> find_path(host& packs, subject s,
                                                  std::shared_ptr<const path_question> question) {
  // A Release is compared with those of the major before it.
  const std::size_t entries = entries_of(question->releases) * 8;
  co_return co_await ask<path_answer>(packs, "release.path", std::move(s), std::move(question),
                                      entries, read_path_answer);
}

reactor::awaitable<result<lifecycle_answer>> plan_lifecycle(
    host& packs, subject s, std::shared_ptr<const lifecycle_question> question) {
  const std::size_t entries =
      question->releases.size() + (question->in_use ? question->in_use->size() / 10 : 0);
  co_return co_await ask<lifecycle_answer>(packs, "release.lifecycle", std::move(s),
                                           std::move(question), entries, read_lifecycle_answer);
}

result<std::map<std::string, std::vector<std::string>>> read_available(std::string_view text,
                                                                       std::string file) {
  auto source = yaml_source::read(text, std::move(file));
  if (!source) return source.error();
  yaml_source& from = *source;
  std::map<std::string, std::vector<std::string>> out;
  const place top;
  for (const auto& [key, member] : from.root()) {
    const std::string name(key);
    const json::array* list = from.list(from.root(), name, top, "", yaml_source::need::required);
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      // 1.30 would be another version as a number, so only what is a text is taken.
      if ((*list)[i].is_string()) {
        out[name].emplace_back((*list)[i].get_string());
      } else {
        from.note("release.schema", "", (top / name).entry(i, ""),
                  "expected a version of three numbers, such as 1.2.3");
      }
    }
  }
  if (!from.problems.empty())
    return reactor::make_fault(reactor::errc::malformed, "read versions",
                               from.problems.front().evidence + ": " + from.problems.front().why);
  return out;
}

std::optional<pick> read_pick(std::string_view text) {
  const std::size_t at = text.find('@');
  if (at == text.npos || at == 0) return std::nullopt;
  pick p;
  p.name = text.substr(0, at);
  std::string_view rest = text.substr(at + 1);
  const std::size_t behind = rest.find("@@");
  p.version = rest.substr(0, behind);
  if (p.version.empty()) return std::nullopt;
  if (behind == rest.npos) return p;
  rest.remove_prefix(behind + 2);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('#'), rest.size());
    if (end == 0) return std::nullopt;
    p.depends_on.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return p;
}

result<std::vector<suite_run>> read_suites(std::string_view text, std::string file) {
  auto source = yaml_source::read(text, file, "suites");
  if (!source) return source.error();
  yaml_source& from = *source;
  std::vector<suite_run> out;
  const place top;
  const json::array* list = from.list(from.root(), "suites", top, "", yaml_source::need::required);
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const place here = (top / "suites").entry(i, "");
    const json::object* o = from.object((*list)[i], here, "");
    if (o == nullptr) continue;
    suite_run r;
    (void)from.unknown(*o, {"suite", "hash", "result"}, here, "");
    for (const auto& [name, into] :
         {std::pair{"suite", &r.suite}, {"hash", &r.hash}, {"result", &r.result}})
      *into = from.text(*o, name, here, "", yaml_source::need::required).value_or("");
    out.push_back(std::move(r));
  }
  if (from.too_long) return *from.too_long;
  if (!from.problems.empty())
    return reactor::make_fault(reactor::errc::malformed, "read suites",
                               from.problems.front().evidence + ": " + from.problems.front().why);
  return out;
}

result<std::vector<readiness_item>> read_readiness(std::string_view text, std::string file) {
  auto source = yaml_source::read(text, file, "readiness");
  if (!source) return source.error();
  yaml_source& from = *source;
  std::vector<readiness_item> out;
  const place top;
  const json::array* list =
      from.list(from.root(), "readiness", top, "", yaml_source::need::required);
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const place here = (top / "readiness").entry(i, "");
    const json::object* o = from.object((*list)[i], here, "");
    if (o == nullptr) continue;
    readiness_item r;
    (void)from.unknown(*o, {"item", "state"}, here, "");
    r.item = from.text(*o, "item", here, "", yaml_source::need::required).value_or("");
    const auto state = from.text(*o, "state", here, "", yaml_source::need::required);
    r.closed = state == "closed";
    if (state && !r.closed && state != "open")
      from.note("release.schema", "", here / "state",
                "state: expected open or closed, got '" + *state + "'");
    out.push_back(std::move(r));
  }
  if (from.too_long) return *from.too_long;
  if (!from.problems.empty())
    return reactor::make_fault(reactor::errc::malformed, "read readiness",
                               from.problems.front().evidence + ": " + from.problems.front().why);
  return out;
}

}  // namespace releases
}  // namespace policies
