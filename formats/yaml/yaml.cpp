#include "formats/yaml/yaml.hpp"

#include "formats/base64.hpp"
#include "formats/plain/text.hpp"
#include "formats/yaml/yaml_input.hpp"
#include "formats/yaml/yaml_scalar.hpp"
#include "reactor/plain/memory.hpp"
#include "reactor/plain/secret.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <malloc.h>
#include <yaml.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

namespace formats {
namespace {

namespace json = boost::json;
using reactor::fault;

/// Unwinds the descent inside this file; parse_kubernetes_documents turns it into a result. `what`
/// is made of constants and numbers alone: this also reads kubeconfigs, where every key, tag and
/// value may be a password.
struct yaml_failure {
  reactor::errc code;
  std::string what;
};

std::string at(const yaml_mark_t& mark) {
  return "line " + std::to_string(mark.line + 1) + ", column " + std::to_string(mark.column + 1);
}

struct event {
  yaml_event_t raw{};
  event() = default;
  event(const event&) = delete;
  event& operator=(const event&) = delete;
  ~event() { yaml_event_delete(&raw); }
  yaml_event_type_t type() const { return raw.type; }
};

std::string_view text_of(const yaml_char_t* chars) {
  return chars ? std::string_view(reinterpret_cast<const char*>(chars)) : std::string_view();
}

struct anchored {
  json::value value;
  std::size_t nodes = 0;
  std::size_t depth = 0;
};

class reader {
public:
  /// `in` outlives the reader.
  reader(yaml_input& in, const yaml_limits& limits)
      : in_(in), limits_(limits), storage_(limits.storage) {
    const auto text = in.text();
    if (!yaml_parser_initialize(&parser_)) reactor::memory_lost();
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  ~reader() { yaml_parser_delete(&parser_); }
  reader(const reader&) = delete;
  reader& operator=(const reader&) = delete;

  std::vector<json::value> documents() {
    std::vector<json::value> all;
    event start;
    next(start);
    for (std::size_t seen = 0;; ++seen) {
      event e;
      next(e);
      if (e.type() == YAML_STREAM_END_EVENT) return all;
      if (seen == limits_.documents) {
        throw yaml_failure{reactor::errc::limit,
                           "more than " + std::to_string(limits_.documents) + " documents"};
      }
      anchors_.clear();
      event root;
      next(root);
      json::value value = node(root, 1).value;
      event end;
      next(end);
      if (!value.is_null()) all.push_back(std::move(value));
    }
  }

private:
  void next(event& e) {
    if (yaml_parser_parse(&parser_, &e.raw)) return;
    if (parser_.error == YAML_MEMORY_ERROR) reactor::memory_lost();
    if (in_.mend(parser_)) throw yaml_read_again{};
    std::string what = parser_.problem ? parser_.problem : "cannot be read";
    if (parser_.error == YAML_READER_ERROR) {
      what += " at byte " + std::to_string(parser_.problem_offset);
    } else {
      what += " at " + at(parser_.problem_mark);
    }
    throw yaml_failure{reactor::errc::malformed, what};
  }

  [[noreturn]] static void refuse(const event& e, std::string what) {
    throw yaml_failure{reactor::errc::malformed, std::move(what) + " at " + at(e.raw.start_mark)};
  }

  void count(std::size_t nodes) {
    nodes_ += nodes;
    if (nodes_ > limits_.nodes) {
      throw yaml_failure{reactor::errc::limit,
                         "more than " + std::to_string(limits_.nodes) + " values"};
    }
  }

  void check_depth(const event& e, std::size_t depth) {
    if (depth > limits_.depth) {
      throw yaml_failure{reactor::errc::limit, "nested deeper than " +
                                                   std::to_string(limits_.depth) + " levels at " +
                                                   at(e.raw.start_mark)};
    }
  }

  anchored node(const event& e, std::size_t depth) {
    check_depth(e, depth);
    switch (e.type()) {
      case YAML_ALIAS_EVENT: return alias(e, depth);
      case YAML_SCALAR_EVENT: {
        count(1);
        anchored made{scalar(e), 1, 1};
        remember(e.raw.data.scalar.anchor, made);
        return made;
      }
      case YAML_SEQUENCE_START_EVENT: {
        anchored made = sequence(e, depth);
        remember(e.raw.data.sequence_start.anchor, made);
        return made;
      }
      case YAML_MAPPING_START_EVENT: {
        anchored made = mapping(e, depth);
        remember(e.raw.data.mapping_start.anchor, made);
        return made;
      }
      default: refuse(e, "unexpected content");
    }
  }

  void remember(const yaml_char_t* anchor, const anchored& made) {
    if (!anchor) return;
    anchors_.insert_or_assign(std::string(text_of(anchor)),
                              anchored{json::value(made.value, storage_), made.nodes, made.depth});
  }

  anchored alias(const event& e, std::size_t depth) {
    const std::string name(text_of(e.raw.data.alias.anchor));
    const auto found = anchors_.find(name);
    if (found == anchors_.end()) refuse(e, "unknown alias");
    count(found->second.nodes);  // before the copy: this is what stops exponential growth
    check_depth(e, depth + found->second.depth - 1);
    return {json::value(found->second.value, storage_), found->second.nodes, found->second.depth};
  }

  json::value scalar(const event& e) {
    const auto& s = e.raw.data.scalar;
    const std::string_view text =
        in_.written({reinterpret_cast<const char*>(s.value), s.length}, written_);
    std::string_view tag = text_of(s.tag);
    if (tag.empty() || tag == "!") {
      if (s.style != YAML_PLAIN_SCALAR_STYLE || tag == "!" ||
          limits_.scalars == yaml_scalars::own_text)
        return json::value(text, storage_);
      return plain(e, resolve_plain_scalar(text), text);
    }
    constexpr std::string_view core = "tag:yaml.org,2002:";
    if (!tag.starts_with(core)) refuse(e, "a tag that is not supported");
    tag.remove_prefix(core.size());
    if (tag == "str" || tag == "timestamp") return json::value(text, storage_);
    if (tag == "binary") {
      auto bytes = decode_base64(text);
      if (!bytes) refuse(e, "!!binary is not base64");
      if (!valid_utf8(*bytes))
        refuse(e, "!!binary holds bytes that are no text, which JSON cannot hold");
      return json::value(*bytes, storage_);
    }
    using kind = plain_scalar::kind;
    const plain_scalar value = resolve_plain_scalar(text);
    const bool whole = value.is == kind::int64 || value.is == kind::uint64;
    const bool fits = (tag == "null" && value.is == kind::null) ||
                      (tag == "bool" && value.is == kind::boolean) || (tag == "int" && whole) ||
                      (tag == "float" && (whole || value.is == kind::real));
    if (!fits) refuse(e, "a value that does not fit its tag");
    json::value out = plain(e, value, text);
    if (tag == "float") return json::value(out.to_number<double>());
    return out;
  }

  json::value plain(const event& e, const plain_scalar& s, std::string_view text) {
    switch (s.is) {
      case plain_scalar::kind::null: return json::value(nullptr);
      case plain_scalar::kind::boolean: return json::value(s.truth);
      case plain_scalar::kind::int64: return json::value(s.number);
      case plain_scalar::kind::uint64: return json::value(static_cast<std::uint64_t>(s.number));
      case plain_scalar::kind::real:
        if (!std::isfinite(s.real)) refuse(e, "a number that has no form in JSON");
        return json::value(s.real);
      case plain_scalar::kind::timestamp:
      case plain_scalar::kind::text: break;
    }
    return json::value(text, storage_);
  }

  anchored sequence(const event& start, std::size_t depth) {
    check_tag(start, text_of(start.raw.data.sequence_start.tag), "seq");
    count(1);
    anchored made{json::array(storage_), 1, 1};
    for (;;) {
      event e;
      next(e);
      if (e.type() == YAML_SEQUENCE_END_EVENT) return made;
      anchored child = node(e, depth + 1);
      made.nodes += child.nodes;
      made.depth = std::max(made.depth, child.depth + 1);
      made.value.get_array().push_back(std::move(child.value));
    }
  }

  anchored mapping(const event& start, std::size_t depth) {
    check_tag(start, text_of(start.raw.data.mapping_start.tag), "map");
    count(1);
    anchored made{json::object(storage_), 1, 1};
    json::object& object = made.value.get_object();
    json::object merged(storage_);  // which of its keys came from a merge
    for (;;) {
      event key_event;
      next(key_event);
      if (key_event.type() == YAML_MAPPING_END_EVENT) break;
      const bool merge = key_event.type() == YAML_SCALAR_EVENT &&
                         key_event.raw.data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
                         text_of(key_event.raw.data.scalar.value) == "<<";
      std::string key;
      if (!merge) {
        key = key_text(key_event, depth);
        if (object.contains(key) && !merged.contains(key))
          refuse(key_event, "a key that is there twice");
      }
      event value_event;
      next(value_event);
      anchored child = node(value_event, depth + 1);
      made.nodes += child.nodes + 1;
      made.depth = std::max(made.depth, child.depth + 1);
      // As go-yaml does: in the order in which they stand, so that a merge wins over what stands
      // before it.
      if (merge) {
        merge_into(value_event, std::move(child.value), object, merged);
      } else {
        merged.erase(key);
        object.insert_or_assign(key, std::move(child.value));
      }
    }
    return made;
  }

  std::string key_text(const event& e, std::size_t depth) {
    const anchored key = node(e, depth + 1);
    if (key.value.is_string()) return std::string(key.value.get_string());
    if (key.value.is_double()) return std::string(text_of(e.raw.data.scalar.value));
    if (key.value.is_bool() || key.value.is_number()) return json::serialize(key.value);
    refuse(e, "a key must be text");
  }

  /// A mapping, or several of which the first wins.
  void merge_into(const event& e, json::value value, json::object& object, json::object& merged) {
    const auto take = [&](json::object& from) {
      for (auto& [key, one] : from) {
        merged.insert_or_assign(key, nullptr);
        object.insert_or_assign(key, std::move(one));
      }
    };
    if (value.is_object()) return take(value.get_object());
    if (!value.is_array()) refuse(e, "'<<' needs a mapping or a list of mappings");
    json::array& all = value.get_array();
    for (std::size_t i = all.size(); i-- > 0;) {
      if (!all[i].is_object()) refuse(e, "'<<' needs a mapping or a list of mappings");
      take(all[i].get_object());
    }
  }

  static void check_tag(const event& e, std::string_view tag, std::string_view kind) {
    if (tag.empty() || tag == "!" || tag == "tag:yaml.org,2002:" + std::string(kind)) return;
    refuse(e, "a tag that is not supported");
  }

  yaml_parser_t parser_{};
  yaml_input& in_;
  reactor::wiped_string written_;
  yaml_limits limits_;
  json::storage_ptr storage_;
  std::map<std::string, anchored> anchors_;
  std::size_t nodes_ = 0;
};

/// Follows a path through the events of a text's first document.
class locator {
public:
  explicit locator(std::string_view text) {
    if (!yaml_parser_initialize(&parser_)) reactor::memory_lost();
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  ~locator() { yaml_parser_delete(&parser_); }
  locator(const locator&) = delete;
  locator& operator=(const locator&) = delete;

  std::size_t find(std::span<const std::string> path) {
    bool good = true;
    for (yaml_event_type_t wanted : {YAML_STREAM_START_EVENT, YAML_DOCUMENT_START_EVENT}) {
      event e;
      good = good && next(e) && e.type() == wanted;
    }
    event root;
    if (good && next(root)) follow(root, path);
    return line_;
  }

private:
  bool next(event& e) { return yaml_parser_parse(&parser_, &e.raw) != 0; }

  bool skip(const event& first) {
    int depth = opens(first);
    while (depth > 0) {
      event e;
      if (!next(e)) return false;
      depth += opens(e);
    }
    return true;
  }

  static int opens(const event& e) {
    switch (e.type()) {
      case YAML_MAPPING_START_EVENT:
      case YAML_SEQUENCE_START_EVENT: return 1;
      case YAML_MAPPING_END_EVENT:
      case YAML_SEQUENCE_END_EVENT:
      case YAML_STREAM_END_EVENT: return -1;
      default: return 0;
    }
  }

  void follow(const event& e, std::span<const std::string> path) {
    line_ = e.raw.start_mark.line + 1;
    if (path.empty()) return;
    const bool mapping = e.type() == YAML_MAPPING_START_EVENT;
    if (!mapping && e.type() != YAML_SEQUENCE_START_EVENT) return;
    for (std::size_t i = 0;; ++i) {
      event key, value;
      if (!next(key) || opens(key) < 0) return;
      if (!mapping) {
        if (std::to_string(i) == path.front()) return follow(key, path.subspan(1));
        if (!skip(key)) return;
        continue;
      }
      const bool found =
          key.type() == YAML_SCALAR_EVENT && text_of(key.raw.data.scalar.value) == path.front();
      if (found) line_ = key.raw.start_mark.line + 1;
      if (!skip(key) || !next(value)) return;
      if (found) return follow_value(value, path.subspan(1));
      if (!skip(value)) return;
    }
  }

  /// A field's line is its name's, unless the path goes on.
  void follow_value(const event& value, std::span<const std::string> rest) {
    if (!rest.empty()) follow(value, rest);
  }

  yaml_parser_t parser_{};
  std::size_t line_ = 1;
};

}  // namespace

std::size_t yaml_line_of(std::string_view text, std::span<const std::string> path) {
  return locator(text).find(path);
}

reactor::result<std::vector<json::value>> parse_kubernetes_documents(std::string_view text,
                                                                     std::string_view source,
                                                                     yaml_limits limits) {
  if (text.size() > limits.bytes) {
    return reactor::make_fault(reactor::errc::limit, source,
                               "larger than " + std::to_string(limits.bytes) + " bytes");
  }
  try {
    return read_as_go_yaml(text, [&](yaml_input& in) { return reader(in, limits).documents(); });
  } catch (const yaml_failure& f) {
    return reactor::make_fault(f.code, source, f.what);
  }
}

reactor::result<json::value> parse_kubernetes_yaml(std::string_view text, std::string_view source,
                                                   yaml_limits limits) {
  auto all = parse_kubernetes_documents(text, source, limits);
  if (!all) return all.error();
  if (all->empty()) {
    return reactor::make_fault(reactor::errc::malformed, source, "holds no document");
  }
  if (all->size() > 1) {
    return reactor::make_fault(reactor::errc::malformed, source, "holds more than one document");
  }
  return std::move(all->front());
}

}  // namespace formats

// libyaml copies a text that grows, and the text may be a kubeconfig. Its memory is ours: a shared
// library takes these from the program, and linked statically they would collide rather than be
// left out.
extern "C" {
void yaml_free(void* block) {
  if (block != nullptr) reactor::wipe(block, ::malloc_usable_size(block));
  std::free(block);
}
void* yaml_malloc(std::size_t n) {
  return std::malloc(n > 0 ? n : 1);
}
void* yaml_realloc(void* block, std::size_t n) {
  if (block == nullptr) return yaml_malloc(n);
  void* moved = yaml_malloc(n);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, block, std::min(n, ::malloc_usable_size(block)));
  yaml_free(block);
  return moved;
}
}
