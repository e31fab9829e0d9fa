/* A thread's part of a run, and the room it works in. */
#ifndef ELMO_WORK_H
#define ELMO_WORK_H

#include "layer.h"

typedef struct {
    int64_t first, last, first_out, last_out; /* this thread's panels of the gates and of the projection */
    int64_t piece;                            /* rows whose inputs go through their product together, at most */
    int64_t next;                             /* the step at which the next piece begins */
    int64_t ahead;                            /* 1: this piece's inputs were multiplied before its first step */
    int64_t rows;                             /* at the first step, the most there are */
    uint32_t *inputs, *hidden, *made;
    float *input_scales, *hidden_scales, *made_scales, *gates, *projected, *cell;
} Work;

/* The room of the token encoder, for ROWS_AT_ONCE tokens. */
typedef struct {
    float *vectors, *ones, *room, *features, *transformed, *gates;
    uint32_t *factors;
    char *product;
} EncoderWork;

EncoderWork elmo_encoder_divided(const Encoder *encoder, char *room);

Work elmo_divided(const Layer *layer, const Run *run);

/* Rows from which on each step multiplies its own inputs. */
int64_t elmo_enough_rows(const Layer *layer);

/* Waits until the whole team is here. */
void elmo_meet(const Run *run);

#endif
