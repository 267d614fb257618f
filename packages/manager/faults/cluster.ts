// A PostgreSQL cluster and a Redis for one row of the programme, thrown away afterwards. PostgreSQL waits for the disk,
// because what survives a crash is a part of what is promised. The service connects as a role that may change rows and
// nothing else.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Pool } from 'pg'
import { runManager } from '../test/kit/process.ts'

/** What a row does to its engines. */
type Harm =
  | `postgres stop ${'fast' | 'immediate'}`
  | 'postgres start'
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
export type Cluster = Engines & { postmasterPid: number }

/** 32 bytes, the same in all replicas. */
export const masterKey = Buffer.alloc(32, 7).toString('base64')
export const serviceRole = 'manager_service'
const keeperFile = new URL('keeper.ts', import.meta.url).pathname

/** Starts both, empty. */
export async function startEngines(): Promise<Engines> {
  const keeper = startKeeper()
  const engines = JSON.parse(await keeper.answer()) as { databaseUrl: string; redisUrl: string; dir: string }
  const sql = new Pool({ connectionString: engines.databaseUrl, max: 4 })
  // The server ends before its connections do.
  sql.on('error', () => undefined)
  const url = new URL(engines.databaseUrl)
  url.username = serviceRole
  return {
    adminUrl: engines.databaseUrl,
    databaseUrl: url.href,
    redisUrl: engines.redisUrl,
    dir: engines.dir,
    sql,
    harm: async (what) => {
      const answer = await keeper.tell(what)
      if (answer !== 'done') throw new Error(`${what}: ${answer}`)
    },
    stop: async () => {
      await sql.end()
      await keeper.end()
    },
  }
}

/** Starts both and migrates with the operator's command. */
export async function startCluster(): Promise<Cluster> {
  const engines = await startEngines()
  try {
    await engines.sql.query(`create role ${serviceRole} login`)
    const migrated = await runManager(['migrate', 'up'], {
      SVC_DATABASE_URL: engines.adminUrl,
      SVC_DATABASE_SERVICE_ROLE: serviceRole,
      SVC_MASTER_KEY: masterKey,
    })
    if (migrated.code !== 0) throw new Error(`the migration failed: ${migrated.stderr}`)
  } catch (error) {
    await engines.stop()
    throw error
  }
  const [pid = ''] = readFileSync(`${engines.dir}/data/postmaster.pid`, 'utf8').split('\n')
  return { ...engines, postmasterPid: Number(pid) }
}

/** The process that keeps the engines. It answers in the order in which it is told. */
function startKeeper() {
  const keeper = spawn(process.execPath, [keeperFile], { detached: true, stdio: ['pipe', 'pipe', 'inherit'] })
  const gone = once(keeper, 'exit')
  const lines = createInterface(keeper.stdout)
  const answer = async (): Promise<string> => {
    const [line] = (await Promise.race([once(lines, 'line'), gone])) as [unknown]
    if (typeof line !== 'string') throw new Error('the engines could not be started')
    return line
  }
  let last: Promise<unknown> = Promise.resolve()
  return {
    answer,
    tell: (line: string): Promise<string> => {
      const told = last.then(() => {
        keeper.stdin.write(`${line}\n`)
        return answer()
      })
      last = told.catch(() => undefined)
      return told
    },
    end: async (): Promise<void> => {
      keeper.stdin.end()
      await gone
    },
  }
}
