// The slots of a cluster: every key is in one of them, and every slot has a master.
import type { Place } from './redis-client.ts'

const slots = 16_384

export type SlotRange = { first: number; last: number; master: Place }

/** The slot of a key: the CRC16 of what its first braces hold, or of all of it. */
export function slotOf(key: string): number {
  const open = key.indexOf('{')
  const close = open === -1 ? -1 : key.indexOf('}', open + 1)
  return crc16(Buffer.from(close > open + 1 ? key.slice(open + 1, close) : key)) % slots
}

/** CRC-16/XMODEM. */
function crc16(bytes: Buffer): number {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021
    crc &= 0xffff
  }
  return crc
}

/** Who has which key. */
export function slotTable(ranges: readonly SlotRange[]) {
  const masters = [...new Set(ranges.map(({ master }) => master))]
  const table = new Int16Array(slots).fill(-1)
  for (const { first, last, master } of ranges) table.fill(masters.indexOf(master), first, last + 1)
  return {
    of: (key: string): Place | null => masters[table[slotOf(key)] as number] ?? null,
    all: (): readonly Place[] => masters,
  }
}
