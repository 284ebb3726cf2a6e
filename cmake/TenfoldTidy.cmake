# SPDX-License-Identifier: Apache-2.0
#
# The target `tidy`: clang-tidy over every room's sources, as compile_commands.json has them. Not a test, for it takes
# minutes. Build first, so that generated headers are there. The plain loops have _Float16, which clang 14 does not know
# on x86.
find_program(TENFOLD_RUN_CLANG_TIDY NAMES run-clang-tidy-14 run-clang-tidy)
if(TENFOLD_RUN_CLANG_TIDY)
  add_custom_target(tidy
    COMMAND ${TENFOLD_RUN_CLANG_TIDY} -quiet -p ${PROJECT_BINARY_DIR}
            "^${PROJECT_SOURCE_DIR}/(schemas|graph|src|jit|tools)/(?!bench/plain_loops)"
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    USES_TERMINAL VERBATIM)
else()
  message(STATUS "clang-tidy: NOT FOUND (clang-tidy); no target 'tidy'")
endif()
