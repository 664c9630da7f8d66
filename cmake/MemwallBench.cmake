# memwall_bench_targets(): one Google Benchmark program for every bench/*_bench.cpp below the modules.
function(memwall_bench_targets)
  find_package(benchmark REQUIRED)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/core/*/bench/*_bench.cpp ${PROJECT_SOURCE_DIR}/devices/*_bench.cpp)
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    # Benchmarks make their input files with the writers of the tests.
    add_executable(${name} ${source} ${PROJECT_SOURCE_DIR}/tests/model/gguf_writer.cpp ${PROJECT_SOURCE_DIR}/tests/model/gguf_shapes.cpp)
    target_compile_definitions(${name} PRIVATE MEMWALL_COMMAND="$<TARGET_FILE:memwall>")
    add_dependencies(${name} memwall)
    target_link_libraries(${name} PRIVATE memwall_devices memwall_core benchmark::benchmark_main nlohmann_json::nlohmann_json)
    memwall_compile_options(${name})
  endforeach()
endfunction()
