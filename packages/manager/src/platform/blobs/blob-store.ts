// A store keeps bytes under their SHA-256, independent of their purpose.
import { type AppError, unavailable } from '../errors.ts'

export const storeNames = ['postgres', 's3'] as const
/** Name of a store; the row of a blob records it. */
export type StoreName = (typeof storeNames)[number]

/** A blob and the store that contains it. */
export type BlobRef = { sha256: string; size: number; store: StoreName }

/** Stores bytes under their hash. */
export type BlobStore = {
  /** Stores the bytes under their hash. A repeated put changes nothing, except that it repairs damaged bytes. */
  put(sha256: string, bytes: Buffer): Promise<void>
  /**
   * Yields the stored bytes in pieces, unverified: the caller compares the hash. Yields nothing if the blob does not
   * exist.
   */
  read(sha256: string): AsyncIterable<Buffer>
  /**
   * Removes the bytes, before the row of the blob is deleted; missing bytes are not an error. Settles before the
   * transaction that waits for it reaches its idle timeout.
   */
  remove(sha256: string): Promise<void>
  close(): Promise<void>
}

/** The stores of an installation. */
export type BlobStores = {
  /** Store for new blobs. */
  primary: StoreName
  /** Names of the configured stores. */
  names: readonly StoreName[]
  /** Returns a store by its name; throws if it is not configured. */
  getStore(name: StoreName): BlobStore
  /** Maximum number of connections that the stores open besides the database pool. */
  connections: number
  close(): Promise<void>
}

/** Returns a 503 error: unreferenced bytes may be removed at any time, and a retry stores them again. */
export const createBlobRemovedError = (cause?: unknown): AppError =>
  unavailable('the stored bytes were removed concurrently; try again', cause)
