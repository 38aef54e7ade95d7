#include "protocol/envelope.hpp"

#include "core/json_beside.hpp"
#include "core/text.hpp"
#include "protocol/raw_json.hpp"
#include "protocol/raw_value.hpp"

#include <boost/json/basic_parser_impl.hpp>

#include <algorithm>
#include <charconv>

namespace patchbay::protocol {
namespace json = boost::json;

namespace {

// One member of the outermost object. The value's end is where the next key (or the object) ends.
struct Member {
    std::string_view key;
    std::string_view value;
};

enum class Watched { None, Method, ResultType, IsError };

// The parser leaves its fast path at the first escape of a string, for the rest of it. So a message
// that has any is read from a copy in which this stands in their place: at home in every string, and
// nowhere else.
constexpr char kStandIn = '\x7f';
constexpr std::size_t kLeastCopied = 256, kMostCopied = 4u << 20;
constexpr std::size_t kRoomKept = 256u << 10;  // of the copy

// Notes top-level keys by their address in the input, those of the params where they are wanted, and the few
// scalars that routing reads.
struct Scan {
    // basic_parser asks its handler; the message's own size and depth are the bounds.
    static constexpr std::size_t max_object_size = std::size_t(-1);
    static constexpr std::size_t max_array_size = std::size_t(-1);
    static constexpr std::size_t max_key_size = std::size_t(-1);
    static constexpr std::size_t max_string_size = std::size_t(-1);
    using error_code = json::error_code;
    using string_view = json::string_view;

    std::string_view input;
    std::vector<std::string_view>* keys = nullptr;
    std::vector<std::string_view>* params_keys = nullptr;  // null: they are not wanted
    int depth = 0;
    bool top_is_object = false;
    bool escaped_key = false;
    bool escaped_params_key = false;
    bool key_in_parts = false;
    bool is_copy = false;    // `input` has kStandIn for what was escaped
    bool in_result = false;  // the current top-level member is `result`
    bool in_params = false;  // it is `params`, whose keys are wanted
    Watched watched = Watched::None;
    std::string method;
    std::string result_type;
    bool is_error = false;

