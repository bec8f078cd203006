#include "k8s/yaml.hpp"

#include "k8s/base64.hpp"
#include "k8s/yaml_scalar.hpp"
#include "reactor/memory.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <yaml.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace k8s {
namespace {

namespace json = boost::json;
using reactor::fault;

/// Unwinds the descent inside this file; parse_yaml_documents turns it into a result.
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
  reader(std::string_view text, const yaml_limits& limits) : limits_(limits) {
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
    if (anchor) anchors_.insert_or_assign(std::string(text_of(anchor)), made);
  }

  anchored alias(const event& e, std::size_t depth) {
    const std::string name(text_of(e.raw.data.alias.anchor));
    const auto found = anchors_.find(name);
    if (found == anchors_.end()) refuse(e, "unknown alias");
    count(found->second.nodes);  // before the copy: this is what stops exponential growth
    check_depth(e, depth + found->second.depth - 1);
    return found->second;
  }

  json::value scalar(const event& e) {
    const auto& s = e.raw.data.scalar;
    const std::string_view text(reinterpret_cast<const char*>(s.value), s.length);
    std::string_view tag = text_of(s.tag);
    if (tag.empty() || tag == "!") {
      if (s.style != YAML_PLAIN_SCALAR_STYLE || tag == "!") return json::value(text);
      auto value = resolve_plain_scalar(text);
      // Values are never quoted: this also reads kubeconfigs.
      if (!value) refuse(e, "a number that has no form in JSON");
      return *std::move(value);
    }
    constexpr std::string_view core = "tag:yaml.org,2002:";
    if (!tag.starts_with(core))
      refuse(e, "the tag '" + std::string(tag.substr(0, 64)) + "' is not supported");
    tag.remove_prefix(core.size());
    if (tag == "str" || tag == "timestamp") return json::value(text);
    if (tag == "binary") {
      auto bytes = decode_base64(text);
      if (!bytes) refuse(e, "!!binary is not base64");
      if (!is_utf8(*bytes))
        refuse(e, "!!binary holds bytes that are no text, which JSON cannot hold");
      return json::value(*bytes);
    }
    auto value = resolve_plain_scalar(text);
    const bool fits =
        value && ((tag == "null" && value->is_null()) || (tag == "bool" && value->is_bool()) ||
                  (tag == "int" && (value->is_int64() || value->is_uint64())) ||
                  (tag == "float" && value->is_number()));
    if (!fits) refuse(e, "the value does not fit its tag !!" + std::string(tag.substr(0, 16)));
    if (tag == "float") return json::value(value->to_number<double>());
    return *std::move(value);
  }

  anchored sequence(const event& start, std::size_t depth) {
    check_tag(start, text_of(start.raw.data.sequence_start.tag), "seq");
    count(1);
    anchored made{json::array(), 1, 1};
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
    anchored made{json::object(), 1, 1};
    json::object& object = made.value.get_object();
    std::vector<json::value> merged;
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
        if (object.contains(key))
          refuse(key_event, "the key '" + key.substr(0, 64) + "' is there twice");
      }
      event value_event;
      next(value_event);
      anchored child = node(value_event, depth + 1);
      made.nodes += child.nodes + 1;
      made.depth = std::max(made.depth, child.depth + 1);
      if (merge) {
        collect_merge(value_event, std::move(child.value), merged);
      } else {
        object.emplace(key, std::move(child.value));
      }
    }
    for (json::value& from : merged) {
      for (auto& [key, value] : from.get_object()) {
        if (!object.contains(key)) object.emplace(key, std::move(value));
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

  /// The merge's sources in the order in which they win.
  void collect_merge(const event& e, json::value value, std::vector<json::value>& into) {
    if (value.is_object()) {
      into.push_back(std::move(value));
      return;
    }
    if (!value.is_array()) refuse(e, "'<<' needs a mapping or a list of mappings");
    for (json::value& one : value.get_array()) {
      if (!one.is_object()) refuse(e, "'<<' needs a mapping or a list of mappings");
      into.push_back(std::move(one));
    }
  }

  static void check_tag(const event& e, std::string_view tag, std::string_view kind) {
    if (tag.empty() || tag == "!" || tag == "tag:yaml.org,2002:" + std::string(kind)) return;
    refuse(e, "the tag '" + std::string(tag.substr(0, 64)) + "' is not supported");
  }

  yaml_parser_t parser_{};
  yaml_limits limits_;
  std::map<std::string, anchored> anchors_;
  std::size_t nodes_ = 0;
};

}  // namespace

reactor::result<std::vector<json::value>> parse_yaml_documents(std::string_view text,
                                                               std::string_view source,
                                                               yaml_limits limits) {
  if (text.size() > limits.bytes) {
    return reactor::make_fault(reactor::errc::limit, source,
                               "larger than " + std::to_string(limits.bytes) + " bytes");
  }
  try {
    return reader(text, limits).documents();
  } catch (const yaml_failure& f) {
    return reactor::make_fault(f.code, source, f.what);
  }
}

reactor::result<json::value> parse_yaml(std::string_view text, std::string_view source,
                                        yaml_limits limits) {
  auto all = parse_yaml_documents(text, source, limits);
  if (!all) return all.error();
  if (all->empty()) {
    return reactor::make_fault(reactor::errc::malformed, source, "holds no document");
  }
  if (all->size() > 1) {
    return reactor::make_fault(reactor::errc::malformed, source, "holds more than one document");
  }
  return std::move(all->front());
}

}  // namespace k8s
