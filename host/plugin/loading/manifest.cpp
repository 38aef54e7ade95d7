#include "plugin/loading/manifest.hpp"

#include "core/text.hpp"
#include "core/toml.hpp"

#include <algorithm>
#include <optional>

namespace patchbay::plugin {
namespace {

constexpr std::size_t kMostEntries = 64;  // provides, requires, wants

std::string quoted(std::string_view text) {
    std::string out = "\"";
    out += text;
    out += '"';
    return out;
}

// Reads one table after the other and keeps the first error; after an error nothing is read.
class Reader {
public:
    Reader(const std::string& path, Manifest& manifest) : path_(path), manifest_(manifest) {}

    std::optional<Error> error;

    void fail(const toml::source_region& where, std::string message) {
        if (error) return;
        error = Error{ErrorCode::Invalid, place(where) + ": " + std::move(message)};
    }

    void warn_unknown(const toml::table& table, std::string_view name,
                      std::initializer_list<std::string_view> known) {
        for (const auto& [key, node] : table) {
            if (std::find(known.begin(), known.end(), key.str()) != known.end()) continue;
            const std::vector<std::string> names(known.begin(), known.end());
            manifest_.warnings.push_back(place(key.source()) + ": unknown key \"" +
                                         core::printable(key.str(), 64) + "\" in " +
                                         std::string(name) + core::did_you_mean(key.str(), names));
        }
    }

    std::string text(const toml::table& table, std::string_view key, bool needed,
                     std::size_t most_bytes = 256) {
        const auto* node = table.get(key);
        if (!node) {
            if (needed) fail(table.source(), quoted(key) + " is missing");
            return {};
        }
        const auto* string = node->as_string();
        if (!string) {
            fail(node->source(), quoted(key) + " must be a string");
            return {};
        }
        if (string->get().empty() || string->get().size() > most_bytes ||
            core::printable(string->get(), most_bytes) != string->get()) {
            fail(node->source(),
                 quoted(key) + " must be 1 to " + std::to_string(most_bytes) + " printable bytes");
            return {};
        }
        return string->get();
    }

    unsigned number(const toml::table& table, std::string_view key) {
        const auto* node = table.get(key);
        const auto* integer = node ? node->as_integer() : nullptr;
        if (!integer || integer->get() < 0 || integer->get() > 1'000'000) {
            fail(node ? node->source() : table.source(), quoted(key) + " must be a number from 0");
            return 0;
        }
        return static_cast<unsigned>(integer->get());
    }

    std::vector<std::string> texts(const toml::table& table, std::string_view key) {
        std::vector<std::string> list;
        const auto* node = table.get(key);
        if (!node) return list;
        const auto* array = node->as_array();
        if (!array || array->size() > kMostEntries) {
            fail(node->source(), quoted(key) + " must be a list of at most " +
                                     std::to_string(kMostEntries) + " strings");
            return list;
        }
        for (const auto& element : *array) {
            if (!element.is_string())
                fail(element.source(), "must be a string");
            else
                list.push_back(element.as_string()->get());
        }
        return list;
    }

    const toml::table* table(const toml::table& parent, std::string_view key, bool needed) {
        const auto* node = parent.get(key);
        if (!node) {
            if (needed) fail(parent.source(), quoted(key) + " is missing");
            return nullptr;
        }
        if (!node->is_table()) fail(node->source(), quoted(key) + " must be a table");
        return node->as_table();
    }

private:
    std::string place(const toml::source_region& where) const {
        return path_ + ":" + std::to_string(where.begin.line) + ":" +
               std::to_string(where.begin.column);
    }

