#include "formats/plain/text.hpp"
#include "formats/yaml/yaml.hpp"
#include "formats/yaml/yaml_scalar.hpp"
#include "reactor/plain/memory.hpp"
#include "reactor/plain/printable.hpp"

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <yaml.h>

#include <algorithm>
#include <string>
#include <vector>

namespace formats {
namespace {

namespace json = boost::json;

int append(void* to, unsigned char* bytes, std::size_t size) {
  static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(bytes), size);
  return 1;
}

class writer {
public:
  writer(std::string& out, key_order order, bool ascii) : order_(order) {
    if (!yaml_emitter_initialize(&emitter_)) reactor::memory_lost();
    yaml_emitter_set_output(&emitter_, append, &out);
    yaml_emitter_set_unicode(&emitter_, ascii ? 0 : 1);
    yaml_emitter_set_width(&emitter_, -1);
    yaml_emitter_set_indent(&emitter_, 2);
  }
  ~writer() { yaml_emitter_delete(&emitter_); }
  writer(const writer&) = delete;
  writer& operator=(const writer&) = delete;

  void document(const json::value& value) {
    yaml_event_t e;
    emit(e, yaml_stream_start_event_initialize(&e, YAML_UTF8_ENCODING));
    emit(e, yaml_document_start_event_initialize(&e, nullptr, nullptr, nullptr, 1));
    node(value);
    emit(e, yaml_document_end_event_initialize(&e, 1));
    emit(e, yaml_stream_end_event_initialize(&e));
  }

private:
  /// `made`: what libyaml's function that fills the event said; the event is nothing without
  /// memory.
  void emit(yaml_event_t& e, int made) {
    if (!made || !yaml_emitter_emit(&emitter_, &e)) reactor::memory_lost();
  }

  void scalar(std::string_view text, yaml_scalar_style_t style) {
    yaml_event_t e;
    const int made = yaml_scalar_event_initialize(&e, nullptr, nullptr,
                                                  reinterpret_cast<const yaml_char_t*>(text.data()),
                                                  static_cast<int>(text.size()), 1, 1, style);
    emit(e, made);
  }

  void text(std::string_view s) {
    if (!valid_utf8(s)) {
      // Boost.JSON does not check what it is given; YAML has no form for it but this.
      std::string shown(s);
      for (char& c : shown) {
        if (static_cast<unsigned char>(c) >= 0x80) c = '?';
      }
      text(shown);
      return;
    }
    const bool lines = s.find('\n') != std::string_view::npos;
    // libyaml falls back to double quotes by itself where a plain or literal form cannot hold the
    // text.
    scalar(s, lines              ? YAML_LITERAL_SCALAR_STYLE
              : reads_as_text(s) ? YAML_PLAIN_SCALAR_STYLE
                                 : YAML_DOUBLE_QUOTED_SCALAR_STYLE);
  }

  void node(const json::value& value) {
    switch (value.kind()) {
      case json::kind::string: text(value.get_string()); return;
      case json::kind::array: array(value.get_array()); return;
      case json::kind::object: object(value.get_object()); return;
      case json::kind::double_: scalar(number(value.get_double()), YAML_PLAIN_SCALAR_STYLE); return;
      default: scalar(json::serialize(value), YAML_PLAIN_SCALAR_STYLE); return;
    }
  }

  static std::string number(double value) {
    // JSON writes 1E0; "1" would come back as an integer, which Kubernetes takes as the same.
    std::string s = json::serialize(json::value(value));
    std::replace(s.begin(), s.end(), 'E', 'e');
    if (const auto e = s.find("e0"); e != std::string::npos && e + 2 == s.size()) {
      s.resize(e);
      if (s.find('.') == std::string::npos) s += ".0";
    }
    return s;
  }

  void array(const json::array& values) {
    yaml_event_t e;
    emit(e, yaml_sequence_start_event_initialize(
                &e, nullptr, nullptr, 1,
                values.empty() ? YAML_FLOW_SEQUENCE_STYLE : YAML_BLOCK_SEQUENCE_STYLE));
    for (const json::value& v : values) node(v);
    emit(e, yaml_sequence_end_event_initialize(&e));
  }

  void object(const json::object& fields) {
    yaml_event_t e;
    emit(e, yaml_mapping_start_event_initialize(
                &e, nullptr, nullptr, 1,
                fields.empty() ? YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE));
    std::vector<const json::key_value_pair*> ordered;
    ordered.reserve(fields.size());
    for (const auto& field : fields) ordered.push_back(&field);
    if (order_ == key_order::sorted) {
      std::sort(ordered.begin(), ordered.end(),
                [](const auto* a, const auto* b) { return a->key() < b->key(); });
    }
    for (const auto* field : ordered) {
      const std::string_view key = field->key();
      if (!valid_utf8(key)) {
        text(key);
        node(field->value());
        continue;
      }
      scalar(key, reads_as_text(key) ? YAML_PLAIN_SCALAR_STYLE : YAML_DOUBLE_QUOTED_SCALAR_STYLE);
      node(field->value());
    }
    emit(e, yaml_mapping_end_event_initialize(&e));
  }

  yaml_emitter_t emitter_{};
  key_order order_;
};

}  // namespace

std::string write_kubernetes_yaml(const json::value& value, key_order order, yaml_text how) {
  std::string out;
  writer(out, order, false).document(value);
  if (how == yaml_text::as_it_is || reactor::printable_lines(out) == out) return out;
  out.clear();
  writer(out, order, true).document(value);
  return out;
}

}  // namespace formats
