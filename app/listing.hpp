#pragma once

#include "app/flags.hpp"
#include "app/output.hpp"

#include <boost/json.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace app {

/// Which objects a command shows and how, as kubectl's users ask for it.
struct list_request {
  output_choice output;
  std::vector<std::string> names;     // [KIND/][CLUSTER/][NAMESPACE/]NAME; none = all
  std::vector<std::string> clusters;  // names and globs; none = all
  std::string ns, selector, field_selector, sort_by;
  bool all_namespaces = false, show_labels = false, watch = false, watch_only = false;

  bool is_watching() const noexcept { return watch || watch_only; }
  bool chooses_cluster(std::string_view name) const;
  /// The only cluster that is asked for, by its name; empty where there may be several.
  std::string only_cluster() const;
};

/// Which of its flags a command has.
struct list_flags {
  const char* names = nullptr;  // what its arguments are; null: it has none, or declares its own
  const char* argument = "NAME";
  enum class watch { none, until_interrupted } follows = watch::until_interrupted;
  /// Where the objects are: a fleet's clusters, one server, or files, in which objects have neither
  /// namespaces nor labels.
  enum class place { fleet, server, files } lie = place::fleet;
  /// Formats of -o that only this command has (flags::output).
  struct formats {
    std::vector<std::string> names;
    const char* about;
    std::function<void(const std::string&)> chosen;
  };
  std::optional<formats> own = {};
};
/// Of a command that lists what files have, and takes no names.
list_flags of_files();
void declare_listing(flags& f, list_request& to, const list_flags& has);
/// --cluster and -l, which chooses clusters by their labels.
void declare_clusters(flags& f, list_request& to);
/// --sort-by, --no-headers, --show-labels.
void declare_order(flags& f, list_request& to);

/// One object: what a table says of it, and its document.
struct listed_object {
  std::string kind;  // "pool"; in documents "Pool"
  std::string cluster, ns, name;
  std::vector<std::pair<std::string, std::string>> labels = {};
  std::vector<page> cells = {};
  boost::json::object body = {};  // of the document, behind kind and metadata
  unsigned trouble = 0;           // a long list at a terminal begins with the greatest
  page below = {};                // what is said of it below the table

  /// {apiVersion, kind, metadata: {name, namespace, labels}, cluster, …}
  boost::json::object document() const;
  /// "cluster-003/workers"
  std::string path() const;
  bool is_called(std::string_view asked) const;
};

struct list_column {
  page head;
  unsigned importance = table::must_stay;
};

/// Objects of one kind.
class listing {
public:
  explicit listing(std::vector<list_column> columns) : columns_(std::move(columns)) {}
  void add(listed_object one) { objects_.push_back(std::move(one)); }
  const std::vector<listed_object>& objects() const noexcept { return objects_; }

  /// Keeps what `r` asks for, in its order. Errors: a sentence about a selector, a path or a name
  /// that no object has; the nearest names are told.
  reactor::result<void, std::string> choose(const list_request& r);
  /// Only its order: of objects that were chosen before.
  void arrange(const list_request& r);
  /// The table. Of more than `rows` (0: any number) the troubled are shown first and the rest is
  /// counted.
  page text(const list_request& r, std::size_t columns = any_width, std::size_t rows = 0) const;
  boost::json::array items() const;

  /// The rows that differ from those of the last call, without heads: what --watch adds.
  std::vector<std::size_t> changed(std::map<std::string, std::string>& last) const;
  page rows_text(const list_request& r, const std::vector<std::size_t>& which) const;
  /// What is said of the objects below the table.
  page below() const;

private:
  table table_of(const list_request& r, const std::vector<const listed_object*>& shown) const;
  std::vector<list_column> columns_;
  std::vector<listed_object> objects_;
};

/// What stands around the table of a list, which --no-headers leaves out.
struct around_list {
  page head, tail;
};
/// Prints those of `rows` that `r` asks for: the table, or `document` with the bodies of the
/// objects under `key` ("releases") and the objects themselves under `items`. Returns success, or
/// failure once the reason is told on standard error.
int show_list(listing rows, const list_request& r, std::string_view key,
              boost::json::object document, const around_list& around = {});

}  // namespace app
