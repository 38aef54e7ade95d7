# Everything that is a flag: build type, language, warnings, sanitizers, ccache. Targets link
# patchbay::flags and nothing else sets options.
option(PATCHBAY_TESTS "Build the tests, the example server and the benchmarks" ON)
option(PATCHBAY_UNIT_TESTS "Among the tests, those of single parts" ON)
option(PATCHBAY_WERROR "Treat warnings as errors (our presets only)" OFF)
option(PATCHBAY_PRECOMPILED "Precompile what most sources include" ON)
option(PATCHBAY_TOGETHER "Compile sources of a target together: a first build takes a third of the time" OFF)
option(PATCHBAY_LINT "Run clang-tidy on every source" OFF)
set(PATCHBAY_SANITIZE "" CACHE STRING "Value for -fsanitize=, e.g. address,undefined or thread")

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_ENABLE_EXPORTS OFF)
add_link_options(-Wl,--as-needed)  # what nobody calls is not loaded

# Most of what a source costs are headers and templates that its neighbours pay for too. A release is built so, and what
# scripts/test builds first; a source that is changed often is quicker alone.
if(PATCHBAY_TOGETHER)
    set(CMAKE_UNITY_BUILD ON)
    set(CMAKE_UNITY_BUILD_BATCH_SIZE 12)
endif()

# Sources of this folder that have words of their own for what a neighbour names the same.
function(patchbay_alone)
    set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
    set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()
if(PATCHBAY_LINT)
    find_program(CLANG_TIDY_PROGRAM NAMES clang-tidy clang-tidy-14 REQUIRED)
    set(CMAKE_CXX_CLANG_TIDY ${CLANG_TIDY_PROGRAM} --quiet --extra-arg=-Wno-unknown-warning-option)
endif()

add_library(patchbay_flags INTERFACE)
add_library(patchbay::flags ALIAS patchbay_flags)
# g++ 12 raises these for any inlined "text" + string (GCC bugs 105651, 105329), the second line only where the
# headers of the library are precompiled, the third only where sources are compiled together.
target_compile_options(patchbay_flags INTERFACE -Wall -Wextra -Wshadow -Wpointer-arith
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
    "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${PATCHBAY_PRECOMPILED}>>:-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-array-bounds>"
    "$<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<BOOL:${PATCHBAY_TOGETHER}>>:-Wno-subobject-linkage;-Wno-maybe-uninitialized>"
    $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor> $<$<BOOL:${PATCHBAY_WERROR}>:-Werror>)
if(PATCHBAY_SANITIZE)
    add_compile_options(-fsanitize=${PATCHBAY_SANITIZE} -fno-omit-frame-pointer -g1)
    add_link_options(-fsanitize=${PATCHBAY_SANITIZE})
    if(PATCHBAY_SANITIZE MATCHES undefined)
        add_compile_options(-fno-sanitize-recover=undefined)
        if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
            # Clang's own check of what function pointers point at: it takes a callback with noexcept for
            # another type, and clang 14 cannot assemble it for coroutines.
            add_compile_options(-fno-sanitize=function)
        endif()
    endif()
    if(PATCHBAY_SANITIZE MATCHES thread)
        # Asio's fences: unknown to the sanitizer, and no error.
        add_compile_options($<$<C_COMPILER_ID:GNU>:-Wno-tsan>)
    endif()
    add_compile_definitions(PATCHBAY_SANITIZED=1)
else()
    add_compile_options(-fstack-protector-strong)
endif()

# What most sources include, compiled once for the rooms and once for the tests (programs are compiled
# with -fPIE, libraries with -fPIC), and once for what a release has small. Off in `lint`, where a source
# that forgot an include is found.
set(PATCHBAY_COMMON_HEADERS <algorithm> <array> <atomic> <cerrno> <charconv> <chrono> <cstdint> <cstring>
    <deque> <functional> <map> <memory> <mutex> <optional> <set> <string> <string_view> <system_error>
    <unordered_map> <utility> <vector> <boost/json.hpp>)
# With it ccache can tell what a precompiled header was made of.
set(PATCHBAY_PRECOMPILED_OPTIONS $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>
    "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -fno-pch-timestamp>")
set(PATCHBAY_SMALL $<$<CONFIG:Release>:-Os>)
if(PATCHBAY_PRECOMPILED)
    add_compile_options(${PATCHBAY_PRECOMPILED_OPTIONS})
    foreach(headers patchbay_room_headers patchbay_small_headers)
        add_library(${headers} OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/scripts/cmake/precompiled.cpp)
        target_link_libraries(${headers} PRIVATE patchbay::flags Boost::json)
        target_precompile_headers(${headers} PRIVATE ${PATCHBAY_COMMON_HEADERS})
    endforeach()
    target_compile_options(patchbay_small_headers PRIVATE ${PATCHBAY_SMALL})
