# patchbay_add_plugin(): a shared library with one exported symbol, its manifest and checksum. Used
# by this project and, through find_package(Patchbay), by authors of other plugins.
#
#   patchbay_add_plugin(quic
#       SOURCES plugin.c
#       MANIFEST plugin.toml             # without [library.*]: that table is written here
#       SCHEMAS quic.schema.json         # the files that config_schema names
#       LINKS Some::library
#       OUTPUT_DIRECTORY dir             # default: <build>/lib/patchbay/plugins/<name>
#       NOT_INSTALLED)                   # for fixtures
#
# makes the target patchbay_plugin_quic, and in the output directory
#   libpatchbay_quic.so  plugin.toml (with [library.<platform>] path and sha256)  quic.schema.json
# For each schema a header is generated whose bytes are those of the file:
#   #include "quic.schema.h"             // static const char quic_schema[] = ...
# A shared object that is changed afterwards (strip, patchelf) no longer matches its manifest; the
# install step writes the manifest anew, so `cmake --install --strip` is fine.
include(GNUInstallDirs)

set(PATCHBAY_PLUGIN_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/plugin)
set(PATCHBAY_PLUGIN_PLACE lib/patchbay/plugins)

# linux-x86_64-gnu: what [library.*] tables are named after.
function(patchbay_platform out)
    string(TOLOWER ${CMAKE_SYSTEM_NAME} system)
    string(TOLOWER ${CMAKE_SYSTEM_PROCESSOR} machine)
    if(machine STREQUAL "amd64")
        set(machine x86_64)
    elseif(machine STREQUAL "arm64")
        set(machine aarch64)
    endif()
    set(libc gnu)
    if("${CMAKE_C_LIBRARY_ARCHITECTURE}${CMAKE_CXX_LIBRARY_ARCHITECTURE}" MATCHES musl)
        set(libc musl)
    endif()
    set(${out} ${system}-${machine}-${libc} PARENT_SCOPE)
endfunction()

function(patchbay_add_plugin name)
    cmake_parse_arguments(PLUGIN "NOT_INSTALLED" "MANIFEST;OUTPUT_DIRECTORY" "SOURCES;SCHEMAS;LINKS"
        ${ARGN})
    if(NOT PLUGIN_SOURCES OR NOT PLUGIN_MANIFEST)
        message(FATAL_ERROR "patchbay_add_plugin(${name}): SOURCES and MANIFEST are needed")
    endif()
    if(NOT PLUGIN_OUTPUT_DIRECTORY)
        set(PLUGIN_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${PATCHBAY_PLUGIN_PLACE}/${name})
    endif()
    get_filename_component(manifest ${PLUGIN_MANIFEST} ABSOLUTE)
    set(target patchbay_plugin_${name})
    set(generated ${CMAKE_CURRENT_BINARY_DIR}/${target}.generated)
    patchbay_platform(platform)

    set(schemas)
    set(headers)
    foreach(schema ${PLUGIN_SCHEMAS})
        get_filename_component(schema ${schema} ABSOLUTE)
        get_filename_component(stem ${schema} NAME_WLE)
        list(APPEND schemas ${schema})
        list(APPEND headers ${generated}/${stem}.h)
        add_custom_command(
            OUTPUT ${generated}/${stem}.h
            COMMAND ${CMAKE_COMMAND} -DFILE=${schema} -DHEADER=${generated}/${stem}.h
                -P ${PATCHBAY_PLUGIN_SCRIPTS}/embed_schema.cmake
            DEPENDS ${schema} ${PATCHBAY_PLUGIN_SCRIPTS}/embed_schema.cmake
            VERBATIM)
    endforeach()

    add_library(${target} MODULE ${PLUGIN_SOURCES} ${headers})
    target_link_libraries(${target} PRIVATE patchbay::sdk ${PLUGIN_LINKS})
    if(TARGET patchbay::flags)
        target_link_libraries(${target} PRIVATE patchbay::flags)
    endif()
    target_include_directories(${target} PRIVATE ${generated})
    set_target_properties(${target} PROPERTIES
        OUTPUT_NAME patchbay_${name} PREFIX lib SUFFIX .so
        LIBRARY_OUTPUT_DIRECTORY ${PLUGIN_OUTPUT_DIRECTORY}
        POSITION_INDEPENDENT_CODE ON
        C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
        # The installed file must be the file that was hashed: nothing to rewrite in it.
        BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "" SKIP_BUILD_RPATH ON
        LINK_DEPENDS "${PATCHBAY_PLUGIN_SCRIPTS}/exports.map;${manifest};${schemas}")
    target_link_options(${target} PRIVATE
        -Wl,--version-script=${PATCHBAY_PLUGIN_SCRIPTS}/exports.map -Wl,-z,now -Wl,-z,relro)
    if(NOT PATCHBAY_SANITIZE)
        # A symbol nobody provides is an error here, not at the user's.
        target_link_options(${target} PRIVATE -Wl,--no-undefined)
    endif()

    set(finish ${PATCHBAY_PLUGIN_SCRIPTS}/write_manifest.cmake)
    add_custom_command(TARGET ${target} POST_BUILD
        COMMAND ${CMAKE_COMMAND} -DMANIFEST=${manifest} -DLIBRARY=$<TARGET_FILE:${target}>
            -DPLATFORM=${platform} "-DSCHEMAS=${schemas}" -DDIRECTORY=${PLUGIN_OUTPUT_DIRECTORY}
            -P ${finish}
        COMMENT "Manifest of plugin ${name}"
        VERBATIM)

    if(PLUGIN_NOT_INSTALLED)
        return()
    endif()
    set(place ${PATCHBAY_PLUGIN_PLACE}/${name})
    install(TARGETS ${target} LIBRARY DESTINATION ${place})
    install(CODE "
        set(place \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${place}\")
        execute_process(COMMAND \"${CMAKE_COMMAND}\" \"-DMANIFEST=${manifest}\"
            \"-DLIBRARY=\${place}/libpatchbay_${name}.so\" -DPLATFORM=${platform}
            \"-DSCHEMAS=${schemas}\" \"-DDIRECTORY=\${place}\" -P \"${finish}\"
            COMMAND_ERROR_IS_FATAL ANY)
        message(STATUS \"Installing: \${place}/plugin.toml\")")
endfunction()
