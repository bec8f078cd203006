// Events, nodes and go-yaml's resolution: three steps of one reading that share the node type.
#include "formats/yaml/reader.hpp"

#include "formats/base64.hpp"
#include "formats/go/literal.hpp"
#include "formats/json/json.hpp"
#include "formats/plain/deep_stack.hpp"
#include "formats/plain/text.hpp"
#include "formats/yaml/yaml_input.hpp"
#include "formats/yaml/yaml_scalar.hpp"
#include "reactor/plain/secret.hpp"

#include <yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <map>
#include <new>
#include <span>
#include <vector>

namespace formats {
namespace {

constexpr int read_depth_limit = 10000;

struct read_failure {
  std::string text;
};

enum class form : std::uint8_t { scalar, sequence, mapping, alias };

struct yaml_node {
  form shape = form::scalar;
  bool implicit = false;  // a plain scalar
  std::string tag;
  std::string text;  // scalar, or the alias's name
  std::size_t line = 0;
  // Children as a chain: documents have many small collections.
  yaml_node* first = nullptr;
  yaml_node* last = nullptr;
  yaml_node* next = nullptr;
  yaml_node* target = nullptr;
  bool expanding = false;

  void add(yaml_node* child) {
    (last ? last->next : first) = child;
    last = child;
  }
  std::size_t size() const {
    std::size_t n = 0;
    for (auto* c = first; c; c = c->next) ++n;
    return n;
  }
};

/// f(key, content) for each pair of a mapping.
template <class F>
void each_pair(const yaml_node& mapping, F f) {
  for (auto* key = mapping.first; key && key->next; key = key->next->next) f(*key, *key->next);
}

/// Turns libyaml's events into nodes, as go-yaml does before it decodes anything.
class builder {
public:
  /// `in` outlives the builder.
  explicit builder(yaml_input& in) : in_(&in) {
    const auto text = in.text();
    if (!yaml_parser_initialize(&parser_)) throw std::bad_alloc();
    static const unsigned char newline[] = "\n";
    auto* bytes = text.empty() ? newline : reinterpret_cast<const unsigned char*>(text.data());
    yaml_parser_set_input_string(&parser_, bytes, text.empty() ? 1 : text.size());
  }
  /// `from` outlives the builder.
  explicit builder(const text_source& from) {
    if (!yaml_parser_initialize(&parser_)) throw std::bad_alloc();
    // libyaml hands the pointer back and changes nothing.
    yaml_parser_set_input(&parser_, &next_bytes, const_cast<text_source*>(&from));
  }
  builder(const builder&) = delete;
  builder& operator=(const builder&) = delete;
  ~builder() {
    if (have_) yaml_event_delete(&event_);
    yaml_parser_delete(&parser_);
  }

  /// The root of the first document; nullptr for an empty stream.
  yaml_node* document() {
    next();
    drop();
    next();
    if (event_.type == YAML_STREAM_END_EVENT) return nullptr;
    drop();
    auto* root = node(0, slot{});
    if (!ended_) next();
    return root;
  }

  /// The root of the first document with what `path` leads to, through maps, and the scalars beside
  /// each step; whatever else is there is read and not kept.
  yaml_node* along(std::span<const std::string_view> path) {
    next();
    drop();
    next();
    if (event_.type == YAML_STREAM_END_EVENT) return nullptr;
    drop();
    auto* root = step(path);
    next();
    return root;
  }

  /// No anchors, aliases, tags and merges: what those say can reach across the document.
  bool plain() const { return plain_; }

private:
  static int next_bytes(void* from, unsigned char* into, std::size_t room, std::size_t* got) {
    *got = (*static_cast<const text_source*>(from))(reinterpret_cast<char*>(into), room);
    return 1;
  }
  void next() {
    if (have_) return;
    if (!yaml_parser_parse(&parser_, &event_)) {
      if (parser_.error == YAML_MEMORY_ERROR) throw std::bad_alloc();
      fail();
    }
    have_ = true;
  }
  void drop() {
    yaml_event_delete(&event_);
    have_ = false;
  }
  [[noreturn]] void fail() {
    if (in_ && in_->mend(parser_)) throw yaml_read_again{};
    std::size_t line = 0;
    if (parser_.problem_mark.line != 0) {
      line = parser_.problem_mark.line;
      if (parser_.error == YAML_SCANNER_ERROR) ++line;
    } else if (parser_.context_mark.line != 0) {
      line = parser_.context_mark.line;
    }
    std::string text = "yaml: ";
    if (line != 0) text += "line " + std::to_string(line) + ": ";
    text += parser_.problem ? parser_.problem : "unknown problem parsing YAML content";
    throw read_failure{text};
  }
  static std::string string_of(const unsigned char* s) {
    return s ? reinterpret_cast<const char*>(s) : "";
  }

