# One folder, one target, one row in the arrow table (Arrows.cmake). All four functions take
#
#   DEPS <module>...       modules whose headers are included; checked against the arrow table
#   HEADERS <file>...      what others may include; each must compile alone
#   SOURCES <file>...      none makes an interface library
#   TESTS <file>...        form one GoogleTest executable
#   THREADED_TESTS <file>... belong to it too; all that lane tsan builds of it: they start threads
#   FUZZERS <file>...      x_fuzz.cpp is a libFuzzer executable in the fuzz preset, and elsewhere a
#                          test that gives it seeds and regressions (docs/fuzzing.md)
#   TEST_DEPS <module>...  what only the tests include: any module
#   LIBS <target>...       third parties seen by this module and its users
#   PRIVATE_LIBS <target>... third parties that its headers do not show
#   TEST_LIBS <target>...  third parties that only the tests see
#
# and name a backend `backends/null`, an adapter `adapters/loopback`, a tool `tools/print`, all else
# by its folder: `wire`. A target's include root holds only its own folder (a link), so that a
# header of a module not named in DEPS is not found.
include(${CMAKE_CURRENT_LIST_DIR}/Arrows.cmake)

# What a user runs, without the tests; the benchmarks; the fuzzers; what has to be written before
# sources can be read.
add_custom_target(virtaccel_programs)
add_custom_target(virtaccel_benchmarks)
add_custom_target(virtaccel_fuzzers)
add_custom_target(virtaccel_generated)

# All that ThreadSanitizer can see something in.
add_custom_target(virtaccel_threaded_tests)

# Headers of a module that most of its files include, compiled once for all of them.
function(virtaccel_precompile target)
  if(VIRTACCEL_PRECOMPILED_HEADERS)
    target_compile_options(${target} PRIVATE -fpch-preprocess)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# What nearly every test includes, compiled once for all of them. A file that forgets to include one
# of these is found by lane tidy, which has none.
function(virtaccel_precompile_test_headers)
  set(file ${PROJECT_BINARY_DIR}/precompiled_test_headers.cpp)
  file(CONFIGURE OUTPUT ${file} CONTENT "")
  add_executable(virtaccel_precompiled_test_headers EXCLUDE_FROM_ALL ${file})
  target_link_libraries(virtaccel_precompiled_test_headers PRIVATE virtaccel_options
                                                                   GTest::gtest_main)
  target_compile_options(virtaccel_precompiled_test_headers PRIVATE ${virtaccel_test_options})
  target_precompile_headers(
    virtaccel_precompiled_test_headers PRIVATE <gtest/gtest.h> <algorithm> <array> <expected>
    <memory> <optional> <span> <string> <string_view> <vector>)
endfunction()
# A test is compiled more often than it runs, and what it tests is optimised all the same.
set(virtaccel_test_options $<$<CONFIG:Debug>:-O0>)

set(virtaccel_freestanding_modules base wire queue guest device backend mock)
add_custom_target(virtaccel_freestanding_tests)

# virtaccel_module(<name> ...): a library in virtaccel/<name>/ or host/, target virtaccel_<name>.
function(virtaccel_module name)
  virtaccel_library(${name} ${ARGN})
endfunction()

# virtaccel_backend(<name> ...): a library in backends/<name>/, target virtaccel_backends_<name>.
function(virtaccel_backend name)
  virtaccel_library(backends/${name} ${ARGN})
endfunction()

# virtaccel_adapter(<name> ...): a library in adapters/<name>/, target virtaccel_adapters_<name>.
function(virtaccel_adapter name)
  virtaccel_library(adapters/${name} ${ARGN})
endfunction()

