/* Made by gen_tables.py. */
/* by tile: its lower half */
static const uint32_t LOW[32] = {
    1, 2, 3, 4, 5, 6, 0, 5, 4, 3, 2, 1, 0, 4, 3, 2, 1, 0, 3, 2, 1, 0, 2, 1, 0, 1, 0, 0, 0, 0,
    0, 0};

/* by tile: the sum of its halves */
static const uint32_t PIPS[32] = {
    2, 4, 6, 8, 10, 12, 0, 11, 10, 9, 8, 7, 6, 9, 8, 7, 6, 5, 7, 6, 5, 4, 5, 4, 3, 3, 2, 1, 0,
    0, 0, 0};

/* by value: its tiles; by 7, the empty table's end: all tiles */
static const uint32_t HAS[8] = {
    220336192, 177276929, 105415682, 29639172, 3940616, 254096, 8096, 268435455};

/* by bit of the pips: the tiles that have it */
static const uint32_t PIP_BITS[4] = {
    190229120, 118331797, 16750630, 26552};

#define BLANK (1u << 6) /* 0-0 */
#define DOUBLES 0x7Fu
#define ALL 0x0FFFFFFFu
