/* Times collectives and a ping-pong of MPI. `odonata cluster probe` builds and starts it.
 *
 *   probe ITERATIONS WARMUP GAP_US SEED OPERATION:BYTES...
 *
 * One iteration runs each configuration (an operation with a size) once, in a new random order, so that all of them
 * meet the same background. Before each, all ranks sleep GAP_US microseconds and meet in a barrier. A rank records how
 * long its own call takes: clocks of different ranks are never compared.
 *
 * Rank 0 writes lines that begin with "@" to standard output, every few iterations, so that a failure loses little:
 *   @probe RANKS CONFIGURATIONS
 *   @host RANK NAME
 *   @t ITERATION CONFIGURATION BEGIN NS NS ...    a duration for each rank, -1 for one that takes no part; BEGIN is
 *                                                 rank 0's wall clock in microseconds
 *   @end
 * Bytes are those of the vector of a rank (alltoall: those for each other rank). Reductions add 4-byte floats.
 */
#include <mpi.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BLOCK 25 /* iterations between two outputs: half a second or more at the defaults */

enum { BCAST, REDUCE, ALLTOALL, ALLREDUCE, BARRIER, PING_PONG, OPERATIONS };
static const char *NAMES[OPERATIONS] = {"bcast", "reduce", "alltoall", "allreduce", "barrier", "ping-pong"};

typedef struct { int operation; int bytes; } Configuration;

static int rank, ranks;

static void fail(const char *what, const char *detail) {
  fprintf(stderr, "odonata-probe: rank %d: %s%s\n", rank, what, detail);
  fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static int64_t now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void rest(long us) {
  struct timespec left = {us / 1000000, us % 1000000 * 1000};
  while (nanosleep(&left, &left) && errno == EINTR) {}
}

static uint64_t draw(uint64_t *state) { /* xorshift64*, Vigna 2016 */
  *state ^= *state >> 12; *state ^= *state << 25; *state ^= *state >> 27;
  return *state * 2685821657736338717u;
}

static void run(Configuration c, char *from, char *to) {
  int floats = c.bytes / 4, last = ranks - 1;
  switch (c.operation) {
    case BCAST: MPI_Bcast(from, c.bytes, MPI_BYTE, 0, MPI_COMM_WORLD); break;
    case REDUCE: MPI_Reduce(from, to, floats, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD); break;
    case ALLTOALL: MPI_Alltoall(from, c.bytes, MPI_BYTE, to, c.bytes, MPI_BYTE, MPI_COMM_WORLD); break;
    case ALLREDUCE: MPI_Allreduce(from, to, floats, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); break;
    case BARRIER: MPI_Barrier(MPI_COMM_WORLD); break;
    case PING_PONG:
      if (rank == 0) {
        MPI_Send(from, c.bytes, MPI_BYTE, last, 1, MPI_COMM_WORLD);
        MPI_Recv(to, c.bytes, MPI_BYTE, last, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      } else if (rank == last) {
        MPI_Recv(to, c.bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(from, c.bytes, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
      }
  }
}

/* A ping-pong is timed where it begins: the other end waits for the first message. */
static int takes_part(Configuration c) { return c.operation != PING_PONG || rank == 0; }

int main(int count, char **words) {
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (count < 6) fail("too few arguments", "");
  if (ranks < 2) fail("one rank has nobody to talk to; start two or more", "");
  long iterations = atol(words[1]), warmup = atol(words[2]), gap = atol(words[3]);
  uint64_t state = strtoull(words[4], NULL, 10) * 2 + 1;
  int number = count - 5;
  Configuration *all = calloc(number, sizeof *all);
  int *order = calloc(number, sizeof *order);
  if (!all || !order) fail("not enough memory", "");
  size_t longest = 4;
  for (int i = 0; i < number; i++) {
    char *colon = strchr(words[5 + i], ':');
    if (!colon) fail("expected OPERATION:BYTES, found ", words[5 + i]);
    *colon = 0;
    all[i].bytes = atoi(colon + 1);
    for (all[i].operation = 0; all[i].operation < OPERATIONS; all[i].operation++)
      if (!strcmp(words[5 + i], NAMES[all[i].operation])) break;
    if (all[i].operation == OPERATIONS) fail("unknown operation ", words[5 + i]);
    size_t need = (size_t)all[i].bytes * (all[i].operation == ALLTOALL ? ranks : 1);
    if (need > longest) longest = need;
    order[i] = i;
  }
  int64_t block = (int64_t)BLOCK * number;
  char *from = calloc(longest, 1), *to = calloc(longest, 1);
  int64_t *mine = calloc(block, sizeof *mine), *begins = calloc(block, sizeof *begins);
  int *which = calloc(block, sizeof *which);
  int64_t *everyones = rank ? NULL : calloc((size_t)block * ranks, sizeof *everyones);
  char *hosts = rank ? NULL : calloc(ranks, MPI_MAX_PROCESSOR_NAME);
  if (!from || !to || !mine || !begins || !which || (!rank && (!everyones || !hosts)))
    fail("not enough memory for the messages; choose smaller sizes", "");
  memset(to, 1, longest); /* so that the first iteration finds all pages in place */
  memset(from, 0, longest);

  char host[MPI_MAX_PROCESSOR_NAME] = {0};
  int length;
  const char *slurms = getenv("SLURMD_NODENAME"); /* the name in the queue and in the topology */
  if (slurms && *slurms) strncpy(host, slurms, sizeof host - 1);
  else MPI_Get_processor_name(host, &length);
  MPI_Gather(host, sizeof host, MPI_CHAR, hosts, sizeof host, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (!rank) {
    printf("@probe %d %d\n", ranks, number);
    for (int r = 0; r < ranks; r++) printf("@host %d %s\n", r, hosts + (size_t)r * MPI_MAX_PROCESSOR_NAME);
    fflush(stdout);
  }
  for (long i = -warmup; i < iterations; i++) {
    for (int k = number - 1; k > 0; k--) { /* the same on all ranks: they draw from the same state */
      int other = draw(&state) % (k + 1), kept = order[k];
      order[k] = order[other]; order[other] = kept;
    }
    for (int k = 0; k < number; k++) {
      Configuration c = all[order[k]];
      rest(gap);
      MPI_Barrier(MPI_COMM_WORLD);
      int64_t wall = now(CLOCK_REALTIME), begin = now(CLOCK_MONOTONIC);
      run(c, from, to);
      int64_t time = now(CLOCK_MONOTONIC) - begin;
      if (i < 0) continue;
      int64_t at = i % BLOCK * number + k;
      mine[at] = takes_part(c) ? time : -1;
      begins[at] = wall / 1000;
      which[at] = order[k];
    }
    if (i < 0 || (i % BLOCK != BLOCK - 1 && i != iterations - 1)) continue;
    int rows = (int)(i % BLOCK + 1) * number;
    MPI_Gather(mine, rows, MPI_INT64_T, everyones, rows, MPI_INT64_T, 0, MPI_COMM_WORLD);
    if (rank) continue;
    for (int at = 0; at < rows; at++) {
      printf("@t %ld %d %lld", i - i % BLOCK + at / number, which[at], (long long)begins[at]);
      for (int r = 0; r < ranks; r++) printf(" %lld", (long long)everyones[(size_t)r * rows + at]);
      putchar('\n');
    }
    if (fflush(stdout)) fail("cannot write the times to standard output", "");
  }
  if (!rank) { printf("@end\n"); fflush(stdout); }
  MPI_Finalize();
  return 0;
}
