#include "network.hh"

#include <cmath>
#include <exception>
#include <stdexcept>

namespace OdonataAstra {

namespace {

constexpr long double PS_PER_NS = 1000;

void call(const Handler &handler) {
    if (handler.function != nullptr) {
        handler.function(handler.argument);
    }
}

std::runtime_error failure(const char *problem) {
    return std::runtime_error(std::string("Odonata: ") + problem);
}

// What crosses the C library: an exception must not.
struct Work {
    void (*work)(Wire &, void *);
    void *context;
    std::exception_ptr thrown;
};

void begin(odonata_network *network, void *context) {
    auto &work = *static_cast<Work *>(context);
    try {
        Wire wire(network);
        work.work(wire, work.context);
    } catch (...) {
        work.thrown = std::current_exception();
    }
}

}  // namespace

int Wire::checked(int result) const {
    if (result < 0) {
        throw failure(odonata_network_error(network));
    }
    return result;
}

void Wire::send(int from, int to, int tag, std::uint64_t bytes, Handler handler) {
    std::uint64_t number = 0;
    checked(odonata_network_send(network, now_ps(), static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to),
                                 bytes, &number));
    const Key key(from, to, tag, bytes);
    under_way.emplace(number, Message{key, channels[key].sends++, handler});
    ++messages;
}

void Wire::receive(int from, int to, int tag, std::uint64_t bytes, Handler handler) {
    Channel &channel = channels[Key(from, to, tag, bytes)];
    const std::uint64_t place = channel.receives++;
    const auto half = channel.halves.find(place);
    if (half == channel.halves.end()) {
        channel.halves.emplace(place, Half{false, handler});
        return;
    }
    channel.halves.erase(half);
    schedule(now_ps(), handler);
}

void Wire::schedule(std::uint64_t at_ps, Handler handler) {
    std::uint64_t number = 0;
    checked(odonata_network_schedule(network, at_ps, &number));
    timers.emplace(number, handler);
}

void Wire::arrive(const Message &message) {
    Channel &channel = channels[message.key];
    const auto half = channel.halves.find(message.place);
    Handler receiver;
    if (half == channel.halves.end()) {
        channel.halves.emplace(message.place, Half{true, {}});
    } else {
        receiver = half->second.receiver;
        channel.halves.erase(half);
    }
    // Handlers come last: they send and receive.
    call(message.sender);
    call(receiver);
}

void Wire::run() {
    odonata_happening happening;
    while (checked(odonata_network_advance(network, &happening)) == 1) {
        if (happening.kind == ODONATA_TIMER) {
            const auto timer = timers.find(happening.number);
            const Handler handler = timer->second;
            timers.erase(timer);
            call(handler);
        } else {
            const auto message = under_way.find(happening.number);
            const Message arrived = message->second;
            under_way.erase(message);
            arrive(arrived);
        }
    }
}

std::uint64_t Wire::unmatched() const {
    std::uint64_t halves = 0;
    for (const auto &channel : channels) {
        halves += channel.second.halves.size();
    }
    return halves;
}

int OdonataNetwork::sim_send(void *, std::uint64_t count, int, int dst, int tag, AstraSim::sim_request *,
                             void (*msg_handler)(void *), void *fun_arg) {
    wire.send(sim_comm_get_rank(), dst, tag, count, Handler{msg_handler, fun_arg});
    return 0;
}

int OdonataNetwork::sim_recv(void *, std::uint64_t count, int, int src, int tag, AstraSim::sim_request *,
                             void (*msg_handler)(void *), void *fun_arg) {
    wire.receive(src, sim_comm_get_rank(), tag, count, Handler{msg_handler, fun_arg});
    return 0;
}

void OdonataNetwork::sim_schedule(AstraSim::timespec_t delta, void (*fun_ptr)(void *), void *fun_arg) {
    if (delta.time_res != AstraSim::NS || delta.time_val < 0) {
        throw failure("expected a delay in nanoseconds that is not negative");
    }
    const auto delay = static_cast<std::uint64_t>(std::llround(delta.time_val * PS_PER_NS));
    wire.schedule(wire.now_ps() + delay, Handler{fun_ptr, fun_arg});
}

AstraSim::timespec_t OdonataNetwork::sim_get_time() {
    return {AstraSim::NS, static_cast<long double>(wire.now_ps()) / PS_PER_NS};
}

double OdonataNetwork::get_BW_at_dimension(int) {
    return bandwidth;
}

void drive(const std::string &specification, void (*work)(Wire &, void *), void *context) {
    Work of{work, context, nullptr};
    char error[1024];
    const int done = odonata_network_drive(specification.c_str(), 0, begin, &of, error, sizeof error);
    if (of.thrown) {
        std::rethrow_exception(of.thrown);
    }
    if (done < 0) {
        throw failure(error);
    }
}

}  // namespace OdonataAstra
