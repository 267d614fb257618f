// The upgrade drill: replicas of the previous release run behind a load balancer. Under load, the schema is migrated,
// the replicas are upgraded to this release one by one, and then rolled back to the previous release. No request may
// fail, and no session may wait long for a lock.
import { randomUUID } from 'node:crypto'
import { type Balancer, startBalancer } from '../haproxy.ts'
import { pause } from '../children.ts'
import { serviceRole } from '../cluster.ts'
import type { Replica } from '../replicas.ts'
import { type Verdict, createVerdict } from '../verdict.ts'
import { createInstallation, createKeys, keysEnv, manager } from '../installation.ts'
import { type AuditSeen, readAudit } from '../audit-verified.ts'
import { findMissing } from './missing.ts'
import { type Acknowledged, type Load, startLoad } from './load.ts'
import { type LockWait, watchLocks } from './locks.ts'
import { type Release, checkOut, defaultRef } from '@manager/harness/release.ts'
import { type Log, type Stage, openStage } from './stage.ts'

export const upgradePlants = {
  kill: 'the first replica of the previous release is killed with SIGKILL, without draining',
  contract: 'a migration removes a column that the previous release still uses',
} as const
export type UpgradeOptions = {
  /** A git ref. Null selects the previous release. */
  from: string | null
  replicas: number
  /** The duration of each phase. */
  phaseSeconds: number
  plants: readonly (keyof typeof upgradePlants)[]
}

const drainSeconds = 40
const lockWaitMs = 2_000
const workers = { read: 4, write: 3, emit: 3, gateway: 4, validate: 4, upload: 1 }

/** One replacement of all replicas. */
type Replacement = {
  exits: (number | string)[]
  servedByOld: number
  servedByNew: number
  bothServed: number
  /** The reason why a replica did not start. The remaining replicas are not replaced in that case. */
  refused: string[]
}
/** The record on which the verdict is based. */
export type UpgradeSeen = Pick<Load, 'counts' | 'failures'> & {
  previous: string
  migrations: number
  seconds: number
  forward: Replacement
  back: Replacement
  missing: Acknowledged[]
  audit: AuditSeen
  /** The number of connections that the load balancer retried. */
  retried: number
  lockWaits: LockWait[]
}

/** Runs the drill. The verdict lists the violated bounds. */
export const drillUpgrade = async (options: UpgradeOptions, log: Log): Promise<Verdict> =>
  (await playUpgrade(options, log)).verdict

/** Runs the drill and also returns its record. */
export async function playUpgrade(
  options: UpgradeOptions,
  log: Log,
): Promise<{ seen: UpgradeSeen; verdict: Verdict }> {
  const stage = await openStage(log)
  let isGood = false
  try {
    const ref = options.from ?? defaultRef()
    log(`checking out ${ref}`)
    const previous = checkOut(ref, `${stage.folder}/previous`, log)
    stage.atEnd(async () => previous.remove())
    const seen = await play(stage, previous, options)
    const verdict = judgeUpgrade(seen)
    isGood = verdict.broken.length === 0
    return { seen, verdict }
  } finally {
    await stage.close(!isGood)
  }
}

async function play(stage: Stage, previous: Release, options: UpgradeOptions): Promise<UpgradeSeen> {
  const { log } = stage
  const engines = await stage.engines()
  const urls = { SVC_DATABASE_URL: engines.adminUrl, SVC_REDIS_URL: engines.redisUrl }
  const env = { ...keysEnv(createKeys()), ...urls }
  const migrate = (program?: string) =>
    manager(['migrate', 'up'], { ...env, SVC_DATABASE_SERVICE_ROLE: serviceRole }, program)
  await engines.sql.query(`create role ${serviceRole} login`)
  await migrate(previous.manager)
  const adminId = randomUUID()
  await manager(['admin', 'grant', adminId], env, previous.manager)
  log(`starting ${options.replicas} replicas of ${previous.name}`)
  const start = (name: string, program?: string): Promise<Replica> =>
    stage.replica(engines, {
      name,
      env: { ...env, SVC_DATABASE_URL: engines.databaseUrl },
      ...(program === undefined ? {} : { program }),
    })
  const old: Replica[] = []
  for (let n = 1; n <= options.replicas; n++) old.push(await start(`previous-${n}`, previous.main))
  const site = await createInstallation(old[0]?.url ?? '', stage.partner, adminId)
  const balancer = await startBalancer(stage.folder, old)
  stage.atEnd(() => balancer.end())
  const startedAt = performance.now()
  const load = startLoad(site, () => balancer.url, workers)
  const locks = watchLocks(engines.sql)
  await pause(options.phaseSeconds * 1_000)

  log('migrating under load')
  const countMigrations = async (): Promise<number> =>
    (await engines.sql.query('select from pgmigrations')).rowCount ?? 0
  const before = await countMigrations()
  await migrate()
  if (options.plants.includes('contract'))
    await engines.sql.query('alter table tenants rename column slug to handle')
  await pause(options.phaseSeconds * 1_000)
  const scene = { stage, balancer, options }
  const upgraded = await replaceReplicas({ ...scene, oldReplicas: old, start: (n) => start(`new-${n}`) })
  log('rolling back to the previous release')
  const rolledBack = await replaceReplicas({
    ...scene,
    oldReplicas: upgraded.replicas,
    start: (n) => start(`previous-again-${n}`, previous.main),
  })
  await load.stop()
  log('verifying the result')
  return {
    counts: load.counts,
    failures: load.failures,
    previous: previous.name,
    migrations: (await countMigrations()) - before,
    seconds: (performance.now() - startedAt) / 1_000,
    forward: upgraded.replacement,
    back: rolledBack.replacement,
    missing: await findMissing(engines.sql, load.acknowledged),
    audit: await readAudit(env),
    retried: (await balancer.stats()).retried,
    lockWaits: await locks.end(),
  }
}

