import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { sql } from 'kysely'
import { base64Key } from '../config/readers.ts'
import { createAudit, createSystemActor } from '../platform/audit/append.ts'
import { createEventBuilder } from '../platform/audit/entity.ts'
import { sealMovedChains } from '../platform/audit/checkpoint.ts'
import type { Database } from '../platform/postgres/database.ts'
import { rotateMasterKey } from '../platform/master-key/rotate.ts'
import { createSigningKey, createEncryptionRing, computeMasterKeyId } from '../platform/secrets/keys.ts'
import { createSecrets } from '../platform/secrets/secrets.ts'
import { loadCommandConfig, loadSealedColumns, withKeyedDatabase } from './context.ts'
import { formatQuantity } from './table.ts'
import type { Terminal } from './terminal.ts'

const event = createEventBuilder<{ id: string; masterKeyId: string }>({
  type: 'installation',
  classes: { id: 'ignored', masterKeyId: 'public' },
  nameOf: () => 'master key',
  projectOf: () => null,
})

const createInstallationRow = (masterKey: Buffer) => ({
  id: 'installation',
  masterKeyId: computeMasterKeyId(masterKey),
})

/** Adds the `manager keys exchange-master` command. */
export function addExchangeMaster(keys: Command, terminal: Terminal): void {
  keys
    .command('exchange-master')
    .description('Replace the master key of the database. Stop every process of the service first.')
    .requiredOption('--new-key-file <file>', 'file with the new key: base64 of 32 bytes')
    .addHelpText(
      'after',
      `
Issued tokens, stored secrets and signed checkpoints stay valid.

  1. $ openssl rand -base64 32 > new-master-key && chmod 600 new-master-key
  2. Stop every process of the service.
  3. $ npm run manager -- keys exchange-master --new-key-file new-master-key
  4. Set SVC_MASTER_KEY to the new key, start the service, and delete the file.`,
    )
    .action(async ({ newKeyFile }: { newKeyFile: string }, command: Command) => {
      const config = loadCommandConfig(terminal, command)
      const createKeyedSecrets = (masterKey: Buffer) => ({
        masterKey,
        secrets: createSecrets(createEncryptionRing(masterKey, config.encryptionKeys)),
      })
      const [from, to] = [createKeyedSecrets(config.masterKey), createKeyedSecrets(readKey(newKeyFile))]
      const { resealed } = await withKeyedDatabase(config, async ({ db, clock }) => {
        await assertStopped(db)
        // The old key signs checkpoints for the audit rows that were written while it was in use.
        await sealMovedChains(db, createSigningKey(from.masterKey, 'audit-checkpoint'), clock)
        return db.transaction(async (tx) => {
          const result = await rotateMasterKey(tx, {
            sealedColumns: await loadSealedColumns(),
            from,
            to,
          })
          const actor = createSystemActor('manager keys exchange-master')
          const change = {
            before: createInstallationRow(from.masterKey),
            after: createInstallationRow(to.masterKey),
          }
          await createAudit(clock).append(tx, actor, event('rotate', change))
          return result
        })
      })
      terminal.say(
        `The master key is now ${computeMasterKeyId(to.masterKey)}. Resealed ${formatQuantity(resealed, 'stored secret')}. ` +
          'Set SVC_MASTER_KEY to the new key before you start the service.',
      )
    })
}

function readKey(file: string): Buffer {
  const result = base64Key(readFileSync(file, 'utf8').trim())
  if ('problem' in result) throw new Error(`the key in ${file} ${result.problem}`)
  return result.value
}

/**
 * Throws if the service is running: a process with the old key would reject every token and every sealed
 * write.
 */
async function assertStopped(db: Database['db']): Promise<void> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and application_name in ('manager', 'manager-readiness')`.execute(
    db.read,
  )
  const count = rows[0]?.count ?? 0
  if (count > 0)
    throw new Error(
      `the service is still running (open database connections: ${count}); stop every process of the service first`,
    )
}
