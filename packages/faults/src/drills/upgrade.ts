// The upgrade drill: replicas of a former release serve behind a balancer; the schema is migrated, replicas of this release
// take over one by one, and those of the former once more, all under load. No request may fail, and nobody waits long for
// a lock.
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
import { type Say, type Stage, openStage } from './stage.ts'

export const upgradePlants = {
  kill: 'the first former replica is ended by SIGKILL, without draining',
  contract: 'a migration takes a column away that the former release still uses',
} as const
export type UpgradeOptions = {
  /** A git ref; null chooses one. */
  from: string | null
  replicas: number
  /** How long each phase lasts. */
  phaseSeconds: number
  plants: readonly (keyof typeof upgradePlants)[]
}

const drainSeconds = 40
const lockWaitMs = 2_000
const workers = { read: 4, write: 3, emit: 3, gateway: 4, validate: 4, upload: 1 }

/** One exchange of all replicas. */
type Turn = {
  exits: (number | string)[]
  byLeaving: number
  byArriving: number
  bothServed: number
  /** Why a replica did not start; the others stayed then. */
  refused: string[]
}
/** What happened, as it is judged. */
export type UpgradeSeen = Pick<Load, 'counts' | 'failures'> & {
  former: string
  migrations: number
  seconds: number
  forward: Turn
  back: Turn
  missing: Acknowledged[]
  audit: AuditSeen
  /** Connections that the balancer tried again. */
  retried: number
  lockWaits: LockWait[]
}

/** Plays the drill; the verdict names what did not hold. */
export const drillUpgrade = async (options: UpgradeOptions, say: Say): Promise<Verdict> =>
  (await playUpgrade(options, say)).verdict

/** The same, with what was seen. */
export async function playUpgrade(
  options: UpgradeOptions,
  say: Say,
): Promise<{ seen: UpgradeSeen; verdict: Verdict }> {
  const stage = await openStage(say)
  let isGood = false
  try {
    const ref = options.from ?? defaultRef()
    say(`checking ${ref} out`)
    const former = checkOut(ref, `${stage.folder}/former`, say)
    stage.atEnd(async () => former.remove())
    const seen = await play(stage, former, options)
    const verdict = judgeUpgrade(seen)
    isGood = verdict.broken.length === 0
    return { seen, verdict }
  } finally {
    await stage.close(!isGood)
  }
}

async function play(stage: Stage, former: Release, options: UpgradeOptions): Promise<UpgradeSeen> {
  const { say } = stage
  const engines = await stage.engines()
  const urls = { SVC_DATABASE_URL: engines.adminUrl, SVC_REDIS_URL: engines.redisUrl }
  const env = { ...keysEnv(createKeys()), ...urls }
  const migrate = (program?: string) =>
    manager(['migrate', 'up'], { ...env, SVC_DATABASE_SERVICE_ROLE: serviceRole }, program)
  await engines.sql.query(`create role ${serviceRole} login`)
  await migrate(former.manager)
  const adminId = randomUUID()
  await manager(['admin', 'grant', adminId], env, former.manager)
  say(`starting ${options.replicas} replicas of ${former.name}`)
  const start = (name: string, program?: string): Promise<Replica> =>
    stage.replica(engines, {
      name,
      env: { ...env, SVC_DATABASE_URL: engines.databaseUrl },
      ...(program === undefined ? {} : { program }),
    })
  const old: Replica[] = []
  for (let n = 1; n <= options.replicas; n++) old.push(await start(`former-${n}`, former.main))
  const site = await createInstallation(old[0]?.url ?? '', stage.partner, adminId)
  const balancer = await startBalancer(stage.folder, old)
  stage.atEnd(() => balancer.end())
  const startedAt = performance.now()
  const load = startLoad(site, () => balancer.url, workers)
  const locks = watchLocks(engines.sql)
  await pause(options.phaseSeconds * 1_000)

  say('migrating, under load')
  const countMigrations = async (): Promise<number> =>
    (await engines.sql.query('select from pgmigrations')).rowCount ?? 0
  const before = await countMigrations()
  await migrate()
  if (options.plants.includes('contract'))
    await engines.sql.query('alter table tenants rename column slug to handle')
  await pause(options.phaseSeconds * 1_000)
  const scene = { stage, balancer, options }
  const arrived = await exchange({ ...scene, leaving: old, start: (n) => start(`new-${n}`) })
  say('going back to the former release')
  const back = await exchange({
    ...scene,
    leaving: arrived.replicas,
    start: (n) => start(`former-again-${n}`, former.main),
  })
  await load.stop()
  say('looking at what is left')
  return {
    counts: load.counts,
    failures: load.failures,
    former: former.name,
    migrations: (await countMigrations()) - before,
    seconds: (performance.now() - startedAt) / 1_000,
    forward: arrived.turn,
    back: back.turn,
    missing: await findMissing(engines.sql, load.acknowledged),
    audit: await readAudit(env),
    retried: (await balancer.stats()).retried,
    lockWaits: await locks.end(),
  }
}

