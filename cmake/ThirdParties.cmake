# The libraries of others, all Debian's. A module names the target it uses in LIBS or PRIVATE_LIBS:
#   CLI11::CLI11 fmt::fmt nlohmann_json::nlohmann_json virtaccel::flatbuffers DNNL::dnnl hwy::hwy
#   PNG::PNG benchmark::benchmark Threads::Threads
# The portable core needs none of them but flatbuffers' headers.
if(VIRTACCEL_TESTS)
  find_package(GTest REQUIRED)
endif()
if(VIRTACCEL_BUDGETS OR NOT VIRTACCEL_PORTABLE_ONLY)
  find_package(fmt REQUIRED)
endif()
if(NOT VIRTACCEL_PORTABLE_ONLY)
  find_package(CLI11 REQUIRED)
  find_package(nlohmann_json REQUIRED)
  find_package(PNG REQUIRED)
  find_package(hwy REQUIRED)
  find_package(benchmark REQUIRED)
  find_package(Threads REQUIRED)
  # Debian's package configuration asks for OpenCL's headers, which nobody here includes.
  find_path(VIRTACCEL_DNNL_INCLUDE dnnl.hpp REQUIRED)
  find_library(VIRTACCEL_DNNL_LIBRARY dnnl REQUIRED)
  add_library(DNNL::dnnl UNKNOWN IMPORTED)
  set_target_properties(DNNL::dnnl PROPERTIES IMPORTED_LOCATION ${VIRTACCEL_DNNL_LIBRARY})
  target_include_directories(DNNL::dnnl INTERFACE ${VIRTACCEL_DNNL_INCLUDE})
endif()

# Readers of flatbuffers need headers only. They are shown through a link of their own, so that a
# cross-compiler does not meet the rest of the system's include folder.
find_path(VIRTACCEL_FLATBUFFERS_INCLUDE flatbuffers/flatbuffers.h REQUIRED)
# The system's own first: the tosa-tools wheel in build/venv brings another version.
find_program(VIRTACCEL_FLATC flatc PATHS /usr/bin NO_DEFAULT_PATH)
find_program(VIRTACCEL_FLATC flatc REQUIRED)

file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/include/flatbuffers)
file(CREATE_LINK ${VIRTACCEL_FLATBUFFERS_INCLUDE}/flatbuffers
     ${PROJECT_BINARY_DIR}/include/flatbuffers/flatbuffers SYMBOLIC)
add_library(virtaccel_flatbuffers INTERFACE)
target_include_directories(virtaccel_flatbuffers SYSTEM
                           INTERFACE ${PROJECT_BINARY_DIR}/include/flatbuffers)
add_library(virtaccel::flatbuffers ALIAS virtaccel_flatbuffers)

# ./run makes a private environment; without it, any Python that has pip will do.
find_program(VIRTACCEL_PYTHON NAMES python3
             HINTS ${PROJECT_SOURCE_DIR}/build/venv/bin REQUIRED)

# The official TOSA schema comes out of a wheel and is never committed; the script keeps it in the
# user's cache, so only the first configuration of all needs a network.
# Call virtaccel_tosa_schema() and name virtaccel::tosa_schema in LIBS or PRIVATE_LIBS to include
# <tosa_generated.h>.
function(virtaccel_tosa_schema)
  set(folder ${PROJECT_BINARY_DIR}/generated)
  execute_process(
    COMMAND ${VIRTACCEL_PYTHON} ${PROJECT_SOURCE_DIR}/tools/tosa_schema.py --output ${folder}
    OUTPUT_QUIET
    RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "The TOSA schema (${folder}/tosa.fbs) cannot be written: see the message "
                        "above.")
  endif()
  add_custom_command(
    OUTPUT ${folder}/tosa_generated.h
    COMMAND ${VIRTACCEL_FLATC} --cpp --scoped-enums -o ${folder} ${folder}/tosa.fbs
    DEPENDS ${folder}/tosa.fbs
    COMMENT "Generating tosa_generated.h"
    VERBATIM)
  add_custom_target(virtaccel_tosa_generated DEPENDS ${folder}/tosa_generated.h)
  add_dependencies(virtaccel_generated virtaccel_tosa_generated)
  add_library(virtaccel_tosa_schema INTERFACE)
  add_dependencies(virtaccel_tosa_schema virtaccel_tosa_generated)
  target_include_directories(virtaccel_tosa_schema SYSTEM INTERFACE ${folder})
  target_link_libraries(virtaccel_tosa_schema INTERFACE virtaccel_flatbuffers)
  add_library(virtaccel::tosa_schema ALIAS virtaccel_tosa_schema)
endfunction()
