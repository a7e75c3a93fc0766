# What a package of libbdl contains: library, headers, CMake package bdl::bdl, pkg-config file. All relocatable.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/bdl)
set(pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(TARGETS bdl EXPORT bdlTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
# Releases leave their debug information here: "objcopy --only-keep-debug build/release/lib/libbdl.so libbdl.debug" is what a
# package of debug symbols holds.
install(CODE [[
  if(CMAKE_INSTALL_CONFIG_NAME STREQUAL Release)]] CODE "
    file(GLOB installed \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/libbdl*.so.*.*\")
    execute_process(COMMAND ${CMAKE_STRIP} --strip-unneeded \${installed} COMMAND_ERROR_IS_FATAL ANY)
  endif()")
install(DIRECTORY include/bdl/ ${PROJECT_BINARY_DIR}/include/bdl/
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/bdl FILES_MATCHING PATTERN "*.h" PATTERN mpi.h EXCLUDE)

install(EXPORT bdlTargets NAMESPACE bdl:: DESTINATION ${package_dir})
configure_package_config_file(cmake/bdlConfig.cmake.in bdlConfig.cmake INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may change names (include/bdl/bdl.h says which).
write_basic_package_version_file(bdlConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/bdlConfig.cmake ${PROJECT_BINARY_DIR}/bdlConfigVersion.cmake
  DESTINATION ${package_dir})

file(RELATIVE_PATH BDL_PREFIX_FROM_PC ${CMAKE_INSTALL_PREFIX}/${pc_dir} ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" BDL_PREFIX_FROM_PC "${BDL_PREFIX_FROM_PC}")
configure_file(pkgconfig/bdl.pc.in bdl.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/bdl.pc DESTINATION ${pc_dir})

if(TARGET bdl_mpi)
  install(FILES include/bdl/mpi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/bdl)
  configure_file(pkgconfig/bdl_mpi.pc.in bdl_mpi.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/bdl_mpi.pc DESTINATION ${pc_dir})
endif()