# virtaccel_program(<name> MAIN main.cpp ...): an executable <name> in bin/ out of tools/<name>/ or
# another folder; what its tests need too stands in SOURCES and becomes a library of its own.
function(virtaccel_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MAIN" "")
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR}
             OUTPUT_VARIABLE folder)
  virtaccel_library(${folder} ${arg_UNPARSED_ARGUMENTS})
  virtaccel_target_name(library ${folder})
  add_executable(${name} ${arg_MAIN})
  target_link_libraries(${name} PRIVATE ${library} virtaccel_options)
  add_dependencies(virtaccel_programs ${name})
endfunction()

# virtaccel_tests(<name> DEPS ... SOURCES ... [LIBS ...]): tests that cross modules, executable
# virtaccel_<name>_test.
function(virtaccel_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPS;SOURCES;LIBS")
  virtaccel_check_existence(${name} ${arg_DEPS})
  virtaccel_target_names(deps ${arg_DEPS})
  virtaccel_add_test(${name} "${deps};${arg_LIBS}" ${arg_SOURCES})
endfunction()

# virtaccel_example(<name> DEPS ... PRINTS <line>): an executable <name> in example_bin/ out of
# main.cpp; a test expects that line of it.
function(virtaccel_example name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PRINTS" "DEPS")
  virtaccel_check_existence(${name} ${arg_DEPS})
  virtaccel_target_names(deps ${arg_DEPS})
  add_executable(virtaccel_${name}_example main.cpp)
  set_target_properties(
    virtaccel_${name}_example PROPERTIES OUTPUT_NAME ${name}
                                         RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/example_bin)
  target_link_libraries(virtaccel_${name}_example PRIVATE ${deps} virtaccel_options)
  if(VIRTACCEL_TESTS)
    add_test(NAME examples/${name} COMMAND virtaccel_${name}_example)
    set_tests_properties(examples/${name} PROPERTIES PASS_REGULAR_EXPRESSION "^${arg_PRINTS}\n$")
  endif()
endfunction()

# virtaccel_benchmark(<name> DEPS ... SOURCES ... [LIBS ...]): an executable <name> in bench_bin/.
function(virtaccel_benchmark name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPS;SOURCES;LIBS")
  virtaccel_check_existence(${name} ${arg_DEPS})
  virtaccel_target_names(deps ${arg_DEPS})
  add_executable(virtaccel_${name}_bench ${arg_SOURCES})
  set_target_properties(
    virtaccel_${name}_bench PROPERTIES OUTPUT_NAME ${name}
                                       RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench_bin)
  target_link_libraries(virtaccel_${name}_bench PRIVATE ${deps} ${arg_LIBS} virtaccel_options)
  add_dependencies(virtaccel_benchmarks virtaccel_${name}_bench)
endfunction()

macro(virtaccel_arrow module)
  set(virtaccel_arrows_${module} ${ARGN})
  list(APPEND virtaccel_modules ${module})
endmacro()
virtaccel_arrows()

# The target of a module: virtaccel_wire, virtaccel_backends_null.
function(virtaccel_target_name result module)
  string(REPLACE / _ target virtaccel_${module})
  set(${result} ${target} PARENT_SCOPE)
endfunction()

function(virtaccel_target_names result)
  set(targets "")
  foreach(module IN LISTS ARGN)
    virtaccel_target_name(target ${module})
    list(APPEND targets ${target})
  endforeach()
  set(${result} ${targets} PARENT_SCOPE)
endfunction()

# The row of the arrow table that speaks for a module: `backends` for `backends/null`.
function(virtaccel_arrow_row result module)
  string(REGEX REPLACE "/.*" "" row ${module})
  list(FIND virtaccel_modules ${row} rank)
  if(rank EQUAL -1)
    message(FATAL_ERROR "The module (${module}) has no row in cmake/Arrows.cmake: add one first.")
  endif()
  set(${result} ${row} PARENT_SCOPE)
endfunction()

# Folders appear one after the other; a module that names one that is not there yet is told so.
function(virtaccel_check_existence module)
  foreach(dep IN LISTS ARGN)
    if(NOT EXISTS ${PROJECT_SOURCE_DIR}/virtaccel/${dep}/CMakeLists.txt
       AND NOT EXISTS ${PROJECT_SOURCE_DIR}/${dep}/CMakeLists.txt)
      message(FATAL_ERROR "The module (${module}) names a module (${dep}) that has no folder with "
                          "a CMakeLists.txt: write that module first, or take it out of DEPS.")
    endif()
  endforeach()
endfunction()

function(virtaccel_check_arrows module)
  virtaccel_arrow_row(row ${module})
  virtaccel_check_existence(${module} ${ARGN})
  if(virtaccel_arrows_${row} STREQUAL "ALL")
    return()
  endif()
  foreach(dep IN LISTS ARGN)
    virtaccel_arrow_row(dep_row ${dep})
    if(NOT dep_row IN_LIST virtaccel_arrows_${row})
      message(FATAL_ERROR "The module (${module}) may not depend on (${dep}): the arrow table in "
                          "cmake/Arrows.cmake allows it only (${virtaccel_arrows_${row}}).")
    endif()
  endforeach()
endfunction()

function(virtaccel_library module)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" ""
                        "DEPS;HEADERS;SOURCES;TESTS;THREADED_TESTS;FUZZERS;TEST_DEPS;LIBS;\
PRIVATE_LIBS;TEST_LIBS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "The module (${module}) has arguments without a keyword "
                        "(${arg_UNPARSED_ARGUMENTS}): put one in front of them.")
  endif()
  virtaccel_check_arrows(${module} ${arg_DEPS})
  virtaccel_check_existence(${module} ${arg_TEST_DEPS})
  virtaccel_target_name(target ${module})
  virtaccel_target_names(deps ${arg_DEPS})
  virtaccel_target_names(test_deps ${arg_TEST_DEPS})

  if(arg_SOURCES)
    add_library(${target} STATIC ${arg_SOURCES})
    set(scope PUBLIC)
    target_link_libraries(${target} PRIVATE virtaccel_options ${arg_PRIVATE_LIBS})
    if(module IN_LIST virtaccel_freestanding_modules)
      target_link_libraries(${target} PRIVATE virtaccel_freestanding)
    endif()
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  string(REPLACE / :: alias virtaccel/${module})
  add_library(${alias} ALIAS ${target})
  target_compile_features(${target} ${scope} cxx_std_23)
  target_link_libraries(${target} ${scope} ${deps} ${arg_LIBS})
  virtaccel_show_headers(${target} ${scope} ${arg_HEADERS})

  set(test_libraries ${target} ${test_deps} ${arg_TEST_LIBS})
  if(VIRTACCEL_THREADED_TESTS_ONLY)
    set(arg_TESTS)
  endif()
  if(arg_TESTS OR arg_THREADED_TESTS)
    virtaccel_add_test(${module} "${test_libraries}" ${arg_TESTS} ${arg_THREADED_TESTS})
    if(VIRTACCEL_THREADED_TESTS_ONLY)
      add_dependencies(virtaccel_threaded_tests ${target}_test)
    endif()
    if(TARGET ${target}_test AND module IN_LIST virtaccel_freestanding_modules)
      add_dependencies(virtaccel_freestanding_tests ${target}_test)
    endif()
  endif()
  virtaccel_add_fuzzers(${module} "${test_libraries}" ${arg_FUZZERS})
endfunction()

# Gives a target an include root in the build folder that holds nothing but this folder.
function(virtaccel_show_headers target scope)
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR}
             OUTPUT_VARIABLE folder)
  set(root ${PROJECT_BINARY_DIR}/include/${target})
  cmake_path(GET folder PARENT_PATH parent)
  file(MAKE_DIRECTORY ${root}/${parent})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${root}/${folder} SYMBOLIC)
  list(TRANSFORM ARGN PREPEND ${root}/${folder}/ OUTPUT_VARIABLE headers)
  target_sources(${target} ${scope} FILE_SET HEADERS BASE_DIRS ${root} FILES ${headers})
