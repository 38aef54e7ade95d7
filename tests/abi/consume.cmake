# cmake -DBUILD=.. -DTEMPLATE=.. -DWORK=.. -DTEST=abi_template_test -DGENERATOR=.. -P consume.cmake
# As a plugin author: install the SDK, build the template against it, use it in the host.
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
file(COPY ${TEMPLATE}/ DESTINATION ${WORK}/source)
function(run)
    execute_process(COMMAND ${ARGN} OUTPUT_FILE ${WORK}/log ERROR_FILE ${WORK}/log RESULT_VARIABLE result)
    if(result)
        file(READ ${WORK}/log log)
        list(JOIN ARGN " " command)
        message(FATAL_ERROR "${command}\n${log}")
    endif()
endfunction()
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix --component sdk)
run(${CMAKE_COMMAND} -S ${WORK}/source -B ${WORK}/build -G ${GENERATOR}
    -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_C_FLAGS=-Wall\ -Wextra\ -pedantic\ -Werror
    -DCMAKE_CXX_FLAGS=-Wall\ -Wextra\ -Wshadow\ -pedantic\ -Werror
    -DCMAKE_INSTALL_PREFIX=${WORK}/prefix)
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${CMAKE_COMMAND} --install ${WORK}/build --strip)
foreach(place build prefix)
    execute_process(COMMAND ${CMAKE_COMMAND} -E env
        PATCHBAY_TEMPLATE_PLUGINS=${WORK}/${place}/lib/patchbay/plugins ${TEST}
        RESULT_VARIABLE result)
    if(result)
        message(FATAL_ERROR "the template in ${place} does not work")
    endif()
endforeach()
