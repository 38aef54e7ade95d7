// Foreign bytes as each of the files that Patchbay keeps of earlier runs: a record that makes no
// sense approves nothing, holds no login, remembers no era, and is not written over.
#include "app/era_file.hpp"
#include "auth/store_file.hpp"
#include "core/loop.hpp"
#include "fuzz/require.hpp"
#include "service/trust_file.hpp"
#include "support/scratch_folder.hpp"

#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace {

using namespace patchbay;

struct Folder : test::ScratchFolder {
    Folder() {}  // a const one may be made
    void put(const char* name, std::string_view text) const {
        const auto file = *this / name;
        ::unlink(file.c_str());  // a file that is cut to nothing is flushed when it is closed
        const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
        FUZZ_REQUIRE(fd >= 0);
        FUZZ_REQUIRE(::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
        ::close(fd);
    }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Folder folder;
    static core::Loop loop;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const char* name : {"mcp-auth.json", "trust.json", "eras.json"}) folder.put(name, text);

    const auto logins = auth::StoreFile(folder.path()).read();
    if (logins) FUZZ_REQUIRE(logins->file.at("servers").is_object() && logins->warning.empty());

    const service::TrustFile trust(folder.path());
    const auto ids = trust.ids("/p");
    if (!trust.trouble()) FUZZ_REQUIRE(ids.empty());
    config::Proposal proposal;
    proposal.directory = "/p";
    for (const auto& id : ids) {
        proposal.id = id;
        proposal.digest = "a digest that nobody has written, of something else";
        FUZZ_REQUIRE(!trust.approved(proposal) || text.find("something else") != text.npos);
    }

    app::EraFile eras(loop, folder / "eras.json");
    const auto known = eras.find("key");
    FUZZ_REQUIRE(known.version.find(' ') == std::string::npos);
    FUZZ_REQUIRE(known.version.size() + known.transport.size() <= size);
    return 0;
}
