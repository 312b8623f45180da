/* Plays ping-pong over the C library, and prints what happens; then provokes each error. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "odonata_network.h"

static void play(odonata_network *network, void *context) {
    odonata_happening happening;
    uint64_t number = 99;
    int *rounds = context;
    printf("%" PRIu32 " ranks at %" PRIu64 "\n", odonata_network_ranks(network), odonata_network_now_ps(network));
    odonata_network_schedule(network, 1000, &number);
    printf("timer %" PRIu64 "\n", number);
    while (odonata_network_advance(network, &happening) == 1) {
        printf("%" PRIu64 " %s %" PRIu64 "\n", happening.at_ps, happening.kind == ODONATA_TIMER ? "timer" : "delivery",
               happening.number);
        if ((*rounds)-- > 0) {
            odonata_network_send(network, odonata_network_now_ps(network), (uint32_t)*rounds % 2,
                                 1 - (uint32_t)*rounds % 2, 1000, NULL);
        }
    }
    printf("%d ", odonata_network_send(network, 0, 0, 1, 1000, &number));
    printf("%s\n", odonata_network_error(network));
    printf("%d ", odonata_network_schedule(network, 0, &number));
    printf("%s\n", odonata_network_error(network));
    printf("%d\n", odonata_network_advance(network, NULL));
}

int main(int argc, char *argv[]) {
    static char specification[1 << 20];
    char error[200], small[8];
    int rounds = 3;
    FILE *file = fopen(argv[argc - 1], "rb");
    size_t length = fread(specification, 1, sizeof specification - 1, file);
    specification[length] = 0;
    printf("%d\n", odonata_network_drive(specification, 0, play, &rounds, error, sizeof error));
    printf("%d ", odonata_network_drive(specification, 5, play, &rounds, error, sizeof error));
    printf("%s\n", error);
    printf("%d ", odonata_network_drive("{", 0, play, &rounds, error, sizeof error));
    printf("%s\n", error);
    printf("%d ", odonata_network_drive("{", 0, play, &rounds, small, sizeof small));
    printf("%s\n", small);
    printf("%d ", odonata_network_drive(NULL, 0, NULL, NULL, error, sizeof error));
    printf("%s\n", error);
    printf("%d\n", odonata_network_drive("{", 0, play, &rounds, NULL, 0));
    return EXIT_SUCCESS;
}
