#include "releases/rules/offering.hpp"

#include "releases/rules/answer_table.hpp"
#include "releases/rules/ask.hpp"
#include "releases/rules/fields.hpp"
#include "releases/rules/hooks.hpp"
#include "releases/rules/typical.hpp"
#include "releases/rules/views.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace policies {

template <>
struct view_record<releases::folder_question> {
  static constexpr const char* name = "folder question";
  static constexpr field fields[] = {
      field_of<&releases::folder_question::folder>("folder"),
      field_of<&releases::folder_question::releases>("releases"),
      field_of<&releases::folder_question::requests>("requests", "requests.yaml of the provider"),
      field_of<&releases::folder_question::registered>("registered",
                                                       "resources of its kustomization.yaml"),
      field_of<&releases::folder_question::app_ranges>("app_ranges", "of Kubernetes, by app"),
  };
};

template <>
struct view_record<releases::pin_folder> {
  static constexpr const char* name = "folder of a pin";
  static constexpr field fields[] = {
      field_of<&releases::pin_folder::folder>("folder"),
      field_of<&releases::pin_folder::file>("file"),
      field_of<&releases::pin_folder::blocks>("blocks", "of requests, as they are"),
      field_of<&releases::pin_folder::has>("has", "whether its Release has the item"),
  };
};

template <>
struct view_record<releases::pin_question> {
  static constexpr const char* name = "pin question";
  static constexpr field fields[] = {
      field_of<&releases::pin_question::release>("release", "a version"),
      field_of<&releases::pin_question::name>("name", "of the item"),
      field_of<&releases::pin_question::version>("version", "that it is held at"),
      field_of<&releases::pin_question::up_to>(
          "up_to", "the first Release that is free again; empty: only this one is held"),
      field_of<&releases::pin_question::folders>("folders"),
  };
};

template <>
struct view_record<releases::provider_versions> {
  static constexpr const char* name = "versions of a provider";
  static constexpr field fields[] = {
      field_of<&releases::provider_versions::name>("name"),
      field_of<&releases::provider_versions::versions>("versions", "that are offered"),
  };
};

template <>
struct view_record<releases::join_question> {
  static constexpr const char* name = "join question";
  static constexpr field fields[] = {
      field_of<&releases::join_question::kind>("kind", "major or minor"),
      field_of<&releases::join_question::target>("target", "\"35.0\"; empty: what follows"),
      field_of<&releases::join_question::providers>("providers"),
  };
};

template <>
struct view_record<releases::publish_question> {
  static constexpr const char* name = "publish question";
  static constexpr field fields[] = {
      field_of<&releases::publish_question::release>("release"),
      field_of<&releases::publish_question::commit>("commit", "of a preview"),
  };
};

