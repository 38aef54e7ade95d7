#include "json.hpp"

#include "trouble.hpp"

#include <boost/json/src.hpp>  // the library itself: its archive is not for shared objects

#include <algorithm>
#include <cmath>

namespace patchbay::oauth {
namespace {

using Kind = sdk::ConfigValue::Kind;

sdk::ConfigValue kept(const boost::json::value& value) {
    sdk::ConfigValue out;
    if (const auto* text = value.if_string()) {
        out.kind = Kind::String;
        out.text = *text;
    } else if (value.is_bool()) {
        out.kind = Kind::Boolean;
        out.boolean = value.get_bool();
    } else if (value.is_number()) {
        out.kind = Kind::Number;
        out.number = value.to_number<double>();
        if (std::isnan(out.number)) out.number = 0;  // the library's reading of 0e999
    } else if (const auto* list = value.if_array()) {
        const bool strings = std::all_of(list->begin(), list->end(),
                                         [](const auto& each) { return each.is_string(); });
        out.kind = strings ? Kind::Strings : Kind::Object;
        if (strings)
            for (const auto& each : *list) out.strings.emplace_back(each.get_string());
    } else {
        out.kind = Kind::Object;
    }
    return out;
}

std::string quoted(std::string_view text) {
    return boost::json::serialize(boost::json::string_view(text.data(), text.size()));
}

}  // namespace

Document Document::parse(std::string_view text, std::string where) {
    boost::system::error_code failed;
    const auto value = boost::json::parse({text.data(), text.size()}, failed);
    const auto* object = failed ? nullptr : value.if_object();
    if (!object) throw Trouble(PATCHBAY_E_PROTOCOL, where + ": the answer is not a JSON object");
    Document document;
    document.where_ = std::move(where);
    for (const auto& [name, member] : *object)
        if (!member.is_null()) document.members_[std::string(name)] = kept(member);
    return document;
}

const sdk::ConfigValue* Document::find(const std::string& name) const {
    const auto found = members_.find(name);
    return found == members_.end() ? nullptr : &found->second;
}

const sdk::ConfigValue* Document::find(const std::string& name, Kind kind,
                                       const char* wanted) const {
    const auto* value = find(name);
    if (!value || value->kind == kind) return value;
    throw Trouble(PATCHBAY_E_PROTOCOL, where_ + ": \"" + name + "\" must be " + wanted);
}

std::optional<std::string> Document::text(const std::string& name) const {
    const auto* value = find(name, Kind::String, "a string");
    return value ? std::optional(value->text) : std::nullopt;
}

std::string Document::text_or(const std::string& name, std::string otherwise) const {
    return text(name).value_or(std::move(otherwise));
}

std::string Document::needed_text(const std::string& name) const {
    auto value = text(name);
    if (value && !value->empty()) return *value;
    throw Trouble(PATCHBAY_E_PROTOCOL, where_ + ": \"" + name + "\" is missing");
}

std::optional<std::vector<std::string>> Document::texts(const std::string& name) const {
    const auto* value = find(name, Kind::Strings, "an array of strings");
    return value ? std::optional(value->strings) : std::nullopt;
}

bool Document::flag(const std::string& name) const {
    const auto* value = find(name, Kind::Boolean, "true or false");
    return value && value->boolean;
}

void ObjectWriter::name(std::string_view name) {
    if (!members_.empty()) members_ += ',';
    members_ += quoted(name) + ":";
}

ObjectWriter& ObjectWriter::text(std::string_view key, std::string_view value) {
    return object(key, quoted(value));
}

ObjectWriter& ObjectWriter::number(std::string_view key, std::int64_t value) {
    return object(key, std::to_string(value));
}

ObjectWriter& ObjectWriter::flag(std::string_view key, bool value) {
    return object(key, value ? "true" : "false");
}

ObjectWriter& ObjectWriter::texts(std::string_view key, const std::vector<std::string>& values) {
    std::string list;
    for (const auto& value : values) {
        if (!list.empty()) list += ',';
        list += quoted(value);
    }
    return object(key, "[" + list + "]");
}

ObjectWriter& ObjectWriter::object(std::string_view key, std::string_view json) {
    name(key);
    members_ += json;
    return *this;
}

}  // namespace patchbay::oauth
