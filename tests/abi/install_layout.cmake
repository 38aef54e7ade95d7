# cmake -DBUILD=.. -DWORK=.. -P install_layout.cmake
# A whole installation, stripped, has every part in its place, and each plugin its own hash.
file(REMOVE_RECURSE ${WORK})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK} --strip
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
foreach(part bin/patchbay libexec/patchbay/patchbay-supervisor lib/patchbay/libpatchbay_openssl.so include/patchbay/plugin.h
        include/patchbay/services.h lib/cmake/Patchbay/PatchbayConfig.cmake
        lib/cmake/Patchbay/plugin/exports.map lib/patchbay/plugins/stdio/plugin.toml
        lib/patchbay/plugins/tcp/plugin.toml share/patchbay/template/unix.c
        share/patchbay/template_cpp/unix.cpp share/doc/patchbay/ABI.md share/doc/patchbay/BATCH.md
        share/doc/patchbay/CONFIG.md share/doc/patchbay/plugins/stdio.md
        share/doc/patchbay/plugins/auth_oauth.md share/man/man1/patchbay.1 share/man/man1/patchbay-mcp-add.1
        share/bash-completion/completions/patchbay share/zsh/site-functions/_patchbay
        share/fish/vendor_completions.d/patchbay.fish)
    if(NOT EXISTS ${WORK}/${part})
        message(SEND_ERROR "not installed: ${part}")
    endif()
endforeach()
# Links of what is installed lead to what is installed.
file(GLOB_RECURSE documents ${WORK}/share/*.md)
foreach(document ${documents})
    get_filename_component(folder ${document} DIRECTORY)
    file(READ ${document} text)
    string(REPLACE "](" "@(" text "${text}")  # a bracket would join the members of a list
    string(REGEX MATCHALL "@\\([A-Za-z.][^):#]*\\)" links "${text}")
    foreach(link ${links})
        string(REGEX REPLACE "^@\\((.*)\\)$" "\\1" target "${link}")
        if(NOT EXISTS ${folder}/${target})
            message(SEND_ERROR "${document} links to ${target}, which is not installed")
        endif()
    endforeach()
endforeach()
file(GLOB libraries ${WORK}/lib/patchbay/plugins/*/libpatchbay_*.so)
foreach(library ${libraries})
    get_filename_component(folder ${library} DIRECTORY)
    file(READ ${folder}/plugin.toml manifest)
    file(SHA256 ${library} sha256)
    string(FIND "${manifest}" "sha256 = \"${sha256}\"" found)
    if(found LESS 0)
        message(SEND_ERROR "${folder}/plugin.toml does not describe ${library}")
    endif()
endforeach()
# What the installed program's help names must be there.
execute_process(COMMAND ${WORK}/bin/patchbay batch --help OUTPUT_VARIABLE help
    COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCH "/[^ \n]*/BATCH[.]md" document "${help}")
get_filename_component(wanted ${WORK}/share/doc/patchbay/BATCH.md REALPATH)
if(NOT document STREQUAL wanted)
    message(SEND_ERROR "batch --help names \"${document}\", not ${wanted}")
endif()

# The installed program finds OpenSSL beside itself, and says what is missing where it does not.
file(WRITE ${WORK}/no.pem "no certificate")
execute_process(COMMAND chmod 600 ${WORK}/no.pem COMMAND_ERROR_IS_FATAL ANY)
function(serve_with_tls wanted)
    execute_process(COMMAND ${CMAKE_COMMAND} -E env HOME=${WORK} XDG_STATE_HOME=${WORK}/state
            ${WORK}/bin/patchbay serve --http 127.0.0.1:0 --tls-cert ${WORK}/no.pem --tls-key ${WORK}/no.pem
        WORKING_DIRECTORY ${WORK} TIMEOUT 30 ERROR_VARIABLE said OUTPUT_QUIET)
    string(FIND "${said}" "${wanted}" found)
    if(found LESS 0)
        message(SEND_ERROR "serve with TLS says \"${said}\", not \"${wanted}\"")
    endif()
endfunction()
serve_with_tls("holds no certificate in PEM")
file(REMOVE ${WORK}/lib/patchbay/libpatchbay_openssl.so)
serve_with_tls("need \"${WORK}/lib/patchbay/libpatchbay_openssl.so\": ")
