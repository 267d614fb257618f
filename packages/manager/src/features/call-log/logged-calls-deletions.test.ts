// These tests cover deletions that logged calls prevent, and first calls that race with a deletion.
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { type Caller, seedCall, seedCaller, seedCalls, seedPair } from '../../../test/kit/esb-calls.ts'
import type { GraphqlAnswer } from '@manager/harness/graphql.ts'
import { expectRefused } from '../../../test/kit/members.ts'
import { type SeededProject, seedProject, seedUser } from '@manager/harness/seed.ts'

let service: TestApp
let admin: Person
let projects = 0

beforeAll(async () => {
  service = await startTestApp()
  admin = await seedUser(service.sql, 'admin', 'administrator')
})
afterAll(() => service.close())

type Seeded = Caller & { project: SeededProject }

/** Creates a project with one endpoint and one machine user, without logged calls. */
async function newCaller(): Promise<Seeded> {
  const project = await seedProject(service.sql, `p${++projects}`)
  return { project, ...(await seedCaller(service.sql, project)) }
}

const deletions = {
  deleteEndpoint: {
    table: 'endpoints',
    idOf: ({ endpointId }: Caller) => endpointId,
    refusal: (calls: string) =>
      `the endpoint has served ${calls} and cannot be deleted; disable it instead (updateEndpoint with enabled: false)`,
  },
  deleteApplication: {
    table: 'applications',
    idOf: ({ project }: Seeded) => project.applicationId,
    refusal: (calls: string) =>
      `the application cannot be deleted, because its endpoints have served ${calls}; disable the endpoints instead (updateEndpoint with enabled: false)`,
  },
  deleteMachineUser: {
    table: 'machine_users',
    idOf: ({ machineUserId }: Caller) => machineUserId,
    refusal: (calls: string) =>
      `the machine user has served ${calls} and cannot be deleted; disable it instead (updateMachineUser with enabled: false)`,
  },
} as const
type Deletion = keyof typeof deletions

const remove = (deletion: Deletion, id: string): Promise<GraphqlAnswer> =>
  service.query(admin, `mutation($id: ID!) { done: ${deletion}(id: $id) }`, { id })
const idIn = (deletion: Deletion, caller: Seeded): string => deletions[deletion].idOf(caller)
const isThere = async (deletion: Deletion, id: string): Promise<boolean> =>
  (await service.sql.query(`select from ${deletions[deletion].table} where id = $1`, [id])).rowCount === 1
const pairsOf = async ({ endpointId }: Caller): Promise<number | null> =>
  (await service.sql.query('select from esb_callers where endpoint_id = $1', [endpointId])).rowCount

async function expectDeleted(deletion: Deletion, id: string, answer: GraphqlAnswer): Promise<void> {
  expect([answer.error, answer.data]).toEqual([null, { done: true }])
  expect(await isThere(deletion, id)).toBe(false)
}

async function expectKept(
  deletion: Deletion,
  id: string,
  answer: GraphqlAnswer,
  calls: string,
): Promise<void> {
  expectRefused(answer, 'conflict')
  expect(answer.error).toBe(deletions[deletion].refusal(calls))
  expect(await isThere(deletion, id)).toBe(true)
  const { rowCount } = await service.sql.query(
    "select from audit_logs where entity_id = $1 and action = 'delete'",
    [id],
  )
  expect(rowCount).toBe(0)
}

const names = Object.keys(deletions) as Deletion[]

describe('a deletion', () => {
  test.each(names)(
    '[esb-audit.delete-endpoint] [esb-audit.delete-application] [esb-audit.delete-machine-user] %s is refused once calls are logged, naming their number and what to do instead',
    async (deletion) => {
      const caller = await newCaller()
      const [id, other] = [idIn(deletion, caller), await newCaller()]
      await seedCall(service.sql, other)
      for (const [more, calls] of [
        [1, '1 logged ESB request'],
        [1, '2 logged ESB requests'],
        [1_232, '1234 logged ESB requests'],
      ] as const) {
        await seedCalls(service.sql, caller, { count: more })
        await expectKept(deletion, id, await remove(deletion, id), calls)
      }
      // Calls are counted for both the endpoint and the machine user, including calls of last month.
      const { endpointId, machineUserId } = await seedCaller(service.sql, caller.project)
      const lastMonth = new Date(new Date().setUTCDate(0)).toISOString()
      await seedCall(service.sql, { ...caller, machineUserId }, { createdAt: lastMonth })
      await seedCall(service.sql, { ...caller, endpointId }, { createdAt: lastMonth })
      const all = deletion === 'deleteApplication' ? 1_236 : 1_235
      await expectKept(deletion, id, await remove(deletion, id), `${all} logged ESB requests`)
    },
  )

  test.each(names)('%s names at most 100000 calls', async (deletion) => {
    const caller = await newCaller()
    const id = idIn(deletion, caller)
    await seedCalls(service.sql, caller, { count: 100_000 })
    await expectKept(deletion, id, await remove(deletion, id), '100000 logged ESB requests')
    await seedCall(service.sql, caller)
    await expectKept(deletion, id, await remove(deletion, id), 'more than 100000 logged ESB requests')
  })

  test.each(names)('%s passes without logged calls, and when none of them is left', async (deletion) => {
    const [fresh, former] = [await newCaller(), await newCaller()]
    await expectDeleted(deletion, idIn(deletion, fresh), await remove(deletion, idIn(deletion, fresh)))
    await seedPair(service.sql, former)
    await expectDeleted(deletion, idIn(deletion, former), await remove(deletion, idIn(deletion, former)))
    expect(await pairsOf(former)).toBe(0)
  })

  test.each(names)(
    '[esb-audit.delete-endpoint] [esb-audit.delete-application] [esb-audit.delete-machine-user] %s waits for a first call under way, and is refused when that is logged',
    async (deletion) => {
      for (const end of ['commit', 'rollback'] as const) {
        const caller = await newCaller()
        const id = idIn(deletion, caller)
        const call = await service.sql.connect()
        await call.query('begin')
        await seedCall(call, caller)
        const answer = remove(deletion, id)
        await untilWaiting(1)
        await call.query(end)
        call.release()
        if (end === 'commit') await expectKept(deletion, id, await answer, '1 logged ESB request')
        else await expectDeleted(deletion, id, await answer)
      }
    },
  )

  test.each(names)('%s under way is waited for by a first call, which then fails', async (deletion) => {
    const caller = await newCaller()
    const id = idIn(deletion, caller)
    // The deletion writes its audit row last, and must wait for the head row of the project's audit chain.
    const chain = new Client({ connectionString: service.database.url })
    await chain.connect()
    await chain.query('begin')
    await chain.query("insert into audit_chains (chain_id, seq, hash) values ($1, 0, '\\x00')", [
      caller.projectId,
    ])
    const answer = remove(deletion, id)
    await untilWaiting(1)
    const call = seedCall(service.sql, caller)
    // The rejection is handled immediately, because the call can fail before it is awaited.
    const failure = call.then(
      () => null,
      (error: unknown) => error,
    )
    await untilWaiting(2)
    await chain.query('rollback')
    await chain.end()
    await expectDeleted(deletion, id, await answer)
    expect(await failure).toMatchObject({ code: '23503' })
    expect(await pairsOf(caller)).toBe(0)
  })
})

/** Waits until the given number of sessions wait for locks. */
async function untilWaiting(sessions: number): Promise<void> {
  for (;;) {
    const { rowCount } = await service.sql.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    )
    if (rowCount === sessions) return
  }
}
