// Drives the front end for ASTRA-sim as ASTRA-sim would, and prints what is called and when.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>

#include "network.hh"

using OdonataAstra::OdonataNetwork;
using OdonataAstra::Wire;

namespace {

OdonataNetwork *npus[4];

// Prints the time in nanoseconds and a name.
void say(void *name) {
    std::printf("%.3Lf %s\n", npus[0]->sim_get_time().time_val, static_cast<const char *>(name));
}

void *text(const char *name) { return const_cast<char *>(name); }

void send(int from, int to, int tag, std::uint64_t bytes, const char *name) {
    npus[from]->sim_send(nullptr, bytes, 0, to, tag, nullptr, say, text(name));
}

void receive(int from, int to, int tag, std::uint64_t bytes, const char *name) {
    npus[to]->sim_recv(nullptr, bytes, 0, from, tag, nullptr, say, text(name));
}

void at(long double delay_ns, void (*function)(void *), const char *name) {
    npus[0]->sim_schedule({AstraSim::NS, delay_ns}, function, text(name));
}

void receive_again(void *) {
    receive(0, 1, 7, 1000, "second receive");
    say(text("asked"));
}

// The tag is used twice: the second receive is asked for when its message has long arrived.
void matching() {
    send(0, 1, 7, 1000, "first send");
    send(0, 1, 7, 1000, "second send");
    receive(0, 1, 7, 1000, "first receive");
    at(5000.5L, receive_again, "");
}

// Neither another tag, nor another size, nor another sender matches.
void strangers() {
    receive(0, 1, 7, 1000, "never");
    send(0, 1, 8, 1000, "other tag");
    send(0, 1, 7, 1001, "other size");
    send(2, 1, 7, 1000, "other sender");
}

// Timers of one time keep their order, and a timer may ask for another at once.
void again(void *name) {
    say(name);
    at(0, say, "inner");
}

void timers() {
    at(2, say, "later");
    at(1, again, "outer");
    at(1, say, "beside");
}

void to_itself() { send(1, 1, 0, 10, "never"); }

void thrown() { throw std::out_of_range("thrown by the work"); }

void work(Wire &wire, void *name) {
    for (int rank = 0; rank < 4; ++rank) {
        npus[rank] = new OdonataNetwork(rank, wire, 16);
    }
    const struct {
        const char *name;
        void (*begin)();
    } all[] = {{"matching", matching}, {"strangers", strangers}, {"timers", timers}, {"to_itself", to_itself},
               {"thrown", thrown}};
    for (const auto &one : all) {
        if (std::strcmp(one.name, static_cast<const char *>(name)) == 0) {
            one.begin();
        }
    }
    wire.run();
    std::printf("%u ranks, %llu sent, %llu unmatched\n", wire.ranks(), static_cast<unsigned long long>(wire.sent()),
                static_cast<unsigned long long>(wire.unmatched()));
}

}  // namespace

int main(int, char *argv[]) {
    std::ifstream file(argv[1]);
    const std::string specification((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    try {
        OdonataAstra::drive(specification, work, argv[2]);
    } catch (const std::exception &error) {
        std::printf("error: %s\n", error.what());
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
