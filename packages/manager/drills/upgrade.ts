// The upgrade drill: replicas of a former release serve behind a balancer; the schema is migrated, replicas of this release
// take over one by one, all under load. No request may fail.
import { randomUUID } from 'node:crypto'
import { type Balancer, startBalancer } from '../faults/engines/haproxy.ts'
import { pause } from '../faults/children.ts'
import { type Engines, serviceRole } from '../faults/cluster.ts'
import type { Replica } from '../faults/replicas.ts'
import { type Verdict, createVerdict } from '../faults/verdict.ts'
import { createInstallation, createKeys, keysEnv, manager } from './installation.ts'
import { findMissing, readAudit } from './look.ts'
import { type Load, startLoad } from './load.ts'
import { type Release, checkOut, defaultRef } from './release.ts'
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
const workers = { read: 4, write: 3, emit: 3, gateway: 4, validate: 4, upload: 1 }

/** Plays the drill; the verdict names what did not hold. */
export async function drillUpgrade(options: UpgradeOptions, say: Say): Promise<Verdict> {
  const stage = await openStage(say)
  let isGood = false
  try {
    const ref = options.from ?? defaultRef()
    say(`checking ${ref} out`)
    const former = checkOut(ref, `${stage.folder}/former`, say)
    stage.atEnd(async () => former.remove())
    const verdict = await play(stage, former, options)
    isGood = verdict.broken.length === 0
    return verdict
  } finally {
    await stage.close(!isGood)
  }
}

async function play(stage: Stage, former: Release, options: UpgradeOptions): Promise<Verdict> {
  const { say } = stage
  const engines = await stage.engines()
  const env = {
    ...keysEnv(createKeys()),
    SVC_DATABASE_URL: engines.adminUrl,
    SVC_REDIS_URL: engines.redisUrl,
  }
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
  await pause(options.phaseSeconds * 1_000)

  say('migrating, under load')
  const countMigrations = async (): Promise<number> =>
    (await engines.sql.query('select from pgmigrations')).rowCount ?? 0
  const before = await countMigrations()
  await migrate()
  if (options.plants.includes('contract'))
    await engines.sql.query('alter table tenants rename column slug to handle')
  await pause(options.phaseSeconds * 1_000)
  const turn = await exchange({ stage, balancer, old, start, options })
  await pause(options.phaseSeconds * 1_000)
  await load.stop()
  const seconds = (performance.now() - startedAt) / 1_000

  say('looking at what is left')
  const goesBack = await start('former-again', former.main).then(
    () => true,
    (error: Error) => (say(error.message), false),
  )
  return judge({
    load,
    turn,
    engines,
    env,
    seconds,
    former,
    goesBack,
    migrations: (await countMigrations()) - before,
    balancer,
  })
}

type Turn = { exits: (number | string)[]; byFormer: number; byNew: number; bothServed: number }
type Exchange = {
  stage: Stage
  balancer: Balancer
  old: Replica[]
  start: (name: string) => Promise<Replica>
  options: UpgradeOptions
}

const served = async (replica: Replica): Promise<number> =>
  replica.isAlive() ? replica.metric('svc_http_request_duration_seconds_count') : 0

/** Starts a replica of this release, then drains one of the former, until all are exchanged. */
async function exchange({ stage, balancer, old, start, options }: Exchange): Promise<Turn> {
  const exits: (number | string)[] = []
  const fresh: Replica[] = []
  let [byFormer, bothServed] = [0, 0]
  for (const [index, leaving] of old.entries()) {
    stage.say(`replica ${index + 1} of this release starts, one of the former drains`)
    const arriving = await start(`new-${index + 1}`)
    fresh.push(arriving)
    const before = await served(leaving)
    await balancer.add(arriving)
    await pause(options.phaseSeconds * 1_000)
    if (index === 0)
      bothServed = Math.min((await served(leaving)) - before, await served(fresh[0] as Replica))
    byFormer += await served(leaving)
    const isKilled = options.plants.includes('kill') && index === 0
    leaving.signal(isKilled ? 'SIGKILL' : 'SIGTERM')
    const late = pause(drainSeconds * 1_000).then(() => `not within ${drainSeconds} s`)
    exits.push(await Promise.race([leaving.exit, late]))
    await balancer.remove(leaving)
  }
  await pause(options.phaseSeconds * 1_000)
  const counts = await Promise.all(fresh.map(served))
  return { exits, byFormer, bothServed, byNew: counts.reduce((sum, count) => sum + count, 0) }
}

type Seen = {
  load: Load
  turn: Turn
  engines: Engines
  env: Record<string, string>
  seconds: number
  former: Release
  goesBack: boolean
  migrations: number
  balancer: Balancer
}

async function judge({
  load,
  turn,
  engines,
  env,
  seconds,
  former,
  goesBack,
  ...seen
}: Seen): Promise<Verdict> {
  const figures = createVerdict()
  const requests = Object.values(load.counts).reduce((sum, count) => sum + count, 0)
  const missing = await findMissing(engines.sql, load.acknowledged)
  const audit = await readAudit(env)
  const { retried } = await seen.balancer.stats()
  figures.show('former', former.name)
  figures.show('migrations', seen.migrations)
  figures.atLeast('requests', requests, 100)
  figures.show('per_s', requests / seconds)
  for (const [kind, count] of Object.entries(load.counts)) figures.atLeast(kind, count, 1)
  figures.atLeast('by_former', turn.byFormer, 1)
  figures.atLeast('by_new', turn.byNew, 1)
  figures.atLeast('side_by_side', turn.bothServed, 1)
  figures.show('reconnected', retried)
  figures.none(
    'failed',
    load.failures.map(({ kind, reason }) => `${kind}: ${reason}`),
  )
  figures.none(
    'missing',
    missing.map(({ kind, id }) => `${kind} ${id}`),
  )
  figures.none('bad_exits', turn.exits.filter((exit) => exit !== 0).map(String))
  figures.none('audit_broken', audit.problems)
  figures.atLeast('audit_rows', audit.rows, 1)
  figures.none('former_refused', goesBack ? [] : ['the former release does not start on the new schema'])
  figures.show('seconds', seconds)
  return figures.verdict
}
