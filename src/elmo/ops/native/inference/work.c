#include "work.h"
#include "../processor/processor.h"

#include <stddef.h>

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(_WIN32) /* declared here, because windows.h defines hundreds of names; all are in Windows 8 and newer */
int WaitOnAddress(volatile void *address, void *compared, size_t size, unsigned long milliseconds);
void WakeByAddressAll(void *address);
#elif !defined(__wasm__) /* there every thread is alone */
#include <sched.h>
#endif

/* With few rows the inputs of several steps share a product, or its weights would be read too often. What that costs is
 * keeping the gates of those steps: it pays for more rows the more there is to read for each of them. */
int64_t elmo_enough_rows(const Layer *layer) {
    int64_t enough = layer->input.groups / 10;
    return enough < 7 ? 7 : enough > 25 ? 25 : enough;
}

Work elmo_divided(const Layer *layer, const Run *run) {
    int64_t most = run->steps ? run->alive[0] : 0, piece = layer->input.groups / 8;
    int64_t panels = layer->recurrent.panels, out = layer->projection.panels;
    Work work = {panels * run->rank / run->team,
                 panels * (run->rank + 1) / run->team,
                 out * run->rank / run->team,
                 out * (run->rank + 1) / run->team,
                 piece < 24 ? 24 : piece > 50 ? 50 : piece,
                 0,
                 0,
                 most,
                 NULL,
                 NULL,
                 NULL,
                 NULL,
                 NULL,
                 NULL,
                 NULL,
                 NULL,
                 NULL};
    piece = most > work.piece ? most : work.piece;
    /* 64-byte lines first, so that none of these rows is split between two. */
    work.gates = (float *)(((uintptr_t)run->work + 63) & ~(uintptr_t)63);
    work.projected = work.gates + (most > work.piece * panels ? most : work.piece * panels) * 64;
    work.cell = work.projected + most * 64;
    work.inputs = (uint32_t *)(work.cell + most * 16 * panels);
    work.hidden = work.inputs + piece * layer->input.groups * MOST_ROW_WORDS;
    work.made = work.hidden + most * layer->recurrent.groups * MOST_ROW_WORDS;
    work.input_scales = (float *)(work.made + most * layer->projection.groups * MOST_ROW_WORDS);
    work.hidden_scales = work.input_scales + piece;
    work.made_scales = work.hidden_scales + most;
    return work;
}

/* Bytes of a run's `work`. */
EXPORTED int64_t elmo_fused_lstm_work_bytes(const Layer *layer, const Run *run) {
    Work work = elmo_divided(layer, run);
    return (char *)(work.made_scales + work.rows) - run->work + 64;
}

/* Bytes of a plain product's `work`. */
EXPORTED int64_t elmo_product_work_bytes(const Packed *matrix) {
    return ROWS_AT_ONCE * 4 * (1 + MOST_ROW_WORDS * matrix->groups);
}

EncoderWork elmo_encoder_divided(const Encoder *encoder, char *room) {
    int64_t panels = encoder->projection.panels, row = encoder->characters * encoder->dim;
    for (int64_t layer = 0; layer < encoder->num_highways; layer++)
        panels = encoder->transforms[layer].panels > panels ? encoder->transforms[layer].panels : panels;
    EncoderWork work;
    work.room = (float *)(((uintptr_t)room + 63) & ~(uintptr_t)63);
    work.transformed = work.room + encoder->characters * 64;
    work.gates = work.transformed + ROWS_AT_ONCE * 64 * panels;
    work.features = work.gates + ROWS_AT_ONCE * 64 * panels;
    work.vectors = work.features + ROWS_AT_ONCE * encoder->features;
    work.ones = work.vectors + row;
    work.factors = (uint32_t *)(work.ones + encoder->characters);
    work.product = (char *)(work.factors + ROWS_AT_ONCE * row);
    return work;
}

/* Bytes of room for `elmo_encode_tokens`. */
EXPORTED int64_t elmo_encode_work_bytes(const Encoder *encoder) {
    Packed widest = {NULL, NULL, NULL, 0, encoder->features, 0};
    char *somewhere = (char *)(uintptr_t)4096; /* never read: NULL would be the same, but adding to it is undefined */
    return elmo_encoder_divided(encoder, somewhere).product - somewhere + elmo_product_work_bytes(&widest) + 64;
}

/* A thread that has the processor to itself meets the others within microseconds. If they don't come they have no
 * processor, perhaps because this thread sits on it: it sleeps until the last one arrives. */
enum { SPINS = 2000 };

static inline void pause_briefly(void) {
#if ON_X86
    __builtin_ia32_pause();
#elif ON_ARM
    __asm__ volatile("yield");
#endif
}

static void sleep_while(int32_t *place, int32_t value) {
#if defined(__linux__)
    syscall(SYS_futex, place, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
#elif defined(_WIN32)
    WaitOnAddress(place, &value, sizeof value, 0xffffffff);
#else
    (void)place, (void)value;
#if !defined(__wasm__)
    sched_yield();
#endif
#endif
}

static void wake_all(int32_t *place) {
#if defined(__linux__)
    syscall(SYS_futex, place, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
#elif defined(_WIN32)
    WakeByAddressAll(place);
#else
    (void)place;
#endif
}

/* arrivals[16 * rank]: how often that thread has arrived, and whether it has left; arrivals[16 * rank + 1]: whether
 * somebody may sleep on it. */
enum { LEFT = 1 << 30 };

void elmo_meet(const Run *run) {
    if (run->team == 1) return;
    int32_t *mine = &run->arrivals[16 * run->rank];
    int32_t now = __atomic_add_fetch(mine, 1, __ATOMIC_SEQ_CST) & (LEFT - 1);
    if (__atomic_load_n(mine + 1, __ATOMIC_SEQ_CST)) wake_all(mine);
    for (int64_t other = 0; other < run->team; other++) {
        int32_t *place = &run->arrivals[16 * other], seen;
        for (int64_t waits = 0; (seen = __atomic_load_n(place, __ATOMIC_ACQUIRE)) < now; waits++) {
            if (waits < SPINS) {
                pause_briefly();
                continue;
            }
            __atomic_fetch_add(place + 1, 1, __ATOMIC_SEQ_CST);
            if (__atomic_load_n(place, __ATOMIC_SEQ_CST) == seen) sleep_while(place, seen);
            __atomic_fetch_sub(place + 1, 1, __ATOMIC_SEQ_CST);
        }
    }
}

/* Nobody waits any more for this thread of the team, which was interrupted or never began: the others end with values
 * that mean nothing. */
EXPORTED void elmo_leave(int32_t *arrivals, int64_t rank) {
    __atomic_fetch_or(&arrivals[16 * rank], LEFT, __ATOMIC_SEQ_CST);
    wake_all(&arrivals[16 * rank]);
}
