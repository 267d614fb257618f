// Three processes on one database. Credentials are ended on the first while the other two are used at 3 x 500 requests a
// second: no request that starts after the answer may be accepted.
import { Pool } from 'pg'
import { describe, expect, test } from 'vitest'
import { createScratchDatabase } from '../kit/databases.ts'
import {
  type Live,
  allButOne,
  createLiveWorld,
  endCredential,
  expireSoon,
  hammer,
  warmCredentials,
} from '../kit/live-credentials.ts'
import { loadSize } from '../kit/load-sizes.ts'
import { type ServiceProcess, startProcess } from '../kit/process.ts'
import { type Ending, acceptedAfterEnd, refusedBeforeEnd, startedAfterEnd } from '../kit/revocation.ts'

// The planted cache is found in two.
const runSeconds = loadSize(10, 20)
const plantedCache = new URL('../planted/cached-reads.ts', import.meta.url).pathname
// One client fails all the time here; the throttles are not the question.
const env = { SVC_THROTTLES_VALIDATE_FAILURES: '100000', SVC_THROTTLES_MACHINE_FAILURES: '100000' }

/** Three processes, and a world for their credentials. */
async function prepare(databaseUrl: string, program?: string) {
  const processes: ServiceProcess[] = await Promise.all(
    [undefined, program, program].map((file) => startProcess(databaseUrl, env, { program: file })),
  )
  const sql = new Pool({ connectionString: databaseUrl, max: 1 })
  const made = await createLiveWorld(
    sql,
    processes.map(({ url }) => url),
  )
  const stop = async (): Promise<void> => {
    for (const { child } of processes) child.kill('SIGKILL')
    await sql.end()
  }
  return { ...made, sql, stop }
}

describe('the check itself', () => {
  test('finds a use that was accepted after the end, and one that was refused before it', () => {
    const endings = new Map([['a', { askedAt: 8, answeredAt: 10 }]])
    const late = { credential: 'a', startedAt: 11, answeredAt: 12, accepted: true }
    const early = { credential: 'a', startedAt: 1, answeredAt: 7, accepted: false }
    const meanwhile = { ...early, answeredAt: 9 }
    const uses = [late, { ...late, startedAt: 10 }, { ...late, accepted: false }, early, meanwhile]
    expect(acceptedAfterEnd(uses, endings)).toEqual([late])
    expect(refusedBeforeEnd(uses, endings)).toEqual([early])
    expect(refusedBeforeEnd([{ ...early, credential: 'b' }], endings)).toHaveLength(1)
  })

  test('finds a cache of 50 ms that is planted in front of the lookups', { timeout: 120_000 }, async () => {
    const database = await createScratchDatabase()
    const { world, sql, addMachine, stop } = await prepare(database.url, plantedCache)
    // By hand, so that the answer comes right after the commit even when the machine is busy.
    const disable = async ({ id }: Live): Promise<Ending> => {
      await new Promise((resolve) => setTimeout(resolve, 500))
      const askedAt = performance.now()
      await sql.query('update machine_users set enabled = false where id = $1', [id])
      return { askedAt, answeredAt: performance.now() }
    }
    let [stale, all] = [0, 0]
    // One credential at a time, so that every process has it in its cache when it ends.
    for (let i = 0; i < 10 && stale === 0; i++) {
      world.live = []
      await addMachine()
      const { uses, endings } = await hammer(world, world.live, { seconds: 2, endOne: disable })
      stale += acceptedAfterEnd(uses, endings).length
      all += uses.length
    }
    await stop()
    await database.drop()
    process.stdout.write(`planted 50 ms cache: accepted_after=${stale} of ${all} uses\n`)
    expect(stale).toBeGreaterThan(0)
  })
})

describe('revocation', () => {
  test(
    '[access-tokens.immediate] [machine-users.rotate] [machine-users.disable] revoked, deleted, expired, rotated and disabled credentials are refused by every process at once',
    { timeout: 600_000 },
    async () => {
      const database = await createScratchDatabase()
      const { world, sql, addToken, addMachine, stop } = await prepare(database.url)
      for (let i = 0; i < 12; i++) await addToken(i % 2 === 0 ? 'query' : 'validate')
      for (let i = 0; i < 60; i++) await addMachine()
      await warmCredentials(world)
      // These four expire in the course of the run instead.
      const expiring = world.live.filter(({ kind }) => kind !== 'machine').slice(-4)
      const toEnd = allButOne(world).filter((live) => !expiring.includes(live))
      const expiries = await expireSoon(sql, expiring)
      const { uses, endings } = await hammer(
        world,
        toEnd.toSorted(() => Math.random() - 0.5),
        { seconds: runSeconds, endOne: (live) => endCredential(world, live), fewest: 30 },
      )
      for (const [secret, end] of expiries) endings.set(secret, end)
      await stop()
      await database.drop()
      const late = startedAfterEnd(uses, endings)
      const stale = acceptedAfterEnd(uses, endings)
      process.stdout.write(
        `revocation: accepted_after=${stale.length} of ${late.length} started after ${endings.size} endings, ${uses.length} uses\n`,
      )
      expect(stale).toEqual([])
      expect(refusedBeforeEnd(uses, endings)).toEqual([])
      expect(uses.length).toBeGreaterThan(1_250 * runSeconds)
      expect(endings.size).toBeGreaterThan(30)
      for (const secret of endings.keys())
        expect(late.some(({ credential }) => credential === secret)).toBe(true)
    },
  )
})
