# memwall_fuzz_targets(): one libFuzzer executable for each *_fuzz.cpp in a fuzz/ folder of the libraries, and
# the target memwall_fuzz for all. Needs Clang; the libraries come instrumented from the preset's flags.
function(memwall_fuzz_targets)
  if(NOT MEMWALL_FUZZ)
    return()
  endif()
  add_custom_target(memwall_fuzz COMMENT "All fuzz targets")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/core/*_fuzz.cpp
                                              ${PROJECT_SOURCE_DIR}/devices/*_fuzz.cpp
                                              ${PROJECT_SOURCE_DIR}/sim/*_fuzz.cpp)
  list(FILTER sources INCLUDE REGEX "/fuzz/[^/]+_fuzz\\.cpp$")
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    target_link_libraries(${name} PRIVATE memwall_sim memwall_devices memwall_core)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
    memwall_compile_options(${name})
    add_dependencies(memwall_fuzz ${name})
  endforeach()
endfunction()
