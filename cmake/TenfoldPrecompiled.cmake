# SPDX-License-Identifier: Apache-2.0
#
# What most sources read of other people's headers is parsed once a target, which takes a quarter off a build. Of
# such headers GCC forgets that they are a system's, and warns of bounds in what it has inlined from them: so tests, and
# the JIT for Xbyak's, go without those warnings. Sources name what they include all the same: the preset `debug` builds
# without.
option(TENFOLD_PRECOMPILED "Parse the standard library's headers once a target" ${PROJECT_IS_TOP_LEVEL})
set(TENFOLD_STANDARD_HEADERS <algorithm> <array> <cstdint> <functional> <limits> <map> <memory> <optional> <span>
                             <string> <string_view> <utility> <vector>)

# tenfold_precompiled(TARGET header ...): the standard library's headers, and those beside, for a target of many sources.
function(tenfold_precompiled target)
  if(TENFOLD_PRECOMPILED)
    target_precompile_headers(${target} PRIVATE ${TENFOLD_STANDARD_HEADERS} ${ARGN})
  endif()
endfunction()

# What tests spend their time in is in the libraries under test: their own sources need a fifth less to compile so. All
# of them and the headers they share, as GCC does not say no to headers that were optimised otherwise, but may crash.
set(TENFOLD_TEST_OPTIMISATION $<$<CONFIG:RelWithDebInfo>:-O1>)

# tenfold_precompiled_test(TARGET): how a test is compiled, with the standard library's headers and GoogleTest's parsed
# once for all programs (tests/CMakeLists.txt).
function(tenfold_precompiled_test target)
  target_compile_options(${target} PRIVATE ${TENFOLD_TEST_OPTIMISATION})
  if(TENFOLD_PRECOMPILED)
    target_precompile_headers(${target} REUSE_FROM tenfold_test_headers)
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
endfunction()
