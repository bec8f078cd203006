# The headers that nearly every file pays for, compiled once and shared. `windlass_pch(target)` uses them.
option(WINDLASS_PCH "Use precompiled headers" ON)

function(windlass_pch target)
  if(NOT WINDLASS_PCH)
    return()
  endif()
  if(NOT TARGET windlass_pch)
    file(WRITE ${PROJECT_BINARY_DIR}/pch.cpp "")
    add_library(windlass_pch OBJECT ${PROJECT_BINARY_DIR}/pch.cpp)
    target_link_libraries(windlass_pch PRIVATE reactor_build)
    target_precompile_headers(windlass_pch PRIVATE
      <algorithm> <chrono> <cstdint> <functional> <map> <memory> <optional> <span> <string> <string_view> <unordered_map> <utility> <variant> <vector>
      <boost/asio/as_tuple.hpp> <boost/asio/awaitable.hpp> <boost/asio/bind_cancellation_slot.hpp> <boost/asio/cancellation_signal.hpp>
      <boost/asio/co_spawn.hpp> <boost/asio/io_context.hpp> <boost/asio/post.hpp> <boost/asio/this_coro.hpp> <boost/asio/use_awaitable.hpp>
      <boost/system/result.hpp>)
  endif()
  target_precompile_headers(${target} REUSE_FROM windlass_pch)
endfunction()
