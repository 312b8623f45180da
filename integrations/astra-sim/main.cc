// ASTRA-sim with Odonata as its network. The options are those of ASTRA-sim's analytical front end; the network
// configuration is the JSON that specification.py writes.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <cxxopts/cxxopts.hpp>
#include <json/json.hpp>

#include "astra-sim/common/Logging.hh"
#include "astra-sim/system/Sys.hh"
#include "extern/remote_memory_backend/analytical/AnalyticalRemoteMemory.hh"
#include "network.hh"

namespace {

struct Run {
    const cxxopts::ParseResult &options;
    double bandwidth;

    std::string text(const char *name) const { return options[name].as<std::string>(); }
};

cxxopts::Options described(const char *program) {
    cxxopts::Options options(program, "ASTRA-sim with Odonata as its network");
    const auto text = [] { return cxxopts::value<std::string>(); };
    options.add_options()("workload-configuration", "Prefix of the traces of all NPUs", text())(
        "system-configuration", "System of ASTRA-sim", text())(
        "remote-memory-configuration", "Remote memory of ASTRA-sim", text())(
        "network-configuration", "JSON of a machine, from specification.py", text())(
        "comm-group-configuration", "Groups of NPUs", text()->default_value("empty"))(
        "logging-configuration", "Logging", text()->default_value("empty"))(
        "npus", "NPUs of each logical dimension (by default one dimension)",
        cxxopts::value<std::vector<int>>())(
        "num-queues-per-dim", "Queues of each dimension", cxxopts::value<int>()->default_value("1"))(
        "comm-scale", "Scale of communication", cxxopts::value<double>()->default_value("1"))(
        "injection-scale", "Scale of injection", cxxopts::value<double>()->default_value("1"))(
        "rendezvous-protocol", "Whether messages wait for their receive",
        cxxopts::value<bool>()->default_value("false"));
    return options;
}

std::string content(const std::string &path) {
    std::ifstream file(path);
    if (!file) {
        throw std::runtime_error("cannot read " + path);
    }
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

void simulate(OdonataAstra::Wire &wire, void *context) {
    const auto &run = *static_cast<const Run *>(context);
    const auto &options = run.options;
    const int ranks = static_cast<int>(wire.ranks());
    std::vector<int> dimensions = {ranks};
    if (options.count("npus") > 0) {
        dimensions = options["npus"].as<std::vector<int>>();
    }
    int npus = 1;
    for (const int size : dimensions) {
        npus *= size;
    }
    if (npus != ranks) {
        throw std::runtime_error("--npus has " + std::to_string(npus) + " NPUs, the machine's job " +
                                 std::to_string(ranks));
    }
    const std::vector<int> queues(dimensions.size(), options["num-queues-per-dim"].as<int>());
    Analytical::AnalyticalRemoteMemory memory(run.text("remote-memory-configuration"));
    std::vector<std::unique_ptr<OdonataAstra::OdonataNetwork>> networks;
    std::vector<AstraSim::Sys *> systems;  // ASTRA-sim keeps them to its end
    for (int rank = 0; rank < npus; ++rank) {
        networks.push_back(std::make_unique<OdonataAstra::OdonataNetwork>(rank, wire, run.bandwidth));
        systems.push_back(new AstraSim::Sys(rank, run.text("workload-configuration"),
                                            run.text("comm-group-configuration"), run.text("system-configuration"),
                                            &memory, networks.back().get(), dimensions, queues,
                                            options["injection-scale"].as<double>(),
                                            options["comm-scale"].as<double>(),
                                            options["rendezvous-protocol"].as<bool>()));
    }
    for (auto *system : systems) {
        system->workload->fire();
    }
    wire.run();
    for (auto *system : systems) {
        if (!system->workload->is_finished) {
            throw std::runtime_error("the workload of an NPU has not finished, and nothing is left to happen");
        }
    }
    std::cout << "Odonata: " << wire.sent() << " messages, " << wire.unmatched() << " unmatched, last happening at "
              << wire.now_ps() << " ps" << std::endl;
}

}  // namespace

int main(int argc, char *argv[]) {
    try {
        auto options = described(argv[0]);
        const auto parsed = options.parse(argc, argv);
        AstraSim::LoggerFactory::init(parsed["logging-configuration"].as<std::string>());
        const auto specification = content(parsed["network-configuration"].as<std::string>());
        const auto link = nlohmann::json::parse(specification).at("fabric").at("links").at("node");
        Run run{parsed, link.at("bandwidth").get<double>() / 1e15};  // millionths of a byte per second
        OdonataAstra::drive(specification, simulate, &run);
        AstraSim::LoggerFactory::shutdown();
        return EXIT_SUCCESS;
    } catch (const std::exception &error) {
        std::cerr << "error: " << error.what() << std::endl;
        return EXIT_FAILURE;
    }
}
