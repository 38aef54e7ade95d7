#include "crypto/library.hpp"

#include <dlfcn.h>
#include <filesystem>

extern "C" [[gnu::weak]] const patchbay::crypto::Library* patchbay_crypto(const char* version);

namespace patchbay::crypto {

namespace {

// Never unloaded: keys and sessions of it may be anywhere.
Result<const Library*> load() {
    if (patchbay_crypto) return patchbay_crypto(PATCHBAY_VERSION);
    std::error_code failed;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", failed);
    const auto path =
        program.parent_path().parent_path() / "lib" / "patchbay" / "libpatchbay_openssl.so";
    const auto missing = [&](const std::string& why) {
        return Error{ErrorCode::Unavailable, "TLS and signed tokens need \"" + path.string() +
                                                 "\": " + why + "; it is installed with patchbay"};
    };
    void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) return missing(::dlerror());
    const auto entry =
        reinterpret_cast<decltype(&patchbay_crypto)>(::dlsym(handle, "patchbay_crypto"));
    const auto* const found = entry ? entry(PATCHBAY_VERSION) : nullptr;
    if (!found) return missing("it is of another version than " PATCHBAY_VERSION);
    return found;
}

}  // namespace

Result<const Library*> library() {
    static const auto loaded = load();
    return loaded;
}

}  // namespace patchbay::crypto
