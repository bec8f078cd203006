#pragma once

#include "helm/schema/node.hpp"

#include <deque>
#include <map>
#include <memory>
#include <string>

namespace helm::schemas {

/// The documents that one schema leads to, and their nodes.
class library {
public:
  /// Reads and compiles the schema `root` under the address `url`, and what it refers to. A schema
  /// that its draft's own schema refuses is refused.
  /// Errors   in the words of the reference's compiler.
  static outcome<std::shared_ptr<const library>> compile(const std::string& url, value root);

  const node& root() const { return *root_; }
  const std::string& url() const { return root_->at.url; }

private:
  friend class compiler;
  library() = default;
  std::map<std::string, document> documents_;
  std::deque<node> nodes_;  // in the order in which they were met
  std::map<place, node*> by_place_;
  const node* root_ = nullptr;
};

/// The schema of a draft's schemas. Lifetime: of the thread.
const library& metaschema(int draft);

}  // namespace helm::schemas
