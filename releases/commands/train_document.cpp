#include "releases/commands/train_document.hpp"

#include "releases/trains/known.hpp"
#include "releases/trains/train.hpp"
#include "reactor/loop.hpp"
#include "reactor/system/files.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace cli {
namespace {

using formats::yaml_place;
using policies::value;
using reactor::result;

constexpr std::size_t longest_train_bytes = 1024 * 1024;

/// How an entry of a list is called in a place: its fields with what stands between them.
struct naming {
  std::string_view list;
  std::array<std::string_view, 3> fields;
  std::array<std::string_view, 2> between;
};
constexpr std::array namings = {
    naming{"projects", {"name", "", ""}, {"", ""}},
    naming{"pins", {"holder", "project", "field"}, {"/", "."}},
    naming{"edges", {"from", "to", ""}, {"->", ""}},
    naming{"steps", {"id", "", ""}, {"", ""}},
    naming{"suites", {"id", "", ""}, {"", ""}},
    naming{"tags", {"project", "tag", ""}, {" ", ""}},
    naming{"ancestry", {"project", "from", "to"}, {" ", ".."}},
    naming{"images", {"ref", "", ""}, {"", ""}},
    naming{"releases", {"tag", "", ""}, {"", ""}},
    naming{"trains", {"train", "", ""}, {"", ""}},
};

std::string name_of(const yaml_place& entry, const naming& how) {
  std::string name;
  for (std::size_t i = 0; i < how.fields.size() && !how.fields[i].empty(); ++i) {
    const yaml_place* field = entry.find(how.fields[i]);
    if (i > 0) name += how.between[i - 1];
    if (field != nullptr) name += field->text;
  }
  return name;
}

std::optional<std::size_t> number_in(std::string_view text) {
  std::size_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

/// What a file of facts says, behind what the document says itself.
void add_facts(value& document, value facts) {
  auto& into = std::get<value::object>(document.data);
  for (auto& [name, member] : std::get<value::object>(facts.data)) {
    auto* more = std::get_if<value::array>(&member.data);
    if (more == nullptr) continue;
    auto& list = into[name];
    if (list.is_null()) list = value::array();
    auto* there = std::get_if<value::array>(&list.data);
    if (there == nullptr) continue;  // the policy says that it is no list
    there->insert(there->end(), std::make_move_iterator(more->begin()),
                  std::make_move_iterator(more->end()));
  }
}

}  // namespace

std::string pin_key(const value& pin) {
  return pin.text_of("holder") + "/" + pin.text_of("project") + "." + pin.text_of("field");
}

result<void> train_document::add(std::string text, std::string file) {
  auto read = policies::trains::read_train(text, file);
  if (!read) return read.error();
  auto places = formats::yaml_places(text, "read " + file);
  if (!places) return places.error();
  if (sources_.empty()) {
    content_ = std::move(*read);
  } else {
    add_facts(content_, std::move(*read));
  }
  sources_.push_back({std::move(file), std::move(text), std::move(*places)});
  return {};
}

void train_document::add_former(const value& former) {
  auto* ours = std::get_if<value::object>(&content_.data);
  const value::array* theirs = former.list_of("pins");
  if (ours == nullptr || theirs == nullptr) return;
  auto* pins = std::get_if<value::array>(&(*ours)["pins"].data);
  for (std::size_t i = 0; pins != nullptr && i < pins->size(); ++i) {
    auto* pin = std::get_if<value::object>(&(*pins)[i].data);
    if (pin == nullptr) continue;
    const auto before = std::find_if(theirs->begin(), theirs->end(), [&](const value& one) {
      return pin_key(one) == pin_key((*pins)[i]);
    });
    if (before != theirs->end()) (*pin)["former"] = before->text_of("value");
  }
}

void train_document::add_lines(std::vector<policies::releases::finding>& findings) const {
  if (sources_.empty()) return;
  for (policies::releases::finding& f : findings) {
    if (f.id != "train.schema" && f.id != "train.unknown-field" && f.id != "train.unknown-name")
      continue;
    const std::string head = sources_.front().file + ": ";
    if (!f.evidence.starts_with(head)) continue;
    const std::string line = line_of(std::string_view(f.evidence).substr(head.size()));
    if (!line.empty()) f.evidence += " (" + line + ")";
  }
}

std::string train_document::line_of(std::string_view place) const {
  const std::size_t open = place.find('['), close = place.rfind(']');
  const bool is_list = open != place.npos && close != place.npos && close > open;
  std::string_view list = is_list ? place.substr(0, open) : place;
  const bool only = list == "edges.only";
  if (only) list = "edges";
  const std::string_view entry = is_list ? place.substr(open + 1, close - open - 1) : "";
  std::string_view field = is_list ? place.substr(close + 1) : "";
  if (!is_list && list.find('.') != list.npos) {
    field = list.substr(list.find('.'));
    list = list.substr(0, list.find('.'));
  }
  if (!field.empty()) field.remove_prefix(1);
  const auto how =
      std::find_if(namings.begin(), namings.end(), [&](const naming& n) { return n.list == list; });
  std::size_t passed = 0;
  for (const source& s : sources_) {
    const yaml_place* at = s.root.find(list);
    if (at == nullptr) continue;
    if (only && at->find("only") != nullptr) at = at->find("only");
    if (is_list) {
      const auto number = number_in(entry);
      const yaml_place* found = nullptr;
      for (std::size_t i = 0; i < at->items.size() && found == nullptr; ++i) {
        const bool same = number ? passed + i + 1 == *number
                                 : how != namings.end() && name_of(at->items[i], *how) == entry;
        if (same) found = &at->items[i];
      }
      passed += at->items.size();
      if (found == nullptr) continue;
      at = found;
    }
    if (const yaml_place* member = field.empty() ? nullptr : at->find(field); member != nullptr)
      at = member;
    const auto line = 1 + std::count(s.text.begin(),
                                     s.text.begin() + static_cast<std::ptrdiff_t>(at->begin), '\n');
    return s.file + ":" + std::to_string(line);
  }
  return {};
}

reactor::awaitable<result<std::string>> train_text(reactor::loop& l, std::string file) {
  auto text = co_await reactor::read_file(l, file, longest_train_bytes);
  if (!text && text.error().code == reactor::errc::not_found)
    if (const std::string* known = policies::trains::known_train(file)) co_return *known;
  co_return text;
}

}  // namespace cli
