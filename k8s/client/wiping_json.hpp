#pragma once

#include "reactor/plain/secret.hpp"

#include <boost/json/memory_resource.hpp>
#include <boost/json/serializer.hpp>
#include <boost/json/storage_ptr.hpp>
#include <boost/json/value.hpp>

#include <array>
#include <string>
#include <string_view>

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

/// JSON text that holds secrets, for who overwrites it: written into memory of its final size, so
/// that no piece of it stays behind where a shorter text stood.
inline std::string text_of_secret(const boost::json::value& v) {
  std::array<char, 4096> piece{};
  const auto each = [&](auto take) {
    boost::json::serializer of;
    of.reset(&v);
    while (!of.done()) take(of.read(piece.data(), piece.size()));
  };
  std::size_t bytes = 0;
  each([&](const auto& text) { bytes += text.size(); });
  std::string out;
  out.reserve(bytes);
  each([&](const auto& text) { out.append(text.data(), text.size()); });
  reactor::wipe(piece.data(), piece.size());
  return out;
}

}  // namespace k8s
