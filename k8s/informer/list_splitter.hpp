#pragma once

#include "k8s/client/fault.hpp"
#include "reactor/plain/secret.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace k8s {

/// Cuts the text of a list into the texts of its objects while it arrives, so that a page of
/// megabytes is parsed with a buffer of one object. What is left, the list without its objects, is
/// `outer()` in the end.
/// Errors: errc::malformed for what cannot be a JSON list, and past the limits. Objects are cut,
///         not validated: that is their parser's task, as it is for outer().
class list_splitter {
public:
  explicit list_splitter(std::size_t object_limit_bytes) : limit_(object_limit_bytes) {}

  /// Calls `take` for each object that is complete; it says false to stop, which ends the call in
  /// order.
  result<void> feed(std::string_view bytes,
                    const std::function<bool(std::string_view object)>& take);
  /// The text is at its end.
  result<void> finish() const;

  /// The list's text until its first object, closed so that it parses; after finish(), all of it
  /// with no objects.
  std::string outer() const;
  std::size_t buffer_bytes() const noexcept { return outer_.capacity() + object_.capacity(); }

private:
  enum class place { before_value, in_outer, before_object, in_object, after_object, done };
  const char* skip_string(const char* at, const char* end);
  const char* outer_byte(const char* at, const char* end);
  const char* object_bytes(const char* at, const char* end);

  std::size_t limit_;
  place place_ = place::before_value;
  std::size_t depth_ = 0;
  bool in_string_ = false, escaped_ = false;
  bool may_close_ = false;        // "[" or an object came last, so "]" may follow
  std::size_t string_begin_ = 0;  // in outer_, of the string under way or last ended
  bool after_items_key_ = false;  // the last string of the outermost object is "items"
  bool after_colon_ = false;
  std::string outer_;
  reactor::wiped_string object_;
};

}  // namespace k8s
