# What `cmake --install` lays out:
#   bin/patchbay                       libexec/patchbay/patchbay-supervisor
#   lib/patchbay/plugins/<name>/       library, manifest, schemas (patchbay_add_plugin does it)
#   include/patchbay/                  the headers of the plugin ABI
#   lib/cmake/Patchbay/                find_package(Patchbay): patchbay::sdk, patchbay_add_plugin()
# The host finds plugins and supervisor relative to its own binary, so the tree may be moved.
# Component `sdk` is the last two alone, for plugin authors.
include(CMakePackageConfigHelpers)

if(TARGET patchbay)
    install(TARGETS patchbay RUNTIME DESTINATION bin)
endif()

set(package lib/cmake/Patchbay)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/sdk/include/patchbay DESTINATION include COMPONENT sdk)
install(TARGETS patchbay_sdk EXPORT PatchbayTargets)
install(EXPORT PatchbayTargets NAMESPACE patchbay:: DESTINATION ${package} COMPONENT sdk)
file(WRITE ${PROJECT_BINARY_DIR}/package/PatchbayConfig.cmake
"include(\${CMAKE_CURRENT_LIST_DIR}/PatchbayTargets.cmake)
include(\${CMAKE_CURRENT_LIST_DIR}/PatchbayPlugin.cmake)
")
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/PatchbayConfigVersion.cmake
    COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/PatchbayConfig.cmake
    ${PROJECT_BINARY_DIR}/package/PatchbayConfigVersion.cmake
    ${PROJECT_SOURCE_DIR}/scripts/cmake/PatchbayPlugin.cmake
    DESTINATION ${package} COMPONENT sdk)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/scripts/cmake/plugin DESTINATION ${package} COMPONENT sdk)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/sdk/template DESTINATION share/patchbay COMPONENT sdk)
