#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace compose {

/// One cluster may be there under several names: home, and a member of the fleet. One of them
/// works, the others stand by: members before home, then by name.
class same_cluster {
public:
  enum class place { member, home };
  struct who {
    std::string uid;  // of the cluster; empty: nobody knows, so it works
    place at = place::member;
    std::string name;
    std::function<void()> reconsider;  // somebody came or went
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
    same_cluster& in_;
    who who_;
  };

private:
  std::map<std::string, std::vector<const who*>> by_uid_;
};

}  // namespace compose
