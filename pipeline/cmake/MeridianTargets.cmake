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
    # A constant of a header that is unique in the process, as GCC makes them, keeps its library loaded for ever.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-fno-tree-slp-vectorize;-fno-gnu-unique>)
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

# meridian_unity(<target> [ALONE <source>...]): with MERIDIAN_UNITY_SOURCES, up to that many sources of one folder are
# compiled as one, for headers cost more than code. So names in anonymous namespaces differ within a folder. ALONE are
# sources that cannot be together with others: they include themselves, once for each width of SIMD registers. A build
# without it shows that each source includes what it needs.
function(meridian_unity target)
  cmake_parse_arguments(ARG "" "" "ALONE" ${ARGN})
  if(NOT MERIDIAN_UNITY_SOURCES GREATER 1)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(REMOVE_ITEM sources ${ARG_ALONE})
  list(FILTER sources EXCLUDE REGEX "^${PROJECT_BINARY_DIR}/")  # generated: large, and with no headers to share
  set(folders "")
  foreach(source IN LISTS sources)
    get_filename_component(folder "${source}" DIRECTORY)
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    list(APPEND folders "${folder}")
    list(APPEND in_${folder} "${source}")
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    list(LENGTH in_${folder} count)
    math(EXPR groups "(${count} + ${MERIDIAN_UNITY_SOURCES} - 1) / ${MERIDIAN_UNITY_SOURCES}")
    set(index 0)
    foreach(source IN LISTS in_${folder})
      math(EXPR group "${index} * ${groups} / ${count}")
      set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${folder}_${group}")
      math(EXPR index "${index} + 1")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
