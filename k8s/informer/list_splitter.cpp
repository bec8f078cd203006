#include "k8s/informer/list_splitter.hpp"

#include "reactor/plain/memory.hpp"

namespace k8s {

namespace {

// a list's own metadata; a continue token is a few hundred bytes
constexpr std::size_t outer_limit_bytes = 64 * 1024;

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

fault broken(std::string_view why) {
  fault f;
  f.code = errc::malformed;
  f.doing = "read list";
  f.detail = why;
  return f;
}

fault no_room() {
  fault f = broken("there is not enough memory for one of its objects");
  f.code = errc::unavailable;
  return f;
}

}  // namespace

/// Goes to the end of a string that began before `at`; stays in_string_ when the bytes end first.
const char* list_splitter::skip_string(const char* at, const char* end) {
  for (; at != end; ++at) {
    if (escaped_) {
      escaped_ = false;
    } else if (*at == '\\') {
      escaped_ = true;
    } else if (*at == '"') {
      in_string_ = false;
      return at + 1;
    }
  }
  return at;
}

const char* list_splitter::outer_byte(const char* at, const char* end) {
  if (in_string_) {
    const char* after = skip_string(at, end);
    outer_.append(at, after);
    if (!in_string_ && depth_ == 1) {
      after_items_key_ = std::string_view(outer_).substr(string_begin_) == "\"items\"";
      after_colon_ = false;
    }
    return after;
  }
  const char c = *at;
  outer_ += c;
  if (c == '"') {
    in_string_ = true;
    string_begin_ = outer_.size() - 1;
  } else if (c == '{' || c == '[') {
    if (c == '[' && depth_ == 1 && after_items_key_ && after_colon_) {
      place_ = place::before_object;
      may_close_ = true;
    }
    ++depth_;
  } else if (c == '}' || c == ']') {
    if (--depth_ == 0) place_ = place::done;
  } else if (c == ':' && depth_ == 1) {
    after_colon_ = true;
  } else if (c == ',' && depth_ == 1) {
    after_items_key_ = false;
  }
  return at + 1;
}

/// Goes to the end of the object under way, or of the bytes.
const char* list_splitter::object_bytes(const char* at, const char* end) {
  while (at != end) {
    if (in_string_) {
      at = skip_string(at, end);
      continue;
    }
    const char c = *at++;
    if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if ((c == '}' || c == ']') && --depth_ == 2) {
      place_ = place::after_object;
      may_close_ = true;
      return at;
    }
  }
  return at;
}

result<void> list_splitter::feed(std::string_view bytes,
                                 const std::function<bool(std::string_view)>& take) {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  while (at != end) {
    switch (place_) {
      case place::before_value:
        if (is_space(*at)) {
          ++at;
          break;
        }
        if (*at != '{') return broken("the answer is not a JSON object");
        place_ = place::in_outer;
        break;
      case place::in_outer:
        at = outer_byte(at, end);
        if (outer_.size() > outer_limit_bytes)
          return broken("the list has too much beside its objects");
        break;
      case place::before_object:
        if (*at == '{') {
          place_ = place::in_object;
          break;
        }
        if (*at == ']' && may_close_) {
          outer_ += ']';
          --depth_;
          after_items_key_ = false;
          place_ = place::in_outer;
        } else if (!is_space(*at)) {
          return broken("something in the list is not an object");
        }
        ++at;
        break;
      case place::after_object:
        if (*at == ',') {
          may_close_ = false;
          place_ = place::before_object;
        } else if (*at == ']') {
          place_ = place::before_object;
          break;
        } else if (!is_space(*at)) {
          return broken("objects of the list are not separated");
        }
        ++at;
        break;
      case place::in_object: {
        const char* const begin = at;
        at = object_bytes(at, end);
        const auto piece = std::string_view(begin, static_cast<std::size_t>(at - begin));
        if (object_.size() + piece.size() > limit_)
          return broken("an object is larger than the limit");
        if (place_ == place::in_object) {
          if (!reactor::memory_allows([&] { object_.append(piece); })) return no_room();
          break;
        }
        bool go_on = false;
        if (object_.empty()) {
          go_on = take(piece);
        } else {
          if (!reactor::memory_allows([&] { object_.append(piece); })) return no_room();
          go_on = take(object_);
          reactor::wiped_string().swap(object_);
        }
        if (!go_on) return result<void>();
        break;
      }
      case place::done:
        if (!is_space(*at)) return broken("something follows the list");
        ++at;
        break;
    }
  }
  return result<void>();
}

result<void> list_splitter::finish() const {
  if (place_ == place::done) return result<void>();
  return broken(place_ == place::before_value ? "the answer is empty" : "the list is cut off");
}

std::string list_splitter::outer() const {
  return place_ == place::done ? outer_ : outer_ + "]}";
}

}  // namespace k8s
