# SPDX-License-Identifier: MIT
# Compiles XML sources to resources as part of a CMake build. Works in this project, in one that adds it as a
# sub-directory, and after find_package(Meridian).
#
#   meridian_compile_maps(city_assets
#     MAPS        maps/town.ymap.xml maps/hills.ymap.xml    # -> town.imap hills.imap
#     ARCHETYPES  types/props.ytyp.xml                      # -> props.ityp
#     GAMECONFIGS gameconfig.xml                            # -> gameconfig.gcfg
#     MANIFESTS   _manifest.ymf.xml                         # -> _manifest.ymfm
#     OUT_DIR     "${CMAKE_CURRENT_BINARY_DIR}/assets"
#     OPTIONS     -Werror)                                  # given to every compiler
#   add_dependencies(game city_assets)
#
# Makes the target city_assets, which is part of ALL, with one command for each file: a file is compiled again when it,
# what it reads (by depfile), or the compiler has changed. The full paths of the outputs are its property
# MERIDIAN_RESOURCES. Relative inputs count from the calling CMakeLists.txt; OUT_DIR's default is
# ${CMAKE_CURRENT_BINARY_DIR}/<target>. Sources are named one by one, so that the build system sees each of them.
include_guard(GLOBAL)

set(MERIDIAN_PROGRAM_HINT "${CMAKE_CURRENT_LIST_DIR}" CACHE INTERNAL "Where MeridianAssets.cmake stands")

# Ninja reads a compiler's depfile as it is if the command runs in the top build folder and names its output relative to
# it. CMake's own transformation (CMP0116 NEW) starts a second process for each file, which costs more than a compile.
cmake_policy(PUSH)
if(CMAKE_GENERATOR MATCHES "Ninja")
  cmake_policy(SET CMP0116 OLD)
endif()

# The program as COMMAND and DEPENDS take it: the target of this build, else an installed one.
function(meridian_find_program out name)
  if(TARGET ${name})
    set(${out} ${name} PARENT_SCOPE)
    return()
  endif()
  string(TOUPPER "MERIDIAN_${name}" variable)
  find_program(${variable} ${name}
    HINTS "${MERIDIAN_PROGRAM_HINT}/../../../bin" "${MERIDIAN_PROGRAM_HINT}/../../../../bin" NO_CMAKE_FIND_ROOT_PATH
    DOC "Compiler of Meridian resources")
  if(NOT ${variable})
    message(FATAL_ERROR "meridian_compile_maps: ${name} is neither a target (MERIDIAN_BUILD_TOOLS=ON) nor installed")
  endif()
  set(${out} "${${variable}}" PARENT_SCOPE)
endfunction()

# One command; appends the output to the list.
function(meridian_compile_resource out program extension source)
  cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
  cmake_path(GET source FILENAME name)
  string(REGEX REPLACE "\\.xml$" "" name "${name}")
  string(REGEX REPLACE "\\.(ymap|ytyp|ymf)$" "" name "${name}")
  set(output "${ARG_OUT_DIR}/${name}.${extension}")
  if(output IN_LIST ${out})
    message(FATAL_ERROR "meridian_compile_maps(${target}): two sources give ${output}")
  endif()
  set(written "${output}")
  if(CMAKE_GENERATOR MATCHES "Ninja")
    file(RELATIVE_PATH written "${CMAKE_BINARY_DIR}" "${output}")
  endif()
  meridian_find_program(command ${program})
  add_custom_command(OUTPUT "${output}"
    COMMAND ${command} ${ARG_OPTIONS} --quiet --write always --depfile "${output}.d" -o "${written}" "${source}"
    DEPENDS "${source}" ${command} DEPFILE "${output}.d" WORKING_DIRECTORY "${CMAKE_BINARY_DIR}"
    COMMENT "${program} ${name}.${extension}" VERBATIM)
  set(${out} ${${out}} "${output}" PARENT_SCOPE)
endfunction()

function(meridian_compile_maps target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "OUT_DIR" "MAPS;ARCHETYPES;GAMECONFIGS;MANIFESTS;OPTIONS")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "meridian_compile_maps(${target}): unknown arguments ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT ARG_OUT_DIR)
    set(ARG_OUT_DIR "${target}")
  endif()
  cmake_path(ABSOLUTE_PATH ARG_OUT_DIR BASE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}" NORMALIZE)
  file(MAKE_DIRECTORY "${ARG_OUT_DIR}")

  set(outputs "")
  foreach(source IN LISTS ARG_MAPS)
    meridian_compile_resource(outputs imapc imap "${source}")
  endforeach()
  foreach(source IN LISTS ARG_ARCHETYPES)
    meridian_compile_resource(outputs itypc ityp "${source}")
  endforeach()
  foreach(source IN LISTS ARG_GAMECONFIGS)
    meridian_compile_resource(outputs gameconfigc gcfg "${source}")
  endforeach()
  foreach(source IN LISTS ARG_MANIFESTS)
    meridian_compile_resource(outputs metac ymfm "${source}")
  endforeach()
  add_custom_target(${target} ALL DEPENDS ${outputs})
  set_target_properties(${target} PROPERTIES MERIDIAN_RESOURCES "${outputs}")
endfunction()

cmake_policy(POP)