    bool on_document_begin(error_code&) { return true; }
    bool on_document_end(error_code&) { return true; }
    bool on_object_begin(error_code&) {
        if (depth++ == 0) top_is_object = true;
        watched = Watched::None;
        return true;
    }
    bool on_object_end(std::size_t, error_code&) { return --depth, true; }
    bool on_array_begin(error_code&) {
        ++depth;
        watched = Watched::None;
        return true;
    }
    bool on_array_end(std::size_t, error_code&) { return --depth, true; }
    bool on_key_part(string_view, std::size_t, error_code&) {
        key_in_parts = true;
        return true;
    }
    bool on_key(string_view key, std::size_t, error_code& error) {
        // The parser hands on a key that has an escape from a buffer of its own, and perhaps in
        // parts: no address in the input tells where its value begins.
        const bool whole = !std::exchange(key_in_parts, false) && key.data() >= input.data() &&
                           key.data() + key.size() <= input.data() + input.size();
        watched = Watched::None;
        if ((depth == 1 || (depth == 2 && (in_result || in_params))) && !is_clear(key, error))
            return false;
        if (depth == 1) {
            if (!whole) escaped_key = true;
            keys->push_back({key.data(), key.size()});
            in_result = key == "result";
            in_params = params_keys && key == "params";
            if (key == "method") watched = Watched::Method;
        } else if (depth == 2 && in_result) {
            if (key == "resultType") watched = Watched::ResultType;
            if (key == "isError") watched = Watched::IsError;
        } else if (depth == 2 && in_params) {
            if (!whole) escaped_params_key = true;
            params_keys->push_back({key.data(), key.size()});
        }
        return true;
    }
    bool on_string_part(string_view text, std::size_t, error_code& error) {
        return take(text, error);
    }
    bool on_string(string_view text, std::size_t, error_code& error) { return take(text, error); }
    bool on_number_part(string_view, error_code&) { return true; }
    bool on_int64(std::int64_t, string_view, error_code&) { return true; }
    bool on_uint64(std::uint64_t, string_view, error_code&) { return true; }
    bool on_double(double, string_view, error_code&) { return true; }
    bool on_bool(bool value, error_code&) {
        if (watched == Watched::IsError) is_error = value;
        return true;
    }
    bool on_null(error_code&) { return true; }
    bool on_comment_part(string_view, error_code&) { return true; }
    bool on_comment(string_view, error_code&) { return true; }

private:
    // What counts by its letters is not to be read from a copy without them.
    bool is_clear(string_view text, error_code& error) const {
        if (!is_copy || text.find(kStandIn) == string_view::npos) return true;
        error = json::error::syntax;  // any: it is read again
        return false;
    }
    bool take(string_view text, error_code& error) {
        if (watched != Watched::None && !is_clear(text, error)) return false;
        if (watched == Watched::Method) method.append(text.data(), text.size());
        if (watched == Watched::ResultType) result_type.append(text.data(), text.size());
        return true;
    }
};

// From the top-level keys' addresses to raw values. `inside` runs from after `{` to before `}`.
void cut_members(std::string_view inside, const std::vector<std::string_view>& keys,
                 std::vector<Member>& members) {
    members.clear();
    const char* const end = inside.data() + inside.size();
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const char* from = keys[i].data() + keys[i].size() + 1;  // after the closing quote
        const char* to = i + 1 < keys.size() ? keys[i + 1].data() - 1 : end;
        auto value = trimmed({from, static_cast<std::size_t>(to - from)});
        value = trimmed(value.substr(1));                                             // the colon
        if (i + 1 < keys.size()) value = trimmed(value.substr(0, value.size() - 1));  // the comma
        members.push_back({keys[i], value});
    }
}

Error syntax_error(const json::error_code& error, std::size_t offset, std::string_view text) {
    if (error == json::error::too_deep) {
        return {ErrorCode::Limit, "message is nested too deep (limit json_depth)"};
    }
    // The parser calls that a syntax error too, at the byte or in the middle of the character.
    if (const auto valid = core::valid_utf8_bytes(text); valid <= offset && valid < text.size())
        return {ErrorCode::Protocol, "message is not valid UTF-8 at byte " + std::to_string(valid)};
    return {ErrorCode::Protocol,
            "message is not valid JSON: " + error.message() + " at byte " + std::to_string(offset)};
}

Error not_an_object() {
    return {ErrorCode::Protocol, "message is not a JSON object"};
}

Error escaped_key() {
    return {ErrorCode::Protocol, "message has an escaped top-level key"};
}

std::optional<unsigned> code_unit(std::string_view escape) {
    unsigned unit = 0;
    if (escape.size() < 6 || !escape.starts_with("\\u")) return {};
    const auto [end, error] = std::from_chars(escape.data() + 2, escape.data() + 6, unit, 16);
    return error == std::errc() && end == escape.data() + 6 ? std::optional(unit) : std::nullopt;
}

bool is_short_escape(char c) {
    switch (c) {
        case '"':
        case '\\':
        case '/':
        case 'b':
        case 'f':
        case 'n':
        case 'r':
        case 't':
            return true;
        default:
            return false;
    }
}

// Of the escape that a text begins with, a pair of surrogates being one; 0: it is none.
std::size_t escape_size(std::string_view text) {
    if (text.size() > 1 && is_short_escape(text[1])) return 2;
    const auto unit = code_unit(text);
    if (!unit) return 0;
    if (*unit < 0xd800 || *unit > 0xdfff) return 6;
    const auto low = *unit < 0xdc00 ? code_unit(text.substr(6)) : std::nullopt;
    return low && *low >= 0xdc00 && *low <= 0xdfff ? 12 : 0;
}

// False: there is nothing to copy, or one of its escapes is for the parser to judge.
bool copy_without_escapes(std::string_view text, std::string& copy) {
    if (text.size() < kLeastCopied || text.size() > kMostCopied) return false;
    auto at = text.find('\\');
    if (at == text.npos) return false;
    copy.assign(text);
    for (; at != text.npos; at = text.find('\\', at)) {
        const auto size = escape_size(text.substr(at));
        if (size == 0) return false;
        std::fill_n(copy.data() + at, size, kStandIn);
        at += size;
    }
    return true;
}

// `used`: up to where it is what it should be.
json::error_code run_parser(std::string_view text, std::size_t depth, Scan& scan,
                            std::size_t& used) {
    scan.keys->clear();
    if (scan.params_keys) scan.params_keys->clear();
    json::parse_options options;
    options.max_depth = depth;
    json::basic_parser<Scan> parser(options);
    parser.handler() = scan;
    parser.handler().input = text;
    json::error_code error;
    used = parser.write_some(false, text.data(), text.size(), error);
    if (!error && used < text.size()) error = json::error::extra_data;
    scan = std::move(parser.handler());
    return error;
}

// The same of a copy without escapes. False: the text itself has to be read.
bool run_on_copy(std::string_view text, std::size_t depth, Scan& scan) {
    static thread_local std::string copy;
    bool done = false;
    if (copy_without_escapes(text, copy)) {
        Scan found = scan;
        found.is_copy = true;
        std::size_t used = 0;
        done = !run_parser(copy, depth, found, used) && !found.escaped_key &&
               !found.escaped_params_key;
        if (done) {
            for (auto* keys : {found.keys, found.params_keys})
                if (keys)
                    for (auto& key : *keys)
                        key = text.substr(static_cast<std::size_t>(key.data() - copy.data()),
                                          key.size());
            scan = std::move(found);
        }
    }
    if (copy.capacity() > kRoomKept) std::string().swap(copy);
    return done;
}

// The members are good until the next scan of this thread.
Result<const std::vector<Member>*> scan_object(std::string_view text, std::size_t depth,
                                               Scan& scan) {
    // Every message comes through here: the room for its members is kept.
    static thread_local std::vector<std::string_view> keys;
    static thread_local std::vector<Member> members;
    scan.keys = &keys;
    if (!run_on_copy(text, depth, scan)) {
        std::size_t used = 0;
        if (const auto error = run_parser(text, depth, scan, used))
            return syntax_error(error, used, text);
    }
    if (!scan.top_is_object) return not_an_object();
    if (scan.escaped_key) return escaped_key();
    const auto body = trimmed(text);
    cut_members(body.substr(1, body.size() - 2), keys, members);
    return &members;
}

// Of a valid JSON value. Digits are the common case; 7.0 and 7e0 are the same number to JSON.
std::optional<std::int64_t> integer(std::string_view raw) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(raw.data(), raw.data() + raw.size(), value);
    if (error == std::errc() && end == raw.data() + raw.size()) return value;
    const auto number = core::parse_json(raw);
    return number ? core::integer_of(*number) : std::nullopt;
}