type Exchange = {
  stage: Stage
  balancer: Balancer
  leaving: readonly Replica[]
  start: (number: number) => Promise<Replica>
  options: UpgradeOptions
}

const served = async (replica: Replica): Promise<number> =>
  replica.isAlive() ? replica.metric('svc_http_request_duration_seconds_count') : 0

/** Starts a replica of the other release, then drains one that leaves, until all are exchanged. */
async function exchange(scene: Exchange): Promise<{ turn: Turn; replicas: Replica[] }> {
  const { stage, balancer, leaving, start, options } = scene
  const turn: Turn = { exits: [], byLeaving: 0, byArriving: 0, bothServed: 0, refused: [] }
  const replicas: Replica[] = []
  for (const [index, one] of leaving.entries()) {
    const arriving = await start(index + 1).catch((error: Error) => void turn.refused.push(error.message))
    if (arriving === undefined) break
    stage.say(`${arriving.name} takes the place of ${one.name}`)
    replicas.push(arriving)
    const before = await served(one)
    await balancer.add(arriving)
    await pause(options.phaseSeconds * 1_000)
    if (index === 0) turn.bothServed = Math.min((await served(one)) - before, await served(arriving))
    turn.byLeaving += await served(one)
    const isKilled = options.plants.includes('kill') && one.name === 'former-1'
    one.signal(isKilled ? 'SIGKILL' : 'SIGTERM')
    const late = pause(drainSeconds * 1_000).then(() => `not within ${drainSeconds} s`)
    turn.exits.push(await Promise.race([one.exit, late]))
    await balancer.remove(one)
  }
  await pause(options.phaseSeconds * 1_000)
  const counts = await Promise.all(replicas.map(served))
  turn.byArriving = counts.reduce((sum, count) => sum + count, 0)
  return { turn, replicas }
}

/** What must hold; a function of what was seen. */
export function judgeUpgrade(seen: UpgradeSeen): Verdict {
  const { counts, failures, forward, back, missing, audit } = seen
  const figures = createVerdict()
  const requests = Object.values(counts).reduce((sum, count) => sum + count, 0)
  figures.show('former', seen.former)
  figures.show('migrations', seen.migrations)
  figures.atLeast('requests', requests, 100)
  figures.show('per_s', requests / seen.seconds)
  for (const [kind, count] of Object.entries(counts)) figures.atLeast(kind, count, 1)
  figures.atLeast('by_former', forward.byLeaving, 1)
  figures.atLeast('by_new', forward.byArriving, 1)
  figures.atLeast('by_former_again', back.byArriving, 1)
  figures.atLeast('side_by_side', forward.bothServed, 1)
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
  figures.none('former_refused', back.refused)
  const [longest] = seen.lockWaits.toSorted((a, b) => b.ms - a.ms)
  figures.atMost('max_lock_wait_ms', longest?.ms ?? 0, lockWaitMs)
  if (longest !== undefined && longest.ms > lockWaitMs) figures.show('waited_for', longest.what)
  figures.show('seconds', seen.seconds)
  return figures.verdict
}
