# bdl_blas: BLAS and LAPACK, of the system or within libbdl.so.
find_path(BDL_CBLAS_INCLUDE_DIR cblas.h REQUIRED)
find_path(BDL_LAPACKE_INCLUDE_DIR lapacke.h REQUIRED)
add_library(bdl_blas INTERFACE)
target_include_directories(bdl_blas SYSTEM INTERFACE ${BDL_CBLAS_INCLUDE_DIR} ${BDL_LAPACKE_INCLUDE_DIR})

if(BDL_BLAS STREQUAL system)
  # The generic names, so that the system's choice of BLAS (on Debian: its alternatives) answers at run time.
  find_library(BDL_BLAS_LIBRARY blas REQUIRED)
  find_library(BDL_LAPACKE_LIBRARY lapacke REQUIRED)
  set(BDL_BLAS_LIBRARIES ${BDL_LAPACKE_LIBRARY} ${BDL_BLAS_LIBRARY})
elseif(BDL_BLAS STREQUAL private)
  if(BDL_BUILD_STATIC OR BDL_KIND STREQUAL STATIC)
    message(FATAL_ERROR "BDL_BLAS=private puts OpenBLAS into libbdl.so and hides its names, which an archive cannot: "
      "say BUILD_SHARED_LIBS=ON and BDL_BUILD_STATIC=OFF, or BDL_BLAS=system")
  endif()
  file(GLOB folders /usr/lib/*/openblas-serial)  # Debian's
  find_library(BDL_BLAS_ARCHIVE libopenblas.a HINTS ${folders})
  find_library(BDL_LAPACKE_ARCHIVE liblapacke.a)
  if(NOT BDL_BLAS_ARCHIVE OR NOT BDL_LAPACKE_ARCHIVE)
    message(FATAL_ERROR "BDL_BLAS=private needs a serial libopenblas.a and liblapacke.a (Debian: libopenblas-serial-dev, "
      "liblapacke-dev); found ${BDL_BLAS_ARCHIVE} and ${BDL_LAPACKE_ARCHIVE}. "
      "If they are elsewhere, set BDL_BLAS_ARCHIVE and BDL_LAPACKE_ARCHIVE")
  endif()
  file(STRINGS ${BDL_BLAS_ARCHIVE} threads REGEX blas_thread_init LIMIT_COUNT 1)
  if(threads)
    message(FATAL_ERROR "${BDL_BLAS_ARCHIVE} is an OpenBLAS with threads of its own: "
      "set BDL_BLAS_ARCHIVE to a serial one (USE_THREAD=0; Debian: libopenblas-serial-dev)")
  endif()
  set(BDL_BLAS_LIBRARIES ${BDL_LAPACKE_ARCHIVE} ${BDL_BLAS_ARCHIVE})
  # src/parallel/blas_private.cpp guards its buffers.
  target_link_options(bdl_blas INTERFACE -Wl,--wrap=blas_memory_alloc,--wrap=blas_memory_free)
else()
  message(FATAL_ERROR "BDL_BLAS is \"${BDL_BLAS}\"; expected system or private")
endif()
target_link_libraries(bdl_blas INTERFACE ${BDL_BLAS_LIBRARIES})
