// Runs an import: one at a time, from a source that does not change, until every row is accounted for.
import { setTimeout as wait } from 'node:timers/promises'
import { type Config, settingsOf } from '@manager/manager/commands'
import { backendSettings, callbacksPolicy, createAddressRules, piletSettings } from '@manager/manager/rules'
import { createLockMasterKey, createSecrets, encryptionRing } from '@manager/manager/sealing'
import {
  type BlobStores,
  type Database,
  createAppendMany,
  createBlobs,
  withClient,
} from '@manager/manager/storage'
import { claimSource, foreignSlugs, markFinished } from './ledger.ts'
import { type PlanDeps, planImport } from './plan.ts'
import { type Types, resolveTypes } from './project.ts'
import { createReport } from './report.ts'
import { type Source, withSource } from './source.ts'
import type { Step } from './steps.ts'
import { type Summary, createTally } from './tally.ts'
import { writeSteps } from './write.ts'

export type ImportOptions = {
  from: string
  types: Types
  /** The path of the report, if any. */
  report?: string | undefined
  say: (line: string) => void
  onProgress: (done: Progress) => void
}
export type Progress = { read: number; of: number }
export type ImportScope = {
  config: Config
  database: Database
  blobStores: BlobStores
  problemOfTemplate: (text: string) => string | null
}

// An arbitrary advisory lock key, the same for every import into a database.
const lockKey = 7_202_611_171
const lockEveryMs = 200

/** Returns what an import would do, and writes nothing. */
export const planOnly = (scope: ImportScope, options: ImportOptions): Promise<Summary> =>
  withSource(options.from, async (source) => {
    const deps = await planDepsOf(scope, source, options.types)
    return withReport(options, source, async (observe) => {
      for await (const step of planImport(deps)) await observe(step)
    })
  })

/** Imports the rows that are not imported yet. A second import waits for the first. */
export const runImport = (scope: ImportScope, options: ImportOptions): Promise<Summary> =>
  withClient(scope.config.databaseUrl, async (client) => {
    const tryLock = async (): Promise<boolean> => {
      const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [
        lockKey,
      ])
      return rows[0]?.taken === true
    }
    if (!(await tryLock())) {
      options.say('another import is running; waiting for it to finish')
      do await wait(lockEveryMs)
      while (!(await tryLock()))
    }
    return withSource(options.from, (source) => writeImport(scope, options, source))
  })

async function writeImport(
  { config, database, blobStores, ...scope }: ImportScope,
  options: ImportOptions,
  source: Source,
): Promise<Summary> {
  const { db, clock } = database
  const deps = await planDepsOf({ config, database, blobStores, ...scope }, source, options.types)
  await claimSource(db, source.fingerprints, deps.types)
  const writing = {
    db,
    appendMany: createAppendMany(clock),
    blobs: createBlobs({ db, stores: blobStores }),
    lockMasterKey: createLockMasterKey(config.masterKey),
  }
  const summary = await withReport(options, source, (observe) =>
    writeSteps(writing, observed(planImport(deps), observe)),
  )
  await markFinished(db.idempotent)
  return summary
}

async function* observed(
  steps: AsyncIterable<Step>,
  observe: (step: Step) => Promise<void>,
): AsyncGenerator<Step, void, void> {
  for await (const step of steps) {
    await observe(step)
    yield step
  }
}

async function planDepsOf(scope: ImportScope, source: Source, types: Types): Promise<PlanDeps> {
  const { config, database, problemOfTemplate } = scope
  const { callbacksAllowedCidrs } = settingsOf(config, backendSettings)
  return {
    source,
    types: resolveTypes(source.types, types),
    takenSlugs: await foreignSlugs(database.db.read),
    secrets: createSecrets(encryptionRing(config.masterKey, config.encryptionKeys)),
    callbackRules: createAddressRules(callbacksPolicy(callbacksAllowedCidrs)),
    problemOfTemplate,
    maxPiletBytes: settingsOf(config, piletSettings).piletsMaxUploadBytes,
  }
}

/** Counts and reports the steps that `work` processes. */
async function withReport(
  options: ImportOptions,
  source: Source,
  work: (observe: (step: Step) => Promise<void>) => Promise<void>,
): Promise<Summary> {
  const tally = createTally()
  const report = options.report === undefined ? null : await createReport(options.report)
  const of = Object.values(source.fingerprints).reduce((sum, { rows }) => sum + rows, 0)
  let read = 0
  await work(async (step) => {
    tally.add(step)
    await report?.add(step)
    options.onProgress({ read: ++read, of })
  })
  const summary = tally.summary()
  const lost = summary.views.filter(({ view, ...counts }) => counts.read !== source.fingerprints[view].rows)
  if (lost.length > 0)
    throw new Error(
      `rows of ${lost.map(({ view }) => `legacy.${view}`).join(', ')} were not accounted for; this is a bug in the import`,
    )
  await report?.close(summary)
  return summary
}
