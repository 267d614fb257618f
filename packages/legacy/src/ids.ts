// Creates the ids of imported rows. They depend only on the old ids, so a repeated import creates the same
// ids.
import { createHash } from 'node:crypto'
import { parseUuid } from '@manager/manager/rules'

/** Returns a version 8 UUID that is derived from these names. */
export function deriveId(...names: readonly string[]): string {
  const bytes = createHash('sha256').update(JSON.stringify(names)).digest().subarray(0, 16)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

/** Returns the old id if it is a UUID, otherwise a UUID that is derived from it. */
export const toNewId = (view: string, oldId: string): string => parseUuid(oldId) ?? deriveId(view, oldId)
