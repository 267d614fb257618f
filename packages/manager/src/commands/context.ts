// Helpers that commands share: the configuration, and a database that is open while one command runs.
import type { Command } from 'commander'
import { settings } from '../settings.ts'
import { type Config, loadConfig, createConfigSource } from '../config/config.ts'
import { type Database, createDatabase } from '../platform/postgres/database.ts'
import { withOperatorErrors } from '../platform/postgres/operator-errors.ts'
import { createLog } from '../platform/log/log.ts'
import { assertMasterKey } from '../platform/secrets/master-key.ts'
import type { Terminal } from './terminal.ts'

/** Loads the configuration from the file in --config and from the environment. */
export function loadCommandConfig(terminal: Terminal, command: Command): Config {
  const { config } = command.optsWithGlobals<{ config?: string }>()
  return loadConfig(createConfigSource(terminal.env, config), settings)
}

/** Like `withDatabase`, but throws if the database belongs to a different master key. */
export const withKeyedDatabase = <T>(config: Config, work: (database: Database) => Promise<T>): Promise<T> =>
  withDatabase(config, async (database) => {
    await assertMasterKey(database.db, config.masterKey)
    return work(database)
  })

/** Discards all log lines: commands write to the terminal instead. */
export const silentLog = createLog('silent', { write: () => undefined })

/** Runs the work with a database connection and closes it afterwards. */
export async function withDatabase<T>(config: Config, work: (database: Database) => Promise<T>): Promise<T> {
  const database = createDatabase({
    url: config.databaseUrl,
    poolSize: 2,
    statementTimeoutMs: 600_000,
    acquireTimeoutMs: 5_000,
    idleInTransactionTimeoutMs: 0,
    applicationName: 'manager-command',
    log: silentLog,
  })
  try {
    return await withOperatorErrors(config.databaseUrl, async () => {
      await database.clock.sync()
      return work(database)
    })
  } finally {
    await database.close()
  }
}

/** Returns every column with sealed secrets. The import is dynamic, because it loads every feature. */
export const loadSealedColumns = async () => (await import('../app.ts')).sealedColumns
