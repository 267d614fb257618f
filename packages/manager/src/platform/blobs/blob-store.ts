// Where bytes are kept under their SHA-256. A store keeps and returns bytes, and knows nothing of what they are for.
import { type AppError, unavailable } from '../errors.ts'

export const storeNames = ['postgres', 's3'] as const
export type StoreName = (typeof storeNames)[number]

/** A blob and where it is. */
export type BlobRef = { sha256: string; size: number; store: StoreName }

export type BlobStore = {
  /** Keeps the bytes under their hash; the same again changes nothing, and mends bytes that were damaged. */
  put(sha256: string, bytes: Buffer): Promise<void>
  /** The bytes in pieces, as they are stored: whoever reads compares them with the hash. None when there is no blob. */
  read(sha256: string): AsyncIterable<Buffer>
  /**
   * Removes the bytes, before the row of the blob goes; that they are gone already is no failure. Ends, with or without
   * success, before a transaction that waits for it is ended for being idle.
   */
  remove(sha256: string): Promise<void>
  close(): Promise<void>
}

export type BlobStores = {
  /** The store of new blobs. */
  primary: StoreName
  /** Stores that are configured. */
  names: readonly StoreName[]
  /** The store a blob is in; throws when it is not configured. */
  of(name: StoreName): BlobStore
  /** Connections of their own, at most. */
  connections: number
  close(): Promise<void>
}

/** Bytes that nothing refers to may be removed at any time; whoever stores them again succeeds. */
export const removedMeanwhile = (cause?: unknown): AppError =>
  unavailable('the stored bytes were removed meanwhile; try again', cause)
