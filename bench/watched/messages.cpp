#include "bench/watched/messages.hpp"

#include "k8s/client/resource.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <stdexcept>

namespace bench {
namespace {

constexpr std::size_t version_digits = 16;

/// Protobuf's wire format, as far as these messages need it.
void append_varint(std::string& to, std::uint64_t n) {
  for (; n >= 0x80; n >>= 7) to += static_cast<char>(n | 0x80);
  to += static_cast<char>(n);
}
std::string field_of(unsigned number, std::string_view bytes) {
  std::string out(1, static_cast<char>(number << 3 | 2));
  append_varint(out, bytes.size());
  return out.append(bytes);
}
/// runtime.Unknown behind its magic number: what every object is sent in.
std::string envelope_of(std::string_view api_version, std::string_view kind,
                        std::string_view message) {
  using namespace std::string_view_literals;
  return std::string("k8s\0"sv) + field_of(1, field_of(1, api_version) + field_of(2, kind)) +
         field_of(2, message) + field_of(3, "") + field_of(4, "");
}
/// A WatchEvent behind its length.
std::string protobuf_event(std::string_view type, std::string_view object) {
  const std::string event = field_of(1, type) + field_of(2, field_of(1, object));
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(event.size() >> shift);
  return out + event;
}

void write_digits(std::string& to, std::size_t at, std::uint64_t version) {
  for (std::size_t digit = version_digits; digit-- > 0; version /= 10)
    to[at + digit] = static_cast<char>('0' + version % 10);
}

std::string metadata_of(const std::string& object) {
  boost::json::object all = boost::json::parse(object).as_object();
  return boost::json::serialize(boost::json::object{{"kind", "PartialObjectMetadata"},
                                                    {"apiVersion", "meta.k8s.io/v1"},
                                                    {"metadata", std::move(all["metadata"])}});
}

std::string without_managers(const std::string& object) {
  boost::json::value all = boost::json::parse(object);
  all.at("metadata").as_object().erase("managedFields");
  return boost::json::serialize(all);
}

}  // namespace

messages::messages(const collection& of, std::size_t objects, message_form form,
                   std::string_view encoded)
    : form_(form),
      api_version_(form.metadata_only ? "meta.k8s.io/v1" : of.kind().api_version()),
      kind_(form.metadata_only ? "PartialObjectMetadata" : of.kind().kind) {
  for (std::size_t i = 0; i < objects; ++i) {
    if (!form.protobuf) {
      const std::string object =
          form.without_managers ? without_managers(of.object(i)) : of.object(i);
      objects_.push_back(placed(form.metadata_only ? metadata_of(object) : object));
      continue;
    }
    std::size_t size = 0;
    for (std::size_t byte = 0; byte < 4 && encoded.size() >= 4; ++byte)
      size = size << 8 | static_cast<unsigned char>(encoded[byte]);
    if (encoded.size() < 4 + size) throw std::runtime_error("there are too few encoded objects");
    objects_.push_back(placed(std::string(encoded.substr(4, size))));
    encoded.remove_prefix(4 + size);
  }
}

messages::place messages::placed(std::string object) const {
  place p;
  p.event = framed("MODIFIED", form_.protobuf ? enveloped(object) : object);
  p.begin = p.event.find(object);
  p.size = object.size();
  p.version = p.event.find(std::to_string(corpus_version));
  p.tier = p.event.find(corpus_tier);
  if (p.version == std::string::npos || p.tier == std::string::npos)
    throw std::runtime_error("an object of " + kind_ + " is without its version or its tier");
  p.tier += corpus_tier.size() - 1;
  return p;
}

std::string messages::enveloped(std::string_view message) const {
  return envelope_of(api_version_, kind_, message);
}

std::string messages::framed(std::string_view type, std::string_view object) const {
  if (form_.protobuf) return protobuf_event(type, object);
  std::string out = R"({"type":")";
  return out.append(type).append(R"(","object":)").append(object).append("}\n");
}

std::size_t messages::event_bytes() const {
  std::size_t all = 0;
  for (const place& p : objects_) all += p.event.size();
  return all / std::max<std::size_t>(1, objects_.size());
}

std::string messages::list(std::size_t from, std::size_t to, std::uint64_t version,
                           std::string_view more) {
  std::string out;
  const std::string list_version = std::to_string(version);
  if (form_.protobuf)
    out = field_of(1, field_of(2, list_version) + (more.empty() ? "" : field_of(3, more)));
  else
    out = R"({"kind":")" + kind_ + R"(List","apiVersion":")" + api_version_ +
          R"(","metadata":{"resourceVersion":")" + list_version + R"(","continue":")" +
          std::string(more) + R"("},"items":[)";
  for (std::size_t i = from; i < to; ++i) {
    place& p = objects_[i];
    write_digits(p.event, p.version, version);
    const std::string_view object = std::string_view(p.event).substr(p.begin, p.size);
    if (form_.protobuf)
      out += field_of(2, object);
    else
      out.append(i > from ? "," : "").append(object);
  }
  return form_.protobuf ? envelope_of(api_version_, kind_ + "List", out) : out + "]}";
}

void messages::append_event(std::string& text, std::size_t object, std::uint64_t version,
                            std::uint64_t round) {
  place& p = objects_[object];
  write_digits(p.event, p.version, version);
  const std::size_t at = text.size();
  text += p.event;
  text[at + p.tier] = round % 2 ? 'e' : 'd';
}

std::string messages::bookmark(std::uint64_t version) const {
  const std::string at = std::to_string(version);
  if (form_.protobuf) return framed("BOOKMARK", enveloped(field_of(1, field_of(6, at))));
  return framed("BOOKMARK", R"({"kind":")" + kind_ + R"(","apiVersion":")" + api_version_ +
                                R"(","metadata":{"resourceVersion":")" + at + R"("}})");
}

std::string messages::expired() const {
  constexpr std::string_view message = "too old resource version";
  if (!form_.protobuf)
    return framed(
        "ERROR",
        R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"Expired","message":"too old resource version","code":410})");
  std::string status = field_of(1, "") + field_of(2, "Failure") + field_of(3, message) +
                       field_of(4, "Expired") + static_cast<char>(6 << 3);
  append_varint(status, 410);
  return framed("ERROR", envelope_of("v1", "Status", status));
}

std::string messages::content_type(bool watch) const {
  if (!form_.protobuf) return "application/json";
  return watch ? "application/vnd.kubernetes.protobuf;stream=watch"
               : "application/vnd.kubernetes.protobuf";
}

}  // namespace bench
