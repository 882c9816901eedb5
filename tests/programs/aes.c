/* AES-128 (FIPS 197, appendix C.1) by T-tables, encrypting its result again ROUNDS - 1 times. */
#include "start.h"

#ifndef ROUNDS
#define ROUNDS 1
#endif

static u8 sbox[256];
static u32 table[4][256];

static u8 twice(u8 x) { return (u8)(x << 1 ^ (x >> 7) * 0x1b); }

static u32 rotate(u32 x, int n) { return x << n | x >> (32 - n); }

static void make_tables(void) {
    u8 p = 1, q = 1; /* p runs through all powers of 3, q through their inverses */
    do {
        p = (u8)(p ^ twice(p));
        q ^= (u8)(q << 1);
        q ^= (u8)(q << 2);
        q ^= (u8)(q << 4);
        q ^= (u8)((q >> 7) * 9);
        sbox[p] = (u8)(q ^ (q << 1 | q >> 7) ^ (q << 2 | q >> 6) ^ (q << 3 | q >> 5) ^
                       (q << 4 | q >> 4) ^ 0x63);
    } while (p != 1);
    sbox[0] = 0x63;
    for (int i = 0; i < 256; i++) {
        u8 s = sbox[i], d = twice(s);
        u32 t = d | (u32)s << 8 | (u32)s << 16 | (u32)(s ^ d) << 24;
        for (int k = 0; k < 4; k++)
            table[k][i] = k ? rotate(t, 8 * k) : t;
    }
}

static u32 load(const u8 *p) {
    return p[0] | (u32)p[1] << 8 | (u32)p[2] << 16 | (u32)p[3] << 24;
}

static u32 substitute(u32 x) {
    return sbox[x & 255] | (u32)sbox[x >> 8 & 255] << 8 | (u32)sbox[x >> 16 & 255] << 16 |
           (u32)sbox[x >> 24] << 24;
}

static void expand(const u8 key[16], u32 rk[44]) {
    u8 rcon = 1;
    for (int i = 0; i < 4; i++)
        rk[i] = load(key + 4 * i);
    for (int i = 4; i < 44; i++) {
        u32 t = rk[i - 1];
        if (i % 4 == 0) {
            t = substitute(t >> 8 | t << 24) ^ rcon;
            rcon = twice(rcon);
        }
        rk[i] = rk[i - 4] ^ t;
    }
}

__attribute__((noinline)) static void encrypt(const u32 rk[44], u32 block[4]) {
    u32 s[4], t[4];
    for (int i = 0; i < 4; i++)
        s[i] = block[i] ^ rk[i];
    for (int r = 1; r < 10; r++) {
        for (int i = 0; i < 4; i++)
            t[i] = table[0][s[i] & 255] ^ table[1][s[(i + 1) & 3] >> 8 & 255] ^
                   table[2][s[(i + 2) & 3] >> 16 & 255] ^ table[3][s[(i + 3) & 3] >> 24] ^
                   rk[4 * r + i];
        for (int i = 0; i < 4; i++)
            s[i] = t[i];
    }
    for (int i = 0; i < 4; i++)
        block[i] = (sbox[s[i] & 255] | (u32)sbox[s[(i + 1) & 3] >> 8 & 255] << 8 |
                    (u32)sbox[s[(i + 2) & 3] >> 16 & 255] << 16 |
                    (u32)sbox[s[(i + 3) & 3] >> 24] << 24) ^
                   rk[40 + i];
}

int main(void) {
    u8 key[16];
    u32 block[4], rk[44];
    for (int i = 0; i < 16; i++)
        key[i] = (u8)i;
    for (u32 i = 0; i < 4; i++)
        block[i] = 0x33221100 + 0x44444444 * i;
    make_tables();
    expand(key, rk);
    for (int i = 0; i < ROUNDS; i++)
        encrypt(rk, block);
    print_hex((const u8 *)block, 16);
    return 0;
}
