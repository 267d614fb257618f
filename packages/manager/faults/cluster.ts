// A PostgreSQL cluster and a Redis for one row of the programme, thrown away afterwards. PostgreSQL waits for the disk,
// because what survives a crash is a part of what is promised. The service connects as a role that may change rows and
// nothing else.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Pool } from 'pg'
import { runManager } from '../test/kit/process.ts'

export type Cluster = {
  /** As the service connects. */
  databaseUrl: string
  redisUrl: string
  /** A superuser, for seeding and for looking. */
  sql: Pool
  postmasterPid: number
  stop(): Promise<void>
}

/** 32 bytes, the same in all replicas. */
export const masterKey = Buffer.alloc(32, 7).toString('base64')
const role = 'manager_service'
const keeperFile = new URL('../test/engines/keeper.ts', import.meta.url).pathname

/** Starts both and migrates with the operator's command. */
export async function startCluster(): Promise<Cluster> {
  const keeper = spawn(process.execPath, [keeperFile, '--durable'], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const gone = once(keeper, 'exit')
  const [line] = (await Promise.race([once(createInterface(keeper.stdout), 'line'), gone])) as [unknown]
  if (typeof line !== 'string') throw new Error('the engines could not be started')
  const engines = JSON.parse(line) as { databaseUrl: string; redisUrl: string; dir: string }
  const sql = new Pool({ connectionString: engines.databaseUrl, max: 4 })
  // The server ends before its connections do.
  sql.on('error', () => undefined)
  const stop = async (): Promise<void> => {
    await sql.end()
    keeper.stdin.end()
    await gone
  }
  try {
    await sql.query(`create role ${role} login`)
    const migrated = await runManager(['migrate', 'up'], {
      SVC_DATABASE_URL: engines.databaseUrl,
      SVC_DATABASE_SERVICE_ROLE: role,
      SVC_MASTER_KEY: masterKey,
    })
    if (migrated.code !== 0) throw new Error(`the migration failed: ${migrated.stderr}`)
  } catch (error) {
    await stop()
    throw error
  }
  const url = new URL(engines.databaseUrl)
  url.username = role
  const [pid = ''] = readFileSync(`${engines.dir}/data/postmaster.pid`, 'utf8').split('\n')
  return { databaseUrl: url.href, redisUrl: engines.redisUrl, sql, postmasterPid: Number(pid), stop }
}
