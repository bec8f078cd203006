#include "policies/host/shape.hpp"

#include "formats/plain/nearest.hpp"
#include "reactor/plain/printable.hpp"

#include <algorithm>
#include <utility>

namespace policies {
namespace {

using reactor::errc;
using reactor::make_fault;
using reactor::result;

constexpr std::size_t shown_bytes = 60;  // of a key, in a message

std::string expected_of(const shape& s) {
  if (!s.expected.empty()) return s.expected;
  switch (s.is) {
    case shape::kind::flag: return "true or false";
    case shape::kind::number: return "a number";
    case shape::kind::text: return "a string";
    case shape::kind::list: return "a list";
    default: return "a table";
  }
}

bool plain_name(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

class checker {
public:
  result<void> check(const value& v, const shape& s) {
    switch (s.is) {
      case shape::kind::any: return {};
      case shape::kind::flag: return v.if_bool() ? result<void>() : wrong(v, s);
      case shape::kind::number:
        return v.if_number() && (!s.least || *v.if_number() >= *s.least) ? result<void>()
                                                                         : wrong(v, s);
      case shape::kind::text: return check_text(v, s);
      case shape::kind::list: return check_list(v, s);
      case shape::kind::map: return check_map(v, s);
      case shape::kind::record: return check_record(v, s);
      case shape::kind::either: return check_either(v, s);
    }
    return {};
  }

private:
  std::string place() const {
    if (steps_.empty()) return "the answer";
    std::string path;
    for (const step& s : steps_) {
      if (s.index != 0)
        path += "[" + std::to_string(s.index) + "]";
      else if (s.member && plain_name(s.key))
        path += (path.empty() ? "" : ".") + std::string(s.key.substr(0, shown_bytes));
      else
        path += "[\"" + reactor::printable(s.key, shown_bytes) + "\"]";
    }
    return path;
  }
  reactor::fault wrong(const value& got, const shape& s) const {
    return make_fault(
        errc::malformed, {},
        place() + ": expected " + expected_of(s) + ", got " + std::string(got.kind()));
  }

  result<void> check_text(const value& v, const shape& s) {
    const std::string* text = v.if_string();
    if (text == nullptr) return wrong(v, s);
    if (s.words.empty() || std::find(s.words.begin(), s.words.end(), *text) != s.words.end())
      return {};
    std::string known, meant;
    for (const std::string& word : s.words) {
      known += (known.empty() ? "" : ", ") + word;
      if (meant.empty() && is_slip(*text, word)) meant = word;
    }
    return make_fault(errc::malformed, {},
                      place() + ": '" + reactor::printable(*text, shown_bytes) +
                          (meant.empty() ? "'" : "', is it " + meant + "?") + "; known are " +
                          known);
  }

  result<void> check_list(const value& v, const shape& s) {
    const value::array* list = v.if_array();
    if (list == nullptr) return wrong(v, s);
    for (std::size_t i = 0; i < list->size(); ++i) {
      steps_.push_back({.index = i + 1});
      if (auto fine = check((*list)[i], s.of.front()); !fine) return fine;
      steps_.pop_back();
    }
    return {};
  }

  result<void> check_map(const value& v, const shape& s) {
    const value::object* object = v.if_object();
    if (object == nullptr) return wrong(v, s);
    for (const auto& [key, member] : *object) {
      steps_.push_back({.key = key});
      if (auto fine = check(member, s.of.front()); !fine) return fine;
      steps_.pop_back();
    }
    return {};
  }

  result<void> check_record(const value& v, const shape& s) {
    const value::object* object = v.if_object();
    if (object == nullptr) return wrong(v, s);
    for (const auto& [key, ignored] : *object) {
      const auto same_name = [&key = key](const shape_member& m) { return m.name == key; };
      if (std::none_of(s.members.begin(), s.members.end(), same_name)) return unknown(key, s);
    }
    for (const shape_member& m : s.members) {
      const auto found = object->find(m.name);
      const bool absent = found == object->end() || found->second.is_null();
      if (absent && m.optional) continue;
      static const value nothing;
      steps_.push_back({.key = m.name, .member = true});
      if (auto fine = check(absent ? nothing : found->second, m.is); !fine) return fine;
      steps_.pop_back();
    }
    return {};
  }

  reactor::fault unknown(const std::string& key, const shape& s) const {
    std::string known, meant;
    for (const shape_member& m : s.members) {
      known += (known.empty() ? "" : ", ") + m.name;
      if (meant.empty() && is_slip(key, m.name)) meant = m.name;
    }
    return make_fault(errc::malformed, {},
                      place() + ": unknown entry '" + reactor::printable(key, shown_bytes) +
                          (meant.empty() ? "'" : "', is it " + meant + "?") + "; known are " +
                          known);
  }

  /// The form of the same kind says what is wrong inside of it.
  result<void> check_either(const value& v, const shape& s) {
    for (const shape& form : s.of) {
      const bool of_its_kind = form.is == shape::kind::text     ? v.if_string() != nullptr
                               : form.is == shape::kind::number ? v.if_number() != nullptr
                               : form.is == shape::kind::flag   ? v.if_bool() != nullptr
                               : form.is == shape::kind::list   ? v.if_array() != nullptr
                                                                : v.if_object() != nullptr;
      if (of_its_kind) return check(v, form);
    }
    return wrong(v, s);
  }

  /// Into a list (from 1), a map or a record; borrowed from the value and its shape.
  struct step {
    std::string_view key = {};
    std::size_t index = 0;
    bool member = false;
  };
  std::vector<step> steps_;  // put into words only when something is wrong
};

std::string_view word(shape::kind k) {
  switch (k) {
    case shape::kind::any: return "any";
    case shape::kind::flag: return "flag";
    case shape::kind::number: return "number";
    case shape::kind::text: return "text";
    case shape::kind::list: return "list";
    case shape::kind::map: return "map";
    case shape::kind::record: return "record";
    case shape::kind::either: return "either";
  }
  return {};
}

}  // namespace

shape_member maybe(std::string name, shape is, std::string about) {
  return {std::move(name), std::move(is), std::move(about), {}, true};
}

shape flag_shape() {
  shape s;
  s.is = shape::kind::flag;
  return s;
}

shape number_shape(std::string expected, std::optional<double> least) {
  shape s;
  s.is = shape::kind::number;
  s.expected = std::move(expected);
  s.least = least;
  return s;
}

shape text_shape(std::string expected) {
  shape s;
  s.is = shape::kind::text;
  s.expected = std::move(expected);
  return s;
}

shape word_shape(std::vector<std::string> words) {
  shape s = text_shape();
  s.words = std::move(words);
  return s;
}

shape list_shape(shape of, std::string expected) {
  shape s;
  s.is = shape::kind::list;
  s.expected = std::move(expected);
  s.of.push_back(std::move(of));
  return s;
}

shape map_shape(shape of, std::string expected) {
  shape s = list_shape(std::move(of), std::move(expected));
  s.is = shape::kind::map;
  return s;
}

shape record_shape(std::string name, std::vector<shape_member> members, std::string expected) {
  shape s;
  s.is = shape::kind::record;
  s.name = std::move(name);
  s.members = std::move(members);
  s.expected = std::move(expected);
  return s;
}

shape either_shape(std::string expected, std::vector<shape> forms) {
  shape s;
  s.is = shape::kind::either;
  s.expected = std::move(expected);
  s.of = std::move(forms);
  return s;
}

result<void> check(const value& v, const shape& is) {
  return checker().check(v, is);
}

value described(const shape& s) {
  // What a test gives in place of a document may be wrong in every way that a document may be.
  if (s.open) return described(shape());
  value::object out{{"kind", word(s.is)}, {"expected", expected_of(s)}};
  if (!s.name.empty()) out["name"] = s.name;
  if (!s.of.empty()) out["of"] = described(s.of.front());
  value::array members;
  for (const shape_member& m : s.members) {
    value::object one{{"name", m.name}, {"is", described(m.is)}, {"optional", m.optional}};
    if (!m.otherwise.is_null()) one["otherwise"] = m.otherwise;
    members.emplace_back(std::move(one));
  }
  if (!members.empty()) out["members"] = std::move(members);
  return out;
}

bool is_slip(std::string_view wrong, std::string_view right) noexcept {
  const int apart = formats::letters_apart(wrong, right);
  return apart > 0 && apart <= (right.size() < 6 ? 1 : 2);
}

}  // namespace policies
