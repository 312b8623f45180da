/* MPI ranks that send a known number of bytes: `exchange` to the next rank, `incast` from all others to rank 0.
   sender PATTERN BYTES COUNT GAP_US prints the bytes that each rank has sent. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, bytes = atoi(argv[2]), count = atoi(argv[3]), gap = atoi(argv[4]);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  char *out = calloc(bytes, 1), *in = calloc(bytes, 1);
  long long sent = 0;
  sleep(3);
  for (int i = 0; i < count; i++) {
    if (strcmp(argv[1], "exchange") == 0) {
      MPI_Sendrecv(out, bytes, MPI_CHAR, (rank + 1) % ranks, 0, in, bytes, MPI_CHAR, (rank + ranks - 1) % ranks, 0,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      sent += bytes;
    } else if (rank != 0) {
      MPI_Send(out, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
      sent += bytes;
    } else {
      for (int k = 1; k < ranks; k++)
        MPI_Recv(in, bytes, MPI_CHAR, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    usleep(gap);
  }
  sleep(3);
  long long all[64];
  MPI_Gather(&sent, 1, MPI_LONG_LONG, all, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
  for (int k = 0; rank == 0 && k < ranks; k++) printf("sent %lld\n", all[k]);
  MPI_Finalize();
  return 0;
}
