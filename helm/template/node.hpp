#pragma once

#include "helm/go.hpp"
#include "reactor/plain/keyed_map.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace helm {

struct function;

/// One template text and the name under which its errors are reported.
struct template_source {
  std::string name;
  std::shared_ptr<const std::string> text;
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
/// easy to walk. It is small because a chart has millions.
/// Lifetime its text is a part of the source, which the template holds.
struct node {
  node(node_kind k, std::size_t p) : kind(k), position(static_cast<std::uint32_t>(p)) {}

  node_kind kind;
  bool assigns = false;        // pipe: `=` rather than `:=`
  std::uint16_t declared = 0;  // pipe: how many variables
  std::uint32_t position;      // byte offset in the source
  // text; literal as written; identifier; field, chain: ".a.b"; variable: "$x.a"
  std::string_view text;
  value literal;  // string, boolean; template: its name
  std::unique_ptr<number_info> number;
  const function* callee = nullptr;  // identifier
  // list: nodes; command: arguments; chain: its operand; pipe: variables, commands; action: a pipe;
  // branches: a pipe, a body and perhaps another one; template: perhaps a pipe
  std::vector<node_ptr> children;

  const node& pipe() const { return *children[0]; }
  const node& body() const { return *children[1]; }
  const node* otherwise() const { return children.size() > 2 ? children[2].get() : nullptr; }
  std::span<const node_ptr> variables() const { return std::span(children).first(declared); }
  std::span<const node_ptr> commands() const { return std::span(children).subspan(declared); }
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
