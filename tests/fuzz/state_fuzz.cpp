// Foreign bytes as each of the files that Patchbay keeps of earlier runs: a record that makes no
// sense approves nothing, holds no login, remembers no era, and is not written over.
#include "app/era_file.hpp"
#include "auth/store_file.hpp"
#include "core/loop.hpp"
#include "fuzz/state_folder.hpp"
#include "service/trust_file.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

using namespace patchbay;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const test::StateFolder folder;
    static core::Loop loop;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const char* name : {"mcp-auth.json", "trust.json", "eras.json"})
        folder.put(folder / name, text);

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
    const auto known = eras.find("key", protocol::Era::Modern);
    FUZZ_REQUIRE(known.version.find(' ') == std::string::npos);
    FUZZ_REQUIRE(known.version.size() + known.transport.size() <= size);
    return 0;
}