namespace releases {

template <>
struct answer_record<folder_answer> {
  static constexpr const char* name = "verdict on a folder";
  static constexpr answer_field<folder_answer> fields[] = {
      taken<&folder_answer::rules>(
          "rules", "every id that a finding may have; empty: the pack does not say"),
      findings_of<folder_answer>(),
  };
};

template <>
struct answer_record<pin_edit> {
  static constexpr const char* name = "edit of a request file";
  static constexpr answer_field<pin_edit> fields[] = {
      taken<&pin_edit::folder>("folder"),
      taken<&pin_edit::file>("file"),
      taken<&pin_edit::range>("range", "of the block of requests"),
      word_of<&pin_edit::edit, "new", "extended", "same", "none">("edit"),
      taken<&pin_edit::block>("block", "which one is extended, from 1"),
      taken<&pin_edit::why>("why", "a sentence"),
  };
};

template <>
struct answer_record<pin_answer> {
  static constexpr const char* name = "pins";
  static constexpr answer_field<pin_answer> fields[] = {
      taken<&pin_answer::pins>("pins", "one a folder, in their order"),
      findings_of<pin_answer>(),
  };
};

template <>
struct answer_record<join_row> {
  static constexpr const char* name = "provider that may join";
  static constexpr answer_field<join_row> fields[] = {
      taken<&join_row::provider>("provider"),
      taken<&join_row::latest>("latest", "its latest version"),
      taken<&join_row::why>("why", "a sentence"),
      taken<&join_row::joins>("joins"),
  };
};

template <>
struct answer_record<join_answer> {
  static constexpr const char* name = "join";
  static constexpr answer_field<join_answer> fields[] = {
      taken<&join_answer::target>("target", "the version that they go to"),
      taken<&join_answer::rows>("rows", "one a provider"),
      findings_of<join_answer>(),
  };
};

template <>
struct answer_record<published_chart> {
  static constexpr const char* name = "published chart";
  static constexpr answer_field<published_chart> fields[] = {
      taken<&published_chart::from>("from", "\"cluster-aws:7.2.5\""),
      taken<&published_chart::to>("to", "\"release-aws:34.0.0\""),
      taken<&published_chart::value>("value", "the value of the chart that says the version"),
      taken<&published_chart::text>("text", "what it says"),
  };
};

template <>
struct answer_record<publish_answer> {
  static constexpr const char* name = "publication";
  static constexpr answer_field<publish_answer> fields[] = {
      taken<&publish_answer::charts>("retag"),
      findings_of<publish_answer>(),
  };
};

namespace {

namespace json = boost::json;
using reactor::errc;
using reactor::make_fault;
using reactor::result;

/// What is denied leaves no list behind that a caller could use all the same.
template <class Answer, auto List>
result<Answer> read_unless_denied(const value& answer) {
  auto read = read_answer<Answer>(answer);
  if (read && read->verdict == decision::deny) (*read.*List).clear();
  return read;
}

/// A text as a YAML scalar that is read back as it is.
std::string scalar(const std::string& text) {
  return json::serialize(json::value(text));
}

std::size_t indent_of(std::string_view line) {
  const std::size_t at = line.find_first_not_of(' ');
  return at == line.npos ? line.size() : at;
}

bool means_something(std::string_view line) {
  const std::size_t at = line.find_first_not_of(' ');
  return at != line.npos && line[at] != '#';
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    lines.push_back(text.substr(0, end + 1));
    text.remove_prefix(end + 1);
  }
  return lines;
}

/// A text as it is edited: without a byte order mark, and where all of its line breaks are those of
/// DOS, with those of Unix.
struct plain_text {
  std::string text;
  bool mark = false, dos = false;
  explicit plain_text(std::string_view of) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    mark = of.starts_with(byte_order_mark);
    text = of.substr(mark ? byte_order_mark.size() : 0);
    std::size_t all = 0, theirs = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
      all += text[at] == '\n';
      theirs += text[at] == '\n' && at > 0 && text[at - 1] == '\r';
    }
    dos = all > 0 && all == theirs;
    if (dos) std::erase(text, '\r');
  }
  std::string as_it_was(std::string edited) const {
    if (dos) {
      std::string back;
      for (const char c : edited) back += c == '\n' ? std::string("\r\n") : std::string(1, c);
      edited = std::move(back);
    }
    return (mark ? "\xef\xbb\xbf" : "") + edited;
  }
};

/// The resources of a kustomization.yaml; nothing where it cannot be read.
std::optional<std::vector<std::string>> resources_of(std::string_view text,
                                                     const std::string& file) {
  std::vector<std::string> all;
  if (std::ranges::none_of(lines_of(text), means_something)) return all;
  auto source = yaml_source::read(text, file);
  if (!source) return std::nullopt;
  const place top;
  const json::array* list =
      source->list(source->root(), "resources", top, "", yaml_source::need::optional);
  if (!source->problems.empty()) return std::nullopt;
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i)
    if ((*list)[i].is_string()) all.emplace_back((*list)[i].get_string());
  return all;
}

bool equal(const request_block& a, const request_block& b) {
  return a.range == b.range && std::equal(a.requests.begin(), a.requests.end(), b.requests.begin(),
                                          b.requests.end(), [](const request& x, const request& y) {
                                            return x.name == y.name && x.version == y.version &&
                                                   x.except.size() == y.except.size();
                                          });
}

}  // namespace

