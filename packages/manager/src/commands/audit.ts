import { readFileSync, writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import { formatChain } from '../platform/audit/chain-object.ts'
import { sealMovedChains } from '../platform/audit/checkpoint.ts'
import type { CheckpointKey } from '../platform/audit/checkpoint-chain.ts'
import { parseSealedHeads, readSealedHeads } from '../platform/audit/sealed-heads.ts'
import { deriveVerificationKey } from '../platform/audit/verification-marks.ts'
import { clearFindings } from '../platform/audit/verify-incremental.ts'
import { type AuditReport, type Baseline, verifyAudit } from '../platform/audit/verify.ts'
import { createSigningKey, createEncryptionRing } from '../platform/secrets/keys.ts'
import { loadRetiredKeys } from '../platform/master-key/retired-keys.ts'
import { createSecrets } from '../platform/secrets/secrets.ts'
import { readCheckpointFiles } from './checkpoint-files.ts'
import { loadCommandConfig, withKeyedDatabase } from './context.ts'
import { formatQuantity } from './table.ts'
import type { Terminal } from './terminal.ts'

/** Adds the `manager audit` commands. */
export function addAuditCommands(program: Command, terminal: Terminal): void {
  const audit = program
    .command('audit')
    .description('Verify the audit trail and export signed checkpoints.')
    .addHelpText(
      'after',
      `
Examples:
  $ npm run manager -- audit verify --checkpoints manager.log
  $ npm run manager -- audit checkpoint export --out heads.json
  $ npm run manager -- audit verify --since heads.json`,
    )
  addVerifyCommand(audit, terminal)
  addExportCommand(audit, terminal)

  audit
    .command('key')
    .description('Print the public key (base64, Ed25519) that verifies checkpoints, with its id.')
    .action((_options, command: Command) => {
      const key = createSigningKey(loadCommandConfig(terminal, command).masterKey, 'audit-checkpoint')
      terminal.say(`${key.keyId} ${key.publicKey.toString('base64')}`)
    })
}

type VerifyOptions = { checkpoints?: string; since?: string; json?: boolean }

function addVerifyCommand(audit: Command, terminal: Terminal): void {
  audit
    .command('verify')
    .description(
      'Verify every row, link and checkpoint of every chain. If a row is broken, names the first broken row and exits with 1.',
    )
    .option(
      '--checkpoints <path>',
      'file or folder with external checkpoints to compare with the database: a log of the service, or copies from a bucket',
    )
    .option(
      '--since <checkpoint>',
      'verify only rows after this checkpoint: a checkpoint number, or a file from `audit checkpoint export`, whose heads must still exist',
    )
    .option('--json', 'print one JSON object per chain instead of text')
    .addHelpText(
      'after',
      `
Without --since, a successful verification also clears the problems that the service found before.

Examples:
  $ npm run manager -- audit verify
  $ npm run manager -- audit verify --checkpoints manager.log
  $ aws s3 cp --recursive s3://bucket/audit-checkpoints/ copies/ && npm run manager -- audit verify --checkpoints copies/
  $ npm run manager -- audit verify --since heads.json
  $ npm run manager -- audit verify --since 5120`,
    )
    .action(async (options: VerifyOptions, command: Command) => {
      const config = loadCommandConfig(terminal, command)
      const key = createSigningKey(config.masterKey, 'audit-checkpoint')
      const { checkpoints: path } = options
      const externalCheckpoints = path === undefined ? [] : await readCheckpointFiles(path, terminal)
      const secrets = createSecrets(createEncryptionRing(config.masterKey, config.encryptionKeys))
      const report = await withKeyedDatabase(config, async ({ db }) => {
        const keys = [key, ...(await loadRetiredKeys(db.read, secrets)).checkpointKeys]
        const since = options.since === undefined ? undefined : readSince(options.since, keys)
        const result = await verifyAudit(db, keys, {
          external: externalCheckpoints,
          onProgress: createProgressDisplay(terminal),
          ...(since === undefined ? {} : { since }),
        })
        if (since === undefined && result.status !== 'broken')
          await clearFindings(db, deriveVerificationKey(config.masterKey))
        return result
      })
      printReport(terminal, report, options)
      if (path !== undefined) {
        const { compared } = report.checkpoints
        terminal.warn(`Compared ${compared} of ${externalCheckpoints.length} checkpoints in ${path}.`)
        if (compared === 0) throw new Error(`all checkpoints in ${path} are older than --since`)
      }
      if (report.status === 'broken') terminal.exitCode = 1
    })
}

/** Reads a checkpoint number, or the heads in an exported file. */
function readSince(since: string, keys: readonly CheckpointKey[]): number | Baseline {
  if (/^\d{1,15}$/.test(since)) return Number(since)
  try {
    return parseSealedHeads(readFileSync(since, 'utf8'), keys)
  } catch (error) {
    throw new Error(`${since} cannot be used: ${(error as Error).message}`, { cause: error })
  }
}

function printReport(terminal: Terminal, report: AuditReport, { json, since }: VerifyOptions): void {
  for (const chain of report.chains)
    if (json === true)
      terminal.say(JSON.stringify({ chain_id: chain.chainId, ...formatChain(chain, new Date()) }))
    else if (chain.status === 'broken')
      terminal.say(`BROKEN chain ${chain.chainId} at seq ${chain.firstBrokenSeq}: ${chain.reason}`)
  const { count, problem } = report.checkpoints
  if (problem !== null) terminal.say(`BROKEN checkpoints: ${problem}`)
  if (json === true) return
  const rows =
    since === undefined
      ? formatQuantity(report.entries, 'row')
      : `${formatQuantity(report.checked, 'row')} since the checkpoint`
  const chains = formatQuantity(report.chains.length, 'chain')
  terminal.say(`audit trail ${report.status}: ${rows} in ${chains}, ${formatQuantity(count, 'checkpoint')}`)
}

function addExportCommand(audit: Command, terminal: Terminal): void {
  audit
    .command('checkpoint')
    .description('Manage signed checkpoints of the audit trail.')
    .command('export')
    .description('Seal new rows, and print the heads of all chains as one signed JSON object.')
    .option('--out <file>', 'write to a new file instead of standard output')
    .addHelpText(
      'after',
      `
Store the file where the owner of the database cannot change it. To verify only newer rows later, pass the file
to \`audit verify --since\`.

Examples:
  $ npm run --silent manager -- audit checkpoint export --out heads.json
  $ npm run --silent manager -- audit verify --since heads.json`,
    )
    .action(async ({ out }: { out?: string }, command: Command) => {
      const config = loadCommandConfig(terminal, command)
      const key = createSigningKey(config.masterKey, 'audit-checkpoint')
      const heads = await withKeyedDatabase(config, async ({ db, clock }) => {
        await sealMovedChains(db, key, clock)
        return readSealedHeads(db, key)
      })
      if (heads === null) throw new Error('cannot export a checkpoint: the audit trail has no rows yet')
      const text = `${JSON.stringify(heads)}\n`
      // The flag `wx` makes the write fail if the file exists: an older export must not be overwritten.
      if (out !== undefined) writeFileSync(out, text, { flag: 'wx' })
      else terminal.stdout.write(text)
      const { checkpoint } = heads
      terminal.warn(
        `checkpoint ${checkpoint.seq}, ${formatQuantity(heads.heads.length, 'chain')}, key ${heads.keyId}`,
      )
    })
}

/** Returns a function that prints the progress at most once per second. */
function createProgressDisplay(
  terminal: Terminal,
): (done: { rows: number; chains: number; totalChains: number }) => void {
  let lastShownAt = performance.now()
  return ({ rows, chains, totalChains }) => {
    if (performance.now() - lastShownAt < 1_000) return
    lastShownAt = performance.now()
    terminal.progress(`\r${formatQuantity(rows, 'row')}, ${chains}/${formatQuantity(totalChains, 'chain')} `)
  }
}