endif()
function(patchbay_share_headers target owner)
    if(PATCHBAY_PRECOMPILED)
        if(NOT CMAKE_BUILD_TYPE STREQUAL Release)
            set(owner patchbay_room_headers)  # nothing is small there
        endif()
        target_precompile_headers(${target} REUSE_FROM ${owner})
    endif()
endfunction()

# One static library per room of the host: patchbay_room(core SOURCES a.cpp LINKS x y).
# Rooms that may be included are exactly those that are linked: the layer table, spelled in CMake.
# SMALL, SMALL_SOURCES: what runs once a process or a connection, not once a call; a release is compiled
# for size there, since what every start has to map and to fault in costs more than such code would gain
# by speed.
# HEADERS: of a library, for a room that takes long to compile because of them.
function(patchbay_room name)
    cmake_parse_arguments(ROOM "SMALL" "" "SOURCES;SMALL_SOURCES;LINKS;PRIVATE_LINKS;HEADERS" ${ARGN})
    set(room patchbay_${name})
    add_library(${room} STATIC ${ROOM_SOURCES})
    add_library(patchbay::${name} ALIAS ${room})
    target_include_directories(${room} PUBLIC ${PROJECT_SOURCE_DIR}/host)
    target_link_libraries(${room} PUBLIC ${ROOM_LINKS} PRIVATE patchbay::flags ${ROOM_PRIVATE_LINKS})
    set(headers patchbay_room_headers)
    if(ROOM_SMALL)
        target_compile_options(${room} PRIVATE ${PATCHBAY_SMALL})
        set(headers patchbay_small_headers)
    endif()
    if(ROOM_HEADERS AND PATCHBAY_PRECOMPILED)
        target_precompile_headers(${room} PRIVATE ${PATCHBAY_COMMON_HEADERS} ${ROOM_HEADERS})
    else()
        patchbay_share_headers(${room} ${headers})
    endif()
    if(ROOM_SMALL_SOURCES)
        set(small ${room}_small)
        add_library(${small} OBJECT ${ROOM_SMALL_SOURCES})
        target_include_directories(${small} PRIVATE ${PROJECT_SOURCE_DIR}/host)
        target_link_libraries(${small} PRIVATE ${ROOM_LINKS} patchbay::flags ${ROOM_PRIVATE_LINKS})
        target_compile_definitions(${small} PRIVATE $<TARGET_PROPERTY:${room},COMPILE_DEFINITIONS>)
        target_compile_options(${small} PRIVATE ${PATCHBAY_SMALL})
        patchbay_share_headers(${small} patchbay_small_headers)
        target_sources(${room} PRIVATE $<TARGET_OBJECTS:${small}>)
    endif()
endfunction()

# Makes an imported target stand for its static archive, when there is one. Of a large library we use
# little, and relocating all of it at every start costs more than the rest of a start.
function(patchbay_link_archive target archive)
    string(MAKE_C_IDENTIFIER "PATCHBAY_ARCHIVE_${archive}" found)
    find_library(${found} ${archive})
    if(NOT ${found})
        return()
    endif()
    get_target_property(type ${target} TYPE)
    if(type STREQUAL INTERFACE_LIBRARY)
        set_target_properties(${target} PROPERTIES
            INTERFACE_LINK_LIBRARIES "${${found}};Threads::Threads")
        return()
    endif()
    get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
    foreach(configuration ${configurations})
        set_target_properties(${target} PROPERTIES
            IMPORTED_LOCATION_${configuration} ${${found}})
    endforeach()
endfunction()

# Of a release: links the C++ runtime into `target`, without what nobody calls of it. Loading the shared
# one is half of what a start costs beyond /bin/true, most of it names looked up for code that never
# runs. Not beside a shared library that is C++, and never with -static-libgcc: one unwinder throws what
# another catches only where both are the same (decision 41).
include(CheckCXXSourceCompiles)
include(CheckLinkerFlag)
set(CMAKE_REQUIRED_LINK_OPTIONS -static-libstdc++ -Wl,--gc-sections)
check_cxx_source_compiles("#include <string>\nint main(int n, char**) { return std::string(n, 'a').size() > 9; }"
    PATCHBAY_RUNTIME_ARCHIVES)
unset(CMAKE_REQUIRED_LINK_OPTIONS)
# Relocations in a tenth of the bytes, which every process reads.
check_linker_flag(CXX -Wl,-z,pack-relative-relocs PATCHBAY_PACKED_RELOCATIONS)
function(patchbay_bring_runtime target)
    if(PATCHBAY_SANITIZE)
        return()
    endif()
    if(PATCHBAY_RUNTIME_ARCHIVES)
        target_link_options(${target} PRIVATE
            "$<$<CONFIG:Release>:-static-libstdc++;-Wl,--gc-sections>")
    endif()
    if(PATCHBAY_PACKED_RELOCATIONS)
        target_link_options(${target} PRIVATE
            $<$<CONFIG:Release>:-Wl,-z,pack-relative-relocs>)
    endif()
endfunction()
