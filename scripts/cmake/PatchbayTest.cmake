# patchbay_test(name SOURCES .. LINKS .. [TIMEOUT seconds] [PROCESSORS n] [LABELS ..]): one GoogleTest
# program, each TEST a CTest case of its own, with a deadline; with n processors fewer others run beside it. Inherits ${PATCHBAY_TEST_SUPPORT} include folder.
include(GoogleTest)

# In a release it is the host that is optimised: its tests would take longer to build than all of it. What
# nearly all of them include is compiled once, in every build.
set(PATCHBAY_TEST_OPTIONS $<$<CONFIG:Release>:-O0>)
if(NOT PATCHBAY_PRECOMPILED)  # else all are compiled so
    list(APPEND PATCHBAY_TEST_OPTIONS ${PATCHBAY_PRECOMPILED_OPTIONS})
endif()
add_executable(patchbay_test_headers EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/scripts/cmake/precompiled.cpp)
target_link_libraries(patchbay_test_headers PRIVATE patchbay::flags GTest::gmock GTest::gtest Boost::json)
target_compile_options(patchbay_test_headers PRIVATE ${PATCHBAY_TEST_OPTIONS})
target_precompile_headers(patchbay_test_headers PRIVATE
    ${PATCHBAY_COMMON_HEADERS} <fstream> <gmock/gmock.h> <gtest/gtest.h>)

function(patchbay_test name)
    cmake_parse_arguments(TEST "" "TIMEOUT;PROCESSORS" "SOURCES;LINKS;LABELS;ENVIRONMENT" ${ARGN})
    if(NOT TEST_TIMEOUT)
        set(TEST_TIMEOUT 60)
    endif()
    add_executable(${name} ${TEST_SOURCES})
    if("${TEST_LINKS}" MATCHES "patchbay::(core|protocol|config|plugin|registry|policy|auth|connection|router|service|app)")
        target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/no_escapes.cpp)
    endif()
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/host)
    target_link_libraries(${name} PRIVATE ${TEST_LINKS} patchbay::flags GTest::gmock GTest::gtest
        GTest::gtest_main Boost::json Threads::Threads)
    target_precompile_headers(${name} REUSE_FROM patchbay_test_headers)
    target_compile_options(${name} PRIVATE ${PATCHBAY_TEST_OPTIONS})
    target_compile_definitions(${name} PRIVATE
        PATCHBAY_SOURCE_DIR="${PROJECT_SOURCE_DIR}" PATCHBAY_BUILD_DIR="${PROJECT_BINARY_DIR}")
    # An empty value would vanish on its way and shift the ones behind it.
    set(properties TIMEOUT ${TEST_TIMEOUT})
    if(TEST_PROCESSORS)
        list(APPEND properties PROCESSORS ${TEST_PROCESSORS})
    endif()
    if(TEST_LABELS)
        list(APPEND properties LABELS "${TEST_LABELS}")
    endif()
    if(TEST_ENVIRONMENT)
        list(APPEND properties ENVIRONMENT "${TEST_ENVIRONMENT}")
    endif()
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST NO_PRETTY_VALUES PROPERTIES ${properties})
endfunction()
