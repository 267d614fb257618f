// Runs in a worker thread of its own pool. Not crypto.pbkdf2: that shares its threads with name lookups and files.
import { pbkdf2Sync } from 'node:crypto'

export type KdfTask = { secret: string; salt: Uint8Array; iterations: number }

export const derivedBytes = 32

/** PBKDF2-SHA256. */
export const derive = ({ secret, salt, iterations }: KdfTask): Uint8Array =>
  pbkdf2Sync(secret, salt, iterations, derivedBytes, 'sha256')
