// Runs in a separate pool of worker threads: crypto.pbkdf2 would share its threads with DNS lookups and file access.
import { pbkdf2Sync } from 'node:crypto'

/** Input of one derivation. */
export type KdfTask = { secret: string; salt: Uint8Array; iterations: number }

export const derivedBytes = 32

/** Derives 32 bytes with PBKDF2-SHA256, which blocks the thread. */
export const derive = ({ secret, salt, iterations }: KdfTask): Uint8Array =>
  pbkdf2Sync(secret, salt, iterations, derivedBytes, 'sha256')
