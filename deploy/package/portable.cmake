# Programs that run wherever glibc is as new as the one of the sysroot: every other library is looked for beside them, and no path of the machine that
# built them is left in them. deploy/package/release puts it behind project(), so that a commit of before can be built as well.
# DT_RPATH and not DT_RUNPATH: it holds for the libraries of those libraries too.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib/windlass")
add_link_options(-Wl,--disable-new-dtags -Wl,--build-id=none)
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}=. -ffile-prefix-map=${CMAKE_BINARY_DIR}=. -ffile-prefix-map=${CMAKE_SYSROOT}=)
