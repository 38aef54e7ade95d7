// What holds of every edit, whatever the file: ten thousand of them, the same on every machine.
#include "unit/config_edit/corpus.hpp"
#include "unit/config_edit/support.hpp"

#include <algorithm>
#include <random>

namespace patchbay::config::edit {
namespace {

constexpr int kEdits = 10'000;

class Dice {
public:
    std::size_t below(std::size_t count) { return engine_() % count; }
    template <class List>
    const auto& one_of(const List& list) {
        return list[below(std::size(list))];
    }

    json::value value(int depth = 0) {
        switch (below(depth > 1 ? 5 : 7)) {
            case 0:
                return one_of(kTexts);
            case 1:
                return static_cast<std::int64_t>(below(1000)) - 500;
            case 2:
                return below(2) == 0;
            case 3:
                return json::array{"serve", "--only", one_of(kTexts)};
            case 4:
                return 0.25;
            default: {
                json::object table;
                for (auto left = below(4); left > 0; --left)
                    table[one_of(kKeys)] = value(depth + 1);
                return table;
            }
        }
    }
    std::string key() { return one_of(kKeys); }

private:
    static constexpr const char* kTexts[] = {
        "patchbay",          "yes",  "", "a \"b\" \\ c", "123", "# no remark", "é\t{}",
        "/usr/bin/patchbay", "null", "-"};
    static constexpr const char* kKeys[] = {"patchbay", "on", "a.b",   "with space",
                                            "é",        "1",  "\"q\"", "x-y_z"};
    std::mt19937 engine_{20261125};
};

// A table of `root` and the way to it.
const json::object& some_table(Dice& dice, const json::object& root, Path& path) {
    const auto* table = &root;
    while (dice.below(4) != 0) {
        std::vector<std::string> tables;
        for (const auto& member : *table)
            if (member.value().is_object()) tables.emplace_back(member.key());
        if (tables.empty()) break;
        path.push_back(dice.one_of(tables));
        table = &table->at(path.back()).get_object();
    }
    return *table;
}

std::string without_space(std::string_view text) {
    std::string out;
    for (const char c : text)
        if (std::string_view(" \t\r\n").find(c) == std::string_view::npos) out += c;
    return out;
}

// Whether `longer` is `shorter` with one text put in.
bool is_insertion(std::string_view shorter, std::string_view longer) {
    const auto end =
        std::mismatch(shorter.begin(), shorter.end(), longer.begin(), longer.end()).first;
    const auto prefix = static_cast<std::size_t>(end - shorter.begin());
    return longer.size() >= shorter.size() && longer.ends_with(shorter.substr(prefix));
}

// And perhaps the comma before it, which may be further up.
bool only_adds(std::string_view before, std::string_view after) {
    if (is_insertion(before, after)) return true;
    const auto end = std::mismatch(before.begin(), before.end(), after.begin(), after.end()).first;
    const auto prefix = static_cast<std::size_t>(end - before.begin());
    std::string with_comma(before);
    with_comma.insert(prefix, ",");
    return is_insertion(with_comma, after);
}

// But for blanks and lines, and the header that a table in TOML had to be given for a key of its own: it
// stays without the key.
void expect_same_text(Format format, std::string_view now, std::string_view before) {
    auto left = without_space(now);
    const auto wanted = without_space(before);
    if (format == Format::Toml && left.starts_with(wanted + "[") && left.ends_with(']'))
        left.resize(wanted.size());
    EXPECT_EQ(left, wanted) << now;
}

struct Counts {
    int added = 0, replaced = 0, removed = 0, refused = 0;
};

// Refusing is right where it is no change of one key alone: what an anchor stands for is elsewhere too.
bool refused(const Result<std::string>& result, Counts& counts) {
    if (result) return false;
    EXPECT_EQ(result.error().code, ErrorCode::Unsupported) << result.error().message;
    ++counts.refused;
    return true;
}

void add(Dice& dice, const Sample& sample, Path path, const json::object& table, Counts& counts) {
    path.push_back(dice.key());
    if (table.contains(path.back())) return;
    const auto value = dice.value();
    const auto after = set(sample.text, sample.format, path, value);
    if (refused(after, counts)) return;
    ++counts.added;
    EXPECT_TRUE(only_adds(sample.text, *after)) << *after;
    const auto root = read(*after, sample.format);
    ASSERT_TRUE(root);
    const auto* found = find(*root, path);
    ASSERT_TRUE(found) << *after;
    EXPECT_EQ(*found, value) << *after;
    const auto back = remove(*after, sample.format, path);
    ASSERT_TRUE(back) << back.error().message << "\n" << *after;
    expect_same_text(sample.format, *back, sample.text);
    // Once more says the same, byte for byte.
    EXPECT_EQ(outcome(set(*after, sample.format, path, value)), *after);
}

void replace(Dice& dice, const Sample& sample, Path path, const json::object& table,
             Counts& counts) {
    if (table.empty()) return;
    path.emplace_back(
        std::next(table.begin(), static_cast<std::ptrdiff_t>(dice.below(table.size())))->key());
    const auto value = dice.value();
    const auto after = set(sample.text, sample.format, path, value);
    if (refused(after, counts)) return;
    ++counts.replaced;
    const auto root = read(*after, sample.format);
    ASSERT_TRUE(root);
    const auto* found = find(*root, path);
    ASSERT_TRUE(found) << *after;
    EXPECT_EQ(*found, value) << *after;
    // Without it, the two texts are one.
    const auto rest = remove(sample.text, sample.format, path);
    const auto rest_after = remove(*after, sample.format, path);
    if (rest && rest_after) expect_same_text(sample.format, *rest_after, *rest);
}

void take_out(Dice& dice, const Sample& sample, Path path, const json::object& table,
              Counts& counts) {
    if (table.empty()) return;
    path.emplace_back(
        std::next(table.begin(), static_cast<std::ptrdiff_t>(dice.below(table.size())))->key());
    const auto after = remove(sample.text, sample.format, path);
    if (refused(after, counts)) return;
    ++counts.removed;
    const auto root = read(*after, sample.format);
    ASSERT_TRUE(root);
    EXPECT_EQ(find(*root, path), nullptr) << *after;
    EXPECT_LT(after->size(), sample.text.size());
}

TEST(Edit, ChangesOneKeyAndNoByteBesideIt) {
    Dice dice;
    Counts counts;
    for (int i = 0; i < kEdits && !::testing::Test::HasFailure(); ++i) {
        const auto& sample = dice.one_of(kSamples);
        SCOPED_TRACE(std::string("edit ") + std::to_string(i) + " of\n" + std::string(sample.text));
        const auto root = read(sample.text, sample.format);
        ASSERT_TRUE(root) << root.error().message;
        Path path;
        const auto& table = some_table(dice, *root, path);
        switch (dice.below(3)) {
            case 0:
                add(dice, sample, path, table, counts);
                break;
            case 1:
                replace(dice, sample, path, table, counts);
                break;
            default:
                take_out(dice, sample, path, table, counts);
        }
    }
    std::printf("%d added, %d replaced, %d removed, %d refused\n", counts.added, counts.replaced,
                counts.removed, counts.refused);
    EXPECT_GT(counts.added, kEdits / 5);
    EXPECT_GT(counts.replaced, kEdits / 6);
    EXPECT_GT(counts.removed, kEdits / 6);
    EXPECT_LT(counts.refused, kEdits / 1000);
}

}  // namespace
}  // namespace patchbay::config::edit
