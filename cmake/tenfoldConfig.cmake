# SPDX-License-Identifier: Apache-2.0
#
# find_package(tenfold [COMPONENTS c dnnl_graph_compat]): the targets tenfold::c, for C and C++, and
# tenfold::dnnl_graph_compat, the same under oneDNN Graph's name. libtenfold.so asks nothing of those who link it, so
# there is nothing else to find.
include(${CMAKE_CURRENT_LIST_DIR}/tenfoldTargets.cmake)
foreach(component IN LISTS tenfold_FIND_COMPONENTS)
  if(TARGET tenfold::${component})
    set(tenfold_${component}_FOUND TRUE)
  elseif(tenfold_FIND_REQUIRED_${component})
    set(tenfold_FOUND FALSE)
    set(tenfold_NOT_FOUND_MESSAGE "tenfold has no component '${component}'; there are c and dnnl_graph_compat")
  endif()
endforeach()
