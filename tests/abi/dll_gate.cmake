# cmake -DCC=x86_64-w64-mingw32-gcc -DOBJDUMP=.. -DSOURCE=headers.c -DINCLUDE=dir -DOUT=x.dll -P dll_gate.cmake
# The header as a Windows library: clean, and one export.
execute_process(COMMAND ${CC} -std=c11 -Wall -Wextra -pedantic -Werror -shared -static-libgcc -I${INCLUDE}
    ${SOURCE} -o ${OUT} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${OBJDUMP} -p ${OUT} OUTPUT_VARIABLE dump COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCH "\\[Ordinal/Name Pointer\\] Table[^\n]*\n(([ \t]+\\[[^\n]*\n)+)" found "${dump}")
string(STRIP "${CMAKE_MATCH_1}" names)
if(NOT names MATCHES "^\\[ *0\\][^\n]* patchbay_plugin_entry_0$")
    message(FATAL_ERROR "${OUT} exports:\n${names}")
endif()
