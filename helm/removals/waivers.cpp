#include "helm/removals/waivers.hpp"

#include "formats/glob.hpp"
#include "formats/json/member.hpp"
#include "formats/yaml/yaml.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>

namespace helm::removals {
namespace {

namespace json = boost::json;

constexpr std::array fields = {"object", "api", "reason", "until", "cluster"};

/// "2027-01-31", digits as d; such days are in the order of their texts.
constexpr std::string_view day_form = "dddd-dd-dd";
bool is_day(std::string_view text) {
  const auto fits = [](char is, char wanted) {
    return wanted == 'd' ? is >= '0' && is <= '9' : is == wanted;
  };
  if (text.size() != day_form.size() || !std::ranges::equal(text, day_form, fits)) return false;
  const auto number = [&](std::size_t at, std::size_t length) {
    int n = 0;
    for (const char c : text.substr(at, length)) n = n * 10 + (c - '0');
    return n;
  };
  using namespace std::chrono;
  return year_month_day(year(number(0, 4)), month(static_cast<unsigned>(number(5, 2))),
                        day(static_cast<unsigned>(number(8, 2))))
      .ok();
}

/// What is wrong with an entry; empty for nothing.
std::string read_entry(const json::value& v, waiver& to) {
  const json::object* entry = v.if_object();
  if (!entry) return "is not a map";
  for (const auto& [name, value] : *entry) {
    const std::string field(name);
    if (std::ranges::find(fields, field) == fields.end())
      return field + " is no field of a waiver: object, api, reason, until and cluster are";
    if (!value.is_string() || value.get_string().empty()) return field + " is not a text";
  }
  for (const char* field : {"object", "api", "reason", "until"})
    if (!entry->contains(field)) return std::string(field) + " is missing";
  to.object = formats::text_member(*entry, "object");
  to.api = formats::text_member(*entry, "api");
  to.reason = formats::text_member(*entry, "reason");
  to.until = formats::text_member(*entry, "until");
  if (entry->contains("cluster")) to.cluster = formats::text_member(*entry, "cluster");
  if (!is_day(to.until)) return "until is not a day as in 2027-01-31";
  return {};
}

}  // namespace

bool waiver::covers(const finding& f) const {
  return formats::fits_glob(cluster, f.cluster) && formats::fits_glob(api, f.api_version) &&
         formats::fits_glob(object, f.ns.empty() ? f.object() : f.ns + "/" + f.object());
}

formats::outcome<std::vector<waiver>> read_waivers(std::string_view text,
                                                   const std::string& source) {
  const auto read = formats::parse_kubernetes_yaml(text, source);
  if (!read) return formats::problem{read.error().message()};
  const json::object* top = read->if_object();
  const json::value* listed = top ? top->if_contains("waivers") : nullptr;
  if (!listed || !listed->is_array() || top->size() != 1)
    return formats::problem{source + ": expected a map with one list, waivers"};
  std::vector<waiver> out;
  for (const json::value& v : listed->get_array()) {
    waiver one;
    if (const std::string wrong = read_entry(v, one); !wrong.empty())
      return formats::problem{source + ": waiver " + std::to_string(out.size() + 1) + ": " + wrong};
    out.push_back(std::move(one));
  }
  return out;
}

std::vector<std::string> waive(std::vector<finding>& rows, const std::vector<waiver>& all,
                               reactor::wall_time now) {
  std::vector<std::string> unused;
  const std::string today = reactor::format_rfc3339(now).substr(0, day_form.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const waiver& w = all[i];
    const bool expired = today > w.until;
    bool used = false;
    for (finding& f : rows) {
      if (!w.covers(f)) continue;
      used = true;
      if (expired)
        f.note = "its waiver (" + w.reason + ") ended with " + w.until;
      else if (f.waived.empty())
        f.waived = "until " + w.until + ": " + w.reason;
    }
    if (!used)
      unused.push_back("waiver " + std::to_string(i + 1) + " (" + w.object + ", " + w.api +
                       ") covers nothing that was found");
  }
  for (finding& f : rows)
    if (!f.waived.empty()) f.note.clear();
  return unused;
}

}  // namespace helm::removals
