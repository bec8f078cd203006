#pragma once

#include "helm/go.hpp"
#include "reactor/plain/keyed_map.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace helm {

struct function;

/// One template text and the name under which its errors are reported.
struct template_source {
  std::string name;
  std::string text;
};

enum class node_kind : std::uint8_t {
  text,
  action,
  boolean,
  chain,
  command,
  dot,
  field,
  identifier,
  if_,
  list,
  nil,
  number,
  pipe,
  range,
  string,
  template_,
  variable,
  with,
  break_,
  continue_,
  else_,
  end,
};

struct node;
using node_ptr = std::unique_ptr<node>;

/// What a number literal may be taken for.
struct number_info {
  bool is_int = false;
  bool is_uint = false;
  bool is_float = false;
  std::int64_t whole = 0;
  std::uint64_t natural = 0;
  double real = 0;
  bool is_complex = false;
  double imaginary = 0;
};

/// A node of the parsed template. Which members matter depends on `kind`; one struct keeps the tree
/// easy to walk.
struct node {
  node(node_kind k, std::size_t p, const template_source* s) : kind(k), position(p), source(s) {}

  node_kind kind;
  bool assigns = false;            // pipe: `=` rather than `:=`
  std::size_t position;            // byte offset in the source
  const template_source* source;   // outlives the node: held by the template
  std::string text;                // text; literal as written; identifier; template name
  std::vector<std::string> names;  // field, variable, chain: the elements
  value literal;                   // string, boolean
  std::unique_ptr<number_info> number;
  const function* callee = nullptr;  // identifier
  // list: nodes; pipe: commands; command: arguments; chain: its operand
  std::vector<node_ptr> children;
  std::vector<node_ptr> declarations;  // pipe
  node_ptr pipe;                       // action, branches, template
  node_ptr body;                       // branches
  node_ptr otherwise;                  // branches
};

/// The node as source text, single spaced, as error messages quote it.
std::string node_text(const node& n);
/// Blank text and comments only.
bool is_empty_tree(const node& n);

/// A named template. The source outlives the nodes because every template of a file shares it.
struct named_template {
  std::string name;
  std::shared_ptr<const template_source> source;
  node_ptr root;
};
using template_ptr = std::shared_ptr<const named_template>;

/// The templates a text can call. A child sees its parent's templates and keeps its own to itself,
/// which is what `tpl` needs.
class template_set {
public:
  explicit template_set(const template_set* parent = nullptr)
      : parent_(parent) {}  // parent outlives the child
  const template_ptr* find(std::string_view name) const;
  /// A later definition wins, but a blank one never replaces anything.
  void add(template_ptr t);

private:
  const template_set* parent_;
  reactor::keyed_map<std::string, template_ptr> own_;
};

}  // namespace helm