Error malformed(const std::string& why) {
    return {ErrorCode::Protocol, "not a JSON-RPC 2.0 message: " + why};
}

Result<Envelope> envelope_of(const std::vector<Member>& members, Scan& scan) {
    Envelope envelope;
    std::string_view version, method, id;
    const auto claim = [](std::string_view& slot, std::string_view value) {
        if (slot.data() != nullptr) return false;
        slot = value;
        return true;
    };
    for (const auto& [key, value] : members) {
        bool once = true;
        if (key == "jsonrpc")
            once = claim(version, value);
        else if (key == "id")
            once = claim(id, value);
        else if (key == "method")
            once = claim(method, value);
        else if (key == "params")
            once = claim(envelope.params, value);
        else if (key == "result")
            once = claim(envelope.result, value);
        else if (key == "error")
            once = claim(envelope.error, value);
        if (!once) return malformed("a top-level key is repeated");
    }
    if (version != "\"2.0\"") return malformed("\"jsonrpc\" is not \"2.0\"");
    // A null id is an error about a request that could not be read: nobody's, and no reason to
    // refuse what it says.
    if (!id.empty() && id != "null") {
        const char first = id.front();
        if (first == '{' || first == '[' || first == 't' || first == 'f') {
            return malformed("the id is neither a string nor a number");
        }
        envelope.id = id;
        if (first != '"') envelope.number_id = integer(id);
    }
    if (!method.empty()) {
        if (method.front() != '"') return malformed("the method is not a string");
        if (!envelope.result.empty() || !envelope.error.empty()) {
            return malformed("both a method and a result or error");
        }
        if (!envelope.params.empty() && envelope.params.front() != '{' &&
            envelope.params.front() != '[' && envelope.params != "null") {
            return malformed("params is not an object");
        }
        envelope.method = std::move(scan.method);
        envelope.kind = envelope.id.empty() ? MessageKind::Notification : MessageKind::Request;
        return envelope;
    }
    if (envelope.result.empty() == envelope.error.empty()) {
        return malformed("neither a method nor exactly one of result and error");
    }
    if (!envelope.error.empty()) {
        envelope.kind = MessageKind::Error;
        return envelope;
    }
    // Errors may come without one; a result that is nobody's has no meaning.
    if (envelope.id.empty()) return malformed("a result without an id");
    envelope.kind = MessageKind::Result;
    envelope.is_error = scan.is_error;
    if (!scan.result_type.empty() && scan.result_type != "complete") {
        envelope.result_type = scan.result_type == "input_required" ? ResultType::InputRequired
                               : scan.result_type == "task"         ? ResultType::Task
                                                                    : ResultType::Unknown;
    }
    return envelope;
}

