# cmake -DFILE=quic.schema.json -DHEADER=quic.schema.h -P embed_schema.cmake
# The bytes of FILE as a C array `quic_schema`, ended by a NUL. Characters, not a string literal:
# compilers may refuse literals of more than 4095 bytes.
get_filename_component(stem ${FILE} NAME_WLE)
string(MAKE_C_IDENTIFIER ${stem} variable)
file(READ ${FILE} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," characters "${bytes}")
string(REGEX REPLACE "(('[^']*',)('[^']*',)('[^']*',)('[^']*',)('[^']*',)('[^']*',)('[^']*',)('[^']*',))"
    "\\1\n    " characters "${characters}")
get_filename_component(name ${FILE} NAME)
file(WRITE ${HEADER}.new
    "/* Generated from ${name}. */\n#pragma once\nstatic const char ${variable}[] = {\n    ${characters}0\n};\n")
file(RENAME ${HEADER}.new ${HEADER})
