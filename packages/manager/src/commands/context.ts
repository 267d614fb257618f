// What commands share: the configuration, and a database for as long as one command runs.
import type { Command } from 'commander'
import { settings } from '../settings.ts'
import { type Config, loadConfig, sourceOf } from '../config/config.ts'
import { type Database, createDatabase } from '../platform/postgres/database.ts'
import { explainingFailures } from '../platform/postgres/operator-errors.ts'
import { createLog } from '../platform/log/log.ts'
import { assertMasterKey } from '../platform/secrets/master-key.ts'
import type { Terminal } from './terminal.ts'

/** The configuration named by --config and the environment. */
export function commandConfig(terminal: Terminal, command: Command): Config {
  const { config } = command.optsWithGlobals<{ config?: string }>()
  return loadConfig(sourceOf(terminal.env, config), settings)
}

/** The same with a database that belongs to the configured master key; another key is refused with one sentence. */
export const withKeyedDatabase = <T>(config: Config, work: (database: Database) => Promise<T>): Promise<T> =>
  withDatabase(config, async (database) => {
    await assertMasterKey(database.db, config.masterKey)
    return work(database)
  })

/** What commands have to say goes to the terminal, not to a log. */
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
    return await explainingFailures(config.databaseUrl, async () => {
      await database.clock.sync()
      return work(database)
    })
  } finally {
    await database.close()
  }
}

/** Every column with sealed secrets; only whoever needs them loads every feature. */
export const sealedColumnsOfFeatures = async () => (await import('../app.ts')).sealedColumns
