# Units are compiled several at a time: most of what one costs is the headers and templates that its neighbours need as well. So a
# name in an anonymous namespace stands once in a library or test program. Whoever edits one unit again and again builds `dev`,
# where each is compiled by itself; so do clang's builds, which shows what a unit forgets to include.
option(ARMGATE_BATCHES "Compile several units at a time (g++ only)" ON)

function(armgate_in_batches target)
  if(NOT ARMGATE_BATCHES OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  target_compile_options(${target} PRIVATE -Wno-subobject-linkage)  # a batch is taken for a header
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
endfunction()

# Those of the sources that have deliberate defects (base/mutant.h). Their second copies take the place of single objects of a library
# (tests/CMakeLists.txt), so that there they are compiled by themselves.
function(armgate_defective_files result)
  set(defective)
  foreach(source IN LISTS ARGN)
    file(STRINGS ${source} defects REGEX "is_mutant\\(")
    if(defects)
      list(APPEND defective ${source})
    endif()
  endforeach()
  set(${result} ${defective} PARENT_SCOPE)
endfunction()
