# One function per kind of target, so that a folder's CMakeLists.txt reads as a list of its files.

# windlass_library(<name> SOURCES ... HEADERS ...): a static library whose headers are included from the project root.
function(windlass_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;HEADERS" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_sources(${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${arg_HEADERS})
  set_target_properties(${name} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
endfunction()

# windlass_alone(<file>...): files that are compiled by themselves in every preset, because their own names would meet those of
# their neighbours.
function(windlass_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# windlass_long(<name>): a library of long files, of which four are compiled at once: one that is changed is there in ten seconds.
function(windlass_long name)
  set_target_properties(${name} PROPERTIES UNITY_BUILD_BATCH_SIZE 4)
endfunction()

# windlass_program(<name> <library> <main>): a program as it is shipped. Its heap gives back and joins what is free bit by bit: glibc's
# does it all at once, for milliseconds in which nothing else has the loop. Sanitizers bring their own.
function(windlass_program name library main)
  add_executable(${name} ${main})
  target_link_libraries(${name} PRIVATE ${library})
  if(NOT CMAKE_BUILD_TYPE STREQUAL Debug)
    target_link_libraries(${name} PRIVATE ${WINDLASS_JEMALLOC})
    target_link_options(${name} PRIVATE -Wl,--gc-sections)
  endif()
endfunction()

# Of what several folders instantiate the linker keeps the first it sees: not that of a folder that is made small (cmake/pch.cmake).
# Measured: decisions of policies and plans take 7 % less.
function(windlass_often_run name)
  foreach(often_run IN ITEMS reactor formats k8s k8s_sim policies_host policies helm)
    target_link_options(${name} PRIVATE $<TARGET_FILE:${often_run}>)
  endforeach()
endfunction()

# windlass_tests(<name> LIBS ... SOURCES ... [COST n]): a GoogleTest program; each of its tests is the ctest test <name>/<Suite>.<Test>,
# so that `./dev test <part of name>` runs a program. A line that begins with "## " is shown by ./dev after the run.
# A test that cannot run in a sandbox without peers carries LABELS live. Tests of a higher COST begin first, so that none that takes
# long is alone at the end; where ctest has seen them before it knows better. One that takes an hour hangs and is ended: the longest
# takes two minutes on a quiet machine, and a busy one must not decide the verdict. The release preset neither optimises what is
# only a test nor describes it to a debugger, as the dev preset does: that is half of its compile time.
set(windlass_test_timeout 3600)
function(windlass_tests name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBS;LABELS;COST" ${ARGN})
  set(everywhere reactor Boost::json GTest::gmock GTest::gtest_main)
  set(options -pthread $<$<CONFIG:Release>:-O0> $<$<CONFIG:Release>:-g0>)
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBS} ${everywhere})
  target_compile_options(${name} PRIVATE ${options})
  windlass_share_headers(${name} windlass_test_pch LIBS ${everywhere} OPTIONS ${options}
    HEADERS ${windlass_standard_headers} ${windlass_coroutine_headers} <boost/json.hpp> <gtest/gtest.h> <gmock/gmock.h>)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE WINDLASS_SOURCE_DIR="${PROJECT_SOURCE_DIR}" WINDLASS_BINARY_DIR="${PROJECT_BINARY_DIR}")
  if(arg_COST)
    list(PREPEND arg_COST COST)
  endif()
  include(GoogleTest)
  gtest_discover_tests(${name} TEST_PREFIX "${name}/" DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 300 PROPERTIES TIMEOUT ${windlass_test_timeout} ${arg_COST} LABELS "${arg_LABELS}")
endfunction()

# windlass_live(<name> COMMAND … TIMEOUT seconds [NO_CLUSTER | OWN_CLUSTER | TWO_CLUSTERS]): a test of `./dev live`, beside the API
# server that tests/live/run starts for all, or beside two, one of its own, none. Two run at a time, and of those that share a
# server, which see each other's objects, one; those with one of their own come last, one by one. 77: skipped.
function(windlass_live name)
  cmake_parse_arguments(arg "NO_CLUSTER;OWN_CLUSTER;TWO_CLUSTERS" "TIMEOUT" "COMMAND" ${ARGN})
  add_test(NAME ${name} COMMAND ${arg_COMMAND})
  set(labels live)
  set(shared RESOURCE_LOCK apiserver)
  if(arg_NO_CLUSTER)
    list(APPEND labels no_cluster)
    set(shared)
  elseif(arg_OWN_CLUSTER)
    list(APPEND labels own_cluster)
    set(shared)
  elseif(arg_TWO_CLUSTERS)
    list(APPEND labels two_clusters)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${arg_TIMEOUT} COST ${arg_TIMEOUT} SKIP_RETURN_CODE 77 ${shared})
endfunction()

# windlass_fuzzer(<name> LIBS ... SOURCES ...): a libFuzzer program, built by the fuzz preset only.
function(windlass_fuzzer name)
  if(NOT WINDLASS_FUZZ)
    return()
  endif()
  cmake_parse_arguments(arg "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBS})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
endfunction()
