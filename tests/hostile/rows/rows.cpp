#include "hostile/rows/rows.hpp"

namespace patchbay::hostile {

namespace rows {

std::string nested(std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
}

std::string notification(const std::string& method, const std::string& params) {
    return "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/" + method + "\",\"params\":" + params +
           "}";
}

std::string many(std::size_t count, const std::function<std::string(std::size_t)>& each) {
    std::string list;
    for (std::size_t i = 0; i < count; ++i) list += (i ? "," : "") + each(i);
    return list;
}

}  // namespace rows

const std::vector<Misbehaviour>& misbehaviours() {
    static const std::vector<Misbehaviour> all = [] {
        std::vector<Misbehaviour> whole;
        for (auto& part :
             {rows::answers(), rows::floods(), rows::beginnings(), rows::lists(), rows::calls(),
              rows::over_stdio(), rows::over_http(), rows::over_sse(), rows::over_ws()})
            whole.insert(whole.end(), part.begin(), part.end());
        return whole;
    }();
    return all;
}

}  // namespace patchbay::hostile
