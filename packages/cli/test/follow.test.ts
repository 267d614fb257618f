// Tests --follow of calls, runs and audit entries against a real service.
import { beforeAll, expect, test } from 'vitest'
import { type Caller, seedCall, seedCaller } from '../../manager/test/kit/esb-calls.ts'
import { seedTrigger } from '../../manager/test/kit/triggers.ts'
import { startFollower } from './kit/follower.ts'
import { startProxy } from './kit/proxy.ts'
import { useSvc } from './kit/svc.ts'

const { service, project, env, folder, svc, proxy } = useSvc()
const at = ['-p', 'main', '-a', 'main-app']
let caller: Caller
beforeAll(async () => {
  caller = await seedCaller(service.sql, project)
})

const follow = (args: readonly string[], more: Record<string, unknown> = {}) =>
  startFollower(folder.path, args, { env, ...more })
const idsOf = (lines: readonly string[]): string[] =>
  lines.map((line) => (JSON.parse(line) as { id: string }).id)
const secondsAgo = (seconds: number): string => new Date(Date.now() - seconds * 1_000).toISOString()

test('calls list --follow prints the newest calls and then new calls, as lines of JSON', async () => {
  const old = [await seedCall(service.sql, caller, { createdAt: secondsAgo(20) })]
  old.push(await seedCall(service.sql, caller, { createdAt: secondsAgo(10) }))
  const follower = follow(['calls', 'list', ...at, '--follow', '--json', '--limit', '2'])
  expect(idsOf(await follower.waitForLines(2))).toEqual(old)
  const first = await seedCall(service.sql, caller)
  const late = await seedCall(service.sql, caller, { createdAt: secondsAgo(15) })
  const lines = await follower.waitForLines(4)
  expect(idsOf(lines).toSorted()).toEqual([...old, first, late].toSorted())
  const { code, err } = await follower.stop()
  expect([code, err]).toEqual([130, 'svc: Interrupted.\n'])
})

test('a call is printed when it ends', async () => {
  const open = await seedCall(service.sql, caller, { responseStatus: null, durationMs: null, path: '/open' })
  const follower = follow(['calls', 'list', ...at, '--follow', '--json', '--filter', 'path=/open'])
  const other = await seedCall(service.sql, caller, { path: '/open/other' })
  expect(idsOf(await follower.waitForLines(1))).toEqual([other])
  await service.sql.query('update esb_audit_logs set response_status = 201, duration_ms = 5 where id = $1', [
    open,
  ])
  const lines = await follower.waitForLines(2)
  expect(JSON.parse(lines[1] ?? '')).toMatchObject({ id: open, responseStatus: 201, durationMs: 5 })
  await follower.stop()
})

test('--status selects calls by their final status', async () => {
  const follower = follow(['calls', 'list', ...at, '--follow', '--json', '--status', '5xx', '--limit', '1'])
  await seedCall(service.sql, caller, { responseStatus: 200 })
  const failed = await seedCall(service.sql, caller, { responseStatus: 503 })
  expect(idsOf(await follower.waitForLines(1))).toEqual([failed])
  await follower.stop()
  const { code, err } = await svc(['calls', 'list', ...at, '--follow', '--status', 'bad'])
  expect([code, err]).toEqual([2, expect.stringContaining('bad is not a status.')])
})

test('a table has one header and aligned lines', async () => {
  const follower = follow(['calls', 'list', ...at, '--follow', '--limit', '1'])
  await follower.waitForLines(2)
  await seedCall(service.sql, caller, { path: '/table\u202e' })
  const lines = await follower.waitForLines(3)
  expect(lines[0]).toMatch(/^TIMESTAMP +ENDPOINT +MACHINE USER +METHOD +PATH/)
  expect(lines.filter((line) => line.startsWith('TIMESTAMP'))).toHaveLength(1)
  expect(lines[2]).toContain('/table\\u202e')
  expect(lines[2]?.indexOf('POST')).toBe(lines[1]?.indexOf('POST'))
  await follower.stop()
})