  yaml_node* make(form shape, const unsigned char* anchor, const unsigned char* tag) {
    held_.add(sizeof(yaml_node) + (anchor ? 64 : 0));
    auto& n = nodes_.emplace_back();
    n.shape = shape;
    if (tag) n.tag = string_of(tag);
    n.line = event_.start_mark.line + 1;
    if (anchor) anchors_[string_of(anchor)] = &n;
    if (anchor || tag || shape == form::alias) plain_ = false;
    return &n;
  }

  yaml_node* step(std::span<const std::string_view> path) {
    next();
    if (path.empty() || event_.type != YAML_MAPPING_START_EVENT)
      return node(0, slot{inside::block_mapping});
    auto* out =
        make(form::mapping, event_.data.mapping_start.anchor, event_.data.mapping_start.tag);
    drop();
    for (next(); event_.type != YAML_MAPPING_END_EVENT; next()) {
      auto* key = node(0, slot{inside::block_mapping});
      next();
      const bool on = key->shape == form::scalar && key->text == path.front();
      if (!on && event_.type != YAML_SCALAR_EVENT) {
        skip();
        continue;
      }
      out->add(key);
      out->add(on ? step(path.subspan(1)) : node(0, slot{inside::block_mapping}));
    }
    drop();
    return out;
  }
  /// Passes over one node.
  void skip() {
    std::size_t open = 0;
    do {
      next();
      count_steps(1);
      switch (event_.type) {
        case YAML_SEQUENCE_START_EVENT:
        case YAML_MAPPING_START_EVENT: ++open; break;
        case YAML_SEQUENCE_END_EVENT:
        case YAML_MAPPING_END_EVENT: --open; break;
        case YAML_SCALAR_EVENT:
        case YAML_ALIAS_EVENT: break;
        default: throw read_failure{"yaml: attempted to parse unknown event"};
      }
      drop();
    } while (open > 0);
  }

  enum class inside : std::uint8_t {
    document,
    block_mapping,
    block_sequence,
    flow_mapping,
    flow_sequence
  };
  /// Where a node stands.
  struct slot {
    inside in = inside::document;
    bool value = false;      // of an entry of a mapping
    std::size_t column = 0;  // of the block collection
    bool flow() const { return in == inside::flow_mapping || in == inside::flow_sequence; }
  };
  /// A bracket that is open. go-yaml keeps its token, and all behind it, while it may still be an
  /// implicit key.
  struct open_flow {
    yaml_mark_t start;
    bool may_be_key;
    bool has_keys = false;  // something directly in it might have been an implicit key
  };

  [[noreturn]] static void refuse(std::size_t line, const std::string& why) {
    throw read_failure{"yaml: " + (line ? "line " + std::to_string(line) + ": " : "") + why};
  }
  static std::string expected_end(inside in) {
    return std::string("did not find expected ',' or '") +
           (in == inside::flow_mapping ? "}'" : "]'");
  }

