#include "net/rpc_body.hpp"

#include <cstddef>

namespace patchbay::net {
namespace {

// Passes over values without making anything of them.
class Scanner {
public:
    explicit Scanner(std::string_view text) : text_(text) {}

    bool take(char wanted) {
        space();
        if (at_ == text_.size() || text_[at_] != wanted) return false;
        return ++at_, true;
    }
    bool over() {
        space();
        return at_ == text_.size();
    }
    // With its quotes; empty: there is none.
    std::string_view string() {
        space();
        const auto from = at_;
        if (!take('"')) return {};
        for (; at_ < text_.size(); ++at_) {
            if (text_[at_] == '\\')
                ++at_;
            else if (text_[at_] == '"')
                return text_.substr(from, ++at_ - from);
        }
        return {};
    }
    // Empty: there is none.
    std::string_view value(int depth) {
        space();
        const auto from = at_;
        if (depth == 0 || at_ == text_.size()) return {};
        const char first = text_[at_];
        if (first == '"') return string();
        if (first == '{' || first == '[') {
            const char last = first == '{' ? '}' : ']';
            ++at_;
            if (take(last)) return text_.substr(from, at_ - from);
            do {
                if (first == '{' && (string().empty() || !take(':'))) return {};
                if (value(depth - 1).empty()) return {};
            } while (take(','));
            return take(last) ? text_.substr(from, at_ - from) : std::string_view();
        }
        while (at_ < text_.size() &&
               std::string_view(" \t\r\n,]}:\"[{").find(text_[at_]) == std::string_view::npos)
            ++at_;
        return text_.substr(from, at_ - from);
    }

private:
    void space() {
        while (at_ < text_.size() &&
               std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
            ++at_;
    }

    const std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace

RpcBody rpc_in(std::string_view body) {
    Scanner scanner(body);
    RpcBody found;
    if (!scanner.take('{')) return {};
    do {
        const auto name = scanner.string();
        if (name.empty() || !scanner.take(':')) return {};
        const auto value = scanner.value(kMostDepth);
        if (value.empty()) return {};
        if (name == "\"jsonrpc\"") found.is_rpc = true;
        if (name == "\"error\"") found.is_error = true;
        if (name == "\"id\"") found.id = value == "null" ? std::string_view() : value;
    } while (scanner.take(','));
    return found.is_rpc && scanner.take('}') && scanner.over() ? found : RpcBody();
}

}  // namespace patchbay::net
