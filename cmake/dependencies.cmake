# bdl_dependencies: what the core needs from the system.
find_package(Threads REQUIRED)
include(${CMAKE_CURRENT_LIST_DIR}/blas.cmake)
find_library(BDL_LBFGS_LIBRARY lbfgs REQUIRED)
find_path(BDL_LBFGS_INCLUDE_DIR lbfgs.h REQUIRED)
find_path(BDL_RANDOM123_INCLUDE_DIR Random123/philox.h REQUIRED)
find_library(BDL_NLOPT_LIBRARY nlopt REQUIRED)
find_library(BDL_NLOPT_ARCHIVE libnlopt.a)
find_path(BDL_NLOPT_INCLUDE_DIR nlopt.h REQUIRED)
find_path(BDL_BOOST_INCLUDE_DIR boost/math/special_functions/beta.hpp REQUIRED)
find_path(BDL_JSON_INCLUDE_DIR nlohmann/json.hpp REQUIRED)

add_library(bdl_dependencies INTERFACE)
target_include_directories(bdl_dependencies SYSTEM INTERFACE
  ${BDL_LBFGS_INCLUDE_DIR} ${BDL_RANDOM123_INCLUDE_DIR}
  ${BDL_BOOST_INCLUDE_DIR} ${BDL_JSON_INCLUDE_DIR} ${BDL_NLOPT_INCLUDE_DIR})
target_link_libraries(bdl_dependencies INTERFACE
  bdl_blas ${BDL_LBFGS_LIBRARY} ${BDL_NLOPT_LIBRARY} Threads::Threads)

# What a program that links libbdl.a needs beside it: by name where the linker looks anyway.
foreach(library IN LISTS BDL_BLAS_LIBRARIES BDL_LBFGS_LIBRARY BDL_NLOPT_LIBRARY)
  get_filename_component(folder ${library} DIRECTORY)
  if(folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
    get_filename_component(library ${library} NAME_WE)
    string(REGEX REPLACE "^lib" "-l" library ${library})  # not a name that is a target elsewhere
  endif()
  list(APPEND BDL_STATIC_DEPENDENCIES ${library})
endforeach()
set(BDL_CXX_RUNTIME ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
list(FILTER BDL_CXX_RUNTIME INCLUDE REGEX "^(std)?c[+][+]$")
list(TRANSFORM BDL_CXX_RUNTIME PREPEND -l)
