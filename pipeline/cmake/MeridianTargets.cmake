# Settings that every target of this project gets, and nobody who links it: warnings, sanitizers, baseline.

# meridian_target(<target>): private compile settings of our own targets.
function(meridian_target target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  # -ffp-contract=off: the same stored values from gcc and clang, with and without FMA in the target.
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -ffp-contract=off
    $<$<BOOL:${MERIDIAN_WARNINGS_AS_ERRORS}>:-Werror>
    # GCC 12 sees overlaps in std::string's own operator+ (GCC bug 105651). Where it packs neighbouring statements into
    # vectors it forgets to round a double that goes through float and back: other bytes than clang's and -O1's.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict -fno-tree-slp-vectorize>)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    target_compile_options(${target} PRIVATE -march=x86-64-v2)
  endif()
  target_compile_definitions(${target} PUBLIC $<BUILD_INTERFACE:$<$<CONFIG:Debug>:MERIDIAN_ENABLE_ASSERTS=1>>)
  if(MERIDIAN_SANITIZE)
    target_compile_definitions(${target} PUBLIC $<BUILD_INTERFACE:$<$<NOT:$<CONFIG:Debug>>:MERIDIAN_ENABLE_ASSERTS=1>>)
    target_compile_options(${target} PRIVATE -fsanitize=${MERIDIAN_SANITIZE} -fno-omit-frame-pointer
      # The runtime has no RTTI, which this one check of UndefinedBehaviorSanitizer asks for.
      -fno-sanitize=vptr
      -fno-sanitize-recover=all -g1 -O1  # twice as fast to compile as -O2, and little slower to run
      # GCC's own manual: sanitizers' checks lead these warnings astray. The other builds have them.
      $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-array-bounds;-Wno-maybe-uninitialized>)
    target_link_options(${target} PUBLIC $<BUILD_INTERFACE:-fsanitize=${MERIDIAN_SANITIZE}>)
  endif()
endfunction()
