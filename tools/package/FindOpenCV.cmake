# Finds OpenCV by its own package file if that is installed, else by its headers and libraries. Debian
# ships the package file only with all modules (372 packages, 1.1 GB); three modules need 153 packages.
find_package(OpenCV CONFIG QUIET COMPONENTS ${OpenCV_FIND_COMPONENTS})
if(OpenCV_FOUND)
  return()
endif()

find_path(OpenCV_INCLUDE_DIR opencv2/core.hpp PATH_SUFFIXES opencv4)
set(OpenCV_LIBS)
foreach(module IN LISTS OpenCV_FIND_COMPONENTS)
  find_library(OpenCV_${module}_LIBRARY opencv_${module})
  if(OpenCV_${module}_LIBRARY)
    set(OpenCV_${module}_FOUND TRUE)
    list(APPEND OpenCV_LIBS opencv_${module})
    if(NOT TARGET opencv_${module})
      add_library(opencv_${module} UNKNOWN IMPORTED)
      set_target_properties(opencv_${module} PROPERTIES
        IMPORTED_LOCATION ${OpenCV_${module}_LIBRARY}
        INTERFACE_INCLUDE_DIRECTORIES ${OpenCV_INCLUDE_DIR})
    endif()
  endif()
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenCV REQUIRED_VARS OpenCV_INCLUDE_DIR OpenCV_LIBS
                                  HANDLE_COMPONENTS)
