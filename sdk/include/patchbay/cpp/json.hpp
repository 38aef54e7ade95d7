// patchbay/cpp/json.hpp - reads the flat JSON object that a transport gets as its config: strings,
// numbers, booleans, arrays of strings, objects of strings. The host has validated it against the
// plugin's schema; anything else throws a Failure with text. Header only, std only.
//
// Threads: [value].
#ifndef PATCHBAY_CPP_JSON_HPP
#define PATCHBAY_CPP_JSON_HPP

#include "plugin.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::sdk {

struct ConfigValue {
    enum class Kind { Null, Boolean, Number, String, Strings, Object } kind = Kind::Null;
    bool boolean = false;
    double number = 0;
    std::string text;
    std::vector<std::string> strings;
    std::map<std::string, std::string> object;
};

class Config {
public:
    explicit Config(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {
        expect('{');
        if (!accept('}')) {
            do {
                std::string key = string();
                expect(':');
                values_[std::move(key)] = value();
            } while (accept(','));
            expect('}');
        }
        space();
        if (at_ != end_) fail();
    }

    // Null when the key is missing or null.
    const ConfigValue* find(const std::string& key) const {
        const auto found = values_.find(key);
        const bool absent = found == values_.end() || found->second.kind == ConfigValue::Kind::Null;
        return absent ? nullptr : &found->second;
    }

    // `otherwise` for a missing key; Failure for a value of another kind.
    std::string text(const std::string& key, std::string otherwise = {}) const {
        const auto* value = find(key, ConfigValue::Kind::String, "a string");
        return value ? value->text : otherwise;
    }
    double number(const std::string& key, double otherwise, double least, double most) const {
        const auto* value = find(key, ConfigValue::Kind::Number, "a number");
        if (!value) return otherwise;
        if (value->number >= least && value->number <= most) return value->number;
        throw Failure(PATCHBAY_E_INVALID,
                      "\"" + key + "\" must be from " + plain(least) + " to " + plain(most));
    }
    bool boolean(const std::string& key, bool otherwise) const {
        const auto* value = find(key, ConfigValue::Kind::Boolean, "true or false");
        return value ? value->boolean : otherwise;
    }
    std::vector<std::string> strings(const std::string& key) const {
        const auto* value = find(key, ConfigValue::Kind::Strings, "an array of strings");
        return value ? value->strings : std::vector<std::string>();
    }
    std::map<std::string, std::string> object(const std::string& key) const {
        const auto* value = find(key, ConfigValue::Kind::Object, "an object of strings");
        return value ? value->object : std::map<std::string, std::string>();
    }

private:
    const ConfigValue* find(const std::string& key, ConfigValue::Kind kind,
                            const char* wanted) const {
        const auto* value = find(key);
        if (!value || value->kind == kind) return value;
        throw Failure(PATCHBAY_E_INVALID, "\"" + key + "\" must be " + wanted);
    }
    static std::string plain(double number) {
        char text[32];
        std::snprintf(text, sizeof text, "%.17g", number);
        return text;
    }
    [[noreturn]] static void fail() {
        throw Failure(
            PATCHBAY_E_INVALID,
            "the settings must be one JSON object of strings, numbers, booleans, arrays of "
            "strings and objects of strings");
    }
    void space() {
        while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
    }
    bool accept(char c) {
        space();
        if (at_ == end_ || *at_ != c) return false;
        return ++at_, true;
    }
    void expect(char c) {
        if (!accept(c)) fail();
    }
    bool word(std::string_view text) {
        if (static_cast<std::size_t>(end_ - at_) < text.size()) return false;
        if (std::string_view(at_, text.size()) != text) return false;
        at_ += text.size();
        return true;
    }
    static int digit(char c) {
        if (c >= '0' && c <= '9') return c - '0';
        if (c >= 'a' && c <= 'f') return c - 'a' + 10;
        if (c >= 'A' && c <= 'F') return c - 'A' + 10;
        fail();
    }
    std::uint32_t hex4() {
        if (end_ - at_ < 4) fail();
        std::uint32_t value = 0;
        for (int i = 0; i < 4; ++i) value = value * 16 + static_cast<std::uint32_t>(digit(*at_++));
        return value;
    }
    std::uint32_t code_point() {  // after "\u"
        const std::uint32_t high = hex4();
        if (high < 0xD800 || high > 0xDFFF) return high;
        if (high > 0xDBFF || !word("\\u")) fail();
        const std::uint32_t low = hex4();
        if (low < 0xDC00 || low > 0xDFFF) fail();
        return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
    }
    static void append(std::string& out, std::uint32_t c) {
        const auto tail = [](std::uint32_t bits) {
            return static_cast<char>(0x80 | (bits & 0x3F));
        };
        if (c < 0x80) {
            out += static_cast<char>(c);
        } else if (c < 0x800) {
            out += static_cast<char>(0xC0 | c >> 6);
            out += tail(c);
        } else if (c < 0x10000) {
            out += static_cast<char>(0xE0 | c >> 12);
            out += tail(c >> 6);
            out += tail(c);
        } else {
            out += static_cast<char>(0xF0 | c >> 18);
            out += tail(c >> 12);
            out += tail(c >> 6);
            out += tail(c);
        }
    }
    std::string string() {
        expect('"');
        std::string out;
        while (at_ < end_ && *at_ != '"') {
            if (*at_ != '\\') {
                out += *at_++;
                continue;
            }
            if (++at_ == end_) fail();
            switch (const char c = *at_++) {
                case 'b':
                    out += '\b';
                    break;
                case 'f':
                    out += '\f';
                    break;
                case 'n':
                    out += '\n';
                    break;
                case 'r':
                    out += '\r';
                    break;
                case 't':
                    out += '\t';
                    break;
                case 'u':
                    append(out, code_point());
                    break;
                default:
                    out += c;
            }
        }
        expect('"');
        return out;
    }
    ConfigValue value() {
        ConfigValue value;
        space();
        if (at_ == end_) fail();
        if (*at_ == '"') {
            value.kind = ConfigValue::Kind::String;
            value.text = string();
        } else if (accept('[')) {
            value.kind = ConfigValue::Kind::Strings;
            if (!accept(']')) {
                do value.strings.push_back(string());
                while (accept(','));
                expect(']');
            }
        } else if (accept('{')) {
            value.kind = ConfigValue::Kind::Object;
            if (!accept('}')) {
                do {
                    std::string key = string();
                    expect(':');
                    value.object[std::move(key)] = string();
                } while (accept(','));
                expect('}');
            }
        } else if (word("true")) {
            value.kind = ConfigValue::Kind::Boolean;
            value.boolean = true;
        } else if (word("false")) {
            value.kind = ConfigValue::Kind::Boolean;
        } else if (!word("null")) {
            const char* from = at_;
            const auto part_of_number = [](char c) {
                return std::string_view("+-.0123456789eE").find(c) != std::string_view::npos;
            };
            while (at_ < end_ && part_of_number(*at_)) ++at_;
            if (from == at_) fail();
            value.kind = ConfigValue::Kind::Number;
            value.number = std::strtod(std::string(from, at_).c_str(), nullptr);
        }
        return value;
    }

    const char* at_;
    const char* end_;
    std::map<std::string, ConfigValue> values_;
};

}  // namespace patchbay::sdk

#endif
