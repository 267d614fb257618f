// Tests how the commands for calls and runs find an object without an id.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { register } from '@manager/harness/backends.ts'
import { seedMachineUser } from '@manager/harness/seed.ts'
import { seedCall, seedCaller } from '../../manager/test/kit/esb-calls.ts'
import { type Upstream, startUpstream } from '../../manager/test/kit/upstream.ts'
import { useSvc } from './kit/svc.ts'

const { service, project, svc, json } = useSvc({
  env: { SVC_CALLBACKS_ALLOWED_CIDRS: '127.0.0.0/8', SVC_TRIGGERS_MANUAL_RUNS_PER_MINUTE: '10000' },
})
const app = ['-p', 'main', '-a', 'main-app']
const backend = {} as Upstream
beforeAll(async () => {
  Object.assign(backend, await startUpstream())
  const { token } = await seedMachineUser(service.sql, project)
  const body = { application_id: project.applicationId, callback_url: `${backend.url}/callbacks` }
  expect((await register(service, token, body)).status).toBe(201)
  await svc(['triggers', 'create', 'nightly', '--cron-expression', '@yearly', ...app])
})
afterAll(() => backend.close())

const endRuns = (outcome: string) =>
  service.sql.query("update trigger_runs set outcome = $1, finished_at = now() where outcome = 'pending'", [
    outcome,
  ])

test('runs retry repeats the newest run that did not succeed, in its environment', async () => {
  const retry = (...args: string[]) => svc(['runs', 'retry', 'nightly', ...app, ...args])
  const none = await retry()
  expect([none.code, none.err]).toEqual([
    4,
    'svc: None of the newest runs of trigger nightly failed or was skipped. See: svc runs list nightly\n',
  ])
  const started = (await json(['runs', 'start', 'nightly', ...app, '-e', 'dev'])) as { id: string }
  const pending = await retry('--run', started.id)
  expect([pending.code, pending.err]).toEqual([
    1,
    expect.stringContaining('The Manager rejected the request: '),
  ])
  await endRuns('failed')
  expect((await retry()).out).toMatch(
    /^Started a retry of trigger nightly in dev at .*svc runs list nightly\n$/,
  )
  expect(await json(['runs', 'list', 'nightly', ...app, '--outcome', 'pending'])).toMatchObject([
    { retryOf: started.id, isManual: true, environment: { name: 'dev' } },
  ])
  await endRuns('delivered')
  expect(await json(['runs', 'list', 'nightly', ...app, '-e', 'qas'])).toEqual([])
  expect((await svc(['runs', 'retry', 'nightly', ...app, '--run', 'x'])).err).toBe(
    'svc: x is not the id of a run.\n',
  )
})

test('runs start with the same request key starts one run', async () => {
  const start = () => json(['runs', 'start', 'nightly', ...app, '-e', 'dev', '--request-key', 'once'])
  expect(await start()).toEqual(await start())
})

test('triggers next shows the schedule of a trigger, or tests another one', async () => {
  const next = (await json(['triggers', 'next', 'nightly', ...app])) as { firesAt: string }[]
  expect(next).toHaveLength(10)
  expect(new Set(next.map(({ firesAt }) => firesAt.slice(4, 16)))).toEqual(new Set(['-01-01T00:00']))
  expect((await svc(['triggers', 'next', '--cron-expression', 'never'])).code).toBe(1)
  expect((await svc(['triggers', 'next'])).err).toBe('svc: Pass either a trigger or --cron-expression.\n')
})

test('calls get shows the newest call that matches, with its bodies', async () => {
  const caller = await seedCaller(service.sql, project)
  const get = (...args: string[]) => svc(['calls', 'get', ...app, ...args])
  const none = await get()
  expect([none.code, none.err]).toEqual([4, 'svc: No call matches the options. See: svc calls list\n'])
  for (const [secondsAgo, responseStatus] of [
    [60, 200],
    [30, 503],
    [0, 200],
  ] as const) {
    const createdAt = new Date(Date.now() - 1_000 * secondsAgo).toISOString()
    await seedCall(service.sql, caller, { createdAt, responseStatus, requestId: randomUUID() })
  }
  const call = JSON.parse((await get('--status', '5xx', '--json')).out) as Record<string, unknown>
  expect(call).toMatchObject({ responseStatus: 503, requestBody: null })
  expect(JSON.parse((await get(String(call['requestId']), '--json')).out)).toEqual(call)
  expect((await get(randomUUID())).code).toBe(4)
  expect(await json(['calls', 'list', ...app, '--limit', '2'])).toHaveLength(2)
  const rest = await svc(['calls', 'list', ...app, '--limit', '2'])
  expect(rest.err).toBe('Showing the first 2 rows. Use --filter or --limit to see others.\n')
})
