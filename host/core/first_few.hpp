// Lets the first few of what another may cause without end be told, then once that there is more,
// and nothing from then on.
//
// Threads: [value].
#pragma once

namespace patchbay::core {

class FirstFew {
public:
    enum class Word { Tell, SayMore, Nothing };

    Word next() {
        constexpr unsigned kFew = 3;
        if (seen_ > kFew) return Word::Nothing;
        return ++seen_ > kFew ? Word::SayMore : Word::Tell;
    }

private:
    unsigned seen_ = 0;
};

}  // namespace patchbay::core
