# VitBlas::VitBlas: OpenBLAS, on the machine that builds and again on the machine that uses the package.
# The serial variant, where it is installed beside others: the usual one starts a thread per core as soon as it is
# loaded, before a program can ask for fewer. Its folder goes into the RPATH of what links it, so Debian's
# alternatives system does not replace it at run time. OpenCV loads libblas.so.3 and liblapack.so.3, which belong to
# one variant each; they are linked as well, so that all three are of the same.
set(serial_folder /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-serial)
find_library(VIT_BLAS_LIBRARY NAMES openblas PATHS ${serial_folder} NO_DEFAULT_PATH)
find_library(VIT_BLAS_LIBRARY NAMES openblas)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(VitBlas REQUIRED_VARS VIT_BLAS_LIBRARY)
if(VitBlas_FOUND AND NOT TARGET VitBlas::VitBlas)
  add_library(VitBlas::VitBlas UNKNOWN IMPORTED)
  set_target_properties(VitBlas::VitBlas PROPERTIES IMPORTED_LOCATION ${VIT_BLAS_LIBRARY})
  if(VIT_BLAS_LIBRARY MATCHES openblas-serial)
    # Nothing of ours calls these two, so the linker would leave them out.
    set_property(TARGET VitBlas::VitBlas PROPERTY INTERFACE_LINK_LIBRARIES
      -Wl,--push-state,--no-as-needed,${serial_folder}/libblas.so,${serial_folder}/liblapack.so,--pop-state)
  endif()
endif()
