/* `product` and `peak` on AMX's tiles, which hold up to 16 rows of 16 words. Included by kernel.h for kinds that define
 *
 *     DOT_TILES(sums, factors, weights)   three tiles: the products of rows of words, added to the sums
 *     LOAD_SUMS(at)                       a vector of sums that were stored
 *
 * 16 groups of 16 of a panel's columns are a tile of weights as they lie in memory, and 16 groups of 16 rows one of
 * factors. Each row's sum runs over its factors in the same order, whatever the number of rows.
 *
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, chapter 18.
 */

#ifndef ELMO_TILES_ONCE
#define ELMO_TILES_ONCE
enum { TILE_SIZE = 16 };

/* What the instruction LDTILECFG reads. */
typedef struct {
    uint8_t palette, start_row, reserved[14];
    uint16_t bytes[16]; /* of each tile's rows */
    uint8_t rows[16];
} TileShapes;

/* GCC doesn't know that instructions on tiles read memory: what they read must be there before them. */
#define WRITTEN_AT(place) __asm__ volatile("" : : "r"(place) : "memory")

/* For what this thread's tiles are shaped; 0: for nothing. */
static __thread int64_t tiles_shape;

/* Sums of 32 columns: of up to 16 rows in the tiles 0 and 1, of up to 16 others in 2 and 3. Factors of the former in 4,
 * of the others in 5, weights in 6. With a rest of groups, which doesn't fill a tile, there are no others: its factors
 * are in 5, its weights in 7. */
static void shape_tiles(int64_t rows, int64_t rest) {
    int64_t shape = rows + 64 * rest;
    if (shape == tiles_shape) return;
    TileShapes shapes = {.palette = 1};
    int64_t first = rows < TILE_SIZE ? rows : TILE_SIZE, others = rows > TILE_SIZE ? rows - TILE_SIZE : rows;
    const int64_t of_tiles[] = {first, first, others, others, first, others, TILE_SIZE, rest ? rest : TILE_SIZE};
    for (int tile = 0; tile < 8; tile++)
        shapes.rows[tile] = (uint8_t)of_tiles[tile], shapes.bytes[tile] = 4 * TILE_SIZE;
    if (rest) shapes.bytes[5] = (uint16_t)(4 * rest);
    WRITTEN_AT(&shapes);
    _tile_loadconfig(&shapes);
    tiles_shape = shape;
}

/* What else this thread runs may shape the tiles, too; and the system keeps what they hold until they are left. */
static void leave_tiles(void) {
    if (tiles_shape) _tile_release();
    tiles_shape = 0;
}
#endif
#define LEAVE_TILES leave_tiles()

/* made (rows, 32) = the product of up to 32 rows, or 16 if there is a rest of groups, and half a panel. */
static void KIND(multiply_tiles)(int64_t rows, int64_t groups, const uint32_t *weights, const uint32_t *at,
                                 int64_t bytes, uint32_t *made) {
    const uint32_t *others = rows > TILE_SIZE ? at + TILE_SIZE * (bytes / 4) : NULL;
    int64_t group = 0;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (; group + TILE_SIZE <= groups; group += TILE_SIZE, weights += TILE_SIZE * PANEL) {
        _tile_loadd(4, at + group, bytes);
        _tile_loadd(6, weights, 4 * PANEL);
        DOT_TILES(0, 4, 6);
        if (others) {
            _tile_loadd(5, others + group, bytes);
            DOT_TILES(2, 5, 6);
        }
        _tile_loadd(6, weights + TILE_SIZE, 4 * PANEL);
        DOT_TILES(1, 4, 6);
        if (others) DOT_TILES(3, 5, 6);
    }
    if (group < groups) {
        _tile_loadd(5, at + group, bytes);
        _tile_loadd(7, weights, 4 * PANEL);
        DOT_TILES(0, 5, 7);
        _tile_loadd(7, weights + TILE_SIZE, 4 * PANEL);
        DOT_TILES(1, 5, 7);
    }
    _tile_stored(0, made, 8 * TILE_SIZE);
    _tile_stored(1, made + TILE_SIZE, 8 * TILE_SIZE);
    if (!others) return;
    _tile_stored(2, made + 2 * TILE_SIZE * TILE_SIZE, 8 * TILE_SIZE);
    _tile_stored(3, made + 2 * TILE_SIZE * TILE_SIZE + TILE_SIZE, 8 * TILE_SIZE);
}

/* Sums (rows, 32) of the columns from `column` on, onto `bias` (NULL: onto what `out` holds). */
static void KIND(finish)(const Packed *matrix, int64_t chunk, int64_t column, int64_t rows, const uint32_t *sums,
                         const float *scales, const float *bias, float *out, int64_t stride) {
    (void)matrix;
    for (int k = 0; k < 2 * TILE_SIZE; k += LANES) {
        Columns columns = COLUMNS(matrix, chunk, column + k);
        for (int64_t row = 0; row < rows; row++) {
            float *place = out + row * stride + k;
            Floats before = load(bias ? bias + k : place);
            store(place, ADD_SUMS(before, LOAD_SUMS(sums + 2 * TILE_SIZE * row + k), columns, scales[row]));
        }
    }
}

/* `product` of kernel.h. Nothing is fetched ahead: it gains nothing here. */
static void KIND(product)(const Packed *matrix, int64_t panel, int64_t count, Rows factors, Start start,
                          const uint32_t *next, float *out, int64_t stride) {
    int64_t groups = matrix->groups, size = CHUNK(matrix) < groups ? CHUNK(matrix) : groups;
    int64_t most = groups % TILE_SIZE || size % TILE_SIZE ? TILE_SIZE : 2 * TILE_SIZE;
    /* All parts of the rows have one size, so that the tiles keep their shape: the last part has some rows again. */
    int64_t parts = (count + most - 1) / most, rows = parts ? (count + parts - 1) / parts : 0;
    uint32_t made[4 * TILE_SIZE * TILE_SIZE] __attribute__((aligned(64)));
    (void)next;
    if (!start.bias) start.bias = no_bias;
    for (int64_t chunk = 0; rows && chunk * size < groups; chunk++, start.adds = 1) {
        int64_t group = chunk * size, now = groups - group < size ? groups - group : size;
        const uint32_t *weights = matrix->weights + (panel * groups + group) * PANEL;
        shape_tiles(rows, now % TILE_SIZE);
        for (int64_t column = 0; column < PANEL; column += 2 * TILE_SIZE)
            for (int64_t row = 0; row < count; row += rows) {
                int64_t again = row + rows > count ? row + rows - count : 0;
                const uint32_t *at = factors.first + (row - again) * factors.stride + group * ROW_WORDS;
                WRITTEN_AT(at);
                KIND(multiply_tiles)(rows, now, weights + column, at, 4 * factors.stride, made);
                KIND(finish)(matrix, chunk, PANEL * panel + column, rows - again, made + 2 * TILE_SIZE * again,
                             factors.scales + row, start.adds ? NULL : start.bias + column, out + row * stride + column,
                             stride);
            }
    }
}

#define PEAK_WORDS (4 * TILE_SIZE * TILE_SIZE * TILE_SIZE)
static void KIND(peak)(int64_t rounds) {
    shape_tiles(2 * TILE_SIZE, 0);
    for (int64_t round = 0; round < rounds; round++) {
        DOT_TILES(0, 4, 6);
        DOT_TILES(1, 4, 7);
        DOT_TILES(2, 5, 6);
        DOT_TILES(3, 5, 7);
    }
    leave_tiles();
}