endfunction()

function(virtaccel_add_test module libraries)
  if(NOT VIRTACCEL_TESTS)
    return()
  endif()
  virtaccel_target_name(target ${module})
  add_executable(${target}_test ${ARGN})
  set_target_properties(${target}_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                                  ${PROJECT_BINARY_DIR}/test_bin)
  target_link_libraries(${target}_test PRIVATE ${libraries} virtaccel_options GTest::gtest_main)
  target_compile_options(${target}_test PRIVATE ${virtaccel_test_options})
  if(VIRTACCEL_PRECOMPILED_HEADERS)
    target_compile_options(${target}_test PRIVATE -fpch-preprocess)
    target_precompile_headers(${target}_test REUSE_FROM virtaccel_precompiled_test_headers)
  endif()
  gtest_discover_tests(${target}_test DISCOVERY_MODE PRE_TEST TEST_PREFIX "${module}/"
                       PROPERTIES TIMEOUT 300)
endfunction()

function(virtaccel_add_fuzzers module libraries)
  foreach(file IN LISTS ARGN)
    virtaccel_fuzzer(${module} ${file} LIBS ${libraries})
  endforeach()
endfunction()

# virtaccel_fuzzer(<module> <x_fuzz.cpp> LIBS <target>... [INCLUDES <module>...] [SOURCES <file>...]
#                  [TEST_LIBS <target>...]): the fuzzer <module>_x. With SOURCES it is made of these
# files of the module, so that the fuzz preset does not have to build all of it; the test of its
# regressions links TEST_LIBS in their place. Of INCLUDES only headers are seen.
function(virtaccel_fuzzer module file)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "LIBS;INCLUDES;SOURCES;TEST_LIBS")
  virtaccel_fuzzer_name(name ${module} ${file})
  if(VIRTACCEL_FUZZERS)
    add_executable(fuzz_${name} ${file} ${arg_SOURCES})
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    set(folder fuzz_bin)
    add_dependencies(virtaccel_fuzzers fuzz_${name})
  elseif(VIRTACCEL_TESTS AND NOT VIRTACCEL_THREADED_TESTS_ONLY)
    add_executable(fuzz_${name} ${file})
    target_link_libraries(fuzz_${name} PRIVATE virtaccel_fuzz_replay ${arg_TEST_LIBS})
    target_compile_options(fuzz_${name} PRIVATE $<$<CONFIG:Debug>:-O0>)
    set(folder test_bin/fuzz)
    add_test(NAME fuzz/${name}
             COMMAND fuzz_${name} ${PROJECT_SOURCE_DIR}/tests/regressions/${name}
                     ${PROJECT_BINARY_DIR}/seeds/${name})
    set_tests_properties(fuzz/${name} PROPERTIES FIXTURES_REQUIRED fuzz_seeds TIMEOUT 300)
  else()
    return()
  endif()
  set_target_properties(fuzz_${name} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY
                                                            ${PROJECT_BINARY_DIR}/${folder})
  # The host's way to stop the program stands behind every broken promise.
  target_link_libraries(fuzz_${name} PRIVATE ${arg_LIBS} virtaccel_host virtaccel_options)
  virtaccel_target_names(includes ${arg_INCLUDES})
  foreach(target IN LISTS includes)
    target_include_directories(fuzz_${name} PRIVATE ${PROJECT_BINARY_DIR}/include/${target})
  endforeach()
endfunction()

# `queue_device_ring` for device_ring_fuzz.cpp of the module queue, `tosa` for its tosa_fuzz.cpp.
function(virtaccel_fuzzer_name result module file)
  cmake_path(GET file STEM stem)
  string(REGEX REPLACE "_fuzz$" "" stem ${stem})
  string(REGEX REPLACE ".*/" "" last ${module})
  string(REPLACE / _ name ${module})
  if(NOT last STREQUAL stem)
    string(APPEND name _${stem})
  endif()
  set(${result} ${name} PARENT_SCOPE)
endfunction()
