# The headers that nearly every file pays for, compiled once and shared.
#   windlass_pch(target)       coroutines and the standard library: what stands on the reactor
#   windlass_small_pch(target) the same and JSON for what is seldom run: compiled for size
#   windlass_pure_pch(target)  the standard library alone: what knows nothing of the reactor
# Test programs have one of their own (windlass_tests in windlass.cmake).
option(WINDLASS_PCH "Use precompiled headers" ON)

set(windlass_standard_headers
  <algorithm> <chrono> <cstdint> <functional> <map> <memory> <optional> <span> <string> <string_view> <unordered_map> <utility> <variant> <vector>)
set(windlass_coroutine_headers
  <boost/asio/as_tuple.hpp> <boost/asio/awaitable.hpp> <boost/asio/bind_cancellation_slot.hpp> <boost/asio/cancellation_signal.hpp>
  <boost/asio/co_spawn.hpp> <boost/asio/io_context.hpp> <boost/asio/post.hpp> <boost/asio/this_coro.hpp> <boost/asio/use_awaitable.hpp>
  <boost/system/result.hpp>)

# Gives `target` the precompiled headers of the object library `from`, which is made at the first call; its LIBS and OPTIONS
# must be what every user has as well, or the compiler refuses them.
function(windlass_share_headers target from)
  cmake_parse_arguments(arg "" "" "LIBS;OPTIONS;HEADERS" ${ARGN})
  if(NOT WINDLASS_PCH)
    return()
  endif()
  if(NOT TARGET ${from})
    file(WRITE ${PROJECT_BINARY_DIR}/${from}.cpp "")
    add_library(${from} OBJECT ${PROJECT_BINARY_DIR}/${from}.cpp)
    target_link_libraries(${from} PRIVATE ${arg_LIBS})
    target_compile_options(${from} PRIVATE ${arg_OPTIONS})
    target_precompile_headers(${from} PRIVATE ${arg_HEADERS})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${from})
endfunction()

function(windlass_pch target)
  windlass_share_headers(${target} windlass_pch
    LIBS reactor_build HEADERS ${windlass_standard_headers} ${windlass_coroutine_headers})
endfunction()

# What waits for people and servers is made small in the release preset, which takes two thirds of the time: a coroutine is much
# code that runs once. The passes left out find little in such code and are its dearest.
set(windlass_small $<$<CONFIG:Release>:-Os> $<$<CONFIG:Release>:-fno-tree-pta> $<$<CONFIG:Release>:-fno-ipa-cp> $<$<CONFIG:Release>:-fno-ipa-sra>
  $<$<CONFIG:Release>:-fno-tree-vrp> $<$<CONFIG:Release>:-fno-schedule-insns2> $<$<CONFIG:Release>:-fno-tree-pre> $<$<CONFIG:Release>:-fno-gcse>
  $<$<CONFIG:Release>:-fno-code-hoisting>)

function(windlass_small_pch target)
  target_compile_options(${target} PRIVATE ${windlass_small})
  target_link_libraries(${target} PRIVATE Boost::json)
  windlass_share_headers(${target} windlass_small_pch LIBS reactor_build Boost::json OPTIONS ${windlass_small}
    HEADERS ${windlass_standard_headers} ${windlass_coroutine_headers} <deque> <set> <sstream> <boost/json.hpp>)
endfunction()

function(windlass_pure_pch target)
  target_compile_options(${target} PRIVATE -pthread)
  windlass_share_headers(${target} windlass_pure_pch OPTIONS -pthread HEADERS ${windlass_standard_headers})
endfunction()
