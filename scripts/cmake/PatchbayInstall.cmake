# What `cmake --install` lays out:
#   bin/patchbay                       libexec/patchbay/patchbay-supervisor
#   lib/patchbay/plugins/<name>/       library, manifest, schemas (patchbay_add_plugin does it)
#   include/patchbay/                  the headers of the plugin ABI
#   lib/cmake/Patchbay/                find_package(Patchbay): patchbay::sdk, patchbay_add_plugin()
#   share/doc/patchbay/                what `--help` points at: BATCH.md, CONFIG.md, ABI.md, plugins/<name>.md
#   share/man/man1/                    patchbay.1, and a page a verb: patchbay-mcp-add.1
#   share/bash-completion/completions/patchbay, share/zsh/site-functions/_patchbay,
#   share/fish/vendor_completions.d/patchbay.fish
# The host finds plugins and supervisor relative to its own binary, so the tree may be moved.
# Component `sdk` is headers, package, templates and ABI.md alone, for plugin authors.
include(CMakePackageConfigHelpers)

if(TARGET patchbay)
    install(TARGETS patchbay RUNTIME DESTINATION bin)
    install(DIRECTORY ${PROJECT_BINARY_DIR}/share/man ${PROJECT_BINARY_DIR}/share/bash-completion
        ${PROJECT_BINARY_DIR}/share/zsh ${PROJECT_BINARY_DIR}/share/fish DESTINATION share)
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
install(DIRECTORY ${PROJECT_SOURCE_DIR}/sdk/template ${PROJECT_SOURCE_DIR}/sdk/template_cpp
    DESTINATION share/patchbay COMPONENT sdk)

# In the build tree too, so that the built program finds them as the installed one does.
set(documents share/doc/patchbay)
function(patchbay_document source name)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${source})
    # What they link to is installed elsewhere than it stands here.
    file(READ ${PROJECT_SOURCE_DIR}/${source} text)
    string(REGEX REPLACE "\\]\\(\\.\\./plugins/([a-z_]+)/README\\.md" "](plugins/\\1.md" text "${text}")
    string(REGEX REPLACE "\\]\\((examples|defaults|schema|presets|starters)" "](../../patchbay/config/\\1" text "${text}")
    string(REPLACE "](../../config/" "](../../patchbay/config/" text "${text}")
    string(REPLACE "](include/" "](../../../include/" text "${text}")
    string(REPLACE "](template" "](../../patchbay/template" text "${text}")
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${documents}/${name} CONTENT "${text}" @ONLY)
    get_filename_component(folder ${documents}/${name} DIRECTORY)
    install(FILES ${PROJECT_BINARY_DIR}/${documents}/${name} DESTINATION ${folder} ${ARGN})
endfunction()
patchbay_document(sdk/ABI.md ABI.md COMPONENT sdk)
patchbay_document(host/app/BATCH.md BATCH.md)
patchbay_document(config/README.md CONFIG.md)
file(GLOB readmes RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/plugins/*/README.md)
foreach(readme ${readmes})
    get_filename_component(folder ${readme} DIRECTORY)
    get_filename_component(name ${folder} NAME)
    patchbay_document(${readme} plugins/${name}.md)
endforeach()
