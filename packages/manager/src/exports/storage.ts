// Exports for programs that read and write rows without the service, including audit rows and blobs.
export { type UserAccess, userStatements, readAccess } from '../features/proxy-auth/proxy-auth.store.ts'
export { readLayers, completeLayers } from '../features/settings/layers.store.ts'
export { abbreviate } from '../platform/audit/abbreviate.ts'
export { type AppendMany, createAppendMany } from '../platform/audit/append-many.ts'
export {
  type AuditAction,
  type AuditActor,
  type AuditEvent,
  createSystemActor,
} from '../platform/audit/append.ts'
export type { BlobStores } from '../platform/blobs/blob-store.ts'
export { type Blobs, type StoredBlob, createBlobs } from '../platform/blobs/blobs.ts'
export type { Database } from '../platform/postgres/database.ts'
export type { Db, Queries, Reads, Tx } from '../platform/postgres/handles.ts'
export { assertSchemaFits, withClient } from '../platform/postgres/migrate.ts'
export { createConfiguredBlobStores } from '../world.ts'
