#pragma once

#include "reactor/plain/secret.hpp"

#include <boost/json/memory_resource.hpp>
#include <boost/json/storage_ptr.hpp>

namespace k8s {

/// Memory of JSON values that hold secrets: overwritten when it is given back.
class wiping_memory final : public boost::json::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t) override { return ::operator new(bytes); }
  void do_deallocate(void* p, std::size_t bytes, std::size_t) override {
    reactor::wipe(p, bytes);
    ::operator delete(p);
  }
  bool do_is_equal(const boost::json::memory_resource& other) const noexcept override {
    return dynamic_cast<const wiping_memory*>(&other) != nullptr;
  }
};

inline boost::json::storage_ptr wiping_storage() {
  return boost::json::make_shared_resource<wiping_memory>();
}

}  // namespace k8s
