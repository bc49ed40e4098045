# Precompiled headers: those of the standard library and of Debian's libraries, never our own, so that an edit of ours makes
# none of them anew. Each group of layers has one; armgate_precompiled(TARGET GROUP) uses it. What uses a group's is compiled
# with the same flags: g++ 12 takes headers that were precompiled at another -O, and may crash on them.
#
# A file includes what it uses all the same: `make lint` and `make fuzz` build without (clang cannot read g++'s), and
# tests/tidy_test.cc looks for what is used and not included.
option(ARMGATE_PCH "Precompile the headers of the libraries (g++ only)" ON)

set(pure <algorithm> <array> <atomic> <bit> <charconv> <chrono> <cstdint> <cstring> <deque> <filesystem> <functional>
  <iterator> <limits> <list> <map> <memory> <optional> <set> <span> <string> <string_view> <tuple> <unordered_map> <utility>
  <variant> <vector> <fmt/format.h>)
set(asio <boost/asio/any_io_executor.hpp> <boost/asio/io_context.hpp> <boost/asio/ip/tcp.hpp>
  <boost/asio/post.hpp> <boost/asio/steady_timer.hpp> <absl/container/flat_hash_map.h> <absl/synchronization/mutex.h>)
set(program <fstream> <sstream> <fmt/chrono.h> <boost/asio/ssl/context.hpp> <nlohmann/json.hpp>)
set(test <regex> <gtest/gtest.h> <gmock/gmock.h>)

function(armgate_precompile group)
  if(NOT ARMGATE_PCH OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  file(CONFIGURE OUTPUT precompiled_${group}.cc CONTENT "// Holds nothing but the precompiled headers of its group.\n")
  add_library(armgate_precompiled_${group} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/precompiled_${group}.cc)
  target_link_libraries(armgate_precompiled_${group} PRIVATE armgate_flags ${ARGN})
  target_precompile_headers(armgate_precompiled_${group} PRIVATE ${headers_of_${group}})
endfunction()

# Does nothing where headers are not precompiled.
function(armgate_precompiled target group)
  if(TARGET armgate_precompiled_${group})
    target_precompile_headers(${target} REUSE_FROM armgate_precompiled_${group})
    target_compile_options(${target} PRIVATE -fpch-preprocess)  # ccache needs it
  endif()
endfunction()

set(headers_of_pure ${pure})
set(headers_of_asio ${pure} ${asio})
set(headers_of_program ${pure} ${asio} ${program})
set(headers_of_built_fast ${headers_of_program})
set(headers_of_test ${headers_of_program} ${test})
armgate_precompile(pure)
armgate_precompile(asio)
armgate_precompile(program)
armgate_precompile(built_fast armgate_built_fast)
if(ARMGATE_TESTS)
  find_package(GTest REQUIRED)
  armgate_precompile(test armgate_built_fast GTest::gtest GTest::gmock)
endif()
