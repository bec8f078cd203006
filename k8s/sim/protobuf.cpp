#include "k8s/sim/protobuf.hpp"

#include "formats/base64.hpp"

#include <vector>

namespace k8s::sim {

namespace {

/// How one field of a message becomes JSON.
struct field {
  enum class as {
    string,
    bytes,
    boolean,
    integer,
    strings,
    message,
    messages,
    string_map,
    bytes_map,
    int_or_string
  };
  unsigned number;
  const char* name;
  as how;
  const std::vector<field>* inner = nullptr;
};
using message = std::vector<field>;

class reader {
public:
  explicit reader(std::string_view bytes) : rest_(bytes) {}
  bool done() const { return rest_.empty(); }
  bool varint(std::uint64_t& n) {
    n = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) return false;
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      n |= static_cast<std::uint64_t>(byte & 0x7fu) << shift;
      if (!(byte & 0x80u)) return true;
    }
    return false;
  }
  bool chunk(std::string_view& out) {
    std::uint64_t n = 0;
    if (!varint(n) || n > rest_.size()) return false;
    out = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return true;
  }
  bool skip(std::size_t n) {
    if (n > rest_.size()) return false;
    rest_.remove_prefix(n);
    return true;
  }

private:
  std::string_view rest_;
};

using as = field::as;

const message kOwner{{5, "apiVersion", as::string},  {1, "kind", as::string},
                     {3, "name", as::string},        {4, "uid", as::string},
                     {6, "controller", as::boolean}, {7, "blockOwnerDeletion", as::boolean}};
const message kMeta{{1, "name", as::string},
                    {2, "generateName", as::string},
                    {3, "namespace", as::string},
                    {5, "uid", as::string},
                    {6, "resourceVersion", as::string},
                    {11, "labels", as::string_map},
                    {12, "annotations", as::string_map},
                    {13, "ownerReferences", as::messages, &kOwner},
                    {14, "finalizers", as::strings}};
const message kNamespaceSpec{{1, "finalizers", as::strings}};
const message kNamespace{{1, "metadata", as::message, &kMeta},
                         {2, "spec", as::message, &kNamespaceSpec}};
const message kConfigMap{{1, "metadata", as::message, &kMeta},
                         {2, "data", as::string_map},
                         {3, "binaryData", as::bytes_map},
                         {4, "immutable", as::boolean}};
const message kSecret{{1, "metadata", as::message, &kMeta},
                      {2, "data", as::bytes_map},
                      {3, "type", as::string},
                      {4, "stringData", as::string_map},
                      {5, "immutable", as::boolean}};
const message kServiceAccount{{1, "metadata", as::message, &kMeta},
                              {4, "automountServiceAccountToken", as::boolean}};
const message kExpression{
    {1, "key", as::string}, {2, "operator", as::string}, {3, "values", as::strings}};
const message kSelector{{1, "matchLabels", as::string_map},
                        {2, "matchExpressions", as::messages, &kExpression}};
const message kBudgetSpec{{1, "minAvailable", as::int_or_string},
                          {2, "selector", as::message, &kSelector},
                          {3, "maxUnavailable", as::int_or_string},
                          {4, "unhealthyPodEvictionPolicy", as::string}};
const message kBudget{{1, "metadata", as::message, &kMeta}, {2, "spec", as::message, &kBudgetSpec}};
const message kPreconditions{{1, "uid", as::string}, {2, "resourceVersion", as::string}};
const message kDeleteOptions{{1, "gracePeriodSeconds", as::integer},
                             {2, "preconditions", as::message, &kPreconditions},
                             {3, "orphanDependents", as::boolean},
                             {4, "propagationPolicy", as::string},
                             {5, "dryRun", as::strings}};
const message kEviction{{1, "metadata", as::message, &kMeta},
                        {2, "deleteOptions", as::message, &kDeleteOptions}};
const message kRule{{1, "verbs", as::strings},
                    {2, "apiGroups", as::strings},
                    {3, "resources", as::strings},
                    {4, "resourceNames", as::strings},
                    {5, "nonResourceURLs", as::strings}};
const message kAggregation{{1, "clusterRoleSelectors", as::messages, &kSelector}};
const message kRole{{1, "metadata", as::message, &kMeta},
                    {2, "rules", as::messages, &kRule},
                    {3, "aggregationRule", as::message, &kAggregation}};
const message kSubject{{1, "kind", as::string},
                       {2, "apiGroup", as::string},
                       {3, "name", as::string},
                       {4, "namespace", as::string}};
const message kRoleRef{
    {1, "apiGroup", as::string}, {2, "kind", as::string}, {3, "name", as::string}};
const message kBinding{{1, "metadata", as::message, &kMeta},
                       {2, "subjects", as::messages, &kSubject},
                       {3, "roleRef", as::message, &kRoleRef}};
const message kBoundObject{{1, "kind", as::string},
                           {2, "apiVersion", as::string},
                           {3, "name", as::string},
                           {4, "uid", as::string}};
