// patchbay/cpp/json.hpp - reads the flat JSON object that a transport gets as its config: strings,
// numbers, booleans, arrays of strings, objects of strings. The host has validated it against the
// plugin's schema; anything else here is an error, not undefined. Header only, std only.
#ifndef PATCHBAY_CPP_JSON_HPP
#define PATCHBAY_CPP_JSON_HPP

#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "plugin.hpp"

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
    }

    const ConfigValue* find(const std::string& key) const {
        const auto found = values_.find(key);
        return found == values_.end() ? nullptr : &found->second;
    }
    std::string text(const std::string& key, std::string otherwise = {}) const {
        const auto* value = find(key);
        return value && value->kind == ConfigValue::Kind::String ? value->text : otherwise;
    }
    double number(const std::string& key, double otherwise) const {
        const auto* value = find(key);
        return value && value->kind == ConfigValue::Kind::Number ? value->number : otherwise;
    }
    bool boolean(const std::string& key, bool otherwise) const {
        const auto* value = find(key);
        return value && value->kind == ConfigValue::Kind::Boolean ? value->boolean : otherwise;
    }

private:
    [[noreturn]] static void fail() { throw Failure(PATCHBAY_E_INVALID, "config is not the JSON object it should be"); }
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
        if (static_cast<std::size_t>(end_ - at_) < text.size() || std::string_view(at_, text.size()) != text) return false;
        at_ += text.size();
        return true;
    }
    std::uint32_t hex4() {
        if (end_ - at_ < 4) fail();
        std::uint32_t value = 0;
        for (int i = 0; i < 4; ++i, ++at_) {
            const char c = *at_;
            value = value * 16 + static_cast<std::uint32_t>(c >= '0' && c <= '9'   ? c - '0'
                                                            : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                                            : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                                                   : (fail(), 0));
        }
        return value;
    }
    static void append(std::string& out, std::uint32_t c) {
        if (c < 0x80) out += static_cast<char>(c);
        else if (c < 0x800) (out += static_cast<char>(0xC0 | c >> 6)) += static_cast<char>(0x80 | (c & 0x3F));
        else if (c < 0x10000) ((out += static_cast<char>(0xE0 | c >> 12)) += static_cast<char>(0x80 | (c >> 6 & 0x3F))) += static_cast<char>(0x80 | (c & 0x3F));
        else (((out += static_cast<char>(0xF0 | c >> 18)) += static_cast<char>(0x80 | (c >> 12 & 0x3F))) += static_cast<char>(0x80 | (c >> 6 & 0x3F))) += static_cast<char>(0x80 | (c & 0x3F));
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
                case 'b': out += '\b'; break;
                case 'f': out += '\f'; break;
                case 'n': out += '\n'; break;
                case 'r': out += '\r'; break;
                case 't': out += '\t'; break;
                case 'u': {
                    std::uint32_t code = hex4();
                    if (code >= 0xD800 && code < 0xDC00) {
                        if (!word("\\u")) fail();
                        code = 0x10000 + ((code - 0xD800) << 10) + (hex4() - 0xDC00);
                    }
                    append(out, code);
                    break;
                }
                default: out += c;
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
            while (at_ < end_ && std::string_view("+-.0123456789eE").find(*at_) != std::string_view::npos) ++at_;
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
