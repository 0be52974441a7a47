/* Runs one kernel under qemu: rows of the inputs from stdin, rows of the outputs to stdout.
   usage: run inputs outputs states steps (bytes per state, bytes per step) of each argument; steps 0: a batch kernel */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

extern void *table[];
extern int64_t entry();

static void *aligned(size_t size) { return size ? aligned_alloc(64, (size + 63) / 64 * 64) : NULL; }

int main(int count, char **words) {
    void *libm[] = {sin, cos, tanh, exp, log, asin, acos, atan2};
    for (int k = 0; k < 8; ++k) table[k] = libm[k];
    int inputs = atoi(words[1]), n = inputs + atoi(words[2]);
    int64_t states = atoll(words[3]), steps = atoll(words[4]), args[3 * n];
    for (int a = 0; a < n; ++a) {
        int64_t state = atoll(words[5 + 2 * a]), step = atoll(words[6 + 2 * a]);
        char *rows = aligned(state * states);
        if (a < inputs && fread(rows, state, states, stdin) != (size_t)states) return 2;
        int64_t fields[] = {(int64_t)rows, state, step};
        for (int k = 0; k < (steps ? 3 : 2); ++k) args[(steps ? 3 : 2) * a + k] = fields[k];
    }
    void *work = aligned((size_t)table[30]), *stage = aligned((size_t)table[31]);
    int64_t stop = 0, *failed = aligned(8 * states);
    int64_t bad = steps ? entry(args, (int64_t)0, states, steps, (int64_t)1, NULL, failed, work, &stop)
                        : entry(args, (int64_t)0, states, work, stage);
    for (int a = inputs; a < n; ++a)
        fwrite((void *)args[(steps ? 3 : 2) * a], atoll(words[5 + 2 * a]), states, stdout);
    return bad >= 0;
}
