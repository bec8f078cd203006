#pragma once

#include "compose/rules/question.hpp"
#include "reactor/plain/result.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace policies::compose {

/// How a child is kept.
///   own       its fields are applied and repaired; other fields and other people's keys stay
///   create    made when it is not there; what becomes of it is its own affair
///   add_keys  keys of its data: added, and followed until a person edits them; the object may be
///             anybody's who has no owner
///   lines     one block of lines in a text of its data; everything around the block belongs to
///             else's
enum class way { own, create, add_keys, lines };

/// A value of a Secret's data that a hook asks for and never sees.
struct asked_value {
  enum class source {
    ed25519,     // a new private key, PKCS#8 PEM
    public_key,  // of the private key under `of`, SPKI PEM
    password,    // letters and digits
    bytes,       // random, base64 as everything in a Secret
    copy         // of a key of another Secret of the namespace, followed
  };
  source from = source::copy;
  std::size_t length = 32;      // password, bytes
  std::string of, secret, key;  // public_key; copy
  friend bool operator==(const asked_value&, const asked_value&) = default;
};

/// A block of lines within the text of a key.
struct text_block {
  std::string key, name, text;
  std::string after;  // the line it stands behind when it is new; empty: at the end
  // names whose `name = …` lines elsewhere in the text are taken out
  std::vector<std::string> without;
  std::string comment = "#";
};

struct stated_event {
  bool warning = false;
  std::string reason, message;
  friend auto operator<=>(const stated_event&, const stated_event&) = default;
};

/// What is told of a write of a child, by how the write ended. An empty reason: nothing.
struct write_events {
  stated_event created, updated, create_failed, update_failed;
};

struct child {
  object_name id;
  way how = way::own;
  bool adopt = false;  // an object of that name that has no owner becomes ours
  value body;          // without metadata.name and namespace, status, and data of a Secret
  std::map<std::string, std::string> data;  // of a Secret, in clear
  std::map<std::string, asked_value> asks;  // of a Secret
  std::vector<text_block> blocks;
  std::vector<object_name>
      inputs;             // it is written when they are there, with their digest on its pods
  std::string inputs_as;  // the annotation
  write_events events;

  bool is_secret() const { return id.kind.kind == "Secret" && id.kind.api_version == "v1"; }
};

struct stated_condition {
  std::string type, status, reason, message;
};

/// What a hook answered, checked.
struct sync_answer {
  std::vector<child> children;
  std::optional<value> status;
  std::vector<stated_condition> conditions;
  std::vector<stated_event> events;
  reactor::nanoseconds look_again{0};
  bool finalized = true;
};

/// Bounds of one answer.
inline constexpr std::size_t most_children = 500, most_asks = 64, most_related = 200;

const shape& answer_shape();
const shape& related_shape();

/// Its parent decides what it may say: kinds that are declared, the namespace of the parent.
/// Errors   errc::malformed names the place: "children[3].object.metadata.name: …". One wrong child
///          refuses all of it, so that a slip never looks like a wish to delete.
reactor::result<sync_answer> read_answer(const value& answer, const declaration& about,
                                         const object& parent);

/// What compose.related answers: one object, or those with labels.
struct related_query {
  kind_name kind;
  std::string ns, name;  // name empty: by labels
  std::map<std::string, std::string> labels;
  bool matches(const object_name& o, const std::map<std::string, std::string>& its_labels) const;
  friend auto operator<=>(const related_query&, const related_query&) = default;
};
/// A name that no object can have is left out.
reactor::result<std::vector<related_query>> read_related(const value& answer,
                                                         const declaration& about,
                                                         const object& parent);

/// What is noted on an object: the first 16 digits of a digest say enough.
std::string short_digest(std::string_view digest);
/// {"key":"digest"} of the annotation; what is no such text is nothing.
std::map<std::string, std::string> read_wrote(std::string_view annotation);
std::string write_wrote(const std::map<std::string, std::string>& digests);

}  // namespace policies::compose