std::vector<hook> offering_hooks() {
  folder_question folder;
  folder.folder = "capa";
  folder.releases = {typical_release(), typical_release_after()};
  pin_question pin;
  pin.release = "34.4.1";
  pin.name = "flatcar";
  pin.version = "4593.2.3";
  pin.folders.emplace_back();
  pin.folders.back().folder = "capa";
  pin.folders.back().file = "capa/requests.yaml";
  pin.folders.back().has = true;
  join_question join;
  join.kind = "minor";
  join.providers = {{"aws", {"34.4.1", "34.5.0"}}, {"azure", {"34.4.0"}}};
  publish_question publish;
  publish.release = typical_release();
  std::vector<hook> all;
  all.push_back(hook_of<folder_answer>(
      {"release.folder",
       "what is wrong with the Releases of a provider as a whole, and which rules are there?",
       "by `windlass release check`", "nothing is known to be wrong, and nothing to be right"},
      std::move(folder), 2, read_answer<folder_answer>));
  all.push_back(hook_of<pin_answer>({"release.pin", "how is an item held at a version?",
                                     "by `windlass release pin`", "it is not held"},
                                    std::move(pin), 2,
                                    read_unless_denied<pin_answer, &pin_answer::pins>));
  all.push_back(hook_of<join_answer>({"release.join", "do the providers go on together?",
                                      "by `windlass release join`", "each goes its own way"},
                                     std::move(join), 4, read_answer<join_answer>));
  all.push_back(hook_of<publish_answer>(
      {"release.publish", "under which name is the chart of a Release published?",
       "by `windlass release retag`", "it is not published"},
      std::move(publish), 4, read_unless_denied<publish_answer, &publish_answer::charts>));
  return all;
}

reactor::awaitable<result<folder_answer>> judge_folder(
    host& packs, subject s, std::shared_ptr<const folder_question> question) {
  const std::size_t entries = question->releases.size() +
                              (question->requests ? question->requests->blocks.size() : 0) +
                              (question->registered ? question->registered->size() : 0);
  co_return co_await ask<folder_answer>(packs, "release.folder", std::move(s), std::move(question),
                                        entries, read_answer<folder_answer>);
}

folder_question question_about(const repository& all, const provider_folder& folder) {
  folder_question q;
  q.folder = folder.name;
  q.releases = folder.releases;
  q.registered = folder.registered;
  q.app_ranges = all.app_ranges;
  if (folder.requests) q.requests = std::make_shared<const request_file>(*folder.requests);
  return q;
}

reactor::awaitable<result<pin_answer>> plan_pin(host& packs, subject s,
                                                std::shared_ptr<const pin_question> question) {
  std::size_t entries = 0;
  for (const pin_folder& f : question->folders) {
    for (const request_block& b : f.blocks) entries += 1 + b.requests.size();
  }
  co_return co_await ask<pin_answer>(packs, "release.pin", std::move(s), std::move(question),
                                     entries, read_unless_denied<pin_answer, &pin_answer::pins>);
}

result<std::string> edited_resources(std::string_view original, const std::string& file,
                                     const std::string& name) {
  const auto cannot = [&](std::string why) {
    return make_fault(errc::refused, "edit " + file, std::move(why));
  };
  const plain_text plain(original);
  const std::optional<std::vector<std::string>> before = resources_of(plain.text, file);
  if (!before) return cannot("it cannot be read");
  if (std::ranges::find(*before, name) != before->end()) return std::string(original);
  std::string out;
  bool inside = false, done = false;
  std::string pad;
  const std::vector<std::string_view> lines = lines_of(plain.text);
  const auto add = [&] {
    if (!out.empty() && !out.ends_with('\n')) out += '\n';
    out += (inside ? "" : "resources:\n") + pad + "- " + name + "\n";
    done = true;
  };
  for (const std::string_view line : lines) {
    const bool is_entry = line.substr(indent_of(line)).starts_with('-');
    if (inside && !done && means_something(line) && !is_entry) add();
    if (inside && !done && is_entry) pad.assign(indent_of(line), ' ');
    out += line;
    if (!line.starts_with("resources:")) continue;
    inside = true;
    if (line.find('[') != line.npos)
      return cannot("its resources stand on one line; write one on each");
  }
  if (!done) add();
  // What comes out is read again: it lists what was listed before, and this.
  std::vector<std::string> expected = *before;
  expected.push_back(name);
  if (resources_of(out, file) != expected)
    return cannot("it is laid out in a way that is not edited here");
  return plain.as_it_was(std::move(out));
}