type ReplaceOptions = {
  stage: Stage
  balancer: Balancer
  oldReplicas: readonly Replica[]
  start: (number: number) => Promise<Replica>
  options: UpgradeOptions
}

const served = async (replica: Replica): Promise<number> =>
  replica.isAlive() ? replica.metric('svc_http_request_duration_seconds_count') : 0

/** Replaces all replicas one by one: starts a replica of the target release, then drains an old one. */
async function replaceReplicas(
  scene: ReplaceOptions,
): Promise<{ replacement: Replacement; replicas: Replica[] }> {
  const { stage, balancer, oldReplicas, start, options } = scene
  const replacement: Replacement = { exits: [], servedByOld: 0, servedByNew: 0, bothServed: 0, refused: [] }
  const replicas: Replica[] = []
  for (const [index, oldReplica] of oldReplicas.entries()) {
    const newReplica = await start(index + 1).catch(
      (error: Error) => void replacement.refused.push(error.message),
    )
    if (newReplica === undefined) break
    stage.log(`replacing ${oldReplica.name} with ${newReplica.name}`)
    replicas.push(newReplica)
    const before = await served(oldReplica)
    await balancer.add(newReplica)
    await pause(options.phaseSeconds * 1_000)
    if (index === 0)
      replacement.bothServed = Math.min((await served(oldReplica)) - before, await served(newReplica))
    replacement.servedByOld += await served(oldReplica)
    const isKilled = options.plants.includes('kill') && oldReplica.name === 'previous-1'
    oldReplica.signal(isKilled ? 'SIGKILL' : 'SIGTERM')
    const late = pause(drainSeconds * 1_000).then(() => `not exited after ${drainSeconds} s`)
    replacement.exits.push(await Promise.race([oldReplica.exit, late]))
    await balancer.remove(oldReplica)
  }
  await pause(options.phaseSeconds * 1_000)
  const counts = await Promise.all(replicas.map(served))
  replacement.servedByNew = counts.reduce((sum, count) => sum + count, 0)
  return { replacement, replicas }
}

/** Checks the record against its bounds. The result depends on nothing else. */
export function judgeUpgrade(seen: UpgradeSeen): Verdict {
  const { counts, failures, forward, back, missing, audit } = seen
  const figures = createVerdict()
  const requests = Object.values(counts).reduce((sum, count) => sum + count, 0)
  figures.show('previous', seen.previous)
  figures.show('migrations', seen.migrations)
  figures.atLeast('requests', requests, 100)
  figures.show('per_s', requests / seen.seconds)
  for (const [kind, count] of Object.entries(counts)) figures.atLeast(kind, count, 1)
  figures.atLeast('by_previous', forward.servedByOld, 1)
  figures.atLeast('by_new', forward.servedByNew, 1)
  figures.atLeast('by_previous_again', back.servedByNew, 1)
  figures.atLeast('concurrent', forward.bothServed, 1)
  figures.show('reconnected', seen.retried)
  figures.none(
    'failed',
    failures.map(({ kind, reason }) => `${kind}: ${reason}`),
  )
  figures.none(
    'missing',
    missing.map(({ kind, id }) => `${kind} ${id}`),
  )
  figures.none('bad_exits', [...forward.exits, ...back.exits].filter((exit) => exit !== 0).map(String))
  figures.none('audit_broken', audit.problems)
  figures.atLeast('audit_rows', audit.rows, 1)
  figures.none('new_refused', forward.refused)
  figures.none('previous_refused', back.refused)
  const [longest] = seen.lockWaits.toSorted((a, b) => b.ms - a.ms)
  figures.atMost('max_lock_wait_ms', longest?.ms ?? 0, lockWaitMs)
  if (longest !== undefined && longest.ms > lockWaitMs) figures.show('waited_for', longest.what)
  figures.show('seconds', seen.seconds)
  return figures.verdict
}
