// What the front end uses of ASTRA-sim, for tests without a checkout of it. docs/astra-sim.md says with which commit the
// front end was built.
#pragma once

#include <cstdint>

namespace AstraSim {

enum time_type_e { SE = 0, MS, US, NS, FS };

struct timespec_t {
    time_type_e time_res;
    long double time_val;
};

struct sim_request;

class AstraNetworkAPI {
  public:
    explicit AstraNetworkAPI(int rank) : rank(rank) {}
    virtual ~AstraNetworkAPI() = default;
    virtual int sim_send(void *buffer, std::uint64_t count, int type, int dst, int tag, sim_request *request,
                         void (*msg_handler)(void *), void *fun_arg) = 0;
    virtual int sim_recv(void *buffer, std::uint64_t count, int type, int src, int tag, sim_request *request,
                         void (*msg_handler)(void *), void *fun_arg) = 0;
    virtual void sim_schedule(timespec_t delta, void (*fun_ptr)(void *), void *fun_arg) = 0;
    virtual timespec_t sim_get_time() = 0;
    virtual double get_BW_at_dimension(int) { return -1; }
    virtual int sim_comm_get_rank() { return rank; }

  private:
    int rank;
};

}  // namespace AstraSim