const message kTokenSpec{{1, "audiences", as::strings},
                         {3, "boundObjectRef", as::message, &kBoundObject},
                         {4, "expirationSeconds", as::integer}};
const message kTokenRequest{{1, "metadata", as::message, &kMeta},
                            {2, "spec", as::message, &kTokenSpec}};
const message kTypeMeta{{1, "apiVersion", as::string}, {2, "kind", as::string}};
const message kIntOrString{
    {1, "type", as::integer}, {2, "int", as::integer}, {3, "string", as::string}};

const message* message_of(std::string_view kind) {
  if (kind == "Namespace") return &kNamespace;
  if (kind == "ConfigMap") return &kConfigMap;
  if (kind == "Secret") return &kSecret;
  if (kind == "ServiceAccount") return &kServiceAccount;
  if (kind == "PodDisruptionBudget") return &kBudget;
  if (kind == "Role" || kind == "ClusterRole") return &kRole;
  if (kind == "RoleBinding" || kind == "ClusterRoleBinding") return &kBinding;
  if (kind == "TokenRequest") return &kTokenRequest;
  if (kind == "DeleteOptions") return &kDeleteOptions;
  if (kind == "Eviction") return &kEviction;
  return nullptr;
}

std::optional<json::object> read(std::string_view bytes, const message& of) {
  reader r(bytes);
  json::object o;
  while (!r.done()) {
    std::uint64_t tag = 0, n = 0;
    std::string_view chunk;
    if (!r.varint(tag)) return std::nullopt;
    const unsigned wire = static_cast<unsigned>(tag & 7u);
    if (wire == 0   ? !r.varint(n)
        : wire == 2 ? !r.chunk(chunk)
        : wire == 1 ? !r.skip(8)
        : wire == 5 ? !r.skip(4)
                    : true) {
      return std::nullopt;
    }
    const field* f = nullptr;
    for (const field& each : of) {
      if (each.number == tag >> 3u) f = &each;
    }
    if (!f) continue;
    const bool scalar = f->how == as::boolean || f->how == as::integer;
    if (wire != (scalar ? 0u : 2u)) return std::nullopt;
    switch (f->how) {
      case as::string:
        if (!chunk.empty()) o[f->name] = chunk;
        break;
      case as::bytes: o[f->name] = formats::encode_base64(chunk); break;
      case as::boolean: o[f->name] = n != 0; break;
      case as::integer: o[f->name] = static_cast<std::int64_t>(n); break;
      case as::strings: {
        json::value& list = o[f->name];
        if (!list.is_array()) list = json::array();
        list.get_array().push_back(json::value(chunk));
        break;
      }
      case as::message:
      case as::messages: {
        auto inner = read(chunk, *f->inner);
        if (!inner) return std::nullopt;
        if (f->how == as::message) {
          o[f->name] = std::move(*inner);
        } else {
          json::value& list = o[f->name];
          if (!list.is_array()) list = json::array();
          list.get_array().push_back(std::move(*inner));
        }
        break;
      }
      case as::string_map:
      case as::bytes_map: {
        const message entry{{1, "key", as::string},
                            {2, "value", f->how == as::bytes_map ? as::bytes : as::string}};
        auto pair = read(chunk, entry);
        if (!pair) return std::nullopt;
        json::object& map = ensure_object(o, f->name);
        map[text(*pair, {"key"})] = text(*pair, {"value"});
        break;
      }
      case as::int_or_string: {
        auto either = read(chunk, kIntOrString);
        if (!either) return std::nullopt;
        if (number(*either, {"type"}) == 1) {
          o[f->name] = text(*either, {"string"});
        } else {
          o[f->name] = number(*either, {"int"});
        }
        break;
      }
    }
  }
  return o;
}

}  // namespace

std::optional<json::object> from_protobuf(std::string_view bytes, std::string* why) {
  // runtime.Unknown after four magic bytes: the type, then the object's own message.
  constexpr std::string_view magic("k8s\0", 4);
  static const message unknown{{1, "type", as::message, &kTypeMeta}, {2, "raw", as::bytes}};
  std::optional<json::object> outer;
  if (bytes.starts_with(magic)) outer = read(bytes.substr(magic.size()), unknown);
  if (!outer) {
    if (why) *why = "provided data does not appear to be a protobuf message";
    return std::nullopt;
  }
  const std::string kind(text(*outer, {"type", "kind"})),
      version(text(*outer, {"type", "apiVersion"}));
  const message* of = message_of(kind);
  const auto raw = formats::decode_base64(text(*outer, {"raw"}));
  auto inner = of && raw ? read(*raw, *of) : std::nullopt;
  if (!inner) {
    if (why)
      *why = of ? "unexpected end of the message"
                : "no kind " + quoted(kind) + " in protobuf is known here";
    return std::nullopt;
  }
  (*inner)["kind"] = kind;
  (*inner)["apiVersion"] = version;
  return inner;
}

}  // namespace k8s::sim
