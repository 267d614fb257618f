// The restore drill: backs up a service under load, destroys it, and restores the backup on new PostgreSQL
// and Redis servers. As in production, the keys, the public pilet keys and the log are stored outside the
// database.
import { randomBytes, randomUUID } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { pause } from '../children.ts'
import { type Engines, serviceRole } from '../cluster.ts'
import type { Replica } from '../replicas.ts'
import { startSink } from '../sink.ts'
import type { Verdict } from '../verdict.ts'
import { createWorld } from '../world.ts'
import { type Archive, startArchive } from './archive.ts'
import { type Backup, type Method, restoreBackup, takeBackup } from './backup.ts'
import { type Keys, createInstallation, createKeys, keysEnv, manager } from '../installation.ts'
import type { Survivors, Restored } from './survivors.ts'
import { startLoad } from './load.ts'
import { type RestoreSeen, judgeRestore } from './restore-judge.ts'
import { inspectRestored } from './restored.ts'
import { type Log, type Stage, openStage } from './stage.ts'

export const restorePlants = {
  'audit-row': 'a row of the restored audit trail is deleted',
  checkpoint: 'the newer restored checkpoints are deleted, which only the log reveals',
  'lost-row': 'an acknowledged tenant is deleted',
  secret: 'the sealed secret of the endpoint is damaged',
  pilet: 'the bytes of a pilet are damaged',
  signature: 'the signature of a pilet is damaged',
  'master-key': 'the service starts with a wrong master key',
} as const
type RestorePlant = keyof typeof restorePlants
export type RestoreOptions = {
  method: Method
  /** The durations of the load before and after the backup. */
  seconds: number
  plants: readonly RestorePlant[]
}

const workers = { write: 4, emit: 4, gateway: 3, upload: 2 }

const backends = 4

/** Runs the drill. The verdict lists the violated bounds. */
export const drillRestore = async (options: RestoreOptions, log: Log): Promise<Verdict> =>
  (await playRestore(options, log)).verdict

/** Runs the drill and also returns its record. */
export async function playRestore(
  options: RestoreOptions,
  log: Log,
): Promise<{ seen: RestoreSeen; verdict: Verdict }> {
  const stage = await openStage(log)
  let isGood = false
  try {
    const started = performance.now()
    const survivors = await workAndBackUp(stage, options)
    const { restored, ...outcome } = await restoreAndStart(stage, options, survivors)
    const inspection = restored === null ? null : await inspectRestored({ ...restored, stage, survivors })
    const { backup, destroyedAt, backupSeconds, failed, load } = survivors
    const seen: RestoreSeen = {
      method: options.method,
      backupSeconds,
      failed,
      acknowledged: load.acknowledged,
      completeUntil: backup.completeUntil,
      destroyedAt,
      ...outcome,
      inspection,
      minutes: (performance.now() - started) / 60_000,
    }
    const verdict = judgeRestore(seen)
    isGood = verdict.broken.length === 0
    return { seen, verdict }
  } finally {
    await stage.close(!isGood)
  }
}

const seconds = (since: number): number => (performance.now() - since) / 1_000

/** Migrates the database, creates keys, and starts replicas and backends before the load starts. */
async function prepare(stage: Stage, engines: Engines, keys: Keys) {
  const env = { ...keysEnv(keys), SVC_DATABASE_URL: engines.adminUrl, SVC_REDIS_URL: engines.redisUrl }
  await engines.sql.query(`create role ${serviceRole} login`)
  await manager(['migrate', 'up'], { ...env, SVC_DATABASE_SERVICE_ROLE: serviceRole })
  const adminId = randomUUID()
  await manager(['admin', 'grant', adminId], env)
  await manager(['pilet-keys', 'create'], env)
  const replicas: Replica[] = []
  for (const name of ['replica-1', 'replica-2'])
    replicas.push(
      await stage.replica(engines, { name, env: { ...env, SVC_DATABASE_URL: engines.databaseUrl } }),
    )
  const site = await createInstallation(replicas[0]?.url ?? '', stage.partner, adminId)
  const sink = await startSink(stage.folder, backends)
  stage.atEnd(() => sink.end())
  const world = await createWorld(engines.sql, sink, () => replicas)
  stage.atEnd(async () => world.stopHeartbeats())
  const { stdout } = await manager(['pilet-keys', 'export'], env)
  return { replicas, site, sink, world, piletKeys: JSON.parse(stdout) as Record<string, string> }
}

async function workAndBackUp(stage: Stage, options: RestoreOptions): Promise<Survivors> {
  const { log, folder } = stage
  log('starting PostgreSQL, Redis and two replicas')
  const engines = await stage.engines()
  const keys = createKeys()
  const { replicas, ...prepared } = await prepare(stage, engines, keys)
  let turn = 0
  const load = startLoad(prepared.site, () => replicas[turn++ % replicas.length]?.url ?? '', workers)
  await pause(options.seconds * 1_000)
  log(`backing up under load (${options.method})`)
  const archive = options.method === 'archive' ? await startArchive(engines, folder) : null
  const backupStarted = performance.now()
  const taken = await takeBackup(options.method, engines, folder)
  const backupSeconds = seconds(backupStarted)
  log('continuing the load after the backup')
  await pause(options.seconds * 1_000)
  const failed = load.failures.map(({ kind, reason }) => `${kind}: ${reason}`)
  log('destroying the database')
  await destroy(engines, replicas)
  const destroyedAt = Date.now()
  prepared.world.stopHeartbeats()
  await load.stop()
  const backup = await withArchive(taken, archive)
  const logs = replicas.map(({ logFile }) => readFileSync(logFile, 'utf8'))
  return {
    ...prepared,
    keys,
    load,
    backup,
    destroyedAt,
    backupSeconds,
    failed,
    ...keepLogs(folder, logs.join('\n'), backup.completeUntil),
  }
}

