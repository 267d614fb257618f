// These tests kill the service (SIGKILL) during test calls. Every committed start has one row in the call log and one audit
// row, and only committed calls reach the upstream. A repeated request is another call with its own rows.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { headersOf } from '@manager/harness/callers.ts'
import { postQuery } from '@manager/harness/graphql.ts'
import { type ServiceProcess, startProcess } from '@manager/harness/process.ts'
import { type Gateway, startGateway } from '../../../test/kit/gateway.ts'
import { kill, killBeforeCommit, waitForLocks, waitForRollback } from '../../../test/kit/kill-points.ts'
import { whileLocked } from '../../../test/kit/locks.ts'

let gateway: Gateway
let endpoint: { id: string }
let victims: ServiceProcess[]
beforeAll(async () => {
  gateway = await startGateway()
  endpoint = await gateway.endpoint({ url: gateway.upstream.url })
  const start = () => startProcess(gateway.service.database.url, { SVC_ROLES: 'api' })
  victims = await Promise.all([start(), start(), start()])
})
afterAll(async () => {
  for (const { child } of victims) child.kill('SIGKILL')
  await gateway.close()
})
let before: Records
beforeEach(async () => {
  gateway.upstream.reset()
  before = await countRecords()
})

const nextVictim = (): ServiceProcess => victims.pop() as ServiceProcess
const send = ({ url }: { url: string }) =>
  postQuery(
    url,
    headersOf(gateway.admin),
    `mutation($endpointId: ID!, $input: CreateEndpointTestCallInput!) {
      call: testEndpoint(endpointId: $endpointId, input: $input) { responseStatus } }`,
    { endpointId: endpoint.id, input: { machineUserId: gateway.machine.id, method: 'GET' } },
  )

type Records = { started: number; ended: number; audited: number; unmatched: number }
/** Counts logged test calls and their audit rows; `unmatched` rows have no counterpart with the same request id. */
async function countRecords(): Promise<Records> {
  const { rows } = await gateway.service.sql.query<Records>(
    `select count(l.id)::int as started, count(l.duration_ms)::int as ended, count(a.request_id)::int as audited,
       count(*) filter (where l.id is null or a.request_id is null)::int as unmatched
     from (select * from esb_audit_logs where is_test) l
     full join (
       select changes->'requestId'->>'after' as request_id from audit_logs where action = 'test'
     ) a using (request_id)`,
  )
  return rows[0] as Records
}

/** Counts the records since the start of the test. */
async function countAdded(): Promise<Records> {
  const { started, ended, audited, unmatched } = await countRecords()
  return {
    started: started - before.started,
    ended: ended - before.ended,
    audited: audited - before.audited,
    unmatched,
  }
}

/** Repeats the request, and expects another call with its own records. */
async function expectSecondCall({ open }: { open: number }): Promise<void> {
  gateway.upstream.reset()
  expect((await send(gateway.service)).data.call.responseStatus).toBe(200)
  expect(gateway.upstream.received).toHaveLength(1)
  const count = open + 1
  expect(await countAdded()).toEqual({ started: count, ended: 1, audited: count, unmatched: 0 })
}

test('a kill before the commit leaves no record, and the upstream receives nothing', async () => {
  await killBeforeCommit(gateway.service, gateway.project.id, nextVictim(), send)
  expect(gateway.upstream.received).toEqual([])
  expect(await countAdded()).toEqual({ started: 0, ended: 0, audited: 0, unmatched: 0 })
  await expectSecondCall({ open: 0 })
}, 10_000)

test('a kill while the upstream works leaves a call without an end', async () => {
  const victim = nextVictim()
  gateway.upstream.answer(() => undefined)
  const response = send(victim).catch(() => null)
  await expect.poll(() => gateway.upstream.received.length).toBe(1)
  await kill(victim)
  expect(await response).toBeNull()
  expect(await countAdded()).toEqual({ started: 1, ended: 0, audited: 1, unmatched: 0 })
  await expectSecondCall({ open: 1 })
}, 10_000)

test('a kill while the end is logged keeps the start and its audit row, and the person receives no response', async () => {
  const victim = nextVictim()
  let respond = (): void => undefined
  gateway.upstream.answer((_request, upstreamResponse) => {
    respond = () => upstreamResponse.end('{}')
  })
  const response = send(victim).catch(() => null)
  await expect.poll(() => gateway.upstream.received.length).toBe(1)
  await whileLocked(
    gateway.service.database.url,
    ['select from esb_audit_logs where is_test for update', []],
    async () => {
      respond()
      await waitForLocks(gateway.service, 1)
      await kill(victim)
    },
  )
  expect(await response).toBeNull()
  await waitForRollback(gateway.service)
  const { ended, ...records } = await countAdded()
  // The database may have finished the statement that was waiting for the lock.
  expect(ended).toBeOneOf([0, 1])
  expect(records).toEqual({ started: 1, audited: 1, unmatched: 0 })
}, 10_000)