    const std::string& path_;
    Manifest& manifest_;
};

// Inside the manifest's folder: relative, no "..", no backslash.
bool stays_inside(std::string_view path) {
    if (path.empty() || path.front() == '/' || path.find('\\') != path.npos) return false;
    for (std::size_t begin = 0; begin <= path.size();) {
        const auto end = std::min(path.find('/', begin), path.size());
        const auto part = path.substr(begin, end - begin);
        if (part == ".." || part.empty()) return false;
        begin = end + 1;
    }
    return true;
}

bool valid_id(std::string_view id) {
    if (id.empty() || id.size() > 128 || !std::isalnum(static_cast<unsigned char>(id.front())))
        return false;
    return std::all_of(id.begin(), id.end(), [](unsigned char c) {
        return std::isalnum(c) || c == '.' || c == '-' || c == '_';
    });
}

bool valid_sha256(std::string_view text) {
    return text.size() == 64 && std::all_of(text.begin(), text.end(), [](unsigned char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
           });
}

void read_abi(Reader& reader, const toml::table& root, Manifest& manifest) {
    const auto* abi = reader.table(root, "abi", true);
    if (!abi) return;
    reader.warn_unknown(*abi, "[abi]", {"generation", "minor", "requires", "wants"});
    manifest.generation = reader.number(*abi, "generation");
    if (abi->contains("minor")) manifest.minor = reader.number(*abi, "minor");
    manifest.requires_extensions = reader.texts(*abi, "requires");
    manifest.wants_extensions = reader.texts(*abi, "wants");
}

void read_provides(Reader& reader, const toml::table& root, Manifest& manifest) {
    const auto* node = root.get("provides");
    const auto* list = node ? node->as_array() : nullptr;
    if (!list || list->empty() || list->size() > kMostEntries) {
        return reader.fail(
            node ? node->source() : root.source(),
            "[[provides]] is needed, at most " + std::to_string(kMostEntries) + " times");
    }
    for (const auto& element : *list) {
        const auto* entry = element.as_table();
        if (!entry) return reader.fail(element.source(), "[[provides]] must be tables");
        reader.warn_unknown(*entry, "[[provides]]",
                            {"kind", "name", "config_schema", "local", "isolation"});
        Manifest::Provides provides;
        provides.kind = reader.text(*entry, "kind", true);
        provides.name = reader.text(*entry, "name", true, 64);
        provides.schema_file = reader.text(*entry, "config_schema", false, 1024);
        if (const auto* local = entry->get("local")) {
            if (!local->is_boolean())
                reader.fail(local->source(), "\"local\" must be true or false");
            provides.local = local->value_or(false);
        }
        const auto isolation = reader.text(*entry, "isolation", false);
        if (reader.error) return;
        if (provides.kind != "transport" && provides.kind != "auth")
            reader.fail(entry->get("kind")->source(),
                        "kind \"" + provides.kind + "\" must be \"transport\" or \"auth\"");
        if (!valid_kind_name(provides.name))
            reader.fail(entry->get("name")->source(),
                        "name \"" + provides.name + "\" must match [a-z][a-z0-9_-]*");
        if (!provides.schema_file.empty() && !stays_inside(provides.schema_file))
            reader.fail(entry->get("config_schema")->source(),
                        "config_schema must stay inside the manifest's folder");
        if (!isolation.empty() && isolation != "either" && isolation != "process" &&
            isolation != "in-process")
            reader.fail(entry->get("isolation")->source(),
                        "isolation must be \"either\", \"process\" or \"in-process\"");
        if (!isolation.empty() && isolation != "either") manifest.isolation = isolation;
        for (const auto& other : manifest.provides)
            if (other.kind == provides.kind && other.name == provides.name)
                reader.fail(entry->source(),
                            provides.kind + " \"" + provides.name + "\" is provided twice");
        manifest.provides.push_back(std::move(provides));
    }
}

void read_library(Reader& reader, const toml::table& root, std::string_view platform,
                  Manifest& manifest) {
    const auto* libraries = reader.table(root, "library", true);
    if (!libraries || reader.error) return;
    const auto* mine = reader.table(*libraries, platform, false);
    if (reader.error) return;
    if (!mine) {
        std::vector<std::string> there;
        for (const auto& [key, node] : *libraries) there.emplace_back(key.str());
        return reader.fail(libraries->source(),
                           "no library for this platform, [library." + std::string(platform) +
                               "]; there: " + (there.empty() ? "none" : core::join(there, ", ")));
    }
    reader.warn_unknown(*mine, "[library." + std::string(platform) + "]", {"path", "sha256"});
    manifest.library = reader.text(*mine, "path", true, 1024);
    manifest.sha256 = reader.text(*mine, "sha256", true);
    if (reader.error) return;
    if (!stays_inside(manifest.library))
        reader.fail(mine->get("path")->source(),
                    "path \"" + manifest.library + "\" must stay inside the manifest's folder");
    if (!valid_sha256(manifest.sha256))
        reader.fail(mine->get("sha256")->source(), "sha256 must be 64 lower-case hex digits");
}

void read_grants(Reader& reader, const toml::table& root, Manifest& manifest) {
    const auto* grants = reader.table(root, "grants", false);
    if (!grants || reader.error) return;
    reader.warn_unknown(*grants, "[grants]", {"network", "spawn", "browser", "secrets"});
    for (const auto& [key, node] : *grants) {
        if (const auto* value = node.as_boolean())
            manifest.grants[std::string(key.str())] = value->get();
        else
            reader.fail(node.source(), quoted(key.str()) + " must be true or false");
    }
}

}  // namespace

std::string_view this_platform() {
#if defined(__linux__) && defined(__x86_64__) && defined(__GLIBC__)
    return "linux-x86_64-gnu";
#elif defined(__linux__) && defined(__aarch64__) && defined(__GLIBC__)
    return "linux-aarch64-gnu";
#elif defined(__linux__) && defined(__x86_64__)
    return "linux-x86_64-musl";
#elif defined(__linux__) && defined(__aarch64__)
    return "linux-aarch64-musl";
#else
#error "name this platform, here and in PatchbayPlugin.cmake"
#endif
}

bool valid_kind_name(std::string_view name) {
    if (name.empty() || name.front() < 'a' || name.front() > 'z') return false;
    return std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    });
}

