import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Command } from 'commander'
import { chainObject } from '../platform/audit/chain-object.ts'
import type { Checkpoint } from '../platform/audit/checkpoint.ts'
import { verifyAudit } from '../platform/audit/verify.ts'
import { createSigningKey, encryptionRing } from '../platform/secrets/keys.ts'
import { loadRetiredKeys } from '../platform/secrets/master-key.ts'
import { createSecrets } from '../platform/secrets/secrets.ts'
import { commandConfig, say, withKeyedDatabase } from './context.ts'

/** manager audit … */
export function addAuditCommands(program: Command): void {
  const audit = program
    .command('audit')
    .description('Verify the audit trail.')
    .addHelpText('after', '\nExample:\n  $ npm run manager -- audit verify --checkpoints manager.log')

  audit
    .command('verify')
    .description(
      'Check every row, link and checkpoint of every chain; exits 1 and names the first broken row.',
    )
    .option('--checkpoints <file>', 'log of the service: its checkpoints are compared with the database')
    .option('--json', 'print one JSON object per chain instead of text')
    .action(async (options: { checkpoints?: string; json?: boolean }, command: Command) => {
      const config = commandConfig(command)
      const key = createSigningKey(config.masterKey, 'audit-checkpoint')
      const external = options.checkpoints === undefined ? [] : await readCheckpoints(options.checkpoints)
      const secrets = createSecrets(encryptionRing(config.masterKey, config.encryptionKeys))
      const report = await withKeyedDatabase(config, async ({ db }) => {
        const { checkpointKeys } = await loadRetiredKeys(db, secrets)
        return verifyAudit(db, [key, ...checkpointKeys], { external, onChain: progress })
      })
      for (const chain of report.chains)
        if (options.json === true)
          say(JSON.stringify({ chain_id: chain.chainId, ...chainObject(chain, new Date()) }))
        else if (chain.status === 'broken')
          say(`BROKEN chain ${chain.chainId} at seq ${chain.firstBrokenSeq}: ${chain.reason}`)
      const { count, problem } = report.checkpoints
      if (problem !== null) say(`BROKEN checkpoints: ${problem}`)
      if (options.json !== true)
        say(
          `audit trail ${report.status}: ${report.entries} rows in ${report.chains.length} chains, ${count} checkpoints`,
        )
      if (report.status === 'broken') process.exitCode = 1
    })

  audit
    .command('key')
    .description('Print the public key (base64, Ed25519) that verifies checkpoints, with its id.')
    .action((_options, command: Command) => {
      const key = createSigningKey(commandConfig(command).masterKey, 'audit-checkpoint')
      say(`${key.keyId} ${key.publicKey.toString('base64')}`)
    })
}

function progress(done: number, all: number): void {
  if (process.stderr.isTTY && (done % 100 === 0 || done === all))
    process.stderr.write(`\rchains ${done}/${all}`)
  if (process.stderr.isTTY && done === all) process.stderr.write('\n')
}

/** The checkpoints in a log: one JSON object per line, those with a `checkpoint` field. Broken lines are counted. */
async function readCheckpoints(file: string): Promise<Checkpoint[]> {
  const checkpoints: Checkpoint[] = []
  let broken = 0
  for await (const line of createInterface({ input: createReadStream(file) })) {
    if (!line.includes('"checkpoint"')) continue
    try {
      const { checkpoint } = JSON.parse(line) as { checkpoint?: Checkpoint }
      if (checkpoint !== undefined) checkpoints.push(checkpoint)
    } catch {
      broken++
    }
  }
  // Not on standard output, which --json keeps machine-readable.
  if (broken > 0) process.stderr.write(`${broken} line(s) of ${file} cannot be read and are left out\n`)
  return checkpoints
}
