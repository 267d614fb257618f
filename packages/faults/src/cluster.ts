// A PostgreSQL cluster and a Redis for one row of the programme, thrown away afterwards. PostgreSQL waits for the disk,
// because what survives a crash is a part of what is promised. The service connects as a role that may change rows and
// nothing else.
import { readFileSync } from 'node:fs'
import { Pool } from 'pg'
import { startKeeper } from './engines/kept.ts'
import { type PatroniCluster, startPatroni } from './engines/patroni.ts'
import { masterKey } from '@manager/harness/callers.ts'
import { runManagerProcess } from '@manager/harness/process.ts'

/** What a row does to its engines. */
type Harm =
  | `postgres stop ${'fast' | 'immediate'}`
  | 'postgres start'
  | `postgres ${'SIGSTOP' | 'SIGCONT'}`
  | `disk ${'fill' | 'free'}`
  | `redis ${'SIGKILL' | 'SIGSTOP' | 'SIGCONT' | 'start'}`
export type Engines = {
  /** As superuser. */
  adminUrl: string
  /** As the service connects, once its role exists. */
  databaseUrl: string
  redisUrl: string
  /** Holds the folder `data` of PostgreSQL. */
  dir: string
  /** A superuser, for seeding and for looking. */
  sql: Pool
  /** Resolves when it is done: an engine that starts answers by then, one that stops is gone. */
  harm(what: Harm): Promise<void>
  stop(): Promise<void>
}
export type Cluster = Engines & {
  /** That of the only node, or of the node that leads at the start. */
  postmasterPid: number
  /** The cluster, if PostgreSQL is one; its faults are done there instead of by `harm`. */
  patroni: PatroniCluster | null
}
export type ClusterOptions = {
  postgres?: 'single' | 'patroni'
  /** A network namespace for each node of Patroni, which a partition needs. */
  network?: boolean
  /** Where Patroni's logs go. */
  logFolder?: string
  /** The data of a single PostgreSQL is on a small file system of its own, which can be filled. */
  smallDisk?: boolean
}

export const serviceRole = 'manager_service'
const keeperFile = new URL('keeper.ts', import.meta.url).pathname

/** Starts both, empty: a single PostgreSQL or, if one is given, a cluster of it. */
export async function startEngines(
  patroni: PatroniCluster | null = null,
  smallDisk = false,
): Promise<Engines> {
  const keeper = startKeeper(keeperFile, patroni !== null ? ['redis'] : smallDisk ? ['small-disk'] : [])
  const kept = JSON.parse(await keeper.answer()) as { databaseUrl: string; redisUrl: string; dir: string }
  const adminUrl = patroni?.adminUrl ?? kept.databaseUrl
  // After a failover the next query connects anew, to the port that leads to the leader.
  const sql = new Pool({
    connectionString: adminUrl,
    max: 4,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  })
  // The server ends before its connections do.
  sql.on('error', () => undefined)
  const url = new URL(adminUrl)
  url.username = serviceRole
  return {
    adminUrl,
    databaseUrl: url.href,
    redisUrl: kept.redisUrl,
    dir: patroni?.dir ?? kept.dir,
    sql,
    harm: async (what) => {
      const answer = await keeper.tell(what)
      if (answer !== 'done') throw new Error(`${what}: ${answer}`)
    },
    stop: async () => {
      await sql.end()
      await keeper.end()
      await patroni?.stop()
    },
  }
}

/** Starts both and migrates with the operator's command. */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const { postgres = 'single', network = false, logFolder = '', smallDisk = false } = options
  const patroni = postgres === 'patroni' ? await startPatroni({ network, logFolder }) : null
  const engines = await startEngines(patroni, smallDisk)
  try {
    await engines.sql.query(`create role ${serviceRole} login`)
    const migrated = await runManagerProcess(['migrate', 'up'], {
      SVC_DATABASE_URL: engines.adminUrl,
      SVC_DATABASE_SERVICE_ROLE: serviceRole,
      SVC_MASTER_KEY: masterKey,
    })
    if (migrated.code !== 0) throw new Error(`the migration failed: ${migrated.stderr}`)
    const data = patroni === null ? 'data' : `node${await patroni.leader()}/data`
    const [pid = ''] = readFileSync(`${engines.dir}/${data}/postmaster.pid`, 'utf8').split('\n')
    return { ...engines, postmasterPid: Number(pid), patroni }
  } catch (error) {
    await engines.stop()
    throw error
  }
}
