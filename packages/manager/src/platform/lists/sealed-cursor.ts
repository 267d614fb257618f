// Sealed cursors: positions that contain ids which the reader may not see. Only this installation can read or create
// them, and each belongs to one list and one reader.
import type { KeyObject } from 'node:crypto'
import { decrypt, encrypt } from '../secrets/encryption.ts'
import { createInvalidCursorError } from './cursor.ts'

/** The list and the reader that a cursor belongs to. */
type CursorOwner = { list: string; readerId: string }
export type SealedCursors = ReturnType<typeof createSealedCursors>

const maxCursorLength = 1_000

const createContext = ({ list, readerId }: CursorOwner): Buffer => Buffer.from(`${readerId} ${list}`)

export function createSealedCursors(key: KeyObject) {
  return {
    seal: (position: readonly string[], owner: CursorOwner): string =>
      encrypt(key, Buffer.from(JSON.stringify(position)), createContext(owner)).toString('base64url'),

    /** Returns the position in a cursor; throws 400 if the cursor was not sealed for this list and reader. */
    open: (cursor: string, owner: CursorOwner): string[] => {
      try {
        const sealed = Buffer.from(cursor.slice(0, maxCursorLength), 'base64url')
        return JSON.parse(decrypt(key, sealed, createContext(owner)).toString('utf8')) as string[]
      } catch {
        throw createInvalidCursorError()
      }
    },
  }
}
