# Units are compiled several at a time: most of what one costs is the headers and templates that its neighbours need as well. So a
# name in an anonymous namespace stands once in a library or test program. Whoever edits one unit again and again builds `dev`,
# where each is compiled by itself; so do clang's builds, which shows what a unit forgets to include.
option(ARMGATE_BATCHES "Compile several units at a time (g++ only)" ON)

# What the target's SOURCES are when its directory ends counts. A batch names its units by their paths in the tree, unlike CMake's own
# UNITY_BUILD, so that ccache knows it again in another clone.
function(armgate_in_batches target)
  if(ARMGATE_BATCHES AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    cmake_language(EVAL CODE "cmake_language(DEFER CALL armgate_batch [[${target}]])")
  endif()
endfunction()

function(armgate_batch target)
  target_compile_options(${target} PRIVATE -Wno-subobject-linkage)  # a batch is taken for a header
  get_target_property(sources ${target} SOURCES)
  set(kept)
  set(batch)
  set(number 0)
  list(APPEND sources "")  # ends the last batch
  foreach(source IN LISTS sources)
    get_source_file_property(alone "${source}" ARMGATE_ALONE)
    cmake_path(IS_PREFIX PROJECT_SOURCE_DIR "${source}" is_ours)
    cmake_path(IS_PREFIX PROJECT_BINARY_DIR "${source}" is_made)
    if(source AND (alone OR is_made OR NOT is_ours))
      list(APPEND kept ${source})
      continue()
    endif()
    if(source)
      cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE name)
      list(APPEND batch "#include \"${name}\"")
    endif()
    list(LENGTH batch size)
    if(size EQUAL 6 OR (NOT source AND size GREATER 0))
      list(JOIN batch "\n" includes)
      set(file ${CMAKE_CURRENT_BINARY_DIR}/batches/${target}_${number}.cc)
      file(CONFIGURE OUTPUT ${file} CONTENT "// Written by cmake/batches.cmake.\n${includes}\n" @ONLY)
      list(APPEND kept ${file})
      math(EXPR number "${number} + 1")
      set(batch)
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES SOURCES "${kept}")
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
