#include "k8s/client/wire.hpp"

#include "k8s/says_too_much.hpp"
#include "reactor/per_thread.hpp"
#include "reactor/plain/memory.hpp"
#include "reactor/plain/secret.hpp"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

namespace k8s {

namespace dom = simdjson::dom;

// A wire_value carries a dom::element as two words, so that simdjson stays in this file.
struct element_words {
  const void* document;
  std::size_t index;
};
static_assert(sizeof(dom::element) == sizeof(element_words) &&
              std::is_trivially_copyable_v<dom::element>);

struct wire_access {
  static dom::element element(const wire_value& v) noexcept {
    const element_words words{v.document_, v.index_};
    dom::element e;
    std::memcpy(static_cast<void*>(&e), &words, sizeof e);
    return e;
  }
  static wire_value value(dom::element e, wire_reading* reading) noexcept {
    element_words words{};
    std::memcpy(&words, static_cast<const void*>(&e), sizeof words);
    wire_value v;
    v.document_ = words.document;
    v.index_ = words.index;
    v.reading_ = reading;
    return v;
  }
  static wire_value absent(wire_reading* reading) noexcept {
    wire_value v;
    v.reading_ = reading;
    return v;
  }
};

namespace {

constexpr std::size_t keep_bytes = 256 * 1024;  // what an idle parser may keep
constexpr std::size_t first_capacity = 64 * 1024;
constexpr std::size_t depth_limit = 128;

const char* kind_name(wire_kind k) {
  switch (k) {
    case wire_kind::absent: return "absent";
    case wire_kind::null: return "null";
    case wire_kind::object: return "an object";
    case wire_kind::array: return "an array";
    case wire_kind::text: return "text";
    case wire_kind::number: return "a number";
    case wire_kind::boolean: return "a boolean";
  }
  return "";
}

/// What a kept text costs beside its characters: its entry among the shared ones and a pointer to
/// it.
constexpr std::size_t kept_text_bytes = 32;

void refuse_more_steps(wire_reading& reading) {
  if (!reading.problem) reading.problem.emplace(too_many_members);
}

/// False once the readers of this text have walked over more than they may.
bool one_step(wire_reading* reading) {
  if (reading->steps < wire_reading::most_steps) {
    ++reading->steps;
    return true;
  }
  refuse_more_steps(*reading);
  return false;
}

/// The keys of one object, of which nearly all have a few.
class key_list {
public:
  void add(std::string_view key) {
    if (size_ < first_.size())
      first_[size_++] = key;
    else
      more_.push_back(key);
  }
  std::optional<std::string_view> twice() {
    if (more_.empty()) return twice_in({first_.data(), size_});
    more_.insert(more_.end(), first_.begin(), first_.end());
    return twice_in(more_);
  }

private:
  static std::optional<std::string_view> twice_in(std::span<std::string_view> keys) {
    std::sort(keys.begin(), keys.end());
    const auto found = std::adjacent_find(keys.begin(), keys.end());
    if (found == keys.end()) return std::nullopt;
    return *found;
  }
  std::array<std::string_view, 16> first_;
  std::size_t size_ = 0;
  std::vector<std::string_view> more_;
};

void look_for_duplicates(dom::element e, const wire_value& root, wire_reading* reading) {
  if (dom::array a; e.get(a) == simdjson::SUCCESS) {
    for (const dom::element child : a) {
      if (!one_step(reading)) return;
      look_for_duplicates(child, root, reading);
    }
    return;
  }
  dom::object o;
  if (e.get(o) != simdjson::SUCCESS) return;
  key_list keys;
  for (const auto member : o) {
    if (!one_step(reading)) return;
    keys.add(member.key);
    look_for_duplicates(member.value, root, reading);
  }
  if (const auto twice = keys.twice())
    root.refuse("key \"" + std::string(*twice) + "\" is there twice");
}

bool needs_escape(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
}

/// Of valid UTF-8.
void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (;;) {
    const auto odd = std::find_if(text.begin(), text.end(), needs_escape);
    out.append(text.begin(), odd);
    if (odd == text.end()) break;
    switch (*odd) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default: {
        constexpr char digits[] = "0123456789abcdef";
        out += "\\u00";
        out += digits[*odd >> 4];
        out += digits[*odd & 0xf];
      }
    }
    text.remove_prefix(static_cast<std::size_t>(odd - text.begin()) + 1);
  }
  out += '"';
}

