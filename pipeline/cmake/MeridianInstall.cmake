# SPDX-License-Identifier: MIT
# What `cmake --install` puts where. Components: runtime (libraries, headers, schemas, package files) and tools
# (programs with man pages and completions; tools/lib/cmake/MeridianTool.cmake installs those).
#
#   cmake --install build/release --prefix DIR                     everything
#   cmake --install build/bundle --prefix DIR --component tools    with MERIDIAN_BUNDLE_TOOLS: a folder to copy anywhere
option(MERIDIAN_INSTALL "Install this project" ${PROJECT_IS_TOP_LEVEL})
include("${CMAKE_CURRENT_LIST_DIR}/MeridianAssets.cmake")
if(NOT MERIDIAN_INSTALL)
  return()
endif()
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Meridian")
set(programs imapc itypc gameconfigc metac resinfo worldc worldgen)

# --- libraries and headers ---------------------------------------------------------------------------

install(TARGETS meridian_runtime meridian_compat meridian_schemas EXPORT MeridianTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime)
install(EXPORT MeridianTargets NAMESPACE meridian:: DESTINATION "${package_dir}" COMPONENT runtime)
install(DIRECTORY runtime/include/ runtime/compat/include/ "${PROJECT_BINARY_DIR}/schemas/include/"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT runtime FILES_MATCHING PATTERN "*.h")
install(DIRECTORY schemas/meridian DESTINATION "${CMAKE_INSTALL_DATADIR}/meridian/schemas" COMPONENT runtime
  FILES_MATCHING PATTERN "*.fbs")

# Sets of their own, so that users of the runtime need neither zstd nor oneTBB, and users of packs no tinyxml2.
install(TARGETS meridian_pack_zstd EXPORT MeridianPackTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime)
install(EXPORT MeridianPackTargets NAMESPACE meridian:: DESTINATION "${package_dir}" COMPONENT runtime)
if(TARGET meridian_jobs_tbb)
  install(TARGETS meridian_jobs_tbb EXPORT MeridianJobsTbbTargets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime)
  install(EXPORT MeridianJobsTbbTargets NAMESPACE meridian:: DESTINATION "${package_dir}" COMPONENT runtime)
  install(DIRECTORY runtime/jobs_tbb/include/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT runtime
    FILES_MATCHING PATTERN "*.h")
endif()
if(TARGET meridian_tools)
  install(TARGETS meridian_tools meridian_xml_fallback EXPORT MeridianToolsTargets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime)
  install(EXPORT MeridianToolsTargets NAMESPACE meridian:: DESTINATION "${package_dir}" COMPONENT runtime)
  install(DIRECTORY tools/lib/include/ tools/xml_fallback/include/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT runtime
    FILES_MATCHING PATTERN "*.h")
endif()

# --- package files -----------------------------------------------------------------------------------

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/MeridianConfig.cmake.in"
  "${CMAKE_CURRENT_BINARY_DIR}/MeridianConfig.cmake" INSTALL_DESTINATION "${package_dir}")
# Until 1.0 a minor version may break.
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/MeridianConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/MeridianConfig.cmake"
  "${CMAKE_CURRENT_BINARY_DIR}/MeridianConfigVersion.cmake" "${CMAKE_CURRENT_LIST_DIR}/MeridianAssets.cmake"
  DESTINATION "${package_dir}" COMPONENT runtime)
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT runtime)

# --- the tools as one relocatable folder -------------------------------------------------------------

if(MERIDIAN_BUNDLE_TOOLS AND TARGET meridian_tools)
  foreach(program IN LISTS programs)
    target_link_options(${program} PRIVATE -static-libstdc++ -static-libgcc
      # An old-style RPATH holds for the libraries of libraries too, and before LD_LIBRARY_PATH.
      -Wl,--disable-new-dtags)
    file(RELATIVE_PATH to_libraries "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")
    set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/${to_libraries}")
    list(APPEND program_files "$<TARGET_FILE:${program}>")
  endforeach()
  # Everything that the loader would look for elsewhere, but glibc, which comes with the machine. libtbb and libtinyxml2
  # bring libstdc++.so; it's of the compiler that linked the programs, so exceptions cross between the two copies.
  install(CODE "
    file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${program_files}
      RESOLVED_DEPENDENCIES_VAR libraries
      PRE_EXCLUDE_REGEXES [[^(lib(c|m|dl|rt|pthread|resolv)\\.so|ld-linux|linux-vdso)]])
    file(INSTALL DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}\" TYPE SHARED_LIBRARY
      FOLLOW_SYMLINK_CHAIN FILES \${libraries})" COMPONENT tools)
  install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT tools)
endif()
