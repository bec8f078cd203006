#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace k8s {
class cluster;
}

namespace compose {

/// One cluster may be there under several names: home, and a member of the fleet. One of them
/// works, the others stand by: members before home, then by name; one that cannot act comes last.
/// That they are one the fleet knows (k8s::sameness); until it does, one that may be stands by.
class same_cluster {
public:
  using compare = std::function<bool(const k8s::cluster& a, const k8s::cluster& b)>;
  using ability = std::function<bool(const k8s::cluster& c)>;
  same_cluster(compare are_one, ability can_act)
      : are_one_(std::move(are_one)), can_act_(std::move(can_act)) {}

  enum class place { member, home };
  struct who {
    const k8s::cluster* on = nullptr;
    place at = place::member;
    std::string name;
    std::function<void()> reconsider;  // another name came or went
  };
  /// As long as it is held, `who` is there. Lifetime: same_cluster outlives it.
  class seat {
  public:
    seat(same_cluster& in, who w);
    ~seat();
    seat(const seat&) = delete;
    seat& operator=(const seat&) = delete;
    bool works() const;

  private:
    void tell_others() const;
    same_cluster& in_;
    who who_;
  };

private:
  compare are_one_;
  ability can_act_;
  std::vector<const who*> seats_;
};

}  // namespace compose