void append_json(std::string& out, dom::element e) {
  switch (e.type()) {
    case dom::element_type::OBJECT: {
      char before = '{';
      for (const auto member : dom::object(e)) {
        out += std::exchange(before, ',');
        append_quoted(out, member.key);
        out += ':';
        append_json(out, member.value);
      }
      if (before == '{') out += before;
      out += '}';
      return;
    }
    case dom::element_type::ARRAY: {
      char before = '[';
      for (const dom::element element : dom::array(e)) {
        out += std::exchange(before, ',');
        append_json(out, element);
      }
      if (before == '[') out += before;
      out += ']';
      return;
    }
    case dom::element_type::STRING: append_quoted(out, std::string_view(e)); return;
    default: out += simdjson::minify(e);
  }
}

}  // namespace

wire_kind wire_value::kind() const {
  if (!document_) return wire_kind::absent;
  switch (wire_access::element(*this).type()) {
    case dom::element_type::ARRAY: return wire_kind::array;
    case dom::element_type::OBJECT: return wire_kind::object;
    case dom::element_type::STRING: return wire_kind::text;
    case dom::element_type::BOOL: return wire_kind::boolean;
    case dom::element_type::NULL_VALUE: return wire_kind::null;
    default: return wire_kind::number;
  }
}

void wire_value::refuse(std::string_view why) const {
  if (reading_ && !reading_->problem) reading_->problem.emplace(why);
}

const wire_reading& wire_value::reading() const noexcept {
  static const wire_reading none;
  return reading_ ? *reading_ : none;
}

wire_value wire_value::field(std::string_view key) const {
  wire_value found;
  find_fields({&key, 1}, {&found, 1});
  return found;
}

/// `found` as long as `keys`.
void wire_value::find_fields(std::span<const std::string_view> keys,
                             std::span<wire_value> found) const {
  std::fill(found.begin(), found.end(), wire_access::absent(reading_));
  if (!document_) return;
  const dom::element self = wire_access::element(*this);
  dom::object object;
  if (self.get(object) != simdjson::SUCCESS) {
    if (!self.is_null())
      refuse("expected an object with \"" + std::string(keys.front()) + "\", found " +
             kind_name(kind()));
    return;
  }
  const std::uint32_t allowed = wire_reading::most_steps - reading_->steps;
  std::uint32_t walked = 0;
  for (auto at = object.begin(); at != object.end(); ++at) {
    if (++walked > allowed) {
      --walked;
      refuse_more_steps(*reading_);
      break;
    }
    const std::size_t length = at.key_length();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const std::string_view key = keys[i];
      if (length != key.size() || std::memcmp(at.key_c_str(), key.data(), length) != 0) continue;
      if (found[i].document_) refuse("key \"" + std::string(key) + "\" is there twice");
      found[i] = wire_access::value(at.value(), reading_);
      break;
    }
  }
  reading_->steps += walked;
}

std::string_view wire_value::text() const {
  if (!document_) return {};
  const dom::element self = wire_access::element(*this);
  std::string_view text;
  if (self.get(text) != simdjson::SUCCESS && !self.is_null())
    refuse("expected text, found " + std::string(kind_name(kind())));
  reading_->kept_bytes += text.size() + kept_text_bytes;
  return text;
}

std::int64_t wire_value::integer(std::int64_t fallback) const {
  if (!document_) return fallback;
  const dom::element self = wire_access::element(*this);
  std::int64_t number = 0;
  if (self.get(number) == simdjson::SUCCESS) return number;
  if (!self.is_null()) refuse("expected an integer, found " + std::string(kind_name(kind())));
  return fallback;
}

bool wire_value::boolean(bool fallback) const {
  if (!document_) return fallback;
  const dom::element self = wire_access::element(*this);
  bool value = false;
  if (self.get(value) == simdjson::SUCCESS) return value;
  if (!self.is_null()) refuse("expected a boolean, found " + std::string(kind_name(kind())));
  return fallback;
}

void wire_value::visit_members(void* to, void (*call)(void*, std::string_view, wire_value)) const {
  if (!document_) return;
  const dom::element self = wire_access::element(*this);
  dom::object object;
  if (self.get(object) != simdjson::SUCCESS) {
    if (!self.is_null()) refuse("expected an object, found " + std::string(kind_name(kind())));
    return;
  }
  for (const auto member : object) {
    if (!one_step(reading_)) return;
    reading_->kept_bytes += member.key.size() + kept_text_bytes;
    call(to, member.key, wire_access::value(member.value, reading_));
  }
}

void wire_value::visit_elements(void* to, void (*call)(void*, wire_value)) const {
  if (!document_) return;
  const dom::element self = wire_access::element(*this);
  dom::array array;
  if (self.get(array) != simdjson::SUCCESS) {
    if (!self.is_null()) refuse("expected an array, found " + std::string(kind_name(kind())));
    return;
  }
  for (const dom::element element : array) {
    if (!one_step(reading_)) return;
    call(to, wire_access::value(element, reading_));
  }
}

