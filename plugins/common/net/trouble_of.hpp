// What a piece of work throws, as trouble. Poco's words and ours are kept.
//
// Threads: [any]. Errors: none; PATCHBAY_OK: it threw nothing.
#pragma once

#include "net/trouble.hpp"

#include <patchbay/cpp/plugin.hpp>

#include <Poco/Exception.h>

#include <exception>

namespace patchbay::net {

template <class Work>
Trouble trouble_of(Work work) {
    try {
        work();
        return {PATCHBAY_OK, {}};
    } catch (const Trouble& caught) {
        return caught;
    } catch (const sdk::Failure& failure) {
        return {failure.code(), failure.what()};
    } catch (const Poco::Exception& error) {
        return {PATCHBAY_E_IO, error.displayText()};
    } catch (const std::exception& error) {
        return {PATCHBAY_E_INTERNAL, error.what()};
    } catch (...) {
        return {PATCHBAY_E_INTERNAL, "unknown exception"};
    }
}

}  // namespace patchbay::net
