// Runs a fuzz target without a fuzzer: every file of the corpora as it is, then mutations of them,
// the same ones on every machine. What the usual test run does; libFuzzer takes over with
// PATCHBAY_FUZZ.
//
//   <target>_fuzz MUTATIONS CORPUS...
//
// An input that breaks the target is kept in a file, which libFuzzer and this program take as well.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>
#if defined(PATCHBAY_SANITIZED)
#include <sanitizer/common_interface_defs.h>
#endif

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::chrono::milliseconds kMostTime{1200};  // slow builds do fewer mutations
constexpr std::size_t kMostBytes = 4096;

const std::string* current = nullptr;

// A process that is about to die: nothing but what it can still do.
void keep_input() {
    char path[] = "/tmp/patchbay-fuzz-input-XXXXXX";
    const int fd = current ? ::mkstemp(path) : -1;
    if (fd < 0 || ::write(fd, current->data(), current->size()) < 0) return;
    ::close(fd);
    current = nullptr;
    static_cast<void>(!::write(STDERR_FILENO, "the input is kept in ", 21));
    static_cast<void>(!::write(STDERR_FILENO, path, sizeof path - 1));
    static_cast<void>(!::write(STDERR_FILENO, "\n", 1));
}

void on_abort(int) {
    keep_input();
}

void run(const std::string& input) {
    current = &input;
    // A copy of exactly this size: a read past the end is a sanitizer's to see.
    const std::vector<std::uint8_t> bytes(input.begin(), input.end());
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    current = nullptr;
}

// No std distribution: those may differ between libraries.
class Mutator {
public:
    explicit Mutator(const std::vector<std::string>& corpus) : corpus_(corpus) {}

    std::string next() {
        std::string text = pick(corpus_);
        for (std::size_t edits = 1 + below(6); edits > 0; --edits) edit(text);
        text.resize(std::min(text.size(), kMostBytes));
        return text;
    }

private:
    std::size_t below(std::size_t bound) { return bound == 0 ? 0 : random_() % bound; }
    const std::string& pick(const std::vector<std::string>& from) {
        return from[below(from.size())];
    }

    void edit(std::string& text) {
        static const std::vector<std::string> pieces = {"{",
                                                        "}",
                                                        "[",
                                                        "]",
                                                        "\"",
                                                        ":",
                                                        ",",
                                                        "\\u0000",
                                                        "\\ud800",
                                                        "null",
                                                        "-0",
                                                        "1e999",
                                                        "\n",
                                                        "\t",
                                                        "=",
                                                        "&a",
                                                        "*a",
                                                        "- ",
                                                        "'''",
                                                        "\xff",
                                                        "\xed\xa0\x80",
                                                        std::string(1, '\0'),
                                                        "$ref",
                                                        "#/",
                                                        "\"a\":",
                                                        "[[[[[[[[",
                                                        "18446744073709551616",
                                                        "true"};
        const std::size_t at = below(text.size() + 1);
        const std::size_t length = below(std::min<std::size_t>(text.size() - at, 16) + 1);
        switch (below(6)) {
            case 0:
                if (at < text.size()) text[at] = static_cast<char>(random_());
                break;
            case 1:
                text.erase(at, length);
                break;
            case 2:
                text.insert(at, pick(pieces));
                break;
            case 3:
                text.insert(at, text.substr(at, length));
                break;
            case 4:
                text.resize(at);
                break;
            default: {
                const std::string& other = pick(corpus_);
                text.insert(at, other.substr(below(other.size() + 1), below(64)));
            }
        }
    }

    const std::vector<std::string>& corpus_;
    std::mt19937 random_;  // its default seed is part of the standard
};

}  // namespace

int main(int count, char** arguments) {
    if (count < 3) {
        std::fprintf(stderr, "usage: %s MUTATIONS CORPUS...\n", arguments[0]);
        return 64;
    }
    std::signal(SIGABRT, on_abort);
#if defined(PATCHBAY_SANITIZED)
    __sanitizer_set_death_callback(keep_input);
#endif
    std::vector<std::filesystem::path> files;
    for (int i = 2; i < count; ++i) {
        if (std::filesystem::is_regular_file(arguments[i])) files.emplace_back(arguments[i]);
        if (!std::filesystem::is_directory(arguments[i])) continue;
        for (const auto& entry : std::filesystem::directory_iterator(arguments[i])) {
            if (entry.is_regular_file()) files.push_back(entry.path());
        }
    }
    std::sort(files.begin(), files.end());
    std::vector<std::string> corpus;
    for (const auto& path : files) {
        std::ifstream file(path, std::ios::binary);
        corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
        run(corpus.back());
    }
    if (corpus.empty()) {
        std::fprintf(stderr, "%s: the corpus is empty\n", arguments[0]);
        return 1;
    }
    Mutator mutator(corpus);
    const auto end = std::chrono::steady_clock::now() + kMostTime;
    const int wanted = std::atoi(arguments[1]);
    int done = 0;
    for (; done < wanted && std::chrono::steady_clock::now() < end; ++done) run(mutator.next());
    std::printf("%zu inputs, %d mutations\n", corpus.size(), done);
    return 0;
}
