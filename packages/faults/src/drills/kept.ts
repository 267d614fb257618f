// What is left when a database is gone, and what comes of it.
import type { Engines } from '../cluster.ts'
import type { Installation, Keys } from '../installation.ts'
import type { Replica } from '../replicas.ts'
import type { Sink } from '../sink.ts'
import type { World } from '../world.ts'
import type { Backup } from './backup.ts'
import type { Load } from './load.ts'

/** What is left when the database is gone. */
export type Kept = {
  site: Installation
  keys: Keys
  /** What pages trust, exported while the installation worked. */
  piletKeys: Record<string, string>
  load: Load
  backup: Backup
  /** Backends that are called when triggers are due. */
  sink: Sink
  world: World
  /** When there was no database any more. */
  destroyedAt: number
  backupSeconds: number
  /** Calls that failed before that. */
  failed: string[]
  /** Logs of the service: up to the backup, and all of them. */
  logUntilBackup: string
  logOfAll: string
}

/** The installation that came back. */
export type Restored = { engines: Engines; env: Record<string, string>; replica: Replica }