  /// The text before and from a mark on; marks count characters and only grow.
  std::pair<std::string_view, std::string_view> around(const yaml_mark_t& mark) {
    const std::string_view all = in_->text();
    if (byte_ == 0 && all.starts_with("\xef\xbb\xbf")) byte_ = 3;
    for (; character_ < mark.index && byte_ < all.size(); ++character_)
      while (++byte_ < all.size() && (static_cast<unsigned char>(all[byte_]) & 0xc0) == 0x80) {
      }
    return {all.substr(0, byte_), all.substr(byte_)};
  }
  /// Whether go-yaml's scanner takes what begins here for a possible implicit key.
  bool may_begin_key(const yaml_mark_t& mark, const slot& at) {
    if (!in_ || (at.flow() && at.value)) return false;
    auto before = around(mark).first;
    if (!at.flow()) {
      // At the beginning of a line, or behind indicators alone.
      before.remove_prefix(before.find_last_of("\r\n") + 1);
      for (std::size_t i = 0; i < before.size(); ++i)
        if (const char c = before[i]; c != ' ' && c != '\t') {
          const bool indicator = c == '-' || c == '?' || c == ':';
          if (!indicator ||
              (i + 1 < before.size() && before[i + 1] != ' ' && before[i + 1] != '\t'))
            return false;
        }
      return true;
    }
    before = before.substr(0, before.find_last_not_of(" \t\r\n") + 1);
    if (!before.ends_with('?')) return true;
    before.remove_suffix(1);
    return !before.empty() && std::string_view(" \t\r\n[{,").find(before.back()) == before.npos;
  }
  /// Notes in the bracket around it that the node which begins might have been an implicit key.
  void note_key(const slot& at) {
    if (!at.flow() || at.value || open_.empty() || open_.back().has_keys) return;
    const bool empty = event_.type == YAML_SCALAR_EVENT && event_.data.scalar.length == 0 &&
                       event_.data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
                       event_.start_mark.index == event_.end_mark.index;
    if (!empty && may_begin_key(event_.start_mark, at)) open_.back().has_keys = true;
  }
  /// A bracket without an anchor or a tag, which would be the key in its place.
  bool begins_bare_bracket() const {
    const auto& s = event_.data.sequence_start;
    const auto& m = event_.data.mapping_start;
    return (event_.type == YAML_SEQUENCE_START_EVENT && s.style == YAML_FLOW_SEQUENCE_STYLE &&
            !s.anchor && !s.tag) ||
           (event_.type == YAML_MAPPING_START_EVENT && m.style == YAML_FLOW_MAPPING_STYLE &&
            !m.anchor && !m.tag);
  }
  /// Whether go-yaml does not find the key that the bracket which was closed last is. It forgets
  /// that a bracket may be an implicit key where nothing in it might have been one ("[]: v",
  /// "{? a}: v"), and has handed the bracket on when the colon comes, unless it still keeps a token
  /// before it for the same reason.
  bool loses_key() {
    const auto& end = closed_end_;
    const auto reaches_end = [&](const open_flow& f) {
      return f.may_be_key && f.start.line == end.line && end.index <= f.start.index + 1024;
    };
    if (closed_.has_keys || !reaches_end(closed_)) return false;
    const auto behind = around(end).second;
    const auto next = behind.find_first_not_of(" \t");
    if (next == behind.npos || behind[next] != ':') return false;
    return std::none_of(open_.begin(), open_.end(), reaches_end);
  }

  /// For go-yaml a question mark ends a plain scalar between brackets, where libyaml reads on.
  void refuse_mark(const slot& at) const {
    if (at.flow()) refuse(event_.end_mark.line, expected_end(at.in));
  }

