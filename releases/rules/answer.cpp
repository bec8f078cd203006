#include "releases/rules/answer.hpp"

#include "reactor/plain/printable.hpp"
#include "releases/rules/answer_table.hpp"

#include <algorithm>

namespace policies::releases {
namespace {

using reactor::errc;
using reactor::make_fault;

/// Findings end up in tables, conditions and events.
constexpr std::size_t longest_text = 2'000, most_entries = 10'000;

}  // namespace

answer_reader::answer_reader(const value& of, std::string where,
                             std::optional<reactor::fault>& wrong)
    : object_(of.if_object()), where_(std::move(where)), wrong_(wrong) {
  if (object_ == nullptr && !wrong_)
    wrong_ = make_fault(errc::malformed, {},
                        (where_.empty() ? "the answer" : where_) + ": expected a table, got " +
                            std::string(of.kind()));
}

answer_reader::answer_reader(const value& of, const answer_reader& outer, std::string_view list,
                             std::size_t index)
    : object_(of.if_object()), outer_(&outer), list_(list), index_(index), wrong_(outer.wrong_) {
  if (object_ == nullptr && !wrong_)
    wrong_ = make_fault(errc::malformed, {},
                        where() + ": expected a table, got " + std::string(of.kind()));
}

std::string answer_reader::where() const {
  if (outer_ == nullptr) return where_;
  return outer_->place_of(list_) + "[" + std::to_string(index_ + 1) + "]";
}

std::string answer_reader::place_of(std::string_view field) const {
  std::string place = where();
  if (!place.empty()) place += '.';
  return place += field;
}

const value* answer_reader::take(std::string_view field) {
  asked_.push_back(field);
  if (wrong_ || object_ == nullptr) return nullptr;
  const auto found = object_->find(field);
  if (found == object_->end()) return nullptr;
  ++present_;
  return found->second.is_null() ? nullptr : &found->second;
}

void answer_reader::refuse(std::string_view field, std::string why) {
  if (!wrong_) wrong_ = make_fault(errc::malformed, {}, place_of(field) + ": " + std::move(why));
}

std::string answer_reader::text(std::string_view field) {
  const value* v = take(field);
  if (v == nullptr) return {};
  if (const std::string* s = v->if_string()) {
    if (s->size() <= longest_text) return *s;
    refuse(field, "is longer than " + std::to_string(longest_text) + " bytes");
  } else {
    refuse(field, "expected a text, got " + std::string(v->kind()));
  }
  return {};
}

std::optional<double> answer_reader::number_if(std::string_view field) {
  const value* v = take(field);
  if (v == nullptr) return std::nullopt;
  if (const double* n = v->if_number()) return *n;
  refuse(field, "expected a number, got " + std::string(v->kind()));
  return std::nullopt;
}

double answer_reader::number(std::string_view field) {
  return number_if(field).value_or(0);
}

bool answer_reader::flag(std::string_view field) {
  const value* v = take(field);
  if (v == nullptr) return false;
  if (const bool* b = v->if_bool()) return *b;
  refuse(field, "expected true or false, got " + std::string(v->kind()));
  return false;
}

std::string answer_reader::one_of(std::string_view field,
                                  std::initializer_list<std::string_view> known) {
  std::string got = text(field);
  if (std::find(known.begin(), known.end(), got) == known.end())
    refuse(field, expected_one_of(known, got));
  return got;
}

std::vector<std::string> answer_reader::texts(std::string_view field) {
  std::vector<std::string> out;
  const value* v = take(field);
  if (v == nullptr) return out;
  const value::array* list = v->if_array();
  if (list == nullptr) {
    refuse(field, "expected a list of texts, got " + std::string(v->kind()));
    return out;
  }
  for (const value& one : *list) {
    const std::string* s = one.if_string();
    if (s == nullptr || s->size() > longest_text) {
      refuse(field, "expected a list of texts, one is " + std::string(one.kind()));
      return out;
    }
    out.push_back(*s);
  }
  return out;
}

void answer_reader::each(std::string_view field, const std::function<void(answer_reader&)>& read) {
  const value* v = take(field);
  if (v == nullptr) return;
  const value::array* list = v->if_array();
  if (list == nullptr || list->size() > most_entries) {
    refuse(field, list == nullptr ? "expected a list, got " + std::string(v->kind())
                                  : "has more than " + std::to_string(most_entries) + " entries");
    return;
  }
  for (std::size_t i = 0; i < list->size(); ++i) {
    answer_reader one((*list)[i], *this, field, i);
    read(one);
    one.done();
    if (wrong_) return;
  }
}

void answer_reader::done() {
  // No field is asked for twice: as many were there as there are.
  if (wrong_ || object_ == nullptr || present_ == object_->size()) return;
  for (const auto& [key, member] : *object_) {
    if (std::find(asked_.begin(), asked_.end(), key) != asked_.end()) continue;
    std::string known;
    for (const std::string_view name : asked_)
      known += (known.empty() ? "" : ", ") + std::string(name);
    wrong_ = make_fault(errc::malformed, {},
                        (where().empty() ? "the answer" : where()) + ": unknown entry '" +
                            reactor::printable(key, 60) + "'; known are " + known);
    return;
  }
}

const answer_field<finding> answer_record<finding>::fields[10] = {
    taken<&finding::id>("id", "which rule: \"release.schema\"; required"),
    {"severity", "how bad it is",
     [](answer_reader& from, std::string_view field, finding& into) {
       const std::string how = from.one_of(field, {"error", "warn", "info"});
       into.how = how == "error"  ? severity::error
                  : how == "warn" ? severity::warn
                                  : severity::info;
     },
     [] { return word_shape({"error", "warn", "info"}); }, true},
    taken<&finding::blocking>("blocking", "\"approval\" on a warning that waits for consent"),
    taken<&finding::subject>("subject", "what it is about: \"component/etcd\"; required"),
    taken<&finding::from>("from", "what was there"),
    taken<&finding::to>("to", "what it became, or should be"),
    taken<&finding::rule>("rule", "the row of the pack's tables that says so"),
    taken<&finding::why>("why", "a sentence; required"),
    taken<&finding::evidence>("evidence", "the document and the field"),
    taken<&finding::clears>("clears", "the smallest change that clears it"),
};

void answer_record<finding>::check(answer_reader& from, const finding& f) {
  if (f.id.empty()) from.refuse("id", "expected the finding's id");
  if (f.subject.empty()) from.refuse("subject", "expected what it is about");
  if (f.why.empty()) from.refuse("why", "expected a sentence");
  if (!f.blocking.empty() && (f.blocking != "approval" || f.how != severity::warn))
    from.refuse("blocking", "only a warning blocks, and for approval");
}

}  // namespace policies::releases
