// Answers that count as long as the session of whoever gave them: of all who ask something of one host. They are kept in its
// memory alone, with the caller that each was given to.
//
// Borrows the callers. Threads: [loop]. Errors: none.
// Limits:  kMostSessionAnswers are told of.
#pragma once

#include "connection/caller.hpp"
#include "service/decision_file.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace patchbay::service {

inline constexpr std::size_t kMostSessionAnswers = 10'000;

// Each at AllowSession, from the caller that has come first.
std::vector<Decision> session_answers(const connection::Callers& callers);
// How many there were of these. What they were for is asked about again from the next call on.
std::size_t forget_session_answers(const connection::Callers& callers,
                                   const std::function<bool(const Decision&)>& these);

}  // namespace patchbay::service
