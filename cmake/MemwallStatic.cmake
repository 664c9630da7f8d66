# One program without shared libraries, to be copied to a board or a phone. Debian has a static archive of
# yaml-cpp; fmt goes in from its headers; hwloc stays out, because its archive wants libudev, of which there is
# none (the topology then comes from /sys).
set(CMAKE_EXE_LINKER_FLAGS "${CMAKE_EXE_LINKER_FLAGS} -static")

find_path(MEMWALL_FMT_INCLUDE fmt/format.h REQUIRED)
find_path(MEMWALL_YAML_INCLUDE yaml-cpp/yaml.h REQUIRED)
find_library(MEMWALL_YAML_LIBRARY libyaml-cpp.a REQUIRED)

add_library(fmt::fmt INTERFACE IMPORTED GLOBAL)
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY=1)
add_library(yaml-cpp STATIC IMPORTED GLOBAL)
set_target_properties(yaml-cpp PROPERTIES IMPORTED_LOCATION ${MEMWALL_YAML_LIBRARY})
# Never /usr/include by name: it would come before a cross compiler's own headers.
foreach(pair fmt::fmt=${MEMWALL_FMT_INCLUDE} yaml-cpp=${MEMWALL_YAML_INCLUDE})
  string(REPLACE "=" ";" pair ${pair})
  list(GET pair 0 target)
  list(GET pair 1 include)
  if(NOT include STREQUAL "/usr/include")
    target_include_directories(${target} SYSTEM INTERFACE ${include})
  endif()
endforeach()
