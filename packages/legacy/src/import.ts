// Runs an import. Only one import runs at a time, its source must not change, and every row must be accounted
// for.
import { setTimeout as wait } from 'node:timers/promises'
import { type Config, selectSettings } from '@manager/manager/commands'
import {
  backendSettings,
  createCallbacksPolicy,
  createAddressRules,
  piletSettings,
} from '@manager/manager/rules'
import { createMasterKeyLock, createSecrets, createEncryptionRing } from '@manager/manager/sealing'
import {
  type BlobStores,
  type Database,
  createAppendMany,
  createBlobs,
  withClient,
} from '@manager/manager/storage'
import { claimSource, findForeignSlugs, markFinished } from './ledger.ts'
import { type PlanDeps, planImport } from './plan.ts'
import { type TypeEnvironments, resolveTypes } from './project.ts'
import { createReport } from './report.ts'
import { type Source, withSource } from './source.ts'
import type { Step } from './steps.ts'
import { type Summary, createTally } from './tally.ts'
import { writeSteps } from './write.ts'

export type ImportOptions = {
  from: string
  types: TypeEnvironments
  /** The path of the report, if any. */
  report?: string | undefined
  say: (line: string) => void
  onProgress: (done: Progress) => void
}
export type Progress = { readCount: number; of: number }
export type ImportScope = {
  config: Config
  database: Database
  blobStores: BlobStores
  findTemplateProblem: (text: string) => string | null
}

// An arbitrary advisory lock key. Every import into the same database uses it.
const lockKey = 7_202_611_171
const lockRetryMs = 200

/** Returns a summary of the planned changes without writing anything. */
export const summarizePlan = (scope: ImportScope, options: ImportOptions): Promise<Summary> =>
  withSource(options.from, async (source) => {
    const deps = await createPlanDeps(scope, source, options.types)
    return withReport(options, source, async (observe) => {
      for await (const step of planImport(deps)) await observe(step)
    })
  })

/** Imports the rows that have not been imported yet. A second import waits for the first. */
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
      do await wait(lockRetryMs)
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
  const deps = await createPlanDeps({ config, database, blobStores, ...scope }, source, options.types)
  await claimSource(db, source.fingerprints, deps.types)
  const writeDeps = {
    db,
    appendMany: createAppendMany(clock),
    blobs: createBlobs({ db, stores: blobStores }),
    lockMasterKey: createMasterKeyLock(config.masterKey),
  }
  const summary = await withReport(options, source, (observe) =>
    writeSteps(writeDeps, observeSteps(planImport(deps), observe)),
  )
  await markFinished(db.idempotent)
  return summary
}

async function* observeSteps(
  steps: AsyncIterable<Step>,
  observe: (step: Step) => Promise<void>,
): AsyncGenerator<Step, void, void> {
  for await (const step of steps) {
    await observe(step)
    yield step
  }
}

async function createPlanDeps(
  scope: ImportScope,
  source: Source,
  types: TypeEnvironments,
): Promise<PlanDeps> {
  const { config, database, findTemplateProblem } = scope
  const { callbacksAllowedCidrs } = selectSettings(config, backendSettings)
  return {
    source,
    types: resolveTypes(source.types, types),
    takenSlugs: await findForeignSlugs(database.db.read),
    secrets: createSecrets(createEncryptionRing(config.masterKey, config.encryptionKeys)),
    callbackRules: createAddressRules(createCallbacksPolicy(callbacksAllowedCidrs)),
    findTemplateProblem,
    maxPiletBytes: selectSettings(config, piletSettings).piletsMaxUploadBytes,
  }
}

/** Counts and reports the steps that `work` passes to `observe`. */
async function withReport(
  options: ImportOptions,
  source: Source,
  work: (observe: (step: Step) => Promise<void>) => Promise<void>,
): Promise<Summary> {
  const tally = createTally()
  const report = options.report === undefined ? null : await createReport(options.report)
  const total = Object.values(source.fingerprints).reduce((sum, { rows }) => sum + rows, 0)
  let readCount = 0
  await work(async (step) => {
    tally.add(step)
    await report?.add(step)
    options.onProgress({ readCount: ++readCount, of: total })
  })
  const summary = tally.summary()
  const incompleteViews = summary.views.filter(
    ({ view, ...counts }) => counts.read !== source.fingerprints[view].rows,
  )
  if (incompleteViews.length > 0)
    throw new Error(
      `rows of ${incompleteViews.map(({ view }) => `legacy.${view}`).join(', ')} were not accounted for; this is a bug in the import`,
    )
  await report?.close(summary)
  return summary
}
