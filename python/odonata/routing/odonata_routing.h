/* A routing of one's own as a library (docs/own-routing.md): `routing = { library = "mine.so", hops = 5 }`.
 *
 * The core calls odonata_route once for each packet at each router but the last, odonata_start once for each router
 * before the run, and odonata_learn once for each answer. Only odonata_route is needed. The functions may be called from
 * several threads, but for one router only from one at a time. They write only `memory` and `answer` of the packet and
 * the numbers of the router (`state` of the scenario's table), so that a run has the same results on any number of threads.
 *
 * Times are picoseconds, sizes bytes. Every field has eight bytes. */
#ifndef ODONATA_ROUTING_H
#define ODONATA_ROUTING_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A packet at a router. */
typedef struct {
    int64_t key;         /* from it come its random numbers: odonata_random */
    int64_t hop;         /* links between routers that it has taken */
    int64_t hops_left;   /* those that it may still take */
    int64_t destination; /* the router of its destination */
    int64_t bytes;       /* its payload */
    int64_t came_from;   /* the port by which it came */
    int64_t memory;      /* goes with the packet: 0 to 2^32 - 2, or -1 as at first; may be written */
    double answer;       /* what the router before learns; may be written */
} odonata_packet;

/* A port by which the packet may leave. */
typedef struct {
    int64_t port;       /* its number */
    int64_t router;     /* the router at the other end */
    int64_t links;      /* fewest links between routers from there to the destination */
    int64_t minimal;    /* 1 if it leads nearer to the destination, else 0 */
    int64_t load_ps;    /* its load by the congestion metric of the run */
    int64_t link_class; /* the class of its link, from 1 on */
} odonata_port;

/* The router, and tables of the machine. */
typedef struct {
    int64_t router;        /* its number */
    int64_t time_ps;       /* the time */
    int64_t routers;       /* routers of the machine */
    double *state;         /* the router's own numbers, 0 at first */
    const uint8_t *links;  /* fewest links between routers a and b: links[a * routers + b]; 255 without a path */
    const int64_t *groups; /* the group of each router; -1 for none */
    const int64_t *ends;   /* the routers with nodes, ascending */
    int64_t end_count;     /* how many they are */
} odonata_router;

/* What a router learns of a packet that it has sent, one latency of the link after the decision at the next router. */
typedef struct {
    int64_t port;        /* by which it was sent */
    int64_t router;      /* the router at the other end */
    int64_t destination; /* the router of its destination */
    int64_t delay_ps;    /* from the decision here to that at the other router */
    double answer;       /* what odonata_route wrote there; 0 at the destination's router */
    int64_t last;        /* 1 if the other router is that of the destination, else 0 */
    int64_t memory;      /* the memory with which the packet was sent */
} odonata_answer;

/* Returns the position of a port among `count` ports, from 0 on. */
int64_t odonata_route(odonata_packet *packet, const odonata_port *ports, int64_t count, const odonata_router *router);
/* Fills the numbers of a router, from all its working ports to routers; their links, minimal and load are 0. Returns 0. */
int64_t odonata_start(const odonata_port *ports, int64_t count, const odonata_router *router);
/* Learns from an answer. Returns 0. */
int64_t odonata_learn(const odonata_answer *answer, const odonata_router *router);

/* Draw number k (0 to 255) of a packet at this router: a whole number below n, uniformly. */
static inline int64_t odonata_random(const odonata_packet *packet, int64_t k, int64_t n) {
    uint64_t x = (uint64_t)packet->key << 32 | (uint64_t)packet->hop << 8 | (uint64_t)k;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    x ^= x >> 31;
    return (int64_t)((x >> 32) * (uint64_t)n >> 32);
}

#ifdef __cplusplus
}
#endif

#endif
