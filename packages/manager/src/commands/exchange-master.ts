import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { sql } from 'kysely'
import { base64Key } from '../config/readers.ts'
import { createAudit, systemActor } from '../platform/audit/append.ts'
import { auditedEntity } from '../platform/audit/entity.ts'
import { sealMovedChains } from '../platform/audit/checkpoint.ts'
import type { Database } from '../platform/postgres/database.ts'
import { rotateMasterKey } from '../platform/master-key/rotate.ts'
import { createSigningKey, encryptionRing, masterKeyId } from '../platform/secrets/keys.ts'
import { createSecrets } from '../platform/secrets/secrets.ts'
import { commandConfig, sealedColumnsOfFeatures, withKeyedDatabase } from './context.ts'
import { counted } from './table.ts'
import type { Terminal } from './terminal.ts'

const event = auditedEntity<{ id: string; masterKeyId: string }>({
  type: 'installation',
  classes: { id: 'ignored', masterKeyId: 'public' },
  nameOf: () => 'master key',
  projectOf: () => null,
})

const row = (masterKey: Buffer) => ({ id: 'installation', masterKeyId: masterKeyId(masterKey) })

/** manager keys exchange-master */
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
      const config = commandConfig(terminal, command)
      const side = (masterKey: Buffer) => ({
        masterKey,
        secrets: createSecrets(encryptionRing(masterKey, config.encryptionKeys)),
      })
      const [from, to] = [side(config.masterKey), side(readKey(newKeyFile))]
      const { resealed } = await withKeyedDatabase(config, async ({ db, clock }) => {
        await assertStopped(db)
        // The old key signs checkpoints for the audit rows that were written under it.
        await sealMovedChains(db, createSigningKey(from.masterKey, 'audit-checkpoint'), clock)
        return db.transaction(async (tx) => {
          const result = await rotateMasterKey(tx, {
            sealedColumns: await sealedColumnsOfFeatures(),
            from,
            to,
          })
          const actor = systemActor('manager keys exchange-master')
          const change = { before: row(from.masterKey), after: row(to.masterKey) }
          await createAudit(clock).append(tx, actor, event('rotate', change))
          return result
        })
      })
      terminal.say(
        `The master key is now ${masterKeyId(to.masterKey)}. Resealed ${counted(resealed, 'stored secret')}. ` +
          'Set SVC_MASTER_KEY to the new key before you start the service.',
      )
    })
}

function readKey(file: string): Buffer {
  const read = base64Key(readFileSync(file, 'utf8').trim())
  if ('problem' in read) throw new Error(`the key in ${file} ${read.problem}`)
  return read.value
}

/** Throws while the service runs: a process with the old key would reject every token and every sealed write. */
async function assertStopped(db: Database['db']): Promise<void> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and application_name in ('manager', 'manager-readiness')`.execute(
    db.read,
  )
  const count = rows[0]?.count ?? 0
  if (count > 0)
    throw new Error(`stop every process of the service first: ${count} of its connections are still open`)
}