// Two readers of one request would take each another one of the two.
std::optional<std::string_view> repeated_key(const std::vector<Member>& members) {
    static thread_local std::vector<std::string_view> keys;  // every request comes through here
    keys.clear();
    for (const auto& [key, value] : members) keys.push_back(key);
    std::sort(keys.begin(), keys.end());
    const auto repeated = std::adjacent_find(keys.begin(), keys.end());
    return repeated == keys.end() ? std::nullopt : std::optional(*repeated);
}

Result<Params> params_of(const std::vector<Member>& members) {
    if (const auto key = repeated_key(members))
        return malformed(core::printable(*key, 80) + " is repeated");
    Params params;
    std::size_t bytes = 0;
    for (const auto& [key, value] : members)
        if (key != "_meta") bytes += key.size() + value.size() + 4;
    params.members.reserve(bytes);
    for (const auto& [key, value] : members) {
        if (key == "_meta") {
            if (value.front() != '{') return malformed("_meta is not an object");
            params.meta = trimmed(value.substr(1, value.size() - 2));
            continue;
        }
        if (!params.members.empty()) params.members += ',';
        params.members.append("\"").append(key).append("\":").append(value);
    }
    return params;
}

}  // namespace

Result<Envelope> parse_envelope(std::string_view message, std::size_t depth) {
    Scan scan;
    const auto members = scan_object(message, depth, scan);
    if (!members) return members.error();
    return envelope_of(**members, scan);
}

Result<WithParams> parse_with_params(std::string_view message, std::size_t depth) {
    static thread_local std::vector<std::string_view> keys;
    static thread_local std::vector<Member> members;
    Scan scan;
    scan.params_keys = &keys;
    const auto outer = scan_object(message, depth, scan);
    if (!outer) return outer.error();
    auto envelope = envelope_of(**outer, scan);
    if (!envelope) return envelope.error();
    WithParams read{std::move(*envelope), {}};
    const auto params = read.envelope.params;
    if (params.empty()) return read;
    if (params.front() != '{') {
        read.params = not_an_object();
    } else if (scan.escaped_params_key) {
        read.params = escaped_key();
    } else {
        cut_members(params.substr(1, params.size() - 2), keys, members);
        read.params = params_of(members);
    }
    return read;
}

Result<std::vector<std::string_view>> split_batch(std::string_view batch, std::size_t most,
                                                  std::size_t depth) {
    const auto text = trimmed(batch);
    if (text.size() < 2 || text.front() != '[' || text.back() != ']')
        return malformed("not a batch of messages");
    const auto inside = text.substr(1, text.size() - 2);
    std::vector<std::string_view> items;
    for (std::size_t at = 0;; ++at) {
        if (items.size() == most)
            return Error{ErrorCode::Limit, "a batch of more than " + std::to_string(most) +
                                               " messages (limit batch_items)"};
        const auto begin = at;
        at = past_value(inside, at);
        const auto item = trimmed(inside.substr(begin, at - begin));
        if (const auto message = parse_envelope(item, depth); !message)
            return within("message " + std::to_string(items.size() + 1) + " of a batch",
                          message.error());
        items.push_back(item);
        if (at == inside.size()) return items;
        if (inside[at] != ',') return malformed("a batch with a bracket too many");
    }
}

Result<Params> split_params(std::string_view object, std::size_t depth) {
    Scan scan;
    const auto members = scan_object(object, depth, scan);
    if (!members) return members.error();
    return params_of(**members);
}

Result<RpcError> parse_rpc_error(std::string_view error) {
    const auto object = core::read_json_object(error);
    if (!object) return malformed("error " + object.error().message);
    RpcError parsed;
    const auto code = core::integer_in(&*object, "code");
    if (!code) return malformed("error.code is not an integer");
    parsed.code = *code;
    parsed.message = core::text_in(&*object, "message").value_or("");
    each_member(error, [&](std::string_view key, std::string_view value) {
        if (key == "data") parsed.data = value;
        return true;
    });
    return parsed;
}

}  // namespace patchbay::protocol
