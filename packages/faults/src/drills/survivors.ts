// Types for the data that survives the loss of a database, and for the restored installation.
import type { Engines } from '../cluster.ts'
import type { Installation, Keys } from '../installation.ts'
import type { Replica } from '../replicas.ts'
import type { Sink } from '../sink.ts'
import type { World } from '../world.ts'
import type { Backup } from './backup.ts'
import type { Load } from './load.ts'

/** Everything that survives the loss of the database. */
export type Survivors = {
  site: Installation
  keys: Keys
  /** Public keys that pages trust, exported before the loss. */
  piletKeys: Record<string, string>
  load: Load
  backup: Backup
  /** Backends that receive the trigger runs. */
  sink: Sink
  world: World
  /** The time when the database was lost. */
  destroyedAt: number
  backupSeconds: number
  /** Calls that failed before the loss. */
  failed: string[]
  /** The service log up to the backup, and the complete log. */
  logUntilBackup: string
  logOfAll: string
}

/** The restored installation. */
export type Restored = { engines: Engines; env: Record<string, string>; replica: Replica }
