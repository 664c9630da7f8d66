# memwall_library(NAME DEPENDS...): a static library of every .cpp below the calling folder.
function(memwall_library name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp)
  list(FILTER sources EXCLUDE REGEX "/(bench|fuzz)/")
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC ${ARGN})
  memwall_compile_options(${name})
endfunction()

function(memwall_compile_options target)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                                              $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/memwall>)
  # GCC 12 finds overlapping copies in std::string::insert where there are none (GCC bug 105651).
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wnon-virtual-dtor;-Wold-style-cast>"
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wshadow=local;-Wno-restrict>"
    "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${MEMWALL_WERROR}>>:-Werror>")
endfunction()

# memwall_embed(TARGET GROUP BASE FILES...): put data files into the binary. `embedded_file("GROUP/x.yaml")`
# (core/base/embedded.h) finds them by their path below BASE. The bytes go in through the assembler's
# .incbin, so neither the compiler nor program start ever parses them.
function(memwall_embed target group base)
  string(MAKE_C_IDENTIFIER ${group} id)
  set(asm "\t.section .rodata\n")
  set(decl "")
  set(rows "")
  set(n 0)
  foreach(file IN LISTS ARGN)
    file(RELATIVE_PATH rel ${base} ${file})
    string(APPEND asm "\t.global memwall_${id}_${n}\nmemwall_${id}_${n}:\n\t.incbin \"${file}\"\n"
                      "\t.global memwall_${id}_${n}_end\nmemwall_${id}_${n}_end:\n\t.byte 0\n")
    string(APPEND decl "extern const char memwall_${id}_${n}[], memwall_${id}_${n}_end[];\n")
    string(APPEND rows "    {\"${group}/${rel}\", memwall_${id}_${n}, memwall_${id}_${n}_end},\n")
    math(EXPR n "${n} + 1")
  endforeach()
  string(APPEND asm "\t.section .note.GNU-stack,\"\",%progbits\n")
  set(out ${CMAKE_CURRENT_BINARY_DIR}/embedded_${id})
  file(CONFIGURE OUTPUT ${out}.S CONTENT "${asm}" @ONLY)
  file(CONFIGURE OUTPUT ${out}.cpp CONTENT
"#include \"core/base/embedded.h\"
extern \"C\" {
${decl}}
namespace memwall {
EmbeddedGroup embedded_${id}() {
  static const EmbeddedFile files[] = {
${rows}  };
  return {files, ${n}};
}
}
" @ONLY)
  set_source_files_properties(${out}.S PROPERTIES OBJECT_DEPENDS "${ARGN}")
  target_sources(${target} PRIVATE ${out}.S ${out}.cpp)
endfunction()
