#pragma once

#include "k8s/client/fault.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace k8s {

enum class wire_kind { absent, null, object, array, text, number, boolean };

/// What the readers of one text did so far.
struct wire_reading {
  /// Members and elements that readers may walk over in one text: some milliseconds. No object of a
  /// real server has a tenth of it in what views read.
  static constexpr std::uint32_t most_steps = 20'000;

  std::optional<std::string> problem;  // the first reason to refuse the text
  std::uint32_t steps = 0;
  /// Of the texts that were handed out, each with what keeping it costs beside its characters: an
  /// upper bound of what a view that was read can own.
  std::size_t kept_bytes = 0;
};

/// A value of a parsed JSON text, for the functions that turn objects into views. Absent and null
/// read as the default. What is not as the reader expects (another type, a key twice, a number out
/// of range, more members than are ever read) refuses the whole text: the reader goes on with
/// defaults and its caller finds the first reason in wire_parser::problem().
/// Lifetime  until the parser's next text; copy what you keep.
class wire_value {
public:
  wire_value() = default;

  wire_kind kind() const;
  bool present() const { return kind() > wire_kind::null; }

  /// The member of an object. Refuses the object when the key is there twice.
  wire_value field(std::string_view key) const;
  wire_value operator[](std::string_view key) const { return field(key); }
  /// Several members in one walk over the object: auto [name, uid] = o.fields("name", "uid").
  template <class... Keys>
  std::array<wire_value, sizeof...(Keys)> fields(const Keys&... keys) const {
    const std::array<std::string_view, sizeof...(Keys)> wanted{keys...};
    std::array<wire_value, sizeof...(Keys)> found;
    find_fields(wanted, found);
    return found;
  }
  std::string_view text() const;
  std::int64_t integer(std::int64_t fallback = 0) const;
  bool boolean(bool fallback = false) const;
  /// An object whose keys are free text is read by this; f(std::string_view key, wire_value). The
  /// reader looks for duplicates itself (parse_string_map does).
  template <class F>
  void members(F&& f) const {
    visit_members(&f, [](void* to, std::string_view key, wire_value value) {
      (*static_cast<std::remove_reference_t<F>*>(to))(key, value);
    });
  }
  /// f(wire_value) for each element of an array.
  template <class F>
  void elements(F&& f) const {
    visit_elements(&f, [](void* to, wire_value value) {
      (*static_cast<std::remove_reference_t<F>*>(to))(value);
    });
  }
  /// Nothing in it, at any depth, has a key twice; for what is kept as text and judged later.
  void refuse_duplicates() const;
  /// The value as JSON text without spaces.
  std::string json() const;
  void append_json_to(std::string& out) const;
  /// A key as this hands it out, quoted, and the colon behind it.
  static void append_key_to(std::string& out, std::string_view key);
  /// The text is not what it should be; the first reason stays.
  void refuse(std::string_view why) const;
  /// Of the whole text that this is a part of.
  const wire_reading& reading() const noexcept;

private:
  friend class wire_parser;
  friend struct wire_access;
  void find_fields(std::span<const std::string_view> keys, std::span<wire_value> found) const;
  void visit_members(void* to, void (*call)(void*, std::string_view, wire_value)) const;
  void visit_elements(void* to, void (*call)(void*, wire_value)) const;

  const void* document_ = nullptr;  // a simdjson DOM element, in two words; it has a reading
  std::size_t index_ = 0;
  wire_reading* reading_ = nullptr;
};

/// Parses one JSON text at a time, validating all of it, in buffers that it keeps.
class wire_parser {
public:
  wire_parser();
  ~wire_parser();
  wire_parser(const wire_parser&) = delete;
  wire_parser& operator=(const wire_parser&) = delete;

  /// Errors: errc::malformed with simdjson's reason.
  result<wire_value> parse(std::string_view json);
  /// Why the last text was refused by its readers.
  const std::optional<std::string>& problem() const noexcept;
  /// What parse() returned last; for a text that another thread parsed.
  wire_value root() const noexcept;
  /// Overwrites what it keeps of the texts since it was last called; values that were handed out
  /// become void.
  void forget() noexcept;
  /// Gives back what a big text made it grow to.
  void shrink();
  std::size_t memory_bytes() const noexcept;

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

/// The thread's one parser: scratch memory whose content means nothing between two calls, so all
/// informers of the loop share it. Never keep it, or a value of it, across a co_await.
wire_parser& shared_parser();

}  // namespace k8s
