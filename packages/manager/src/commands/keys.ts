import type { Command } from 'commander'
import { encryptionRing } from '../platform/secrets/keys.ts'
import { createSecrets } from '../platform/secrets/secrets.ts'
import { countByKey, rewrapAll } from '../platform/secrets/sealed-columns.ts'
import { commandConfig, sealedColumnsOfFeatures, withKeyedDatabase } from './context.ts'
import { addExchangeMaster } from './exchange-master.ts'
import type { Terminal } from './terminal.ts'

/** manager keys … */
export function addKeysCommands(program: Command, terminal: Terminal): void {
  const keys = program
    .command('keys')
    .description('Change the keys of stored secrets (SVC_ENCRYPTION_KEYS), or the master key.')
    .addHelpText(
      'after',
      `
To change the key of stored secrets while the service runs:
  1. Put the new key behind: SVC_ENCRYPTION_KEYS=2026:<old>,2027:<new>, and restart every process.
  2. Put it in front: SVC_ENCRYPTION_KEYS=2027:<new>,2026:<old>, and restart every process.
  3. $ npm run manager -- keys rotate
  4. $ npm run manager -- keys status   (all secrets are on 2027)
  5. Remove the old key, and restart every process.

To change the master key, see keys exchange-master --help.`,
    )

  keys
    .command('status')
    .description('Show how many secrets each key has sealed; exits 1 when a key is missing.')
    .action(async (_options, command: Command) => {
      const config = commandConfig(terminal, command)
      const ring = encryptionRing(config.masterKey, config.encryptionKeys)
      const counts = await withKeyedDatabase(config, async ({ db }) =>
        countByKey(db, await sealedColumnsOfFeatures()),
      )
      const { activeKeyId } = createSecrets(ring)
      for (const keyId of new Set([...ring.keys(), ...counts.keys()])) {
        const state = keyId === activeKeyId ? 'active' : ring.has(keyId) ? 'opens' : 'MISSING'
        terminal.say(`${keyId} ${state} ${counts.get(keyId) ?? 0} secrets`)
        if (!ring.has(keyId)) terminal.exitCode = 1
      }
    })

  keys
    .command('rotate')
    .description('Wrap every stored secret with the active key; may be run again at any time.')
    .action(async (_options, command: Command) => {
      const config = commandConfig(terminal, command)
      const secrets = createSecrets(encryptionRing(config.masterKey, config.encryptionKeys))
      const { seen, rewrapped } = await withKeyedDatabase(config, async ({ db }) =>
        rewrapAll(db, await sealedColumnsOfFeatures(), secrets, (done) =>
          terminal.progress(`\rsecrets ${done}`),
        ),
      )
      terminal.progress('\n')
      terminal.say(
        `${rewrapped} of ${seen} secrets are now sealed with ${secrets.activeKeyId}; the others were before`,
      )
    })

  addExchangeMaster(keys, terminal)
}
