#pragma once

#include "reactor/plain/memory.hpp"

#include <pthread.h>

namespace reactor {

/// One T for each thread that asks, made at its first call and destroyed when the thread ends; the
/// main thread's stays. Instead of a thread_local with a destructor: the C library allocates to
/// remember such a one, and aborts when it cannot. T belongs to one file, since code that names the
/// same T gets the same object.
template <class T>
T& of_this_thread() {
  static thread_local T* mine = nullptr;
  if (mine != nullptr) return *mine;
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    const auto end = [](void* object) {
      mine = nullptr;
      delete static_cast<T*>(object);
    };
    if (pthread_key_create(&made, end) != 0) memory_lost();
    return made;
  }();
  mine = new T();
  if (pthread_setspecific(key, mine) != 0) memory_lost();
  return *mine;
}

}  // namespace reactor
