# meridian_tool(<name> <source>...): the program <name> from main.cpp, its code as the library meridian_<name> for
# tests, and its man page, completions and option table, which the program prints itself.
function(meridian_tool name)
  add_library(meridian_${name} STATIC ${ARGN})
  meridian_target(meridian_${name})
  target_include_directories(meridian_${name} PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}")
  target_link_libraries(meridian_${name} PUBLIC meridian_tools)

  add_executable(${name} main.cpp)
  meridian_target(${name})
  target_link_libraries(${name} PRIVATE meridian_${name})
  install(TARGETS ${name} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT tools)

  if(CMAKE_CROSSCOMPILING)
    return()  # the program does not run here, so it cannot print its pages
  endif()
  set(pages)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/pages")
  foreach(page "man ${name}.1 ${CMAKE_INSTALL_MANDIR}/man1"
               "bash ${name} ${CMAKE_INSTALL_DATADIR}/bash-completion/completions"
               "zsh _${name} ${CMAKE_INSTALL_DATADIR}/zsh/site-functions"
               "fish ${name}.fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d"
               "markdown ${name}.md ${CMAKE_INSTALL_DOCDIR}/tools")
    separate_arguments(parts UNIX_COMMAND "${page}")
    list(GET parts 0 kind)
    list(GET parts 1 file)
    list(GET parts 2 destination)
    add_custom_command(OUTPUT "${folder}/${file}"
      COMMAND "${CMAKE_COMMAND}" -E make_directory "${folder}"
      COMMAND ${name} --generate=${kind} > "${folder}/${file}"
      DEPENDS ${name} VERBATIM)
    list(APPEND pages "${folder}/${file}")
    install(FILES "${folder}/${file}" DESTINATION "${destination}" COMPONENT tools)
  endforeach()
  add_custom_target(${name}_pages ALL DEPENDS ${pages})
endfunction()
