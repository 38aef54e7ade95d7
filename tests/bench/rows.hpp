// The rows of the table: what is measured, on the limit's side and on ours.
//
// Threads: one. Errors: bench::give_up.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct Programs {
    std::string directory;  // build/release/bin
    std::string server() const { return directory + "/patchbay-example-server"; }
    std::string supervisor() const {
        return directory + "/../libexec/patchbay/patchbay-supervisor";
    }
    std::string http_server() const { return directory + "/patchbay-bench-http-server"; }
    std::string relay() const { return directory + "/patchbay-bench-relay"; }
    std::string limit() const { return directory + "/patchbay-bench-limit"; }
    std::string host() const { return directory + "/patchbay-bench-host"; }
    std::string patchbay() const { return directory + "/patchbay"; }
};

// What a row promises: a ratio to the limit, or an absolute value that is good enough whatever the
// ratio is. A NaN is no promise.
struct Row {
    std::string number;  // of the project's list of targets
    std::string metric;
    std::string unit;
    double limit;
    double ours;
    double most_ratio;  // ours / limit; below 1 it is a least ratio (throughput)
    double most_value;  // ours
    bool more_is_better = false;
    double ratio() const { return ours / limit; }
    bool met() const;
};

// `effort` 1.0 is the usual number of repetitions. `only`: of one subject, which is what is said while it
// is measured; none: there is no such subject.
std::vector<Row> measure_rows(const Programs& programs, double effort, std::string_view only = {});

}  // namespace bench
