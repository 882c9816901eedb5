/* Quicksort through a comparison function, of 1,000 numbers from a linear congruence. */
#include "start.h"

typedef int (*compare)(const void *, const void *);

static void swap(u8 *a, u8 *b, u32 size) {
    for (u32 i = 0; i < size; i++) {
        u8 t = a[i];
        a[i] = b[i];
        b[i] = t;
    }
}

__attribute__((noinline)) static void sort(u8 *first, u32 count, u32 size, compare less) {
    while (count > 1) {
        u8 *store = first, *last = first + (count - 1) * size;
        swap(first + count / 2 * size, last, size);
        for (u8 *p = first; p < last; p += size)
            if (less(p, last)) {
                swap(p, store, size);
                store += size;
            }
        swap(store, last, size);
        u32 left = (u32)(store - first) / size;
        sort(first, left, size, less);
        first = store + size;
        count -= left + 1;
    }
}

static int ascending(const void *a, const void *b) { return *(const u32 *)a < *(const u32 *)b; }
static int descending(const void *a, const void *b) { return *(const u32 *)a > *(const u32 *)b; }
static volatile compare orders[2] = {ascending, descending};

static u32 numbers[1000];

int main(void) {
    u32 x = 1;
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 1000; i++) {
            x = x * 1664525 + 1013904223;
            numbers[i] = x >> 8;
        }
        sort((u8 *)numbers, 1000, sizeof(u32), orders[k]);
        for (int i = 1; i < 1000; i++)
            if (orders[k](&numbers[i], &numbers[i - 1]))
                return 1;
    }
    print("sorted\n");
    return 0;
}
