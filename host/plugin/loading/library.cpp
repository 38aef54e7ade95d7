#include "plugin/loading/library.hpp"

#define BOOST_DLL_USE_STD_FS
#include "core/descriptor.hpp"
#include "core/digest.hpp"
#include "plugin/loading/trust.hpp"
#include "plugin/mapped_code.hpp"

#include <boost/dll/shared_library.hpp>

#include <cerrno>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace patchbay::plugin {
namespace {

constexpr int kNewestGenerationToLookFor = 9;

using core::Descriptor;

// The loader's own messages for these are misleading ("invalid ELF header", "wrong ELF class").
// A cut-off file would be mapped and then end in SIGBUS, so the segments are held against its size.
std::string why_not_ours(int fd, std::uint64_t size) {
    Elf64_Ehdr header{};
    const auto got = ::pread(fd, &header, sizeof header, 0);
    if (got < static_cast<ssize_t>(EI_NIDENT) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return "not an ELF shared library";
    if (header.e_ident[EI_CLASS] != ELFCLASS64) return "a 32-bit library, this host is 64-bit";
    if (header.e_ident[EI_DATA] != ELFDATA2LSB) return "a big-endian library";
    if (got < static_cast<ssize_t>(sizeof header)) return "cut off inside the ELF header";
    if (header.e_type != ET_DYN) return "an ELF file, but not a shared library";
#if defined(__x86_64__)
    constexpr unsigned machine = EM_X86_64;
#elif defined(__aarch64__)
    constexpr unsigned machine = EM_AARCH64;
#endif
    if (header.e_machine != machine)
        return "built for another processor (ELF machine " + std::to_string(header.e_machine) +
               ", this host is " + std::to_string(machine) + ")";
    if (header.e_phentsize != sizeof(Elf64_Phdr)) return "damaged: strange program headers";
    std::vector<Elf64_Phdr> segments(header.e_phnum);
    const auto bytes = segments.size() * sizeof(Elf64_Phdr);
    if (::pread(fd, segments.data(), bytes, static_cast<off_t>(header.e_phoff)) !=
        static_cast<ssize_t>(bytes))
        return "cut off inside the program headers";
    for (const auto& segment : segments)
        if (segment.p_filesz > size || segment.p_offset > size - segment.p_filesz)
            return "cut off: a segment ends behind the file's end";
    return {};
}

Result<Descriptor> copy_of(const Descriptor& original, std::size_t size, const std::string& path) {
    Descriptor copy(::memfd_create("patchbay-plugin", MFD_CLOEXEC));
    if (copy.get() < 0)
        return Error{ErrorCode::Io, path + ": memfd_create: " + std::strerror(errno)};
    off_t offset = 0;
    while (static_cast<std::size_t>(offset) < size) {
        const auto sent = ::sendfile(copy.get(), original.get(), &offset,
                                     size - static_cast<std::size_t>(offset));
        if (sent <= 0)
            return Error{ErrorCode::Io, path + ": cannot be copied: " + std::strerror(errno)};
    }
    return copy;
}

struct Mapping {
    Descriptor descriptor;
    boost::dll::shared_library library;
};

// Also a library without an entry point stays: its initialisers have run.
Mapping& keep(Mapping mapping) {
    static std::mutex mutex;
    static auto& kept = *new std::vector<std::unique_ptr<Mapping>>;  // never destroyed
    const std::scoped_lock lock(mutex);
    kept.push_back(std::make_unique<Mapping>(std::move(mapping)));
    return *kept.back();
}

Error refused(const std::string& path, ErrorCode code, const std::string& why) {
    return {code, path + ": " + why};
}

// A descriptor whose bytes are what the manifest says, of a file nobody else may write to.
Result<Descriptor> open_checked(const std::string& path, const std::string& sha256,
                                bool private_copy) {
    Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (descriptor.get() < 0) return refused(path, ErrorCode::Io, std::strerror(errno));
    struct stat status {};
    if (::fstat(descriptor.get(), &status) != 0)
        return refused(path, ErrorCode::Io, std::strerror(errno));
    if (!S_ISREG(status.st_mode)) return refused(path, ErrorCode::Invalid, "not a regular file");
    if (auto why = why_untrusted(status, path); !why.empty())
        return refused(path, ErrorCode::Denied, why);
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (private_copy) {
        auto copy = copy_of(descriptor, size, path);
        if (!copy) return copy.error();
        descriptor = std::move(*copy);
    }
    if (auto why = why_not_ours(descriptor.get(), size); !why.empty())
        return refused(path, ErrorCode::Invalid, why);
    const auto found = core::sha256_hex_of_descriptor(descriptor.get());
    if (!found) return within(path, found.error());
    if (*found != sha256)
        return refused(path, ErrorCode::Denied,
                       "the file is not the one its manifest describes: sha256 is " + *found +
                           ", the manifest says " + sha256 + "; install the plugin again");
    return descriptor;
}

}  // namespace

Result<void> Library::check(const std::string& path, const std::string& sha256) {
    const auto descriptor = open_checked(path, sha256, false);
    if (!descriptor) return descriptor.error();
    return {};
}

Result<Library> Library::open(const std::string& path, const std::string& sha256,
                              bool private_copy) {
    auto descriptor = open_checked(path, sha256, private_copy);
    if (!descriptor) return descriptor.error();
    Mapping* mapping = nullptr;
    try {
        namespace dll = boost::dll;
        const std::string name = "/proc/self/fd/" + std::to_string(descriptor->get());
        dll::shared_library library(name, dll::load_mode::rtld_now | dll::load_mode::rtld_local);
        mapping = &keep({std::move(*descriptor), std::move(library)});
    } catch (const std::exception& error) {
        // The loader names the descriptor; people know the path.
        return refused(path, ErrorCode::Invalid, std::string("cannot be mapped: ") + error.what());
    }
    const auto& mapped = mapping->library;
    if (mapped.has("patchbay_plugin_entry_0")) {
        const auto found = &mapped.get<std::remove_pointer_t<Entry>>("patchbay_plugin_entry_0");
        note_code(reinterpret_cast<const void*>(found), path);
        return Library(found);
    }
    for (int generation = 1; generation <= kNewestGenerationToLookFor; ++generation) {
        const auto symbol = "patchbay_plugin_entry_" + std::to_string(generation);
        if (mapped.has(symbol))
            return refused(
                path, ErrorCode::Unsupported,
                "built for another ABI generation: found " + symbol + ", this host speaks 0");
    }
    return refused(path, ErrorCode::Invalid,
                   "does not export patchbay_plugin_entry_0: not a Patchbay plugin");
}

}  // namespace patchbay::plugin
