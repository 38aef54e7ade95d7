// The parts of the table, and what their rows are made of. README.md says how to add one.
//
// Threads: [value].
#pragma once

#include "hostile/misbehaviour.hpp"

#include <functional>
#include <string>
#include <vector>

namespace patchbay::hostile::rows {

std::vector<Misbehaviour> answers();
std::vector<Misbehaviour> floods();
std::vector<Misbehaviour> beginnings();
std::vector<Misbehaviour> lists();
std::vector<Misbehaviour> calls();
std::vector<Misbehaviour> over_stdio();
std::vector<Misbehaviour> over_http();
std::vector<Misbehaviour> over_sse();
std::vector<Misbehaviour> over_ws();

inline const std::vector<Phase> kAnswers = {Phase::Begin, Phase::List, Phase::Call};
inline const std::vector<Phase> kAnswersAndIdle = {Phase::Begin, Phase::List, Phase::Call,
                                                   Phase::Idle};
inline const std::vector<Phase> kAlways = {Phase::Connect, Phase::Begin, Phase::List, Phase::Call,
                                           Phase::Idle};
inline const std::vector<Transport> kLines = {Transport::Stdio, Transport::Tcp};
inline const std::vector<Transport> kSockets = {Transport::Tcp, Transport::Http, Transport::Sse,
                                                Transport::Ws};

inline Step message(std::string text) {
    return {Step::Kind::Message, std::move(text), {}, 0};
}
inline Step half(std::string text) {
    return {Step::Kind::Half, std::move(text), {}, 0};
}
inline Step raw(std::string bytes) {
    return {Step::Kind::Raw, std::move(bytes), {}, 0};
}
inline Step flood(std::function<std::string(std::size_t)> each, std::size_t count = kFlood) {
    return {Step::Kind::Flood, {}, std::move(each), count};
}
inline Step raw_flood(std::function<std::string(std::size_t)> each, std::size_t count) {
    return {Step::Kind::RawFlood, {}, std::move(each), count};
}
inline Step act(std::function<void(Peer&)> what) {
    return {Step::Kind::Act, {}, {}, 0, std::move(what)};
}
inline const Step kClose{Step::Kind::Close, {}, {}, 0};
inline const Step kDeaf{Step::Kind::Deaf, {}, {}, 0};
inline const Step kSilence{Step::Kind::Half, {}, {}, 0};  // not another byte

inline Misbehaviour bringing_at_most(std::size_t visits, Misbehaviour row) {
    row.most_visits = visits;
    return row;
}

std::string nested(std::size_t levels);
std::string notification(const std::string& method, const std::string& params);
// What `each` gives for 0, 1, ..., between commas.
std::string many(std::size_t count, const std::function<std::string(std::size_t)>& each);

}  // namespace patchbay::hostile::rows