result<std::string> edited_requests(std::string_view original, const pin_edit& edit,
                                    const std::string& name, const std::string& version) {
  const plain_text plain(original);
  const std::string_view text = plain.text;
  const auto cannot = [&](std::string why) {
    return make_fault(errc::malformed, "edit " + edit.file, std::move(why));
  };
  auto before = read_requests(text, edit.file);
  if (!before) return before.error();
  for (const problem& p : before->problems)
    if (p.id != "release.unknown-field") return cannot(p.evidence + ": " + p.why);
  if (edit.edit == "same" || edit.edit == "none") return std::string(original);
  const bool on_top = edit.edit == "new";
  const auto which = static_cast<std::size_t>(edit.block);
  if (!on_top && (which == 0 || which > before->blocks.size()))
    return cannot("it has no block " + std::to_string(which));

  const auto lines = lines_of(text);
  std::string out;
  const std::string wanted = "name: " + scalar(name);
  std::size_t list_indent = std::string::npos, block = 0;
  bool inside = false, done = false;
  for (const std::string_view line : lines) {
    if (done || !means_something(line)) {
      out += line;
      continue;
    }
    if (!inside) {
      inside = line.starts_with("releases:");
      if (inside && line.find('[') != line.npos) {
        if (!on_top || !before->blocks.empty()) return cannot("its list is written on one line");
        out += "releases:\n";
      } else {
        out += line;
      }
      if (inside && on_top) {
        std::size_t next = 0;
        while (next < lines.size() && lines[next].data() <= line.data()) ++next;
        while (next < lines.size() && !means_something(lines[next])) ++next;
        const std::string pad(next < lines.size() ? indent_of(lines[next]) : 0, ' ');
        if (!out.ends_with('\n')) out += '\n';
        out += pad + "- name: " + scalar(edit.range) + "\n" + pad + "  requests:\n" + pad + "  - " +
               wanted + "\n" + pad + "    version: " + scalar(version) + "\n";
        done = true;
      }
      continue;
    }
    const std::size_t indent = indent_of(line);
    if (list_indent == std::string::npos) list_indent = indent;
    if (indent == list_indent && line[indent] == '-') ++block;
    out += line;
    const std::size_t key = line.find("requests:");
    if (block == which && key != line.npos && line.find_first_not_of(" -") == key) {
      if (line.find('[') != line.npos) return cannot("its requests are written on one line");
      if (!out.ends_with('\n')) out += '\n';
      const std::string pad(list_indent + 2, ' ');
      out += pad + "- " + wanted + "\n" + pad + "  version: " + scalar(version) + "\n";
      done = true;
    }
  }
  if (!done) return cannot("no place was found for it");

  // What comes out is read again: it says what was said before, and this.
  request requested_release{name, version, {}, {}};
  std::vector<request_block> expected = before->blocks;
  if (on_top) {
    expected.insert(expected.begin(), request_block{edit.range, {requested_release}});
  } else {
    auto& requests = expected[which - 1].requests;
    requests.insert(requests.begin(), requested_release);
  }
  auto after = read_requests(out, edit.file);
  if (!after || !after->problems.empty() ||
      !std::equal(after->blocks.begin(), after->blocks.end(), expected.begin(), expected.end(),
                  equal))
    return cannot("it is laid out in a way that is not edited here");
  return plain.as_it_was(std::move(out));
}

reactor::awaitable<result<join_answer>> plan_join(host& packs, subject s,
                                                  std::shared_ptr<const join_question> question) {
  std::size_t entries = question->providers.size();
  for (const provider_versions& p : question->providers) entries += p.versions.size() / 4;
  co_return co_await ask<join_answer>(packs, "release.join", std::move(s), std::move(question),
                                      entries, read_answer<join_answer>);
}

reactor::awaitable<result<publish_answer>> plan_publishing(
    host& packs, subject s, std::shared_ptr<const publish_question> question) {
  const std::size_t entries = entries_of(*question->release);
  co_return co_await ask<publish_answer>(
      packs, "release.publish", std::move(s), std::move(question), entries,
      read_unless_denied<publish_answer, &publish_answer::charts>);
}

}  // namespace releases
}  // namespace policies
