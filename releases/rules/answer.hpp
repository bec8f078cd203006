#pragma once

// Inside releases/rules only: how an answer of a policy is taken apart, with the place in every
// complaint.

#include "policies/host/value.hpp"
#include "reactor/plain/result.hpp"
#include "releases/rules/finding.hpp"

#include <boost/container/small_vector.hpp>

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace policies::releases {

/// One table of an answer. Each field is asked for by name; done() refuses what was not asked for.
/// The first thing wrong is kept, and everything after it reads as empty.
class answer_reader {
public:
  /// `where` is empty for the answer itself: "images[2].segments[1]" else.
  answer_reader(const value& of, std::string where, std::optional<reactor::fault>& wrong);
  std::string text(std::string_view field);
  double number(std::string_view field);
  std::optional<double> number_if(std::string_view field);  // nothing: it is not there
  bool flag(std::string_view field);
  std::vector<std::string> texts(std::string_view field);
  /// A text that is one of these; an empty one among them: it may be absent.
  std::string one_of(std::string_view field, std::initializer_list<std::string_view> known);
  template <class T>
  std::vector<T> list(std::string_view field, T (*read)(answer_reader&)) {
    std::vector<T> out;
    each(field, [&](answer_reader& one) { out.push_back(read(one)); });
    return out;
  }
  /// Says that the field's value will not do.
  void refuse(std::string_view field, std::string why);
  void done();

private:
  /// An entry of a list of `outer`, from 0: where that is, is put into words for a complaint alone.
  answer_reader(const value& of, const answer_reader& outer, std::string_view list,
                std::size_t index);
  std::string where() const;
  const value* take(std::string_view field);
  void each(std::string_view field, const std::function<void(answer_reader&)>& read);
  std::string place_of(std::string_view field) const;
  const value::object* object_ = nullptr;
  std::string where_;
  const answer_reader* outer_ = nullptr;
  std::string_view list_;
  std::size_t index_ = 0;
  std::size_t present_ = 0;  // of what was asked for
  boost::container::small_vector<std::string_view, 12> asked_;
  std::optional<reactor::fault>& wrong_;
};

}  // namespace policies::releases
