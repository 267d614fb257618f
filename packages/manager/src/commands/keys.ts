import type { Command } from 'commander'
import { createEncryptionRing } from '../platform/secrets/keys.ts'
import { createSecrets } from '../platform/secrets/secrets.ts'
import { countByKey, rewrapAll } from '../platform/secrets/sealed-columns.ts'
import { loadCommandConfig, loadSealedColumns, withKeyedDatabase } from './context.ts'
import { addExchangeMaster } from './exchange-master.ts'
import { formatQuantity } from './table.ts'
import type { Terminal } from './terminal.ts'

/** Adds the `manager keys` commands. */
export function addKeysCommands(program: Command, terminal: Terminal): void {
  const keys = program
    .command('keys')
    .description('Rotate the keys of stored secrets (SVC_ENCRYPTION_KEYS) or the master key.')
    .addHelpText(
      'after',
      `
To rotate the key of stored secrets while the service runs:
  1. Append the new key: SVC_ENCRYPTION_KEYS=2026:<old>,2027:<new>, and restart every process.
  2. Move the new key to the front: SVC_ENCRYPTION_KEYS=2027:<new>,2026:<old>, and restart every process.
  3. $ npm run manager -- keys rotate
  4. $ npm run manager -- keys status   (all secrets are on 2027)
  5. Remove the old key, and restart every process.

To replace the master key, see keys exchange-master --help.`,
    )

  keys
    .command('status')
    .description('Show the number of secrets sealed by each key. Exits 1 if a key is missing.')
    .action(async (_options, command: Command) => {
      const config = loadCommandConfig(terminal, command)
      const ring = createEncryptionRing(config.masterKey, config.encryptionKeys)
      const counts = await withKeyedDatabase(config, async ({ db }) =>
        countByKey(db, await loadSealedColumns()),
      )
      const { activeKeyId } = createSecrets(ring)
      for (const keyId of new Set([...ring.keys(), ...counts.keys()])) {
        const state = keyId === activeKeyId ? 'active' : ring.has(keyId) ? 'decrypts' : 'MISSING'
        terminal.say(`${keyId} ${state} ${formatQuantity(counts.get(keyId) ?? 0, 'secret')}`)
        if (!ring.has(keyId)) terminal.exitCode = 1
      }
    })

  keys
    .command('rotate')
    .description('Rewrap every stored secret with the active key. Safe to repeat at any time.')
    .action(async (_options, command: Command) => {
      const config = loadCommandConfig(terminal, command)
      const secrets = createSecrets(createEncryptionRing(config.masterKey, config.encryptionKeys))
      const { seen, rewrapped } = await withKeyedDatabase(config, async ({ db }) =>
        rewrapAll(db, await loadSealedColumns(), secrets, (done) => terminal.progress(`\rsecrets ${done}`)),
      )
      terminal.progress('\n')
      terminal.say(
        `Rewrapped ${rewrapped} of ${seen} secrets with key ${secrets.activeKeyId}; all other secrets already used this key.`,
      )
    })

  addExchangeMaster(keys, terminal)
}
