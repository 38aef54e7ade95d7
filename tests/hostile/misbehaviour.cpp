#include "hostile/misbehaviour.hpp"

#include <algorithm>

namespace patchbay::hostile {

namespace {

template <class T>
bool covers(const std::vector<T>& list, T value) {
    return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
}

const Misbehaviour::Exception* exception_of(const Cell& cell) {
    for (const auto& each : cell.row->exceptions) {
        if (covers(each.transports, cell.transport) && covers(each.phases, cell.phase) &&
            covers(each.eras, cell.era))
            return &each;
    }
    return nullptr;
}

}  // namespace

const char* name_of(Transport transport) {
    constexpr const char* kNames[] = {"stdio", "tcp", "http", "sse", "ws"};
    return kNames[static_cast<std::size_t>(transport)];
}
const char* name_of(Phase phase) {
    constexpr const char* kNames[] = {"connect", "begin", "list", "call", "idle"};
    return kNames[static_cast<std::size_t>(phase)];
}
const char* name_of(Era era) {
    return era == Era::Legacy ? "2025-11-25" : "2026-07-28";
}

std::string Asked::good() const {
    return result(good_result);
}
std::string Asked::result(std::string_view json) const {
    return "{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"result\":" + std::string(json) + "}";
}
std::string Asked::error(std::string_view json) const {
    return "{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"error\":" + std::string(json) + "}";
}

std::string Cell::name() const {
    return std::string(name_of(transport)) + " " + row->name + " " + name_of(phase) + " " +
           name_of(era);
}
Fate Cell::fate() const {
    if (const auto* other = exception_of(*this)) return other->fate;
    return phase == Phase::Idle && row->fate == Fate::Fails ? Fate::Breaks : row->fate;
}
std::string Cell::says() const {
    if (const auto* other = exception_of(*this)) return other->says;
    // Before there is a transport it is not yet known as what it is.
    return phase == Phase::Connect && row->phases.size() > 1 ? "" : row->says;
}

std::vector<Cell> cells_of(Transport transport, Phase phase, Era era) {
    std::vector<Cell> cells;
    // HTTP with SSE is a transport of 2024-11-05, and no modern server speaks it.
    if (transport == Transport::Sse && era == Era::Modern) return cells;
    for (const auto& row : misbehaviours()) {
        if (covers(row.phases, phase) && covers(row.transports, transport) && covers(row.eras, era))
            cells.push_back({&row, transport, phase, era});
    }
    return cells;
}

}  // namespace patchbay::hostile