  yaml_node* node(int depth, const slot& at) {
    yaml_node* out = nullptr;
    with_room([&] { out = node_here(depth, at); });
    return out;
  }
  void open(const slot& at) {
    open_.push_back({event_.start_mark, may_begin_key(event_.start_mark, at)});
  }
  void close() {
    closed_ = open_.back();
    closed_end_ = event_.end_mark;
    open_.pop_back();
  }
  yaml_node* node_here(int depth, const slot& at) {
    next();
    if (depth > read_depth_limit) {
      const auto line = event_.start_mark.line;
      refuse(line ? line + 1 : 0, "exceeded max depth of 10000");
    }
    switch (event_.type) {
      case YAML_SCALAR_EVENT: {
        auto& s = event_.data.scalar;
        const std::string_view text(reinterpret_cast<const char*>(s.value), s.length);
        if (s.style == YAML_PLAIN_SCALAR_STYLE && text.find('?', 1) != text.npos) refuse_mark(at);
        note_key(at);
        auto* n = make(form::scalar, s.anchor, s.tag);
        held_.add(s.length > 15 ? s.length + 17 : 0);
        n->text = in_ ? in_->written(text, written_) : text;
        n->implicit = s.plain_implicit != 0;
        if (n->text == "<<") plain_ = false;
        drop();
        return n;
      }
      case YAML_ALIAS_EVENT: {
        note_key(at);
        auto name = string_of(event_.data.alias.anchor);
        auto found = anchors_.find(name);
        if (found == anchors_.end())
          throw read_failure{"yaml: unknown anchor '" + name + "' referenced"};
        auto* n = make(form::alias, nullptr, nullptr);
        n->text = name;
        n->target = found->second;
        drop();
        return n;
      }
      case YAML_SEQUENCE_START_EVENT: {
        auto* n =
            make(form::sequence, event_.data.sequence_start.anchor, event_.data.sequence_start.tag);
        const bool is_flow = event_.data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
        const std::size_t column = event_.start_mark.column;
        note_key(at);
        if (is_flow) open(at);
        drop();
        // A list at its key's own column ends where no dash comes, and the mapping goes on.
        const bool indentless = at.in == inside::block_mapping && at.column == column;
        const slot in{is_flow      ? inside::flow_sequence
                      : indentless ? inside::block_mapping
                                   : inside::block_sequence,
                      false, column};
        for (next(); event_.type != YAML_SEQUENCE_END_EVENT; next()) n->add(node(depth + 1, in));
        if (is_flow) close();
        drop();
        return n;
      }
      case YAML_MAPPING_START_EVENT: {
        auto* n =
            make(form::mapping, event_.data.mapping_start.anchor, event_.data.mapping_start.tag);
        const bool is_flow = event_.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
        const yaml_mark_t start = event_.start_mark;
        // "[a: b]" and "[? a]" hold a mapping that nothing opens: the list's bracket ends it.
        const bool pair = is_flow && (start.index == event_.end_mark.index ||
                                      (in_ && around(start).second.starts_with('?')));
        if (is_flow && !pair) {
          note_key(at);
          open(at);
        }
        drop();
        slot in{!is_flow ? inside::block_mapping
                : pair   ? inside::flow_sequence
                         : inside::flow_mapping,
                false, start.column};
        for (next(); event_.type != YAML_MAPPING_END_EVENT; next(), in.value = !in.value) {
          const bool bracket = !in.value && begins_bare_bracket();
          const yaml_mark_t key = event_.start_mark;
          auto* child = node(depth + 1, in);
          n->add(child);
          if (!bracket || !loses_key()) continue;
          if (is_flow) refuse(key.line, expected_end(in.in));
          const bool first = key.index == start.index;
          ended_ = first && at.in == inside::document;
          if (ended_) return child;
          refuse(key.line, first && at.in == inside::block_sequence
                               ? "did not find expected '-' indicator"
                               : "did not find expected key");
        }
        if (is_flow && !pair) close();
        drop();
        return n;
      }
      default: throw read_failure{"yaml: attempted to parse unknown event"};
    }
  }

  yaml_parser_t parser_{};
  yaml_event_t event_{};
  bool have_ = false;
  yaml_input* in_ = nullptr;
  reactor::wiped_string written_;
  std::map<std::string, yaml_node*> anchors_;
  held_bytes held_;
  std::deque<yaml_node> nodes_;
  bool plain_ = true;
  std::size_t character_ = 0, byte_ = 0;  // where around() is
  std::vector<open_flow> open_;
  open_flow closed_{};  // the bracket that was closed last, and where
  yaml_mark_t closed_end_{};
  bool ended_ = false;  // go-yaml takes the rest for another document
};

struct resolved {
  const char* tag;  // the short tag
  value content;
};

resolved content_of(const plain_scalar& s, const std::string& in) {
  using kind = plain_scalar::kind;
  switch (s.is) {
    case kind::null: return {"!!null", value()};
    case kind::boolean: return {"!!bool", s.truth};
    case kind::int64: return {"!!int", value::integer(s.number, type::int64)};
    case kind::uint64: return {"!!int", value::integer(s.number, type::uint64)};
    case kind::real: return {"!!float", s.real};
    case kind::timestamp: return {"!!timestamp", value(in)};
    case kind::text: break;
  }
  return {"!!str", value(in)};
}

/// go-yaml's resolve: what a scalar of this text and tag is.
resolved resolve(const std::string& tag, const std::string& in) {
  if (tag == "!!str" || tag == "!!binary") return {"!!str", value(in)};
  const bool dates = tag.empty() || tag == "!!timestamp";
  resolved out = content_of(
      resolve_plain_scalar(in, dates ? yaml_dates::told_apart : yaml_dates::just_text), in);
  if (std::string_view(out.tag) == "!!timestamp") return out;
  if (tag.empty() || tag == out.tag) return out;
  if (tag == "!!float" && std::string_view(out.tag) == "!!int") {
    auto n = out.content;
    double d = n.kind() == type::uint64
                   ? static_cast<double>(static_cast<std::uint64_t>(n.integer()))
                   : static_cast<double>(n.integer());
    return {"!!float", d};
  }
  throw read_failure{"yaml: cannot decode " + std::string(out.tag) + " `" + in + "` as a " + tag};
}

std::string short_tag(const std::string& tag) {
  constexpr std::string_view prefix = "tag:yaml.org,2002:";
  return tag.starts_with(prefix) ? "!!" + tag.substr(prefix.size()) : tag;
}

bool resolvable(const std::string& tag) {
  for (auto t : {"", "!!str", "!!bool", "!!int", "!!float", "!!null", "!!timestamp"})
    if (tag == t) return true;
  return false;
}

class decoder {
public:
  decoder(yaml_numbers numbers, yaml_keys keys) : numbers_(numbers), keys_(keys) {}

