/* Entry and host calls of a freestanding program: write = 64, exit = 93, as Linux numbers them.
   With SPIKE, the exit call is Spike's and nothing is written. */
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long word; /* as wide as a register */

#ifdef SPIKE
volatile unsigned long long tohost __attribute__((aligned(64))), fromhost;
u8 stack[16384] __attribute__((aligned(16)));
#define SET_STACK "    la sp, stack + 16384\n"
#else
#define SET_STACK ""
#endif

static inline word call(word number, word a, word b, word c) {
#ifdef SPIKE
    if (number == 93)
        tohost = (unsigned long long)a << 1 | 1;
    return number == 93 ? 0 : b + c;
#endif
    register word a0 __asm__("a0") = a;
    register word a1 __asm__("a1") = b;
    register word a2 __asm__("a2") = c;
    register word a7 __asm__("a7") = number;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
    return a0;
}

static void print(const char *text) {
    word length = 0;
    while (text[length])
        length++;
    call(64, 1, (word)text, length);
}

static void print_hex(const u8 *bytes, u32 size) {
    char text[3] = {0};
    for (u32 i = 0; i < size; i++) {
        text[0] = "0123456789abcdef"[bytes[i] >> 4];
        text[1] = "0123456789abcdef"[bytes[i] & 15];
        print(text);
    }
    print("\n");
}

/* What compilers call for array initialisers and copies. */
void *memcpy(void *to, const void *from, __SIZE_TYPE__ size) {
    for (__SIZE_TYPE__ i = 0; i < size; i++)
        ((volatile u8 *)to)[i] = ((const u8 *)from)[i];
    return to;
}

void *memset(void *to, int value, __SIZE_TYPE__ size) {
    for (__SIZE_TYPE__ i = 0; i < size; i++)
        ((volatile u8 *)to)[i] = (u8)value;
    return to;
}

int main(void);

__attribute__((noreturn)) void begin(void) {
    call(93, (word)main(), 0, 0);
    for (;;)
        ;
}

__asm__(".globl _start\n_start:\n"
        "    .option push\n    .option norelax\n"
        "    la gp, __global_pointer$\n    .option pop\n" SET_STACK
        "    j begin\n");
