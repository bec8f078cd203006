#include "formats/yaml/places.hpp"

#include "reactor/plain/memory.hpp"

#include <yaml.h>

#include <algorithm>
#include <utility>

namespace formats {
namespace {

using reactor::errc;
using reactor::make_fault;
using reactor::result;

constexpr std::size_t most_levels = 64;

/// Ends the descent inside this file; yaml_places turns it into a result.
struct refusal {
  errc code;
  std::string what;
};

class place_reader {
public:
  explicit place_reader(std::string_view text) : text_(text) {
    if (text.starts_with("\xfe\xff") || text.starts_with("\xff\xfe"))
      throw refusal{errc::malformed, "expected UTF-8"};
    if (!yaml_parser_initialize(&parser_)) reactor::memory_lost();
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    // libyaml counts characters, callers cut bytes. It does not count a byte order mark.
    const std::size_t first = text.starts_with("\xef\xbb\xbf") ? 3 : 0;
    for (std::size_t i = first; i < text.size(); ++i)
      if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) bytes_.push_back(i);
    bytes_.push_back(text.size());
  }
  ~place_reader() {
    yaml_event_delete(&event_);
    yaml_parser_delete(&parser_);
  }
  place_reader(const place_reader&) = delete;
  place_reader& operator=(const place_reader&) = delete;

  yaml_place document() {
    for (next(); event_.type != YAML_DOCUMENT_START_EVENT; next())
      if (event_.type == YAML_STREAM_END_EVENT) return {};
    next();
    return place(1);
  }

private:
  void next() {
    yaml_event_delete(&event_);
    if (yaml_parser_parse(&parser_, &event_)) return;
    if (parser_.error == YAML_MEMORY_ERROR) reactor::memory_lost();
    throw refusal{errc::malformed,
                  std::string(parser_.problem ? parser_.problem : "cannot be read") + " at line " +
                      std::to_string(parser_.problem_mark.line + 1)};
  }

  std::size_t byte_of(const yaml_mark_t& mark) const {
    return bytes_[std::min(mark.index, bytes_.size() - 1)];
  }

  yaml_place begun(yaml_place::kind what, bool flow) const {
    yaml_place p;
    p.what = what;
    p.flow = flow;
    p.begin = byte_of(event_.start_mark);
    p.end = byte_of(event_.end_mark);
    p.column = event_.start_mark.column;
    return p;
  }

  /// A block ends where its last value does: libyaml ends it behind the comments that follow.
  void close(yaml_place& p) const {
    if (p.flow) {
      p.end = byte_of(event_.end_mark);
    } else if (!p.items.empty()) {
      p.end = p.items.back().end;
    }
  }

  yaml_place place(std::size_t level) {
    if (level > most_levels)
      throw refusal{errc::limit, "nested deeper than " + std::to_string(most_levels) + " levels"};
    switch (event_.type) {
      case YAML_ALIAS_EVENT: return begun(yaml_place::kind::alias, true);
      case YAML_SEQUENCE_START_EVENT: {
        yaml_place p = begun(yaml_place::kind::sequence,
                             event_.data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE);
        for (next(); event_.type != YAML_SEQUENCE_END_EVENT; next())
          p.items.push_back(place(level + 1));
        close(p);
        return p;
      }
      case YAML_MAPPING_START_EVENT: {
        yaml_place p = begun(yaml_place::kind::mapping,
                             event_.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE);
        for (next(); event_.type != YAML_MAPPING_END_EVENT; next()) {
          if (event_.type != YAML_SCALAR_EVENT)
            throw refusal{errc::malformed, "expected text as a key at line " +
                                               std::to_string(event_.start_mark.line + 1)};
          p.keys.push_back(scalar());
          next();
          p.items.push_back(place(level + 1));
        }
        close(p);
        return p;
      }
      default: {
        yaml_place p = begun(yaml_place::kind::scalar, true);
        p.text = scalar();
        // The line break behind a block scalar belongs to what follows.
        while (p.end > p.begin && (text_[p.end - 1] == '\n' || text_[p.end - 1] == '\r')) --p.end;
        return p;
      }
    }
  }

  std::string scalar() const {
    const auto& s = event_.data.scalar;
    return std::string(reinterpret_cast<const char*>(s.value), s.length);
  }

  const std::string_view text_;
  std::vector<std::size_t> bytes_;
  yaml_parser_t parser_{};
  yaml_event_t event_{};
};

}  // namespace

const yaml_place* yaml_place::find(std::string_view key) const {
  const auto at = std::find(keys.begin(), keys.end(), key);
  return at == keys.end() ? nullptr : &items[static_cast<std::size_t>(at - keys.begin())];
}

result<yaml_place> yaml_places(std::string_view text, std::string_view source) {
  try {
    return place_reader(text).document();
  } catch (const refusal& r) {
    return make_fault(r.code, std::string(source), r.what);
  }
}

}  // namespace formats