  value decode(yaml_node& n) {
    value out;
    with_room([&] { out = decode_here(n); });
    return out;
  }

  /// decode() of a mapping that keeps only the members named in `wanted`; everything else is
  /// checked. For plain documents.
  value outline(yaml_node& n, std::span<const std::string_view> wanted) {
    if (n.shape != form::mapping) return decode(n);
    count();
    value::map_type out;
    each_pair(n, [&](yaml_node& key, yaml_node& content) {
      auto name = key_text(key, content, &n);
      if (std::any_of(wanted.begin(), wanted.end(),
                      [&](std::string_view w) { return equal_fold(w, name); }))
        out.insert_or_assign(std::move(name), decode(content));
      else
        check(content);
    });
    return out;
  }

private:
  /// What decode() finds wrong with a node.
  void check(yaml_node& n) {
    count();
    if (n.shape == form::scalar) {
      if (n.implicit && !n.text.empty() &&
          std::string_view(".+-").find(n.text[0]) != std::string_view::npos)
        scalar(n);
      return;
    }
    with_room([&] {
      for (auto* child = n.first; child; child = child->next) {
        if (n.shape == form::mapping) {
          key_text(*child, *child->next, &n);
          child = child->next;
        }
        check(*child);
      }
    });
  }

  /// One map or list around what is decoded while it lives.
  class level {
  public:
    level(decoder& d, char opening) : d_(d) {
      if (++d.depth_ > json_depth_limit && d.too_deep_ == 0) d.too_deep_ = opening;
    }
    level(const level&) = delete;
    level& operator=(const level&) = delete;
    ~level() { --d_.depth_; }

  private:
    decoder& d_;
  };

  void count() {
    ++decoded_;
    if (alias_depth_ > 0) ++aliased_;
    auto allowed = [&] {
      constexpr double low = 400000, high = 4000000;
      auto n = static_cast<double>(decoded_);
      return n <= low ? 0.99 : n >= high ? 0.10 : 0.99 - 0.89 * ((n - low) / (high - low));
    };
    if (aliased_ > 100 && decoded_ > 1000 &&
        static_cast<double>(aliased_) / static_cast<double>(decoded_) > allowed())
      throw read_failure{"yaml: document contains excessive aliasing"};
  }

  value decode_here(yaml_node& n) {
    count();
    switch (n.shape) {
      case form::alias: {
        if (n.expanding) throw read_failure{"yaml: anchor '" + n.text + "' value contains itself"};
        n.expanding = true;
        ++alias_depth_;
        auto v = decode(*n.target);
        --alias_depth_;
        n.expanding = false;
        return v;
      }
      case form::scalar: return scalar(n);
      case form::sequence: {
        const level here(*this, '[');
        value::list_type out;
        out.reserve(n.size());
        for (auto* child = n.first; child; child = child->next) out.push_back(decode(*child));
        return out;
      }
      case form::mapping: {
        const level here(*this, '{');
        value::map_type out;
        fill(n, out);
        return out;
      }
    }
    return {};
  }

