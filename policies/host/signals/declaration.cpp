#include "policies/host/signals/declaration.hpp"

#include "reactor/http/client.hpp"
#include "reactor/http/message.hpp"
#include "reactor/plain/printable.hpp"

#include <algorithm>
#include <functional>

namespace policies {
namespace {

using reactor::errc;
using reactor::make_fault;
using reactor::result;
using namespace std::chrono_literals;

constexpr reactor::nanoseconds usual_every = 15s;
constexpr int stale_after_questions = 4;
constexpr std::size_t most_shown = 60;
constexpr std::string_view cluster_place = "cluster", label_place = "label:";

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= signal_limits::name_bytes && text[0] >= 'a' &&
         text[0] <= 'z' &&
         std::ranges::all_of(text, [](char c) { return is_plain(c) || c == '_'; });
}

bool is_secret_name(std::string_view text) {
  return !text.empty() && text.size() <= 253 && is_plain(text.front()) && is_plain(text.back()) &&
         std::ranges::all_of(text, [](char c) { return is_plain(c) || c == '-' || c == '.'; });
}

/// Calls `literal` for each piece between placeholders and `place` for what is in one.
/// Errors   a sentence for a placeholder that has no end.
result<void> each_piece(std::string_view text, const std::function<void(std::string_view)>& literal,
                        const std::function<result<void>(std::string_view)>& place) {
  for (;;) {
    const std::size_t at = std::min(text.find("${"), text.size());
    literal(text.substr(0, at));
    if (at == text.size()) return {};
    const std::size_t end = text.find('}', at);
    if (end == text.npos) return make_fault(errc::malformed, {}, "a placeholder ${ has no end }");
    if (auto fine = place(text.substr(at + 2, end - at - 2)); !fine) return fine.error();
    text.remove_prefix(end + 1);
  }
}

/// In which kind of quotes a PromQL text is, piece by piece.
class quotes {
public:
  void read(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (open_ == 0 && text[i] == '#') {  // a comment to the end of the line
        i = std::min(text.find('\n', i), text.size());
      } else if (open_ == 0) {
        if (text[i] == '"' || text[i] == '\'' || text[i] == '`') open_ = text[i];
      } else if (text[i] == '\\' && open_ != '`') {
        ++i;
      } else if (text[i] == open_) {
        open_ = 0;
      }
    }
  }
  bool inside() const { return open_ != 0; }

private:
  char open_ = 0;
};

result<void> check_placeholders(std::string_view text, filled_for what) {
  quotes in;
  return each_piece(
      text, [&](std::string_view piece) { in.read(piece); },
      [&](std::string_view name) -> result<void> {
        const bool is_label = name.starts_with(label_place) && name.size() > label_place.size();
        if (name != cluster_place && !is_label)
          return make_fault(errc::malformed, {},
                            "no placeholder ${" + reactor::printable(name, most_shown) +
                                "}; known are ${cluster} and ${label:KEY}");
        if (what == filled_for::query && !in.inside())
          return make_fault(errc::malformed, {},
                            "${" + reactor::printable(name, most_shown) +
                                "} stands outside of quotes; its value is a text");
        return {};
      });
}

std::string in_seconds(reactor::nanoseconds d) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(d).count());
}

/// One entry of `signals` that has the right shape; every error has the entry's place before it.
class entry_reader {
public:
  entry_reader(const value& entry, std::size_t at)
      : entry_(entry), where_("policy.lua: signals[" + std::to_string(at) + "]") {}

  result<signal_declaration> read() const {
    signal_declaration out;
    if (auto fine = names(out); !fine) return fine.error();
    if (auto fine = address(out); !fine) return fine.error();
    if (auto fine = times(out); !fine) return fine.error();
    return out;
  }
  reactor::fault wrong(std::string_view field, const std::string& why) const {
    return make_fault(errc::malformed, {},
                      where_ + (field.empty() ? "" : "." + std::string(field)) + ": " + why);
  }

private:
  /// Empty where it is absent.
  result<std::string> text(std::string_view field, std::size_t most_bytes) const {
    std::string said = entry_.text_of(field);
    if (entry_.find(field) != nullptr && (said.empty() || said.size() > most_bytes))
      return wrong(field, "expected 1 to " + std::to_string(most_bytes) + " bytes, got " +
                              std::to_string(said.size()));
    return said;
  }

  result<void> names(signal_declaration& out) const {
    out.name = entry_.text_of("name");
    if (!is_name(out.name))
      return wrong("name", "expected lower-case letters, digits and '_', a letter first (" +
                               std::to_string(signal_limits::name_bytes) + " at most)");
    out.secret = entry_.text_of("secret");
    if (entry_.find("secret") != nullptr && !is_secret_name(out.secret))
      return wrong("secret", "expected the name of a Secret");
    return {};
  }

