// These tests find logged calls by the X-Request-Id of the response. logged-calls-plans.test.ts covers the query plans.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { type Caller, esbAuditLogsOf, seedCall, seedCaller, seedCalls } from '../../../test/kit/esb-calls.ts'
import { expectRefused } from '../../../test/kit/members.ts'
import { useProject } from '../../../test/kit/project.ts'
import { type SeededProject, seedProject, seedUser } from '@manager/harness/seed.ts'

const { service, admin } = useProject()

type Args = { endpointId?: string; limit?: number; requestId?: string | null }
const idsOf = async (of: SeededProject, args: Args): Promise<string[]> => {
  const { data } = await esbAuditLogsOf(service, admin, { applicationId: of.applicationId, ...args })
  return (data.calls as { id: string }[]).map(({ id }) => id)
}
const ago = (seconds: number): string => new Date(Date.now() - seconds * 1_000).toISOString()

test('a request id finds its calls, newest first, of all endpoints or of one, and as many as the limit says', async () => {
  const own = await seedProject(service.sql, 'found')
  const [first, second] = [await seedCaller(service.sql, own), await seedCaller(service.sql, own)]
  const crossed: Caller = { ...first, machineUserId: second.machineUserId }
  const ids: string[] = []
  for (const [index, caller] of [first, second, crossed, first, second, crossed].entries()) {
    ids.unshift(await seedCall(service.sql, caller, { createdAt: ago(60 - index), requestId: 'A.b_c-1' }))
    await seedCall(service.sql, caller, { createdAt: ago(60 - index), requestId: 'a.b_c-1' })
    await seedCall(service.sql, caller, { createdAt: ago(60 - index) })
  }
  expect(await idsOf(own, { requestId: 'A.b_c-1' })).toEqual(ids)
  expect(await idsOf(own, { requestId: 'A.b_c-1', limit: 4 })).toEqual(ids.slice(0, 4))
  const { endpointId } = first
  const ofFirst = ids.filter((_, index) => index % 3 !== 1)
  expect(await idsOf(own, { requestId: 'A.b_c-1', endpointId })).toEqual(ofFirst)
  expect(await idsOf(own, { requestId: 'A.b_c-1', endpointId, limit: 2 })).toEqual(ofFirst.slice(0, 2))
  expect(await idsOf(own, { requestId: 'unknown' })).toEqual([])
  // A null request id disables the filter.
  expect(await idsOf(own, { requestId: null })).toHaveLength(18)
})

test('calls of one moment with one request id come in one order, also across months', async () => {
  const own = await seedProject(service.sql, 'moment')
  const callers = [await seedCaller(service.sql, own), await seedCaller(service.sql, own)]
  const now = new Date()
  const border = Date.UTC(now.getUTCFullYear(), now.getUTCMonth())
  const expected: string[] = []
  for (const time of [border - 1, border]) {
    const made: string[] = []
    for (const caller of [...callers, ...callers, ...callers])
      made.push(
        await seedCall(service.sql, caller, { createdAt: new Date(time).toISOString(), requestId: 'r' }),
      )
    expected.unshift(...made.toSorted().toReversed())
  }
  for (let limit = 1; limit <= 12; limit++)
    expect(await idsOf(own, { requestId: 'r', limit })).toEqual(expected.slice(0, limit))
})

test('calls of other applications and projects with the same request id are not found', async () => {
  const [own, other] = [await seedProject(service.sql, 'own'), await seedProject(service.sql, 'other')]
  const sibling = { ...own, applicationId: randomUUID() }
  await service.sql.query(
    "insert into applications (id, project_id, name, slug) values ($1, $2, 'sibling', 'sibling')",
    [sibling.applicationId, own.id],
  )
  const found: string[] = []
  const callers: Caller[] = []
  for (const one of [own, other, sibling]) {
    const caller = await seedCaller(service.sql, one)
    callers.push(caller)
    found.push(await seedCall(service.sql, caller, { requestId: 'shared' }))
  }
  expect(await idsOf(own, { requestId: 'shared' })).toEqual(found.slice(0, 1))
  expect(await idsOf(other, { requestId: 'shared' })).toEqual(found.slice(1, 2))
  expect(await idsOf(sibling, { requestId: 'shared' })).toEqual(found.slice(2))
  const ask = (caller: typeof admin, endpointId?: string) =>
    esbAuditLogsOf(service, caller, { applicationId: own.applicationId, endpointId, requestId: 'shared' })
  for (const { endpointId } of callers.slice(1))
    expect((await ask(admin, endpointId)).error).toBe('endpoint not found')
  expectRefused(await ask(await seedUser(service.sql, 'stranger')), 'not_found')
})

test('a call shows its request id; one that was logged without has none', async () => {
  const own = await seedProject(service.sql, 'shown')
  const caller = await seedCaller(service.sql, own)
  await seedCalls(service.sql, caller, { count: 1, until: new Date(ago(5)) })
  await seedCall(service.sql, caller, { requestId: 'x'.repeat(64) })
  const { applicationId } = own
  const { data } = await esbAuditLogsOf(service, admin, { applicationId }, 'requestId')
  expect(data.calls).toEqual([{ requestId: 'x'.repeat(64) }, { requestId: null }])
})

test('what is no request id is a bad_request that says what one is', async () => {
  const { applicationId } = await seedProject(service.sql, 'refused')
  for (const requestId of ['', 'a b', 'a\n', 'ü', 'a/b', 'x'.repeat(65), '\0', "'"]) {
    const answer = await esbAuditLogsOf(service, admin, { applicationId, requestId })
    expectRefused(answer, 'bad_request')
    expect(answer.error).toBe(
      'requestId must be the X-Request-Id of a response: 1 to 64 letters, digits, dots, underscores or hyphens',
    )
  }
})
