# bdl_flags: how everything of this project is compiled. Never part of what is installed.
add_library(bdl_flags INTERFACE)
set(together $<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>)  # sources that are compiled as one see each other's names

# Conversions that may change a value are errors; signed <-> size_t is not worth a cast at every subscript.
target_compile_options(bdl_flags INTERFACE
  -Wall -Wextra -Wpedantic $<$<NOT:${together}>:-Wshadow> -Wconversion -Wno-sign-conversion -Wundef
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
  $<$<COMPILE_LANGUAGE:CXX>:-Woverloaded-virtual>
  $<$<COMPILE_LANGUAGE:CXX>:-Wextra-semi>
  $<$<BOOL:${BDL_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # GCC 12 at -O3 reports overflows and overlaps inside std::vector and std::string that are not there.
  target_compile_options(bdl_flags INTERFACE -Wno-array-bounds -Wno-stringop-overflow -Wno-restrict
    $<${together}:-Wno-subobject-linkage>)  # takes a source that is included for a header
endif()

# bdl_hardening: what an attacker of a process that runs the library is to find hard, as Debian's packages have it; and the
# same bytes from any folder. tests/install/check.sh looks at the result. Sanitizers see more than these checks.
add_library(bdl_hardening INTERFACE)
if(NOT BDL_SANITIZE)
  include(CheckCXXCompilerFlag)
  target_compile_options(bdl_hardening INTERFACE -fstack-protector-strong
    $<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-U_FORTIFY_SOURCE$<SEMICOLON>-D_FORTIFY_SOURCE=2>)
  check_cxx_compiler_flag(-fcf-protection BDL_HAS_CF_PROTECTION)  # of x86
  if(BDL_HAS_CF_PROTECTION)
    target_compile_options(bdl_hardening INTERFACE -fcf-protection)
    target_link_options(bdl_hardening INTERFACE -Wl,-z,shstk)  # the C runtime's own objects may not say so
  endif()
  target_link_options(bdl_hardening INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)
endif()
target_compile_options(bdl_hardening INTERFACE
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}=. -ffile-prefix-map=${PROJECT_BINARY_DIR}=build)

if(BDL_SANITIZE)
  target_compile_options(bdl_flags INTERFACE
    -fsanitize=${BDL_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_definitions(bdl_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:_GLIBCXX_ASSERTIONS>)
  target_link_options(bdl_flags INTERFACE -fsanitize=${BDL_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)  # these two need a C++ runtime that Clang does not link to C programs
    target_compile_options(bdl_flags INTERFACE -fno-sanitize=vptr,function)
    target_link_options(bdl_flags INTERFACE -fuse-ld=lld)
  endif()
endif()

# bdl_flags_not_run: for programs that no sanitizer's build runs; they are compiled there for the warnings.
add_library(bdl_flags_not_run INTERFACE)
target_link_libraries(bdl_flags_not_run INTERFACE bdl_flags)
if(BDL_SANITIZE)
  target_compile_options(bdl_flags_not_run INTERFACE -O0 -g0 -fno-sanitize=all)
endif()

# bdl_precompile_headers(TARGET): the standard library's, read once for its own sources; (TARGET OTHER): with what was made
# for another one, whose flags it must have.
function(bdl_precompile_headers target)
  if(ARGC GREATER 1)
    target_precompile_headers(${target} REUSE_FROM ${ARGV1})
    return()
  endif()
  foreach(header algorithm cmath functional memory span string vector)
    target_precompile_headers(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:<${header}$<ANGLE-R>>")
  endforeach()
endfunction()