  result<void> address(signal_declaration& out) const {
    const bool of_prometheus = entry_.find("prometheus") != nullptr;
    if (of_prometheus == (entry_.find("http") != nullptr))
      return wrong("", "exactly one of prometheus and http names the server");
    const std::string_view field = of_prometheus ? "prometheus" : "http";
    out.from =
        of_prometheus ? signal_declaration::source::prometheus : signal_declaration::source::http;
    auto url = text(field, signal_limits::url_bytes);
    if (!url) return url.error();
    out.url = std::move(*url);
    if (auto fine = check_placeholders(out.url, filled_for::address); !fine)
      return wrong(field, fine.error().detail);
    if (out.url.find_first_of("@#") != out.url.npos)
      return wrong(field, "an address has no login and no fragment; a login is in a Secret");
    if (of_prometheus && out.url.find('?') != out.url.npos)
      return wrong(field, "the address of a Prometheus has no query of its own");
    // As it is for a cluster with plain names; what a label makes of it is judged when it is asked.
    std::string sample;
    (void)each_piece(
        out.url, [&](std::string_view piece) { sample += piece; },
        [&](std::string_view) -> result<void> {
          sample += 'x';
          return {};
        });
    if (!reactor::http::parse_origin(sample.substr(0, sample.find('?'))))
      return wrong(field, "'" + reactor::printable(out.url, most_shown) +
                              "' is no http:// or https:// address");
    auto query = text("query", signal_limits::query_bytes);
    if (!query) return query.error();
    if (query->empty() == of_prometheus)
      return wrong("query", of_prometheus ? "a Prometheus is asked a query"
                                          : "an http address has none of its own");
    if (auto fine = check_placeholders(*query, filled_for::query); !fine)
      return wrong("query", fine.error().detail);
    out.query = std::move(*query);
    return {};
  }

  result<reactor::nanoseconds> seconds(std::string_view field, reactor::nanoseconds otherwise,
                                       reactor::nanoseconds least,
                                       reactor::nanoseconds most) const {
    const value* v = entry_.find(field);
    if (v == nullptr) return otherwise;
    const double said = *v->if_number();
    if (!(said >= std::chrono::duration<double>(least).count() &&
          said <= std::chrono::duration<double>(most).count()))
      return wrong(field, "expected " + in_seconds(least) + " to " + in_seconds(most) + " seconds");
    return std::chrono::duration_cast<reactor::nanoseconds>(std::chrono::duration<double>(said));
  }

  result<void> times(signal_declaration& out) const {
    auto every =
        seconds("every", usual_every, signal_limits::least_every, signal_limits::most_every);
    if (!every) return every.error();
    out.every = *every;
    const auto longest = std::min<reactor::nanoseconds>(
        signal_limits::most_window, out.every * static_cast<std::int64_t>(signal_limits::samples));
    auto window = seconds("window", 0s, 0s, longest);
    if (!window) return window.error();
    out.window = *window;
    auto stale = seconds("stale_after", stale_after_questions * out.every, out.every, 24h);
    if (!stale) return stale.error();
    out.stale_after = *stale;
    return {};
  }

  const value& entry_;
  std::string where_;
};

}  // namespace

shape signals_shape() {
  return list_shape(
      record_shape(
          "declared signal",
          {{"name", text_shape(), "as `fleet.signals` has it: lower-case letters, digits and '_'"},
           maybe("prometheus", text_shape(),
                 "address of a Prometheus, without /api/v1/query; this or `http`"),
           maybe("http", text_shape(),
                 "address that answers a JSON number or `{\"value\": NUMBER}`"),
           maybe("query", text_shape(), "PromQL with one number as its result"),
           {"every",
            number_shape(),
            "between two questions, 5 to 3600; 15 unless said",
            "seconds",
            true,
            {}},
           {"window",
            number_shape(),
            "how far back values count for `lowest`, `highest` and `covers`; at most a day and "
            "1,000 times `every`; 0 unless said",
            "seconds",
            true,
            {}},
           {"stale_after",
            number_shape(),
            "an older value is none; at least `every`, four times that unless said",
            "seconds",
            true,
            {}},
           maybe("secret", text_shape(), "name of the Secret with the login for that address")}),
      "a list of tables");
}

result<std::vector<signal_declaration>> read_signals(const value& declared) {
  static const shape whole = record_shape("pack", {{"signals", signals_shape(), {}}});
  if (auto fine = check(value::object{{"signals", declared}}, whole); !fine)
    return make_fault(errc::malformed, {}, "policy.lua: " + fine.error().detail);
  const value::array& list = *declared.if_array();
  if (list.size() > signal_limits::most)
    return make_fault(errc::malformed, {},
                      "policy.lua: signals: " + std::to_string(list.size()) + " of them; " +
                          std::to_string(signal_limits::most) + " at most");
  std::vector<signal_declaration> out;
  for (const value& entry : list) {
    const entry_reader reader(entry, out.size() + 1);
    auto one = reader.read();
    if (!one) return one.error();
    if (std::ranges::find(out, one->name, &signal_declaration::name) != out.end())
      return reader.wrong("name", "'" + one->name + "' is declared twice");
    out.push_back(std::move(*one));
  }
  return out;
}

result<std::string> fill_placeholders(std::string_view text, filled_for what,
                                      const std::string& cluster,
                                      const std::map<std::string, std::string>& labels) {
  std::string out;
  auto filled = each_piece(
      text, [&](std::string_view piece) { out += piece; },
      [&](std::string_view name) -> result<void> {
        std::string_view with = cluster;
        if (name != cluster_place) {
          const std::string key(name.substr(std::min(label_place.size(), name.size())));
          const auto found = labels.find(key);
          if (found == labels.end())
            return make_fault(errc::refused, {}, "the cluster has no label " + key);
          with = found->second;
        }
        if (what == filled_for::address) {
          out += reactor::http::encode_component(with);
          return {};
        }
        const bool may_end = std::ranges::any_of(with, [](char c) {
          return c == '"' || c == '\'' || c == '`' || c == '\\' ||
                 static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
        });
        if (may_end)
          return make_fault(errc::refused, {},
                            "the value of ${" + std::string(name) +
                                "} has quotes, backslashes or control characters");
        out += with;
        return {};
      });
  if (!filled) return filled.error();
  return out;
}

}  // namespace policies