void wire_value::refuse_duplicates() const {
  if (document_) look_for_duplicates(wire_access::element(*this), *this, reading_);
}

std::string wire_value::json() const {
  std::string text;
  append_json_to(text);
  return text;
}

void wire_value::append_json_to(std::string& out) const {
  const std::size_t before = out.size();
  if (document_)
    append_json(out, wire_access::element(*this));
  else
    out += "null";
  if (reading_) reading_->kept_bytes += out.size() - before + kept_text_bytes;
}

void wire_value::append_key_to(std::string& out, std::string_view key) {
  append_quoted(out, key);
  out += ':';
}

struct wire_parser::impl {
  dom::parser parser;
  std::vector<char> padded;
  dom::element root;
  bool parsed = false;
  wire_reading reading;
  std::size_t longest = 0;  // of the texts that stand in the buffers

  impl() = default;
  impl(const impl&) = delete;
  impl& operator=(const impl&) = delete;
  ~impl() { forget(); }
  void forget() noexcept {
    parsed = false;
    reading.problem.reset();
    reactor::wipe(padded.data(), std::min(longest, padded.size()));
    if (parser.doc.string_buf)
      reactor::wipe(parser.doc.string_buf.get(),
                    std::min(strings_of(longest), strings_of(parser.capacity())));
    longest = 0;
  }
  /// What simdjson has room for to keep the strings of so many bytes (dom::document::allocate).
  static std::size_t strings_of(std::size_t bytes) noexcept { return 5 * bytes / 3; }
};

wire_parser::wire_parser() : impl_(std::make_unique<impl>()) {}
wire_parser::~wire_parser() = default;

/// Of this one text; the next try may find more.
static fault no_room() {
  fault f;
  f.code = errc::unavailable;
  f.doing = "read JSON";
  f.detail = "there is not enough memory for it";
  return f;
}

result<wire_value> wire_parser::parse(std::string_view json) {
  impl& i = *impl_;
  i.reading = wire_reading();
  i.parsed = false;
  const std::size_t needed = json.size() + simdjson::SIMDJSON_PADDING;
  if (i.padded.size() < needed &&
      !reactor::memory_allows([&] { i.padded.resize(std::max(needed, first_capacity)); }))
    return no_room();
  i.longest = std::max(i.longest, json.size());
  if (!json.empty()) std::memcpy(i.padded.data(), json.data(), json.size());
  std::memset(i.padded.data() + json.size(), 0, simdjson::SIMDJSON_PADDING);
  simdjson::error_code error = simdjson::SUCCESS;
  // simdjson copes with what it is refused, but not while it looks, at its first use, for what the
  // processor can do.
  static const std::string chosen = simdjson::get_active_implementation()->name();
  if (i.parser.capacity() < json.size() || i.parser.max_depth() != depth_limit) {
    const reactor::memory_may_be_refused here;
    error = i.parser.allocate(std::max(json.size(), first_capacity), depth_limit);
  }
  if (error == simdjson::SUCCESS) {
    const reactor::memory_may_be_refused here;  // the document grows with what is in it
    error = i.parser.parse(i.padded.data(), json.size(), false).get(i.root);
  }
  i.parsed = error == simdjson::SUCCESS;
  if (i.parsed) return root();
  if (error == simdjson::MEMALLOC) return no_room();
  fault f;
  f.code = errc::malformed;
  f.doing = "read JSON";
  f.detail = simdjson::error_message(error);
  return f;
}

const std::optional<std::string>& wire_parser::problem() const noexcept {
  return impl_->reading.problem;
}

wire_value wire_parser::root() const noexcept {
  return impl_->parsed ? wire_access::value(impl_->root, &impl_->reading)
                       : wire_access::absent(&impl_->reading);
}

void wire_parser::forget() noexcept {
  impl_->forget();
}

void wire_parser::shrink() {
  if (impl_->padded.size() <= keep_bytes) return;
  impl_ = std::make_unique<impl>();
}

std::size_t wire_parser::memory_bytes() const noexcept {
  // simdjson: a word of tape and a structural index per byte at worst, and the strings once more.
  const std::size_t capacity = impl_->parser.capacity();
  return impl_->padded.capacity() + capacity * (sizeof(std::uint64_t) + sizeof(std::uint32_t)) +
         capacity * 5 / 3;
}

wire_parser& shared_parser() {
  return reactor::of_this_thread<wire_parser>();
}

}  // namespace k8s