Result<Manifest> parse_manifest(std::string_view text, const std::string& path,
                                std::string_view platform) {
    if (text.size() > kManifestBytes)
        return Error{ErrorCode::Limit,
                     path + ": larger than " + std::to_string(kManifestBytes) + " bytes"};
    const auto parsed = toml::parse(text, path);
    if (!parsed) {
        const auto& error = parsed.error();
        return Error{ErrorCode::Invalid,
                     path + ":" + std::to_string(error.source().begin.line) + ":" +
                         std::to_string(error.source().begin.column) +
                         ": not TOML: " + core::printable(error.description(), 256)};
    }
    const toml::table& root = parsed.table();
    Manifest manifest;
    Reader reader(path, manifest);
    if (const unsigned format = reader.number(root, "manifest"); !reader.error && format != 1)
        reader.fail(root.get("manifest")->source(),
                    "manifest = " + std::to_string(format) + ", this host reads 1");
    if (reader.error) return *reader.error;  // of another format we know nothing else
    reader.warn_unknown(root, "the manifest",
                        {"manifest", "id", "name", "version", "license", "description", "homepage",
                         "abi", "provides", "library", "grants", "servers"});
    manifest.id = reader.text(root, "id", true);
    if (!reader.error && !valid_id(manifest.id))
        reader.fail(root.get("id")->source(),
                    "id \"" + manifest.id + "\" must be letters, digits, '.', '-' and '_'");
    manifest.version = reader.text(root, "version", true, 64);
    manifest.name = reader.text(root, "name", false);
    manifest.license = reader.text(root, "license", false);
    if (!reader.error) read_abi(reader, root, manifest);
    if (!reader.error) read_provides(reader, root, manifest);
    if (!reader.error) read_library(reader, root, platform, manifest);
    if (!reader.error) read_grants(reader, root, manifest);
    if (const auto* servers = reader.table(root, "servers", false))
        manifest.has_servers = !servers->empty();
    if (reader.error) return *reader.error;
    return manifest;
}

}  // namespace patchbay::plugin
