#include "app/path_ways.hpp"

#include <climits>

#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <unordered_map>
#include <utility>

namespace patchbay::app {

namespace {

constexpr int kLinks = 40;  // as path_resolution(7) has it

std::string joined(const std::string& folder, std::string_view name) {
    std::string path;
    path.reserve(folder.size() + 1 + name.size());
    path.append(folder);
    if (!path.ends_with('/')) path += '/';
    return path.append(name);
}

std::string above(const std::string& folder) {
    const auto slash = folder.rfind('/');
    return slash == 0 ? "/" : folder.substr(0, slash);
}

// Empty: it cannot be read.
std::string target_of(const std::string& link) {
    char target[PATH_MAX];
    const auto size = ::readlink(link.c_str(), target, sizeof target);
    return size > 0 ? std::string(target, static_cast<std::size_t>(size)) : std::string();
}

// Each folder is walked to once, however many paths lead through it, and each link that is met is noted on the way:
// who watches has to hear of the link that is bent, and not only of the file that it led to.
class Walk {
public:
    Walk(PathWays& ways, OfAll of_all) : ways_(ways), of_all_(of_all) {}

    void take(const std::string& path) {
        if (path.size() >= PATH_MAX) return;
        const auto slash = path.rfind('/') + 1;  // of npos: at the top
        step(way_to(std::string_view(path).substr(0, slash == 0 ? 0 : slash - 1)),
             path.substr(slash));
    }

private:
    struct Way {
        std::string at;          // the folder that it leads to; empty: none
        int links = 0;           // that it took
        bool is_of_all = false;  // `at` is everybody's, as /tmp is (the sticky bit)
    };

    // From the nearest folder above that is known by now, downwards: a link in one decides what all below it mean.
    const Way& way_to(std::string_view folder) {
        std::vector<std::string_view> unknown;
        auto known = known_.find(std::string(folder));
        while (known == known_.end()) {
            unknown.push_back(folder);
            const auto slash = folder.rfind('/');
            folder = folder.substr(0, slash == folder.npos ? 0 : slash);
            known = known_.find(std::string(folder));
        }
        const Way* way = &known->second;
        for (; !unknown.empty(); unknown.pop_back()) {
            const auto& next = unknown.back();
            const auto name = next.substr(next.rfind('/') + 1);  // of npos all of it
            way = &known_.emplace(std::string(next), step(*way, std::string(name))).first->second;
        }
        return *way;
    }

    // A part at a time, as the system would; what a link says takes the link's place.
    Way step(Way way, std::string name) {
        std::vector<std::string> left;  // the next one last
        for (left.push_back(std::move(name)); !left.empty() && !way.at.empty();) {
            const auto part = std::move(left.back());
            left.pop_back();
            if (part.empty() || part == ".") continue;
            if (part == "..")
                way = {above(way.at), way.links};
            else
                enter(way, part, left);
        }
        return way;
    }

    // Noted also when it is not there: its coming is to be heard.
    void enter(Way& way, const std::string& part, std::vector<std::string>& left) {
        if (parts_++ == PathWays::kMostParts) ways_.all = false;
        if (!ways_.all) return way.at.clear();
        auto next = joined(way.at, part);
        struct stat info {};
        const bool is_there = ::lstat(next.c_str(), &info) == 0;
        const bool is_folder = is_there && S_ISDIR(info.st_mode);
        if (of_all_ == OfAll::LeftOut && way.is_of_all && is_folder)
            ways_.names[next];
        else
            ways_.names[way.at].insert(part);
        if (!is_there) return way.at.clear();
        if (is_folder) {
            way = {std::move(next), way.links, (info.st_mode & S_ISVTX) != 0};
            return;
        }
        if (!S_ISLNK(info.st_mode) || ++way.links > kLinks) return way.at.clear();
        const auto target = target_of(next);
        if (target.empty()) return way.at.clear();
        if (target.starts_with('/')) way = {"/", way.links};
        put(target, left);
    }

    static void put(std::string_view target, std::vector<std::string>& left) {
        for (auto slash = target.rfind('/'); slash != target.npos; slash = target.rfind('/')) {
            left.emplace_back(target.substr(slash + 1));
            target = target.substr(0, slash);
        }
        left.emplace_back(target);
    }

    PathWays& ways_;
    const OfAll of_all_;
    std::size_t parts_ = 0;
    std::unordered_map<std::string, Way> known_{{"", {"/"}}};  // by folder, as it is written
};

}  // namespace

PathWays ways_of(const std::vector<std::string>& paths, OfAll of_all) {
    PathWays ways;
    Walk walk(ways, of_all);
    for (const auto& path : paths) walk.take(path);
    return ways;
}

}  // namespace patchbay::app
