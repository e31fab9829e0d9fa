/* What the kernels read and write. structures.py builds these with the same fields in the same order. */
#ifndef ELMO_LAYER_H
#define ELMO_LAYER_H

#include <stdint.h>

typedef struct { /* a weight laid out in panels of 64 output columns, see kernel.h */
    const uint32_t *weights;
    const float *scales; /* int8: of each column */
    const int32_t *sums; /* int8: 128 * the sum of each column's weights, for each chunk */
    int64_t panels, groups;
    int64_t chunk; /* groups added up before they join the sum */
} Packed;

typedef struct {
    Packed input, recurrent, projection; /* projection.weights may be NULL */
    const float *bias;                   /* in the order of the gate panels, forget bias included */
    int64_t dim, size, cell_size;        /* of the inputs, the outputs and the cell */
    float cell_clip, projection_clip;    /* INFINITY: none */
} Layer;

/* A row of the batch may read several sentences, one after the other: at the tokens where one begins or ends its state
 * is fetched or handed back. */
typedef struct {
    const int32_t *begins, *ends; /* parallel to places: the sentence that begins or ends with this token, or -1 */
    float *hidden, *cell;         /* (count, size), (count, cell_size): their states, brought up to date */
    int64_t count;
} Sentences;

typedef struct {
    const int64_t *alive; /* (steps) rows that still have a token: never more than at the step before */
    const int64_t
        *places;          /* (sum of alive): where the inputs and outputs lie, all rows of step 0, then of step 1 ... */
    const float *inputs;  /* a row of `dim` every input_stride numbers */
    float *outputs;       /* a row of `size` every output_stride numbers */
    float *hidden, *cell; /* (rows, size), (rows, cell_size): the state, brought up to date; with `sentences` only room
                             for `hidden` is needed */
    float *made;          /* (rows, cell_size): room, shared by the team */
    char *work;           /* elmo_fused_lstm_work_bytes of room, of this thread alone */
    int32_t *arrivals;    /* (team, 16) zeros: where the threads wait for each other */
    int64_t steps, input_stride, output_stride;
    int64_t skips; /* 1: the inputs are added to the outputs, but not to the state (dim == size) */
    int64_t rank, team;
    const Sentences *sentences; /* NULL: each row reads one sentence */
    int64_t rows, tokens, positions; /* what there is of hidden, cell and made; of places; of inputs and outputs */
} Run;

/* The token encoder: characters -> convolutions -> maximum over positions -> highway layers -> projection. Biases of
 * products are padded to whole panels. */
typedef struct {
    const float *embedding;           /* (alphabet, dim) */
    const int64_t *widths, *numbers;  /* (num_widths): of the filters */
    const Packed *filters;            /* (num_widths): one character's vector after the other */
    const float *filter_bias;         /* (features) */
    const Packed *transforms, *gates; /* (num_highways) */
    const float *const *transform_biases, *const *gate_biases;
    Packed projection; /* weights may be NULL */
    const float *projection_bias;
    int64_t characters, dim; /* of a token; of a character's vector: even, or the kind is float32 */
    int64_t num_widths, features, num_highways, size;
    int64_t squashes; /* 1: the activation is tanh, 0: relu */
    int64_t alphabet;
} Encoder;

enum { KIND_FLOAT32 = 1, KIND_BFLOAT16 = 2, KIND_INT8 = 4 };

/* Rows of a plain product that are multiplied with a panel while it is in the cache. */
enum { ROWS_AT_ONCE = 60 };

/* 32-bit words of room for one group of one row's factors, in every kind. */
#if defined(__wasm__)
enum { MOST_ROW_WORDS = 4 };
#else
enum { MOST_ROW_WORDS = 2 };
#endif

/* What one instruction set brings for one kind. */
typedef struct {
    void (*multiply)(const Packed *matrix, const float *bias, const float *rows, int64_t count, int64_t inner,
                     int64_t first, int64_t last, char *work, float *out);
    void (*run_layer)(const Layer *layer, const Run *run);
    void (*encode)(const Encoder *encoder, const int32_t *ids, int64_t count, char *work, float *out);
    void (*peak)(int64_t rounds);
    void (*read)(int64_t size, const char *from);
    int64_t peak_words; /* 32-bit words of weights that a round of `peak` multiplies */
} Kernels;

#endif
