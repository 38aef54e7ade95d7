#include "protocol/canonical_json.hpp"

#include "protocol/compose.hpp"
#include "protocol/raw_json.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace patchbay::protocol {

namespace {

class Writer {
public:
    explicit Writer(std::string_view in) : in_(in) { out_.reserve(in.size()); }

    void value() {
        const char first = peek();
        if (first == '{') return object();
        if (first == '[') return array();
        if (first == '"') return text();
        const auto end = std::min(in_.find_first_of(",]} \t\r\n", at_), in_.size());
        out_.append(in_.substr(at_, end - at_));
        at_ = end;
    }
    std::string take() { return std::move(out_); }

private:
    struct Range {
        std::size_t begin, key_end, end;  // of a member, in `out_`
    };

    // What comes next that is no space; 0: nothing.
    char peek() {
        at_ = std::min(in_.find_first_not_of(" \t\r\n", at_), in_.size());
        return at_ < in_.size() ? in_[at_] : '\0';
    }
    void step() {
        peek();
        at_ = std::min(at_ + 1, in_.size());
    }
    void text() {
        const auto end = std::min(past_string(in_, at_), in_.size());
        const auto raw = in_.substr(at_, end - at_);
        at_ = end;
        const auto plain =
            raw.find('\\') == raw.npos ? std::optional<std::string>() : text_of_raw(raw);
        out_.append(plain ? quoted(*plain) : std::string(raw));
    }
    // Behind a bracket, up to its counterpart.
    template <class Each>
    void items(char close, Each each) {
        step();
        for (bool first = true; peek() != close && peek() != '\0'; first = false) {
            if (!first) step();
            each(first);
        }
        step();
    }
    void array() {
        out_ += '[';
        items(']', [&](bool first) {
            if (!first) out_ += ',';
            value();
        });
        out_ += ']';
    }
    void object() {
        out_ += '{';
        const auto begin = out_.size();
        std::vector<Range> members;
        items('}', [&](bool first) {
            if (!first) out_ += ',';
            Range member{out_.size(), 0, 0};
            peek();
            text();
            member.key_end = out_.size();
            step();
            out_ += ':';
            value();
            member.end = out_.size();
            members.push_back(member);
        });
        sort(begin, members);
        out_ += '}';
    }
    // Only those that are in another order are moved: who nests deeply pays for no copy at each level.
    void sort(std::size_t begin, std::vector<Range>& members) {
        const auto key_of = [&](const Range& member) {
            return std::string_view(out_).substr(member.begin, member.key_end - member.begin);
        };
        const auto before = [&](const Range& a, const Range& b) { return key_of(a) < key_of(b); };
        if (std::is_sorted(members.begin(), members.end(), before)) return;
        std::stable_sort(members.begin(), members.end(), before);
        std::string sorted;
        sorted.reserve(out_.size() - begin);
        for (const auto& member : members) {
            if (!sorted.empty()) sorted += ',';
            sorted.append(out_, member.begin, member.end - member.begin);
        }
        out_.replace(begin, out_.npos, sorted);
    }

    const std::string_view in_;
    std::size_t at_ = 0;
    std::string out_;
};

}  // namespace

std::string canonical_json(std::string_view value) {
    Writer writer(value);
    writer.value();
    return writer.take();
}

}  // namespace patchbay::protocol