  /// As nearly all keys are: scalar_type() would say "!!str" and copy it.
  static bool is_text(const yaml_node& n) {
    return n.tag.empty() &&
           (!n.implicit || resolve_plain_scalar(n.text).is == plain_scalar::kind::text);
  }

  resolved scalar_type(const yaml_node& n) {
    auto tag = short_tag(n.tag);
    if (tag.empty() && !n.implicit) return {"!!str", value(n.text)};
    if (tag == "!!binary") {
      auto bytes = base64_decode(n.text);
      if (!bytes) throw read_failure{"yaml: !!binary value contains invalid base64 data"};
      return {"!!binary", value(*bytes)};
    }
    if (!resolvable(tag)) return {"!!str", value(n.text)};
    return resolve(tag, n.text);
  }

  value scalar(const yaml_node& n) {
    auto v = scalar_type(n).content;
    if (v.kind() == type::float64 && (std::isnan(v.real()) || std::isinf(v.real())) &&
        late_.empty())
      late_ = "json: unsupported value: " + format_float(v.real());
    if (v.is_string() && !valid_utf8(v.text())) v = value(to_valid_utf8(v.text()));
    if (numbers_ == yaml_numbers::typed || !v.is_integer()) return v;
    return v.kind() == type::uint64 ? static_cast<double>(static_cast<std::uint64_t>(v.integer()))
                                    : static_cast<double>(v.integer());
  }

  static bool is_merge(const yaml_node& n) {
    return n.shape == form::scalar && n.text == "<<" &&
           (n.implicit || short_tag(n.tag) == "!!merge");
  }

  void fill(yaml_node& n, value::map_type& out) {
    each_pair(n, [&](yaml_node& key, yaml_node& content) {
      if (is_merge(key)) {
        merge(content, out);
        return;
      }
      auto name = key_text(key, content, &n);
      auto v = decode(content);
      const auto [at, added] = out.insert_or_assign(std::move(name), std::move(v));
      if (!added && keys_ == yaml_keys::unique && repeated_.size() < repeated_limit_bytes)
        repeated_ += "\n  line " + std::to_string(content.line) + ": key " + quote(at->first) +
                     " already set in map";
    });
  }

  [[noreturn]] static void want_map() {
    throw read_failure{"yaml: map merge requires map or sequence of maps as the value"};
  }

  void merge(yaml_node& n, value::map_type& out) {
    auto target = [](yaml_node& m) -> yaml_node& { return m.shape == form::alias ? *m.target : m; };
    if (n.shape == form::mapping || n.shape == form::alias) {
      auto& m = target(n);
      if (m.shape != form::mapping) want_map();
      count();
      if (n.expanding) throw read_failure{"yaml: anchor '" + n.text + "' value contains itself"};
      n.expanding = true;
      if (n.shape == form::alias) ++alias_depth_;
      with_room([&] { fill(m, out); });
      if (n.shape == form::alias) --alias_depth_;
      n.expanding = false;
    } else if (n.shape == form::sequence) {
      std::vector<yaml_node*> maps;
      for (auto* child = n.first; child; child = child->next) maps.push_back(child);
      for (auto child = maps.rbegin(); child != maps.rend(); ++child) {
        if (target(**child).shape != form::mapping) want_map();
        merge(**child, out);
      }
    } else {
      want_map();
    }
  }

  /// A key becomes text; what cannot is an error that shows it in Go syntax, or shows its value
  /// once all is decoded.
  std::string key_text(yaml_node& key, yaml_node& content, const yaml_node* map) {
    auto* k = &key;
    for (int hops = 0; k->shape == form::alias; ++hops) {
      if (hops > 1000) throw read_failure{"yaml: anchor '" + k->text + "' value contains itself"};
      k = k->target;
    }
    count();
    if (k->shape != form::scalar) {
      static_cast<void>(decode(key));  // it may be wrong itself, or hold itself
      throw read_failure{"yaml: invalid map key: " + go_syntax(*k)};
    }
    if (is_text(*k)) return valid_utf8(k->text) ? k->text : to_valid_utf8(k->text);
    auto r = scalar_type(*k);
    const auto& v = r.content;
    switch (v.kind()) {
      case type::string: return valid_utf8(v.text()) ? v.text() : to_valid_utf8(v.text());
      case type::int64: return std::to_string(v.integer());
      case type::boolean: return v.boolean() ? "true" : "false";
      case type::float64: {
        auto s = format_float(v.real(), 'g', 32);
        return s == "+Inf" ? ".inf" : s == "-Inf" ? "-.inf" : s == "NaN" ? ".nan" : s;
      }
      default: break;
    }
    // Of several such keys in one map the last is the one that stays.
    if (!odd_map_ || odd_map_ == map) {
      odd_map_ = map;
      odd_key_ = v;
      odd_content_ = &content;
    }
    return {};
  }

