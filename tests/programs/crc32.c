/* CRC-32 (ISO-HDLC) of "123456789", whose check value is cbf43926; bit by bit, ROUNDS times. */
#include "start.h"

#ifndef ROUNDS
#define ROUNDS 1
#endif

static u32 crc32(const char *text, u32 size) {
    u32 crc = ~0u;
    for (u32 i = 0; i < size; i++) {
        crc ^= (u8)text[i];
        for (int k = 0; k < 8; k++)
            crc = crc >> 1 ^ (0xedb88320u & -(crc & 1));
    }
    return ~crc;
}

int main(void) {
    volatile u32 size = 9;
    u32 crc = 0;
    for (int i = 0; i < ROUNDS; i++)
        crc = crc32("123456789", size);
    u8 bytes[4] = {(u8)(crc >> 24), (u8)(crc >> 16), (u8)(crc >> 8), (u8)crc};
    print_hex(bytes, 4);
    return crc != 0xcbf43926;
}
