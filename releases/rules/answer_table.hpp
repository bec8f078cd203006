#pragma once

// Inside releases/ only: an answer of a policy as a table of its fields, from which both the reader
// and the description of the hook are made.

#include "policies/host/view.hpp"
#include "releases/rules/answer.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace policies::releases {

/// What a record of an answer is called, and its `fields` in the order in which they are read;
/// specialised beside the struct. A function `check(answer_reader&, const T&)` refuses what the
/// fields alone cannot.
template <class T>
struct answer_record;

template <class T>
struct answer_field {
  std::string_view name, about;
  void (*read)(answer_reader& from, std::string_view field, T& into);
  shape (*is)();
  bool required = false;
};

/// The text of a template argument.
template <std::size_t N>
struct literal {
  constexpr literal(const char (&s)[N]) {
    for (std::size_t i = 0; i < N; ++i) text[i] = s[i];
  }
  constexpr operator std::string_view() const { return {text, N - 1}; }
  char text[N];
};

template <class T>
T read_record(answer_reader& from) {
  T out{};
  for (const answer_field<T>& f : answer_record<T>::fields) f.read(from, f.name, out);
  if constexpr (requires { answer_record<T>::check(from, out); })
    answer_record<T>::check(from, out);
  return out;
}

template <class T>
shape answer_shape() {
  if constexpr (std::is_same_v<T, bool>) {
    return flag_shape();
  } else if constexpr (std::is_same_v<T, std::string>) {
    return text_shape();
  } else if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::optional<double>>) {
    return number_shape();
  } else if constexpr (requires { typename T::value_type; }) {
    return list_shape(answer_shape<typename T::value_type>());
  } else {
    shape s = record_shape(answer_record<T>::name, {});
    for (const answer_field<T>& f : answer_record<T>::fields)
      s.members.push_back({std::string(f.name), f.is(), std::string(f.about), {}, !f.required, {}});
    return s;
  }
}

/// A field by the type of its member: a text, a number, a flag, or a list of texts or records.
template <auto Member>
constexpr auto taken(std::string_view name, std::string_view about = {}) {
  using owner = typename member_of<decltype(Member)>::owner;
  using type = typename member_of<decltype(Member)>::type;
  return answer_field<owner>{name, about,
                             [](answer_reader& from, std::string_view field, owner& into) {
                               type& to = into.*Member;
                               if constexpr (std::is_same_v<type, std::string>)
                                 to = from.text(field);
                               else if constexpr (std::is_same_v<type, double>)
                                 to = from.number(field);
                               else if constexpr (std::is_same_v<type, std::optional<double>>)
                                 to = from.number_if(field);
                               else if constexpr (std::is_same_v<type, bool>)
                                 to = from.flag(field);
                               else if constexpr (std::is_same_v<type, std::vector<std::string>>)
                                 to = from.texts(field);
                               else
                                 to = from.list<typename type::value_type>(
                                     field, read_record<typename type::value_type>);
                             },
                             answer_shape<type>};
}

/// A text that is one of these; with an empty one among them it may be absent.
template <auto Member, literal... Words>
constexpr auto word_of(std::string_view name, std::string_view about = {}) {
  using owner = typename member_of<decltype(Member)>::owner;
  return answer_field<owner>{name, about,
                             [](answer_reader& from, std::string_view field, owner& into) {
                               into.*Member = from.one_of(field, {std::string_view(Words)...});
                             },
                             [] {
                               std::vector<std::string> words;
                               for (const std::string_view word : {std::string_view(Words)...})
                                 if (!word.empty()) words.emplace_back(word);
                               return word_shape(std::move(words));
                             },
                             !(std::string_view(Words).empty() || ...)};
}

template <>
struct answer_record<finding> {
  static constexpr const char* name = "finding";
  static const answer_field<finding> fields[10];
  static void check(answer_reader& from, const finding& f);
};

/// `findings`, in order.
template <class Answer>
constexpr answer_field<Answer> findings_of() {
  return {"findings", "what was found; an error denies, a warning may wait for approval",
          [](answer_reader& from, std::string_view field, Answer& into) {
            into.findings = from.list<finding>(field, read_record<finding>);
            put_in_order(into.findings);
          },
          answer_shape<std::vector<finding>>};
}

/// A whole answer, and the verdict on its findings where it has any.
/// Errors   errc::malformed names the place and what is wrong there.
template <class Answer>
reactor::result<Answer> read_answer(const value& answer) {
  std::optional<reactor::fault> wrong;
  answer_reader from(answer, "", wrong);
  Answer out = read_record<Answer>(from);
  from.done();
  if (wrong) return *wrong;
  if constexpr (requires { out.verdict; }) out.verdict = decide(out.findings);
  return out;
}

}  // namespace policies::releases
