# What a package of libbdl contains: libraries, headers, CMake package bdl::bdl, pkg-config file. All relocatable.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/bdl)
set(pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(BDL_HAS_STATIC OFF)
if(TARGET bdl_static OR BDL_KIND STREQUAL STATIC)
  set(BDL_HAS_STATIC ON)
endif()

function(bdl_install_library export)
  install(TARGETS ${ARGN} EXPORT ${export}Targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT ${export}Targets NAMESPACE bdl:: DESTINATION ${package_dir})
endfunction()

set(libraries bdl)
if(TARGET bdl_static)
  list(APPEND libraries bdl_static)
endif()
bdl_install_library(bdl ${libraries})
if(TARGET bdl_mpi)
  bdl_install_library(bdl_mpi bdl_mpi)
endif()
# Releases leave their debug information here: "objcopy --only-keep-debug build/release/lib/libbdl.so libbdl.debug" is what a
# package of debug symbols holds. Archives keep the names by which they are linked.
install(CODE [[
  if(CMAKE_INSTALL_CONFIG_NAME STREQUAL Release)]] CODE "
    set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}\")
    file(GLOB installed \"\${folder}/libbdl*.so.*.*\" \"\${folder}/libbdl*.a\")
    foreach(library IN LISTS installed)
      if(library MATCHES \"[.]a\$\")
        set(what --strip-debug)
      else()
        set(what --strip-unneeded)
      endif()
      execute_process(COMMAND ${CMAKE_STRIP} \${what} \${library} COMMAND_ERROR_IS_FATAL ANY)
    endforeach()
  endif()")
install(DIRECTORY include/bdl/ ${PROJECT_BINARY_DIR}/include/bdl/
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/bdl FILES_MATCHING PATTERN "*.h" PATTERN mpi.h EXCLUDE)

configure_package_config_file(cmake/bdlConfig.cmake.in bdlConfig.cmake INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may change names (include/bdl/bdl.h says which).
write_basic_package_version_file(bdlConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/bdlConfig.cmake ${PROJECT_BINARY_DIR}/bdlConfigVersion.cmake
  DESTINATION ${package_dir})

# What programs that link libbdl.a need is private where they may link libbdl.so. Behind -Wl,-Bstatic the linker takes archives
# only: it is told to take shared libraries of what has no archive (Debian's NLopt), and then of libm, as the C library is all
# shared or all archives.
set(archives "")
set(others "")
foreach(library IN LISTS BDL_STATIC_DEPENDENCIES)
  if(library MATCHES nlopt AND NOT BDL_NLOPT_ARCHIVE)
    string(APPEND others " ${library}")
  else()
    string(APPEND archives " ${library}")
  endif()
endforeach()
set(libs "${archives} ${BDL_CXX_RUNTIME}")
if(others)
  string(APPEND libs " -Wl,--push-state,-Bdynamic${others} -lm -Wl,--pop-state")
else()
  string(APPEND libs " -lm")
endif()
if(CMAKE_THREAD_LIBS_INIT)
  string(APPEND libs " ${CMAKE_THREAD_LIBS_INIT}")
endif()
set(BDL_LIBS "")
set(BDL_LIBS_PRIVATE "")
if(BDL_KIND STREQUAL STATIC)
  set(BDL_LIBS "${libs}")
elseif(BDL_HAS_STATIC)
  set(BDL_LIBS_PRIVATE "${libs}")
endif()
file(RELATIVE_PATH BDL_PREFIX_FROM_PC ${CMAKE_INSTALL_PREFIX}/${pc_dir} ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" BDL_PREFIX_FROM_PC "${BDL_PREFIX_FROM_PC}")
configure_file(pkgconfig/bdl.pc.in bdl.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/bdl.pc DESTINATION ${pc_dir})

if(TARGET bdl_mpi)
  install(FILES include/bdl/mpi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/bdl)
  set(BDL_MPI_LIBS "")
  if(BDL_KIND STREQUAL STATIC)
    list(JOIN MPI_C_LIBRARIES " " BDL_MPI_LIBS)
  endif()
  configure_file(pkgconfig/bdl_mpi.pc.in bdl_mpi.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/bdl_mpi.pc DESTINATION ${pc_dir})
endif()
