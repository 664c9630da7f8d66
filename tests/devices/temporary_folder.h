// A folder that a test fills and that is gone afterwards.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace memwall {

struct TemporaryFolder {
    TemporaryFolder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "memwall-test-XXXXXX").string();
        path = mkdtemp(pattern.data());
    }
    ~TemporaryFolder() { std::filesystem::remove_all(path); }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    void write(const std::string& name, const std::string& text) const {
        const std::filesystem::path to = std::filesystem::path(path) / name;
        std::filesystem::create_directories(to.parent_path());
        std::ofstream(to, std::ios::binary) << text;
    }
    void remove(const std::string& name) const {
        std::filesystem::remove_all(std::filesystem::path(path) / name);
    }
    std::string path;
};

/// XDG_CONFIG_HOME for the time of a test.
struct ConfigHome {
    explicit ConfigHome(const std::string& path) {
        if (const char* now = getenv("XDG_CONFIG_HOME")) before = now;
        setenv("XDG_CONFIG_HOME", path.c_str(), 1);
    }
    ~ConfigHome() {
        if (before.empty())
            unsetenv("XDG_CONFIG_HOME");
        else
            setenv("XDG_CONFIG_HOME", before.c_str(), 1);
    }
    ConfigHome(const ConfigHome&) = delete;
    ConfigHome& operator=(const ConfigHome&) = delete;
    std::string before;
};

}  // namespace memwall
