// Odonata as the network of ASTRA-sim: one OdonataNetwork for each NPU, all on one Wire.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

#include "astra-sim/common/AstraNetworkAPI.hh"
#include "odonata_network.h"

namespace OdonataAstra {

// A function of ASTRA-sim with its argument; none if `function` is null.
struct Handler {
    void (*function)(void *) = nullptr;
    void *argument = nullptr;
};

// The network of all NPUs. It matches sends and receives: the n-th send with the n-th receive of the same sender,
// receiver, tag and size, as ASTRA-sim uses tags again.
class Wire {
  public:
    explicit Wire(odonata_network *network) : network(network) {}

    std::uint64_t now_ps() const { return odonata_network_now_ps(network); }
    std::uint32_t ranks() const { return odonata_network_ranks(network); }

    // `handler` is called when all of the message has arrived.
    void send(int from, int to, int tag, std::uint64_t bytes, Handler handler);
    // `handler` is called when the message has arrived, or at once in a happening of its own if it has.
    void receive(int from, int to, int tag, std::uint64_t bytes, Handler handler);
    void schedule(std::uint64_t at_ps, Handler handler);

    // Lets ASTRA-sim act at each happening until none is left.
    void run();

    std::uint64_t sent() const { return messages; }
    // Messages that arrived without a receive, and receives without a message.
    std::uint64_t unmatched() const;

  private:
    using Key = std::tuple<int, int, int, std::uint64_t>;  // sender, receiver, tag, size

    // A message of a key, of which the arrival or the receive is still missing.
    struct Half {
        bool arrived = false;
        Handler receiver;
    };

    struct Channel {
        std::uint64_t sends = 0;
        std::uint64_t receives = 0;
        std::map<std::uint64_t, Half> halves;
    };

    struct Message {
        Key key;
        std::uint64_t place;
        Handler sender;
    };

    void arrive(const Message &message);
    int checked(int result) const;

    odonata_network *network;
    std::uint64_t messages = 0;
    std::map<Key, Channel> channels;
    std::unordered_map<std::uint64_t, Message> under_way;
    std::unordered_map<std::uint64_t, Handler> timers;
};

class OdonataNetwork : public AstraSim::AstraNetworkAPI {
  public:
    // `bandwidth` is what ASTRA-sim is told of each dimension, in GB/s.
    OdonataNetwork(int rank, Wire &wire, double bandwidth) : AstraNetworkAPI(rank), wire(wire), bandwidth(bandwidth) {}

    int sim_send(void *buffer, std::uint64_t count, int type, int dst, int tag, AstraSim::sim_request *request,
                 void (*msg_handler)(void *), void *fun_arg) override;
    int sim_recv(void *buffer, std::uint64_t count, int type, int src, int tag, AstraSim::sim_request *request,
                 void (*msg_handler)(void *), void *fun_arg) override;
    void sim_schedule(AstraSim::timespec_t delta, void (*fun_ptr)(void *), void *fun_arg) override;
    AstraSim::timespec_t sim_get_time() override;
    double get_BW_at_dimension(int dim) override;

  private:
    Wire &wire;
    double bandwidth;
};

// Calls `work` with a network of a specification (JSON); throws std::runtime_error with a text if it cannot.
void drive(const std::string &specification, void (*work)(Wire &, void *), void *context);

}  // namespace OdonataAstra
