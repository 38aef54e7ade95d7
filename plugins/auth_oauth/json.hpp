// JSON objects of servers, and those we write. The one door to the JSON library.
//
// Threads: [value]. Errors: Trouble(E_PROTOCOL) naming where the object is from and the member.
#pragma once

#include <patchbay/cpp/json.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::oauth {

// The members of one object; null counts as missing. Of nested values only arrays of strings are
// kept.
class Document {
public:
    // `where`: a URL, or what else to call it in messages.
    static Document parse(std::string_view text, std::string where);

    bool has(const std::string& name) const { return members_.count(name) != 0; }
    std::optional<std::string> text(const std::string& name) const;
    std::string text_or(const std::string& name, std::string otherwise) const;
    std::string needed_text(const std::string& name) const;
    std::optional<std::vector<std::string>> texts(const std::string& name) const;
    bool flag(const std::string& name) const;  // missing: false
    const sdk::ConfigValue* find(const std::string& name) const;

private:
    const sdk::ConfigValue* find(const std::string& name, sdk::ConfigValue::Kind kind,
                                 const char* wanted) const;

    std::string where_;
    std::map<std::string, sdk::ConfigValue> members_;
};

class ObjectWriter {
public:
    ObjectWriter& text(std::string_view name, std::string_view value);
    ObjectWriter& number(std::string_view name, std::int64_t value);
    ObjectWriter& flag(std::string_view name, bool value);
    ObjectWriter& texts(std::string_view name, const std::vector<std::string>& values);
    ObjectWriter& object(std::string_view name, std::string_view json);
    std::string str() const { return "{" + members_ + "}"; }

private:
    void name(std::string_view name);
    std::string members_;
};

}  // namespace patchbay::oauth
