// What a server asks of its client: the first line is how elicitation is configured, the second the
// method, the rest its params. Each is answered once, and what the defaults fill in is what the
// server's own schema accepts.
#include "connection/responder.hpp"
#include "core/json.hpp"
#include "fuzz/require.hpp"
#include "protocol/schema.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace patchbay;
    namespace json = boost::json;
    std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto line = [&] {
        const auto taken = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(taken.size() + 1, text.size()));
        return std::string(taken);
    };
    config::ClientSettings settings;
    settings.elicitation = line();
    settings.roots = {"/a b", "file:///c"};
    settings.sampling = settings.elicitation == "fixed" ? "fixed" : "refuse";
    const auto method = line();
    const auto params = core::parse_json_object(text);
    if (!params) return 0;

    int asked = 0, answered = 0;
    const connection::Responder responder(
        settings, [&](const std::string&, const json::object&, auto answer) {
            ++asked;
            answer(json::object());
            return nullptr;
        });
    (void)connection::capabilities_of(settings);
    responder.respond("demo", method, *params, [&](Result<connection::Given> answer) {
        ++answered;
        if (!answer || asked > 0 || method != "elicitation/create") return;
        const auto given = core::parse_json_object(answer->text);
        FUZZ_REQUIRE(given);
        const auto* content = core::object_in(&*given, "content");
        const auto* wanted = params->if_contains("requestedSchema");
        if (!content || settings.elicitation == "fixed" || !wanted || !wanted->is_object()) return;
        const auto schema = protocol::Schema::compile(*wanted);
        FUZZ_REQUIRE(schema && schema->validate(*content).empty());
    });
    FUZZ_REQUIRE(answered == 1 && asked <= 1);
    return 0;
}
