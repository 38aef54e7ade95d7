// Prints one table of limit, ours and ratio, all measured in this run. Absolute numbers mean little
// from one machine to the next; the ratios are what the project promises.
//   patchbay-bench [--json] [--quick] [--only latency|throughput|http|gateway|servers|start|config|policy|run]      exit code 1 when a target is missed
#include "measure.hpp"
#include "rows.hpp"

#include <boost/json.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace {

std::string number(double value) {
    if (!std::isfinite(value)) return "-";  // of nothing
    char text[32];
    std::snprintf(text, sizeof text, value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value);
    return text;
}

std::string ratio_of(const bench::Row& row) {
    return std::isfinite(row.ratio()) ? number(row.ratio()) + "x" : "-";
}

std::string target_of(const bench::Row& row) {
    std::string text;
    const char* relation = row.more_is_better ? ">= " : "<= ";
    if (!std::isnan(row.most_ratio)) text = relation + number(row.most_ratio) + "x";
    if (!std::isnan(row.most_value))
        text += (text.empty() ? "" : " or ") + ("<= " + number(row.most_value) + " " + row.unit);
    return text.empty() ? "-" : text;
}

void print_table(const std::vector<bench::Row>& rows) {
    std::printf("%-4s %-44s %12s %12s %8s  %-20s %s\n", "ROW", "METRIC", "LIMIT", "OURS", "RATIO",
                "TARGET", "MET");
    for (const auto& row : rows) {
        std::printf("%-4s %-44s %12s %12s %8s  %-20s %s\n", row.number.c_str(), row.metric.c_str(),
                    (std::isfinite(row.limit) ? number(row.limit) + " " + row.unit : "-").c_str(),
                    (number(row.ours) + " " + row.unit).c_str(), ratio_of(row).c_str(),
                    target_of(row).c_str(),
                    target_of(row) == "-" ? ""
                    : row.met()           ? "yes"
                                          : "NO");
    }
}

void print_json(const std::vector<bench::Row>& rows) {
    boost::json::array all;
    for (const auto& row : rows) {
        all.push_back(
            {{"row", row.number},
             {"metric", row.metric},
             {"unit", row.unit},
             {"limit", std::isfinite(row.limit) ? boost::json::value(row.limit) : nullptr},
             {"ours", row.ours},
             {"ratio", std::isfinite(row.ratio()) ? boost::json::value(row.ratio()) : nullptr},
             {"target", target_of(row)},
             {"met", row.met()}});
    }
    std::printf("%s\n", boost::json::serialize(all).c_str());
}

}  // namespace

int main(int argc, char** argv) {
    bool json = false;
    double effort = 1;
    std::string_view only;
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--json") == 0)
            json = true;
        else if (std::strcmp(argv[i], "--quick") == 0)
            effort = 0.2;
        else if (std::strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            only = argv[++i];
        else {
            std::fputs("usage: patchbay-bench [--json] [--quick] [--only SUBJECT]\n", stderr);
            return 64;
        }
    }
    const bench::Programs programs{std::filesystem::read_symlink("/proc/self/exe").parent_path()};
    const auto rows = bench::measure_rows(programs, effort, only);
    if (rows.empty()) {
        std::fprintf(stderr, "there is nothing to measure of \"%s\"\n", std::string(only).c_str());
        return 64;
    }
    json ? print_json(rows) : print_table(rows);
    for (const auto& row : rows) {
        if (!row.met()) return 1;
    }
    return 0;
}