/** Adds the archived WAL, which contains the changes after the backup. */
const withArchive = async (backup: Backup, archive: Archive | null): Promise<Backup> =>
  archive === null ? backup : { ...backup, completeUntil: await archive.end(), archive: archive.path }

async function destroy(engines: Engines, replicas: Replica[]): Promise<void> {
  for (const replica of replicas) replica.signal('SIGKILL')
  await Promise.all(replicas.map(({ exit }) => exit))
  await engines.applyFault('postgres stop immediate')
  rmSync(`${engines.dir}/data`, { recursive: true })
}

/**
 * Writes two checkpoint logs, as a log collector would store them: one log up to the backup, and the complete
 * log.
 */
function keepLogs(
  folder: string,
  text: string,
  until: number,
): Pick<Survivors, 'logUntilBackup' | 'logOfAll'> {
  // The last line of a killed process may be truncated.
  const lines = text.split('\n').filter((line) => line.includes('"checkpoint"') && line.endsWith('}'))
  const early = lines.filter((line) => Date.parse((JSON.parse(line) as { time: string }).time) < until)
  const [logUntilBackup, logOfAll] = [`${folder}/until-backup.log`, `${folder}/all.log`]
  writeFileSync(logUntilBackup, `${early.join('\n')}\n`)
  writeFileSync(logOfAll, `${lines.join('\n')}\n`)
  return { logUntilBackup, logOfAll }
}

type RestoreOutcome = { restored: Restored | null } & Pick<
  RestoreSeen,
  'restoreSeconds' | 'readySeconds' | 'rtoSeconds' | 'notStarted'
>

/**
 * Restores the backup on new servers and starts the service there. `restored` is null if the service does not
 * start.
 */
async function restoreAndStart(
  stage: Stage,
  { method, plants }: RestoreOptions,
  survivors: Survivors,
): Promise<RestoreOutcome> {
  stage.log('restoring into another cluster')
  const start = performance.now()
  const engines = await stage.engines()
  await restoreBackup(method, survivors.backup, engines)
  const restoreSeconds = seconds(start)
  for (const plant of plants) await plantFault(plant, engines, survivors)
  const keys = plants.includes('master-key')
    ? { ...survivors.keys, masterKey: randomBytes(32).toString('base64') }
    : survivors.keys
  const env = { ...keysEnv(keys), SVC_DATABASE_URL: engines.adminUrl, SVC_REDIS_URL: engines.redisUrl }
  stage.log('starting the service on the restored database')
  const times = (): Pick<RestoreOutcome, 'restoreSeconds' | 'readySeconds' | 'rtoSeconds'> => ({
    restoreSeconds,
    readySeconds: seconds(start),
    rtoSeconds: (Date.now() - survivors.destroyedAt) / 1_000,
  })
  try {
    await manager(['migrate', 'check'], env)
    const settings = { ...env, SVC_DATABASE_URL: engines.databaseUrl }
    const replica = await stage.replica(engines, { name: 'restored', env: settings })
    return { restored: { engines, env, replica }, notStarted: [], ...times() }
  } catch (error) {
    return { restored: null, notStarted: [(error as Error).message], ...times() }
  }
}

const damageStatements: Record<Exclude<RestorePlant, 'master-key' | 'lost-row'>, string> = {
  'audit-row': 'delete from audit_logs where ctid = (select ctid from audit_logs where seq = 20 limit 1)',
  checkpoint: 'delete from audit_checkpoints where seq > 2',
  secret: 'update endpoints set auth_token = set_byte(auth_token, 40, 255 - get_byte(auth_token, 40))',
  pilet: `update blob_chunks set bytes = set_byte(bytes, 40, 255 - get_byte(bytes, 40))
    where sha256 = (select hash from pilet_packages order by created_at limit 1)`,
  signature: `update pilet_packages set signature = set_byte(signature, 9, 255 - get_byte(signature, 9))
    where id = (select id from pilet_packages order by created_at desc limit 1)`,
}

/** Damages data like a malicious database superuser, or like an incomplete backup. */
async function plantFault(plant: RestorePlant, { sql }: Engines, { load, backup }: Survivors): Promise<void> {
  if (plant === 'master-key') return
  const client = await sql.connect()
  try {
    await client.query('set session_replication_role = replica')
    const first = load.acknowledged.find(
      ({ kind, ackedAt }) => kind === 'write' && ackedAt < backup.completeUntil,
    )
    const changed =
      plant === 'lost-row'
        ? await client.query('delete from tenants where id = $1', [first?.id])
        : await client.query(damageStatements[plant])
    if (changed.rowCount === 0) throw new Error(`the fault ${plant} changed no row`)
  } finally {
    client.release(true)
  }
}
