# What every target of ours is compiled with. Interface targets, so that a third party's code
# never meets our warnings and a freestanding module never meets an exception.
add_library(virtaccel_options INTERFACE)
target_compile_features(virtaccel_options INTERFACE cxx_std_23)
target_compile_options(
  virtaccel_options INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
                              $<$<BOOL:${VIRTACCEL_WERROR}>:-Werror>)
if(VIRTACCEL_HARDENING)
  # The standard library checks its preconditions (span, optional, expected) in every build.
  target_compile_definitions(virtaccel_options INTERFACE _GLIBCXX_ASSERTIONS)
endif()
if(VIRTACCEL_SANITIZERS)
  # vptr asks for type names, which the freestanding modules do not have.
  add_compile_options(-fsanitize=${VIRTACCEL_SANITIZERS} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${VIRTACCEL_SANITIZERS})
  if(VIRTACCEL_SANITIZERS MATCHES "undefined")
    add_compile_options(-fno-sanitize=vptr)
  endif()
  if(VIRTACCEL_SANITIZERS MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # ThreadSanitizer does not see fences. Ours only order a store before a later load; what one
    # thread hands to another goes through an acquire and a release, which it does see.
    add_compile_options(-Wno-tsan)
    # Its calls make g++ 12 see a vector's growth as an access past the old end. (After -Wall.)
    target_compile_options(
      virtaccel_options INTERFACE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
endif()

# Modules that must run where nothing can throw and nothing asks for a type's name.
add_library(virtaccel_freestanding INTERFACE)
target_compile_options(virtaccel_freestanding
                       INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti>)
