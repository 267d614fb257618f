// Kills a service (SIGKILL) at a known point in an audited mutation. Locks make the service wait at this point.
import type { ServiceProcess } from '@manager/harness/process.ts'
import type { TestApp } from './app.ts'
import { whileLocked } from './locks.ts'

type Scene = Pick<TestApp, 'database' | 'sql'>
type Send = (victim: ServiceProcess) => Promise<unknown>

/** Kills the service and waits until it has exited. */
export async function kill({ child, exit }: ServiceProcess): Promise<void> {
  child.kill('SIGKILL')
  await exit
}

async function waitFor(isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 5_000
  while (!(await isTrue()))
    if (performance.now() > deadline) throw new Error('the kill point was not reached')
}

async function countSessions({ sql }: Scene, condition: string): Promise<number> {
  const { rowCount } = await sql.query(
    `select from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and ${condition}`,
  )
  return rowCount ?? 0
}

/** Waits until at least this number of sessions wait for a lock. */
export const waitForLocks = (scene: Scene, count: number): Promise<void> =>
  waitFor(async () => (await countSessions(scene, "wait_event_type = 'Lock'")) >= count)

/** Waits until no transaction of a killed service is open. */
export const waitForRollback = (scene: Scene): Promise<void> =>
  waitFor(async () => (await countSessions(scene, 'xact_start is not null')) === 0)

/** Returns the statement that blocks all audit rows of a project. The audit row is the last write of a mutation. */
const blockAudit = (projectId: string): [string, unknown[]] => [
  'select from audit_chains where chain_id = $1 for update',
  [projectId],
]

/** Kills the service after all writes of a mutation except the audit row. The client receives no response. */
export async function killBeforeCommit(
  scene: Scene,
  projectId: string,
  victim: ServiceProcess,
  send: Send,
): Promise<void> {
  await whileLocked(scene.database.url, blockAudit(projectId), async () => {
    const response = send(victim).catch(() => null)
    await waitForLocks(scene, 1)
    await kill(victim)
    if ((await response) !== null) throw new Error('the service responded before it was killed')
  })
  await waitForRollback(scene)
}

/**
 * Kills the service after the commit of a mutation and before its response. The mutation must select `environment`,
 * which is read after the commit.
 */
export async function killAfterCommit(
  scene: Scene,
  projectId: string,
  victim: ServiceProcess,
  send: Send,
): Promise<void> {
  const { url } = scene.database
  const [response, locked] = await whileLocked(url, blockAudit(projectId), async (commit) => {
    const pending = send(victim).catch(() => null)
    await waitForLocks(scene, 1)
    // The database grants this lock when the mutation commits, before its next read.
    const lock: [string, unknown[]] = ['lock table environments in access exclusive mode', []]
    const killed = whileLocked(url, lock, async () => {
      await waitForLocks(scene, 1)
      await kill(victim)
    })
    await waitForLocks(scene, 2)
    await commit()
    return [pending, killed] as const
  })
  await locked
  if ((await response) !== null) throw new Error('the service responded before it was killed')
  await waitForRollback(scene)
}
