/* A network whose caller issues the messages one by one, and learns of each delivery before it goes on.
 *
 * Messages are ordinary messages of Odonata: they use the NICs, links and routers of the machine of a specification, with
 * its routing. The jobs of the specification, except the driven one, send beside them.
 *
 * All times are picoseconds, all sizes bytes. A function that can fail returns -1 and keeps a text for people, which
 * odonata_network_error returns. Different networks may be used by different threads; one network by one thread. */
#ifndef ODONATA_NETWORK_H
#define ODONATA_NETWORK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A run in progress. The library owns it; it lives until the function returns that is called with it. */
typedef struct odonata_network odonata_network;

enum odonata_happening_kind {
    /* All of a message has reached its node. */
    ODONATA_DELIVERY = 0,
    /* A time that odonata_network_schedule asked for has come. */
    ODONATA_TIMER = 1
};

typedef struct {
    uint64_t at_ps;
    /* What odonata_network_send or odonata_network_schedule gave. */
    uint64_t number;
    /* An odonata_happening_kind. */
    int kind;
} odonata_happening;

/* Calls `caller` with a network and `context`. Returns 0 when the caller has returned, which ends the run; or -1 without
 * a call, with a text in the `error_size` bytes at `error` (which may be null).
 *
 * `specification` is the JSON of a resolved scenario. Of its job number `job`, only the nodes, the routing and the traffic
 * class count: its ranks send what the caller says. The end of the scenario and what it records do not count. The caller
 * must let no exception out, and must not use longjmp. */
int odonata_network_drive(const char *specification, uint32_t job, void (*caller)(odonata_network *, void *),
                          void *context, char *error, size_t error_size);

/* The time of the last happening; 0 before the first. Here and below, the network must not be null. */
uint64_t odonata_network_now_ps(const odonata_network *network);

/* Number of ranks of the driven job. */
uint32_t odonata_network_ranks(const odonata_network *network);

/* Rank `from` will issue a message to rank `to` at a time that is not in the past. Messages that a node issues at one time
 * keep the order of the calls. Returns 1 with the number of the message in `number` (which may be null), or -1. Messages
 * and timers share numbers, which rise from 0. */
int odonata_network_send(odonata_network *network, uint64_t at_ps, uint32_t from, uint32_t to, uint64_t bytes,
                         uint64_t *number);

/* Asks for a happening at a time that is not in the past. Returns as odonata_network_send. */
int odonata_network_schedule(odonata_network *network, uint64_t at_ps, uint64_t *number);

/* Simulates until the next happening. Returns 1 with it in `happening` (which may be null), 0 if all messages are
 * delivered and all timers have come, or -1, after which the network cannot be used. At one time deliveries come before
 * timers, and each in the order of their numbers. More may be sent after a 0. */
int odonata_network_advance(odonata_network *network, odonata_happening *happening);

/* The text of the last error; empty if there was none. It lives until the next call with the network. */
const char *odonata_network_error(const odonata_network *network);

#ifdef __cplusplus
}
#endif

#endif
