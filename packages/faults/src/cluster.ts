// Starts a PostgreSQL cluster and a Redis server for one fault scenario. PostgreSQL runs with fsync, because
// the scenarios test durability. The service connects with a role that may only change rows.
import { readFileSync } from 'node:fs'
import { Pool } from 'pg'
import { startKeeper } from './engines/keeper-client.ts'
import { type PatroniCluster, startPatroni } from './engines/patroni.ts'
import { masterKey } from '@manager/harness/callers.ts'
import { runManagerProcess } from '@manager/harness/process.ts'

/** Faults that a scenario can apply to PostgreSQL and Redis. */
type EngineFault =
  | `postgres stop ${'fast' | 'immediate'}`
  | 'postgres start'
  | `postgres ${'SIGSTOP' | 'SIGCONT'}`
  | `disk ${'fill' | 'free'}`
  | `redis ${'SIGKILL' | 'SIGSTOP' | 'SIGCONT' | 'start'}`
export type Engines = {
  /** Connects as superuser. */
  adminUrl: string
  /** Connects with the service role, once that role exists. */
  databaseUrl: string
  redisUrl: string
  /** Contains the `data` folder of PostgreSQL. */
  dir: string
  /** Superuser connections for seeding and inspection. */
  sql: Pool
  /** Resolves when the fault is in effect: a started server responds, and a stopped server has exited. */
  applyFault(fault: EngineFault): Promise<void>
  stop(): Promise<void>
}
export type Cluster = Engines & {
  /** PID of the only node or the initial leader. */
  postmasterPid: number
  /** The Patroni cluster, or null. Use the `applyFault` of the Patroni cluster if there is one. */
  patroni: PatroniCluster | null
}
export type ClusterOptions = {
  postgres?: 'single' | 'patroni'
  /** Creates a network namespace for each Patroni node. Partitions require it. */
  network?: boolean
  /** Folder for Patroni's logs. */
  logFolder?: string
  /** Stores the data of a single PostgreSQL server on a separate small file system, which can be filled. */
  smallDisk?: boolean
}

export const serviceRole = 'manager_service'
const keeperFile = new URL('keeper.ts', import.meta.url).pathname

/**
 * Starts Redis and, unless a Patroni cluster is given, a single PostgreSQL server. Both servers are empty.
 */
export async function startEngines(
  patroni: PatroniCluster | null = null,
  smallDisk = false,
): Promise<Engines> {
  const keeper = startKeeper(keeperFile, patroni !== null ? ['redis'] : smallDisk ? ['small-disk'] : [])
  const engines = JSON.parse(await keeper.nextLine()) as {
    databaseUrl: string
    redisUrl: string
    dir: string
  }
  const adminUrl = patroni?.adminUrl ?? engines.databaseUrl
  // After a failover, the next query reconnects to the port, which then forwards to the new leader.
  const sql = new Pool({
    connectionString: adminUrl,
    max: 4,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  })
  // The server stops before its connections are closed, so the connections report errors.
  sql.on('error', () => undefined)
  const url = new URL(adminUrl)
  url.username = serviceRole
  return {
    adminUrl,
    databaseUrl: url.href,
    redisUrl: engines.redisUrl,
    dir: patroni?.dir ?? engines.dir,
    sql,
    applyFault: async (fault) => {
      const reply = await keeper.send(fault)
      if (reply !== 'done') throw new Error(`${fault}: ${reply}`)
    },
    stop: async () => {
      await sql.end()
      await keeper.end()
      await patroni?.stop()
    },
  }
}

/** Starts PostgreSQL and Redis, and migrates the database with the operator command. */
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
