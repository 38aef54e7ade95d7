# cmake -DMANIFEST=in.toml -DLIBRARY=libpatchbay_x.so -DPLATFORM=linux-x86_64-gnu
#       -DSCHEMAS=a;b -DDIRECTORY=out -P write_manifest.cmake
# Copies schemas and manifest into DIRECTORY and says in the manifest which library belongs to it.
file(READ ${MANIFEST} text)
if(text MATCHES "(^|\n)[ \t]*\\[library\\.${PLATFORM}\\]")
    message(FATAL_ERROR "${MANIFEST}: [library.${PLATFORM}] is written by the build, remove it")
endif()
file(SHA256 ${LIBRARY} sha256)
get_filename_component(library ${LIBRARY} NAME)
# The host refuses what others may write to, whatever umask this was built with.
file(CHMOD ${LIBRARY} ${DIRECTORY} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
    GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
foreach(schema ${SCHEMAS})
    file(COPY ${schema} DESTINATION ${DIRECTORY}
        FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
endforeach()
file(WRITE ${DIRECTORY}/plugin.toml.new
    "${text}\n\n[library.${PLATFORM}]\npath = \"${library}\"\nsha256 = \"${sha256}\"\n")
file(CHMOD ${DIRECTORY}/plugin.toml.new
    PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
file(RENAME ${DIRECTORY}/plugin.toml.new ${DIRECTORY}/plugin.toml)
