# Debian's cross compiler; tests and programs run under qemu-user. scripts/build-static puts libraries that only
# exist for the target into MEMWALL_SYSROOT.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_ASM_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
find_program(MEMWALL_QEMU qemu-aarch64-static)
if(MEMWALL_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${MEMWALL_QEMU})
endif()
if(MEMWALL_SYSROOT)
  list(PREPEND CMAKE_PREFIX_PATH ${MEMWALL_SYSROOT}/usr)
endif()
