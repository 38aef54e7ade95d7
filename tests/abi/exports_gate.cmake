# cmake -DNM=nm "-DFOLDERS=a;b" -P exports_gate.cmake
# Every plugin below the folders exports its entry point and nothing else.
foreach(folder ${FOLDERS})
    file(GLOB_RECURSE libraries ${folder}/libpatchbay_*.so)
    list(APPEND all ${libraries})
endforeach()
if(NOT all)
    message(FATAL_ERROR "no plugin in ${FOLDERS}")
endif()
foreach(library ${all})
    execute_process(COMMAND ${NM} -D --defined-only --format=just-symbols ${library}
        OUTPUT_VARIABLE symbols OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    if(NOT symbols STREQUAL "patchbay_plugin_entry_0")
        message(SEND_ERROR "${library} exports: ${symbols}")
    endif()
endforeach()