  /// %#v of what go-yaml makes of a node.
  /// Requires a node that was decoded: then it does not hold itself.
  /// Errors   read_failure when it would be longer than anybody reads.
  std::string go_syntax(const yaml_node& n, bool top = false) {
    std::string out;
    with_room([&] { out = go_syntax_here(n, top); });
    shown_ += out.size();
    if (shown_ > shown_limit_bytes) throw read_failure{"yaml: invalid map key"};
    return out;
  }
  std::string go_syntax_here(const yaml_node& n, bool top) {
    switch (n.shape) {
      case form::alias: return go_syntax(*n.target, top);
      case form::sequence: {
        std::string out = "[]interface {}{";
        for (auto* child = n.first; child; child = child->next)
          out += (child != n.first ? ", " : "") + go_syntax(*child);
        return out + "}";
      }
      case form::mapping: {
        std::map<std::pair<bool, std::string>, std::string> sorted;  // nil comes first
        each_pair(n, [&](yaml_node& key, yaml_node& content) {
          auto name = go_syntax(key);
          const bool named = name != "interface {}(nil)";
          sorted[{named, std::move(name)}] = go_syntax(content);
        });
        std::string out = "map[interface {}]interface {}{";
        bool first = true;
        for (auto& [k, v] : sorted) {
          out += (first ? "" : ", ") + k.second + ":" + v;
          first = false;
        }
        return out + "}";
      }
      case form::scalar: break;
    }
    auto v = scalar_type(n).content;
    if (v.is_nil()) return top ? "<nil>" : "interface {}(nil)";
    if (v.is_string()) return quote(v.text());
    if (v.kind() == type::boolean) return v.boolean() ? "true" : "false";
    if (v.kind() == type::float64) return format_float(v.real());
    return v.kind() == type::uint64 ? unsigned_syntax(v) : std::to_string(v.integer());
  }
  static std::string unsigned_syntax(const value& v) {
    char digits[16];
    const auto end =
        std::to_chars(digits, digits + sizeof digits, static_cast<std::uint64_t>(v.integer()), 16);
    return "0x" + std::string(digits, end.ptr);
  }

public:
  /// Found only when the decoded document is turned into JSON, after everything decoded: keys
  /// first, then numbers.
  std::string late() {
    if (!odd_map_) return late_;
    return "unsupported map key of type: " +
           std::string(odd_key_.is_nil() ? "%!s(<nil>)" : "uint64") +
           ", key: " + (odd_key_.is_nil() ? "<nil>" : unsigned_syntax(odd_key_)) +
           ", value: " + go_syntax(*odd_content_, true);
  }
  /// The opening of the first map or list that lies deeper than JSON may be read; 0 when there is
  /// none.
  char too_deep() const { return too_deep_; }
  /// A line for each key that a mapping holds twice.
  const std::string& repeated() const { return repeated_; }

private:
  static constexpr std::size_t repeated_limit_bytes = 64u << 10;
  static constexpr std::uint64_t shown_limit_bytes = 4u << 20;
  yaml_numbers numbers_;
  yaml_keys keys_;
  std::string repeated_;
  std::uint64_t decoded_ = 0;
  std::uint64_t aliased_ = 0;
  int alias_depth_ = 0;
  std::string late_;
  const yaml_node* odd_map_ = nullptr;  // that has a key JSON has no text for
  value odd_key_;
  const yaml_node* odd_content_ = nullptr;
  std::uint64_t shown_ = 0;
  static constexpr int json_depth_limit = 10000;
  int depth_ = 0;
  char too_deep_ = 0;
};

}  // namespace

outcome<value> read_go_yaml_outline(std::string_view text,
                                    std::span<const std::string_view> wanted) {
  return read_as_go_yaml(text, [&](yaml_input& in) -> outcome<value> {
    try {
      builder b(in);
      auto* root = b.document();
      if (!root) return value();
      decoder d(yaml_numbers::typed, yaml_keys::last_wins);
      auto v = b.plain() ? d.outline(*root, wanted) : d.decode(*root);
      if (const auto late = d.late(); !late.empty()) return problem{late};
      return v;
    } catch (const read_failure& f) {
      return problem{f.text};
    }
  });
}

namespace {

template <class Text>
outcome<value> read_along(Text& text, std::span<const std::string_view> path) {
  try {
    builder b(text);
    auto* root = b.along(path);
    if (!root) return value();
    decoder d(yaml_numbers::typed, yaml_keys::unique);
    auto v = d.decode(*root);
    if (!d.repeated().empty()) return problem{"yaml: unmarshal errors:" + d.repeated()};
    if (const auto late = d.late(); !late.empty()) return problem{late};
    return v;
  } catch (const read_failure& f) {
    return problem{f.text};
  }
}

}  // namespace

outcome<value> read_go_yaml_along(std::string_view text, std::span<const std::string_view> path) {
  return read_as_go_yaml(text, [&](yaml_input& in) { return read_along(in, path); });
}

outcome<value> read_go_yaml_along(const text_source& from, std::span<const std::string_view> path) {
  return read_along(from, path);
}

namespace {

outcome<value> decode_text(std::string_view text, yaml_numbers numbers, yaml_keys keys,
                           char& too_deep) {
  return read_as_go_yaml(text, [&](yaml_input& in) -> outcome<value> {
    try {
      builder b(in);
      auto* root = b.document();
      if (!root) return value();
      decoder d(numbers, keys);
      auto v = d.decode(*root);
      if (!d.repeated().empty()) return problem{"yaml: unmarshal errors:" + d.repeated()};
      if (const auto late = d.late(); !late.empty()) return problem{late};
      too_deep = d.too_deep();
      return v;
    } catch (const read_failure& f) {
      return problem{f.text};
    }
  });
}

/// What Helm's decoder gives: YAML turned into JSON, and JSON into a value.
outcome<value> by_way_of_json(std::string_view text, yaml_numbers numbers) {
  char too_deep = 0;
  auto v = decode_text(text, numbers, yaml_keys::last_wins, too_deep);
  if (!v) return problem{"error converting YAML to JSON: " + v.error().text};
  if (too_deep)
    return problem{"error unmarshaling JSON: while decoding JSON: invalid character '" +
                   std::string(1, too_deep) + "' exceeded max depth"};
  return v;
}

}  // namespace

outcome<value> read_go_yaml(std::string_view text, yaml_numbers numbers, yaml_keys keys) {
  char too_deep = 0;
  return decode_text(text, numbers, keys, too_deep);
}

std::string_view json_kind(const value& v) {
  if (v.is_map()) return "object";
  if (v.is_list()) return "array";
  switch (v.kind()) {
    case type::string: return "string";
    case type::boolean: return "bool";
    default: return "number";
  }
}

outcome<value> read_go_yaml_map(std::string_view text, yaml_numbers numbers) {
  auto v = by_way_of_json(text, numbers);
  if (!v) return v.error();
  if (v->is_nil()) return value(value::map_type{});
  if (!v->is_map())
    return problem{"error unmarshaling JSON: while decoding JSON: json: cannot unmarshal " +
                   std::string(json_kind(*v)) + " into Go value of type map[string]interface {}"};
  return v;
}

outcome<value> read_go_yaml_list(std::string_view text) {
  auto v = by_way_of_json(text, yaml_numbers::floats);
  if (!v) return v.error();
  if (v->is_nil()) return value::nil_of(type::list);
  if (!v->is_list())
    return problem{"error unmarshaling JSON: while decoding JSON: json: cannot unmarshal " +
                   std::string(json_kind(*v)) + " into Go value of type []interface {}"};
  return v;
}

value text_of_scalar(const value& v) {
  switch (v.kind()) {
    case type::boolean: return v.boolean() ? "true" : "false";
    case type::int64: return std::to_string(v.integer());
    case type::uint64: return std::to_string(static_cast<std::uint64_t>(v.integer()));
    case type::float64: return format_float(v.real(), 'g', 32);
    default: return v;
  }
}

}  // namespace formats
