#include "audit/verify.hpp"

#include "audit/entry.hpp"
#include "core/digest.hpp"
#include "core/private_file.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace patchbay::audit {

namespace {

constexpr int kLooks = 3;
constexpr std::size_t kMostKey = 1'024;

class Judge {
public:
    explicit Judge(std::string key) : chain_(std::move(key)) {}

    void look(const Line& line) {
        if (line.number == 1) ++verdict_.files;
        if (torn_) settle_torn(line);
        const auto link = link_of(line.text);
        if (!link || line.too_long) {
            torn_ = Torn{{std::string(line.file), line.number, "is no record"},
                         line.text.size(),
                         core::sha256_hex(line.text),
                         line.ended};
            return;
        }
        take(line, *link);
    }

    // `head`: what the trail said of itself before it was read; none: it is missing.
    Verdict finish(const std::optional<Head>& head, const std::string& head_path) {
        if (torn_ && torn_->ended) fail(torn_->fault);
        if (torn_ && !torn_->ended)
            note({torn_->fault.file, torn_->fault.line,
                  "ends in the middle of a record: whoever wrote it was killed, and the next one "
                  "mends it"});
        if (verdict_.first > 1 && removed_through_ + 1 < verdict_.first)
            verdict_.faults.insert(verdict_.faults.begin(),
                                   {first_file_, 1,
                                    "is record " + std::to_string(verdict_.first) +
                                        ", and those before it are missing"});
        else if (verdict_.first > 1)
            note({first_file_, 1,
                  "is record " + std::to_string(verdict_.first) +
                      "; those before it were put away, as [audit] files says"});
        if (!head && verdict_.records > 0)
            fail({head_path, 0,
                  "is missing or was changed, so that nobody can tell whether records at the end "
                  "are"});
        if (head && head->number > chain_.number())
            fail({head_path, 0,
                  "names record " + std::to_string(head->number) +
                      ", and the last one that is there is " + std::to_string(chain_.number())});
        verdict_.last = chain_.number();
        return std::move(verdict_);
    }

private:
    struct Torn {
        Fault fault;
        std::size_t bytes;
        std::string digest;
        bool ended;
    };

    void take(const Line& line, const Link& link) {
        const bool first = verdict_.records++ == 0;
        if (first) {
            verdict_.first = link.number;
            first_file_ = line.file;
        }
        // What the first one that is kept follows is gone.
        if (first && link.number > 1 && chain_.is_ours(link)) {
            chain_.resume(link);
        } else if (const auto wrong = chain_.take(line.text); !wrong.empty()) {
            fail({std::string(line.file), line.number, wrong});
            chain_.resume(link);
            return;
        }
        const auto entry = Entry::parse(line.text);
        if (entry && entry->text("kind") == "removed")
            removed_through_ = std::max<std::uint64_t>(
                removed_through_, static_cast<std::uint64_t>(entry->number("through").value_or(0)));
        if (entry && entry->text("kind") == "cut")
            note(
                {std::string(line.file), line.number, "tells that records before it were missing"});
    }

    // The record behind it may say that it was found so.
    void settle_torn(const Line& line) {
        const auto torn = std::move(*std::exchange(torn_, {}));
        const auto link = link_of(line.text);
        const auto entry = link && chain_.is_ours(*link) ? Entry::parse(line.text) : std::nullopt;
        const bool told = entry && entry->text("kind") == "mended" &&
                          entry->text("sha256") == torn.digest &&
                          entry->number("bytes") == static_cast<std::int64_t>(torn.bytes);
        if (told)
            note({torn.fault.file, torn.fault.line,
                  "is what a process that was killed left of a record, as record " +
                      std::to_string(link->number) + " tells"});
        else
            fail(torn.fault);
    }

    void fail(Fault fault) {
        if (verdict_.faults.size() < Verdict::kMostFaults)
            verdict_.faults.push_back(std::move(fault));
        else
            ++verdict_.more_faults;
    }
    void note(Fault fault) {
        if (verdict_.notes.size() < Verdict::kMostFaults)
            verdict_.notes.push_back(std::move(fault));
    }

    Chain chain_;
    Verdict verdict_;
    std::string first_file_;
    std::uint64_t removed_through_ = 0;
    std::optional<Torn> torn_;
};

// One that is just being written may be seen half.
Result<std::optional<Head>> read_head(const std::string& folder, const Chain& signer) {
    std::optional<Head> head;
    for (int again = 0; again < kLooks && !head; ++again) {
        const auto text = core::read_private(folder, kHeadName, kOthers, kHeadBytes);
        if (!text) return text.error();
        if (*text) head = head_in(**text, signer);
    }
    return head;
}

}  // namespace

std::string to_string(const Fault& fault) {
    return fault.file + (fault.line > 0 ? ":" + std::to_string(fault.line) : std::string()) + ": " +
           fault.what;
}

// The head is read first: records that come meanwhile are behind it, and never missing.
Result<Verdict> verify(const std::string& state_directory) {
    const auto folder = state_directory + "/" + kFolder;
    auto key = core::read_private(state_directory, kKeyName, kOthers, kMostKey);
    if (!key) return key.error();
    const Chain signer(key->value_or(""));
    const auto head = read_head(folder, signer);
    if (!head) return head.error();
    Judge judge(key->value_or(""));
    bool any = false;
    auto read = each_line(folder, [&](const Line& line) {
        any = true;
        judge.look(line);
        return true;
    });
    if (!read) return read.error();
    if (any && !*key)
        return Error{ErrorCode::NotFound, state_directory + "/" + kKeyName +
                                              " is missing: without the key that the records were "
                                              "signed with nobody can tell who wrote them"};
    auto verdict = judge.finish(*head, folder + "/" + kHeadName);
    // One that was killed before its first record leaves a key too, so that this is no fault.
    if (!any && *key)
        verdict.notes.push_back(
            {folder, 0,
             "holds no record, though there is a key to sign them with: if some "
             "were written, all of them were taken away"});
    return verdict;
}

}  // namespace patchbay::audit
