/* Application-aware routing: which routing mode the next message should use.
 *
 * Before each message: odonata_policy_select. If it asks for counters, read them before and after the message, and
 * pass the differences to odonata_policy_observe. For app-aware, read those of the NIC right after the message was
 * handed to it, and pass the differences to the reading before, with the stalled cycles of requests less those of
 * responses. A policy keeps the state of one NIC or one process. Two threads must not use a policy at the same time. No
 * function allocates except odonata_policy_new.
 *
 * Source: De Sensi, Di Girolamo, Hoefler, Mitigating Network Noise on Dragonfly Networks through Application-Aware
 * Routing, SC 2019. docs/application-aware.md explains the policies. */
#ifndef ODONATA_DECISION_H
#define ODONATA_DECISION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Routing modes, by the numbers of Aries. */
#define ODONATA_ADAPTIVE_0 0 /* no bias; the default */
#define ODONATA_ADAPTIVE_1 1 /* increasingly minimal bias; the default of all-to-all */
#define ODONATA_ADAPTIVE_3 3 /* high bias towards minimal paths */

/* Flags of a message. */
#define ODONATA_GET 1u      /* a GET, not a PUT */
#define ODONATA_ALLTOALL 2u /* it belongs to an all-to-all */
#define ODONATA_CONTROL 4u  /* it only controls other messages; only app-aware reads this */

/* What the NIC counted for a message: the differences of two readings, as unsigned integers. */
typedef struct odonata_counters {
  uint64_t request_flits;
  uint64_t stalled_cycles;  /* cycles in which a flit was ready and was not forwarded */
  uint64_t request_packets;
  uint64_t latency_cycles;  /* sum over the packets, from request to response; microseconds times the clock in MHz */
} odonata_counters;

/* The numbers of a policy. Fill them with odonata_settings_default, then change some. */
typedef struct odonata_settings {
  uint64_t threshold_bytes; /* 4096: bytes that must add up before a decision */
  double lambda;            /* 0.8: initial ratio of latencies, high bias to default; 1/1024 to 1024 (not app-aware) */
  double sigma;             /* 1.3: initial ratio of stalls, high bias to default; 1/1024 to 1024 (not app-aware) */
  double margin;            /* 0.05: share of the time that a change must save (app-aware-h); 0 to below 1 */
  uint64_t seed;            /* of the random numbers (bandit) */
  uint64_t stream;          /* NICs with one seed and different streams draw different numbers (bandit) */
  uint32_t sample_age;      /* 64: decisions after which an observation is too old; at least 1 (not app-aware) */
  uint32_t dwell;           /* 8: observed messages between two changes (app-aware-h) */
} odonata_settings;

typedef struct odonata_policy odonata_policy;

/* Fills in the defaults. */
void odonata_settings_default(odonata_settings *settings);

/* A policy that has seen nothing: "default", "high-bias", "app-aware", "app-aware-continuous", "app-aware-h" or
 * "bandit". Settings may be NULL for the defaults. NULL if the name is unknown or a number is out of range. */
odonata_policy *odonata_policy_new(const char *name, const odonata_settings *settings);

/* Frees a policy; NULL is allowed. */
void odonata_policy_free(odonata_policy *policy);

/* The mode of the next message. *observe becomes 1 if counters are asked for, else 0; it may be NULL. */
int odonata_policy_select(odonata_policy *policy, uint64_t bytes, uint32_t flags, int *observe);

/* The same for a message to an endpoint, by any number: app-aware remembers what it has seen only for the same endpoint
 * and size. odonata_policy_select takes endpoint 0. */
int odonata_policy_select_to(odonata_policy *policy, uint64_t peer, uint64_t bytes, uint32_t flags, int *observe);

/* What was counted for a message that was sent with `mode`. Counters without a packet or a flit are ignored, and so is
 * a number that is no mode. */
void odonata_policy_observe(odonata_policy *policy, int mode, const odonata_counters *counters);

/* Equations 1 (outstanding = 0) and 2 (outstanding = 1024 on Aries): the time of a message in cycles, from the latency
 * L in cycles and the stalled cycles per flit s. NaN if L or s is not between 0 and 1e30. */
double odonata_transmission_time(uint64_t bytes, uint32_t flags, double latency, double stalls, uint32_t outstanding);

/* Equation 3: 1 if the message takes less time with high bias, else 0; -1 if a latency or stalls are not between 0 and
 * 1e30. */
int odonata_prefer_high_bias(uint64_t bytes, uint32_t flags, double latency_default, double stalls_default,
                             double latency_high_bias, double stalls_high_bias);

#ifdef __cplusplus
}
#endif

#endif
