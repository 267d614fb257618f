// These tests cover filtering, ordering and paging of logged calls. logged-calls-plans.test.ts covers the query plans.
import { expect, test } from 'vitest'
import { type Caller, esbAuditLogsOf, seedCall, seedCaller, seedCalls } from '../../../test/kit/esb-calls.ts'
import { expectRefused } from '../../../test/kit/members.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedProject } from '@manager/harness/seed.ts'

const { service, admin } = useProject()

type Args = Omit<Parameters<typeof esbAuditLogsOf>[2], 'applicationId'>
const ask = (applicationId: string, args: Args, selected = 'id') =>
  esbAuditLogsOf(service, admin, { applicationId, ...args }, selected)
const ago = (seconds: number): string => new Date(Date.now() - seconds * 1_000).toISOString()

test('[esb-audit.query] [lists.arguments] calls are filtered by what they show', async () => {
  const own = await seedProject(service.sql, 'filtered')
  const [first, second] = [await seedCaller(service.sql, own), await seedCaller(service.sql, own)]
  const crossed: Caller = { ...first, machineUserId: second.machineUserId }
  const createdAt = '2026-01-01T00:00:00.000Z'
  const recent = ago(60)
  const plain = await seedCall(service.sql, first, { createdAt: recent })
  const failed = await seedCall(service.sql, second, {
    createdAt: ago(30),
    method: 'GET',
    path: '/Invoices/7',
    targetUrl: 'https://other.example/Invoices/7',
    responseStatus: 502,
    durationMs: 30_000,
    transformed: true,
    failure: 'the upstream did not respond in time',
    sourceIp: '2001:db8::7',
    requestId: 'r-1',
  })
  const other = await seedCall(service.sql, crossed, {
    createdAt: ago(10),
    responseStatus: null,
    durationMs: null,
  })
  const found = async (field: string, value: string): Promise<string[]> => {
    const { data, error } = await ask(own.applicationId, { filters: [{ field, value }] })
    expect([field, value, error]).toEqual([field, value, null])
    return (data.calls as { id: string }[]).map(({ id }) => id)
  }
  for (const [field, value] of [
    ['id', failed],
    ['requestId', 'r-1'],
    ['endpointId', second.endpointId],
    ['sourceIP', '2001:db8::7'],
    ['method', 'GET'],
    ['path', 'invoices'],
    ['targetURL', 'OTHER.example'],
    ['responseStatus', '502'],
    ['durationMs', '30000'],
    ['transformationApplied', 'true'],
    ['failure', 'did not respond'],
  ] as const)
    expect([field, await found(field, value)]).toEqual([field, [failed]])
  expect(await found('machineUserId', second.machineUserId)).toEqual([other, failed])
  expect(await found('endpointId', first.endpointId)).toEqual([other, plain])
  expect(await found('timestamp', recent)).toEqual([plain])
  expect(await found('timestamp', createdAt)).toEqual([])
  for (const [field, value] of [
    ['method', 'GE'],
    ['path', '%'],
    ['requestId', 'r-'],
    ['responseStatus', '50'],
  ] as const)
    expect([field, await found(field, value)]).toEqual([field, []])
  const both = [
    { field: 'method', value: 'POST' },
    { field: 'machineUserId', value: second.machineUserId },
  ]
  expect((await ask(own.applicationId, { filters: both })).data.calls).toEqual([{ id: other }])
  expect((await ask(own.applicationId, { filters: both, endpointId: second.endpointId })).data.calls).toEqual(
    [],
  )
})

test('[esb-audit.query] [lists.order] calls are ordered by time, status and others, with ties by id', async () => {
  const own = await seedProject(service.sql, 'ordered')
  const callers = [await seedCaller(service.sql, own), await seedCaller(service.sql, own)]
  for (let index = 0; index < 12; index++) {
    const [status, at] = [200 + (index % 3), ago(60 - (index % 4))]
    const caller = callers[index % 2] as Caller
    await seedCall(service.sql, caller, { createdAt: at, responseStatus: status })
  }
  const { rows } = await service.sql.query<{ id: string; response_status: number; created_at: Date }>(
    'select id, response_status, created_at from esb_audit_logs where endpoint_id = any($1)',
    [callers.map(({ endpointId }) => endpointId)],
  )
  const expected = (compare: (a: (typeof rows)[0], b: (typeof rows)[0]) => number): string[] =>
    rows.toSorted((a, b) => compare(a, b) || (a.id < b.id ? -1 : 1)).map(({ id }) => id)
  const ordered = async (...order: NonNullable<Args['order']>): Promise<string[]> => {
    const { data, error } = await ask(own.applicationId, { order })
    expect(error).toBeNull()
    return (data.calls as { id: string }[]).map(({ id }) => id)
  }
  expect(await ordered({ field: 'timestamp' })).toEqual(
    expected((a, b) => a.created_at.getTime() - b.created_at.getTime()),
  )
  expect(await ordered({ field: 'timestamp', direction: 'DESC' })).toEqual(
    expected((a, b) => b.created_at.getTime() - a.created_at.getTime()),
  )
  expect(
    await ordered({ field: 'responseStatus', direction: 'DESC' }, { field: 'timestamp', direction: 'ASC' }),
  ).toEqual(
    expected(
      (a, b) => b.response_status - a.response_status || a.created_at.getTime() - b.created_at.getTime(),
    ),
  )
})

test('[esb-audit.query] [lists.order-ties] pages neither repeat nor skip a call, whatever the order', async () => {
  const own = await seedProject(service.sql, 'paged')
  for (const count of [13, 9]) {
    const caller = await seedCaller(service.sql, own)
    await seedCalls(service.sql, caller, { count, everyMs: 1_000 })
  }
  for (const args of [{}, { order: [{ field: 'timestamp' }] }, { order: [{ field: 'responseStatus' }] }]) {
    const seen: string[] = []
    for (const offset of [0, 10, 20, 30]) {
      const { data } = await ask(own.applicationId, { ...args, pagination: { limit: 10, offset } })
      seen.push(...(data.calls as { id: string }[]).map(({ id }) => id))
    }
    expect([seen.length, new Set(seen).size]).toEqual([22, 22])
    expect(seen).toEqual((await ask(own.applicationId, args)).data.calls.map(({ id }: { id: string }) => id))
  }
})

test('[esb-audit.query] limit goes with filters and order, not with pagination', async () => {
  const own = await seedProject(service.sql, 'limited')
  await seedCalls(service.sql, await seedCaller(service.sql, own), { count: 5, everyMs: 1_000 })
  const order = [{ field: 'timestamp' as const }]
  const all = (await ask(own.applicationId, { order })).data.calls
  expect((await ask(own.applicationId, { order, limit: 3 })).data.calls).toEqual(all.slice(0, 3))
  const both = await ask(own.applicationId, { limit: 3, pagination: { limit: 10, offset: 0 } })
  expectRefused(both, 'bad_request')
  expect(both.error).toBe('pass either limit or pagination, not both')
  expect((await ask(own.applicationId, { filters: [{ field: 'responseBody', value: 'x' }] })).error).toBe(
    'unknown filter field "responseBody"; allowed: id, requestId, timestamp, endpointId, machineUserId, sourceIP, method, path, targetURL, responseStatus, durationMs, transformationApplied, failure, test',
  )
})
