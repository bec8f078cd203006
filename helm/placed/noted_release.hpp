#pragma once

#include "helm/placed/ledger.hpp"
#include "helm/release/workbench.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reactor {
class loop;
}

namespace helm::placed {

/// A record of a release as it was written: which object, and what was in it.
struct noted_record {
  int revision = 0;
  std::string uid, digest;
  friend bool operator==(const noted_record&, const noted_record&) = default;
};

/// What is noted of a release: whose it is ("Tenant/default/acme"), and the records that may be
/// believed, the newest and the one that it came after.
struct noted_facts {
  std::string owner;
  std::vector<noted_record> records;
  friend bool operator==(const noted_facts&, const noted_facts&) = default;
};
/// What is no such text counts as nothing noted.
noted_facts read_noted(std::string_view text);
std::string write_noted(const noted_facts& facts);
/// Of a release in a namespace, in the ledger.
std::string noted_key(std::string_view ns, std::string_view release);
/// What is noted once `next` is written after `base`, which stays if it was noted. So does what
/// another writer has noted of a later revision.
noted_facts noted_after(noted_facts now, noted_record next,
                        const std::optional<noted_record>& base);

/// The notes on one release of a cluster, for one operation: read once, when they are needed first.
/// What cannot be read or written is told, and then nothing is believed.
/// Lifetime loop and client outlive it.
class noted_release final : public release::record_notes {
public:
  noted_release(reactor::loop& l, k8s::client& api, std::string notes_ns, std::string ns,
                std::string release, std::string owner);

  reactor::awaitable<bool> knows(release::record r) override;
  reactor::awaitable<void> note(release::record r, std::optional<release::record> base) override;
  reactor::awaitable<void> forget() override;
  void tell(std::string sentence) override;

  /// Whose the release is, as it was noted; empty where it was not.
  reactor::awaitable<std::string> owner();
  /// What was told, sentence after sentence; empty: every record was believed.
  const std::string& told() const noexcept { return told_; }

private:
  reactor::awaitable<void> read();
  reactor::awaitable<noted_record> as_noted(release::record r);

  reactor::loop& loop_;
  ledger in_;
  std::string notes_ns_, key_, owner_, told_;
  std::optional<noted_facts> facts_;
};

}  // namespace helm::placed
