// Runs a fuzz target without a fuzzer: every file of the corpus, then so many mutations of them,
// the same ones every time. With clang and PATCHBAY_FUZZ=ON libFuzzer takes this file's place.
//   target CORPUS_DIRECTORY [MUTATIONS]
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void run(const std::string& input) {
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

std::string mutated(std::string input, std::mt19937& random) {
    constexpr std::string_view kInteresting("{}[]\",:\\/\n\0\xff=#&*-0.e_", 22);
    const auto below = [&](std::size_t bound) { return std::size_t(random() % bound); };
    for (std::size_t changes = 1 + below(8); changes > 0; --changes) {
        const std::size_t at = below(input.size() + 1);
        switch (below(4)) {
            case 0:
                input.insert(at, 1, kInteresting[below(kInteresting.size())]);
                break;
            case 1:
                if (at < input.size()) input[at] = static_cast<char>(random());
                break;
            case 2:
                input.erase(at, below(16));
                break;
            default:
                input.insert(at, input.substr(below(input.size() + 1), below(64)));
                break;
        }
    }
    return input;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) return std::fputs("usage: target CORPUS_DIRECTORY [MUTATIONS]\n", stderr), 2;
    std::vector<std::string> corpus;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[1])) {
        if (!entry.is_regular_file()) continue;
        std::ifstream file(entry.path(), std::ios::binary);
        std::stringstream text;
        text << file.rdbuf();
        corpus.push_back(text.str());
    }
    if (corpus.empty()) return std::fputs("the corpus is empty\n", stderr), 1;
    for (const auto& input : corpus) run(input);
    std::mt19937 random(20260728);
    const int mutations = argc > 2 ? std::atoi(argv[2]) : 2000;
    for (int i = 0; i < mutations; ++i) run(mutated(corpus[random() % corpus.size()], random));
    std::printf("%zu inputs, %d mutations\n", corpus.size(), mutations);
}