test('a lost connection is reported once and repeated until it works', async () => {
  let isCut = false
  const shaky = await startProxy(service.url, () => (isCut ? 503 : undefined))
  try {
    const follower = follow(['calls', 'list', ...at, '--follow', '--json', '--limit', '1'], {
      env: { ...env, SVC_URL: shaky.url },
    })
    await follower.waitForLines(1)
    isCut = true
    await expect.poll(() => follower.errors()).toContain('The connection is lost: ')
    const missed = await seedCall(service.sql, caller)
    isCut = false
    const lines = await follower.waitForLines(2)
    expect(idsOf(lines)[1]).toBe(missed)
    await expect.poll(() => follower.errors()).toContain('Connected again.')
    expect(follower.errors().match(/The connection is lost/g)).toHaveLength(1)
    await follower.stop()
  } finally {
    await shaky.close()
  }
})

test('a revoked token ends the command', async () => {
  const { code, err } = await svc(['calls', 'list', ...at, '--follow'], {
    env: { ...env, SVC_TOKEN: 'pat_aaaaaaaa_b' },
  })
  expect([code, err]).toEqual([3, expect.stringContaining('svc login')])
})

type RunValues = { scheduledAt: string; outcome?: string }
async function seedRun(
  triggerId: string,
  { scheduledAt, outcome = 'delivered' }: RunValues,
): Promise<string> {
  const { rows } = await service.sql.query<{ id: string }>(
    `insert into trigger_runs (id, scheduled_at, project_id, application_id, trigger_id, environment_id, trigger_name,
       cron_expression, run_key, outcome)
     values (gen_random_uuid(), $1, $2, $3, $4, $5, 'seeded', '* * * * *', '', $6) returning id`,
    [scheduledAt, project.id, project.applicationId, triggerId, project.environmentId, outcome],
  )
  return rows[0]?.id ?? ''
}

test('runs list --follow prints a run when it ends, and missed runs with an old planned time', async () => {
  const trigger = await seedTrigger(service.sql, { id: project.id, applicationId: project.applicationId })
  const ended = await seedRun(trigger, { scheduledAt: secondsAgo(60) })
  const follower = follow(['runs', 'list', trigger, ...at, '--follow', '--json'])
  expect(idsOf(await follower.waitForLines(1))).toEqual([ended])
  const pending = await seedRun(trigger, { scheduledAt: secondsAgo(2), outcome: 'pending' })
  // After an outage, the Manager records runs whose planned times are hours ago.
  const missed = [
    await seedRun(trigger, { scheduledAt: secondsAgo(4 * 3_600), outcome: 'missed' }),
    await seedRun(trigger, { scheduledAt: secondsAgo(3 * 3_600), outcome: 'missed' }),
  ]
  const fired = await seedRun(trigger, { scheduledAt: secondsAgo(1) })
  expect(idsOf(await follower.waitForLines(4)).toSorted()).toEqual([ended, ...missed, fired].toSorted())
  await service.sql.query("update trigger_runs set outcome = 'failed' where id = $1", [pending])
  expect(JSON.parse((await follower.waitForLines(5))[4] ?? '')).toMatchObject({
    id: pending,
    outcome: 'failed',
  })
  await follower.stop()
})

test('audit list --follow prints new entries', async () => {
  const follower = follow(['audit', 'list', '-p', 'main', '--follow', '--filter', 'entityType=tenant'])
  expect((await svc(['tenants', 'create', 'followed', '--name', 'Followed', '-p', 'main'])).code).toBe(0)
  const lines = await follower.waitForLines(2)
  expect(lines[0]).toMatch(/^CREATED AT +ENTITY TYPE/)
  expect(lines[1]).toMatch(/ tenant +create .* admin@example\.com$/)
  await follower.stop()
})

test('options that make no sense with new rows are rejected', async () => {
  for (const option of [['--sort', 'path'], ['--to', '2026-11-01'], ['--watch']]) {
    const { code, err } = await svc(['calls', 'list', ...at, '--follow', ...option])
    expect([code, err]).toEqual([2, expect.stringContaining("option '--follow' cannot be used with")])
  }
  expect(proxy.requests.length).toBeGreaterThan(0)
})
