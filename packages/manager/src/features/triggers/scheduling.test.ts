// These tests cover the runs that a tick plans, their number, and their delivery.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { seedProject } from '@manager/harness/seed.ts'
import { type TriggerScene, startTriggerScene, thisMinute } from '../../../test/kit/callbacks.ts'

let scene: TriggerScene
beforeAll(async () => {
  scene = await startTriggerScene()
})
afterAll(() => scene.close())
afterEach(async () => {
  scene.backend.reset()
  for (const table of ['triggers', 'trigger_runs', 'queued_jobs', 'backend_registrations'])
    await scene.service.sql.query(`delete from ${table}`)
})

const minutesAgo = (minutes: number): Date => new Date(thisMinute().getTime() - minutes * 60_000)
const outcomes = async (id: string): Promise<[string, string][]> =>
  (await scene.runsOf(id)).map(({ scheduled_at, outcome }) => [scheduled_at.toISOString(), outcome])
const nextFireOf = async (id: string): Promise<Date> =>
  (await scene.service.sql.query('select next_fire_at from triggers where id = $1', [id])).rows[0]
    .next_fire_at

test('[triggers.once-per-deployment] a firing is planned once for each trigger, environment and instant, whoever ticks', async () => {
  const replica: TestApp = await startTestApp({ database: scene.service.database })
  try {
    const qas = (await scene.service.sql.query(`select id from environments where name = 'qas'`)).rows[0].id
    const places = [scene.project, { ...scene.project, environmentId: qas as string }]
    for (const place of places) for (const _ of [1, 2]) await scene.register(undefined, place)
    const triggers = await Promise.all(Array.from({ length: 20 }, () => scene.createTrigger()))
    for (const { id } of triggers) await scene.makeDue(id)
    const tick = async ({ schedules }: TestApp['app']): Promise<void> =>
      schedules.find(({ name }) => name === 'trigger-scheduling')?.run()
    await Promise.all([scene.service, replica, scene.service, replica].map(({ app }) => tick(app)))
    const planned = thisMinute().toISOString()
    for (const { id } of triggers) {
      const runs = await scene.runsOf(id)
      expect(runs.filter(({ scheduled_at }) => scheduled_at.toISOString() === planned)).toHaveLength(2)
      expect(new Set(runs.map(({ environment_id }) => environment_id))).toEqual(
        new Set(places.map(({ environmentId }) => environmentId)),
      )
      expect(Number(await nextFireOf(id))).toBeGreaterThan(Date.now() - 60_000)
    }
    // The same instant is planned again, as after a crash between two ticks. The constraint prevents duplicates.
    for (const { id } of triggers) await scene.makeDue(id)
    await scene.plan()
    const { rows } = await scene.service.sql.query(
      'select count(*)::int as runs from trigger_runs where scheduled_at = $1',
      [planned],
    )
    expect(rows).toEqual([{ runs: 40 }])
    await scene.deliver()
    const ids = scene.backend.received.map(({ headers }) => headers['webhook-id'])
    expect(new Set(ids).size).toBe(ids.length)
  } finally {
    await replica.close()
  }
})

test('the ids of runs have the time at which the database planned them, by which they are counted', async () => {
  await scene.register()
  const { id } = await scene.createTrigger()
  await scene.makeDue(id, minutesAgo(5))
  await scene.plan()
  const { rows } = await scene.service.sql.query<{ runs: number; apart: number }>(
    `select count(*)::int as runs, max(abs(
       ('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint - extract(epoch from created_at) * 1000
     ))::float as apart from trigger_runs`,
  )
  expect(rows[0]?.runs).toBeGreaterThan(4)
  // The database rounds to milliseconds, and the id truncates.
  expect(rows[0]?.apart).toBeLessThanOrEqual(1)
})

test('[triggers.no-backend] an environment without registration records nothing; one with registrations but none live records skipped_no_backend', async () => {
  const { id } = await scene.createTrigger()
  await scene.makeDue(id)
  await scene.plan()
  expect(await outcomes(id)).toEqual([])
  const registration = await scene.register()
  await scene.silence(registration, 91)
  await scene.makeDue(id)
  await scene.plan()
  expect(await outcomes(id)).toEqual([[thisMinute().toISOString(), 'skipped_no_backend']])
  await scene.deliver()
  expect(scene.backend.received).toEqual([])
})

test('[triggers.overlap] while the run before is still going the due one is recorded skipped_overlap', async () => {
  await scene.register()
  const { id } = await scene.createTrigger()
  await scene.makeDue(id, minutesAgo(1))
  await scene.plan()
  // Both instants were due, and the newer one is pending.
  await scene.service.sql.query(`delete from trigger_runs where outcome = 'missed'`)
  await scene.service.sql.query(
    'update trigger_runs set scheduled_at = scheduled_at - interval $$2 minutes$$',
  )
  await scene.makeDue(id)
  await scene.plan()
  expect((await outcomes(id)).map(([, outcome]) => outcome)).toEqual(['pending', 'skipped_overlap'])
  await scene.service.sql.query(`update trigger_runs set outcome = 'delivered' where outcome = 'pending'`)
  await scene.service.sql.query(`delete from trigger_runs where outcome = 'skipped_overlap'`)
  await scene.makeDue(id)
  await scene.plan()
  expect((await outcomes(id)).map(([, outcome]) => outcome)).toEqual(['delivered', 'pending'])
})

describe('after downtime', () => {
  test('[triggers.missed] the newest missed instant fires if it is younger than 10 minutes; the others are recorded missed', async () => {
    await scene.register()
    const { id } = await scene.createTrigger({ cronExpression: '*/2 * * * *' })
    const since = minutesAgo(30 + (minutesAgo(30).getUTCMinutes() % 2))
    await scene.makeDue(id, since)
    await scene.plan()
    const runs = await outcomes(id)
    expect(runs[0]).toEqual([since.toISOString(), 'missed'])
    expect(runs.slice(0, -1).every(([, outcome]) => outcome === 'missed')).toBe(true)
    expect(runs.at(-1)?.[1]).toBe('pending')
    const instants = runs.map(([at]) => Date.parse(at))
    for (const [index, at] of instants.slice(1).entries())
      expect(at - (instants[index] as number)).toBe(120_000)
    await scene.deliver()
    expect(scene.backend.received).toHaveLength(1)
    expect(scene.backend.received[0]?.headers['x-svc-scheduled-at']).toBe(runs.at(-1)?.[0])
  })

  test('nothing fires when the newest one is older', async () => {
    await scene.register()
    const { id } = await scene.createTrigger({ cronExpression: '@yearly' })
    const since = minutesAgo(11)
    await scene.makeDue(id, since)
    await scene.plan()
    expect(await outcomes(id)).toEqual([[since.toISOString(), 'missed']])
  })

  test('of a long downtime the newest hundred instants are recorded', async () => {
    await scene.register()
    const { id } = await scene.createTrigger()
    await scene.makeDue(id, minutesAgo(60 * 24 * 200))
    await scene.plan()
    const runs = await outcomes(id)
    // A new minute may start while the hundred runs are planned.
    expect(runs.length).toBeOneOf([100, 101])
    expect(runs[99]?.[1]).toBe('pending')
  })
})

test('[triggers.configurable] timeouts, delays and ages are settings', async () => {
  const own = await startTriggerScene({
    env: {
      SVC_TRIGGERS_MISFIRE_TOLERANCE: '3600s',
      SVC_TRIGGERS_RETRY_DELAYS: '40s',
      SVC_TRIGGERS_MAX_RETRY_AFTER: '20s',
      SVC_TRIGGERS_ATTEMPT_TIMEOUT: '2s',
    },
  })
  try {
    await own.register()
    const { id } = await own.createTrigger({ cronExpression: '@yearly' })
    await own.makeDue(id, minutesAgo(30))
    await own.plan()
    own.backend.answer((_request, response) => response.writeHead(500).end())
    await own.deliver()
    const [wait] = await own.waits()
    expect(Math.abs((wait as number) - 40)).toBeLessThanOrEqual(8)
    own.backend.answer(() => undefined)
    await own.skipWaits()
    await own.deliver()
    expect(await own.runsOf(id)).toMatchObject([
      { outcome: 'failed', attempts: 2, failure: 'the upstream timed out' },
    ])
    const { id: other } = await own.createTrigger()
    await own.makeDue(other)
    own.backend.answer((_request, response) => response.writeHead(429, { 'retry-after': '999' }).end())
    await own.plan()
    await own.deliver()
    expect(await own.waits()).toEqual([20])
  } finally {
    await own.close()
  }
})

test('a trigger whose expression cannot be read holds up no other', async () => {
  await scene.register()
  const [broken, whole] = [await scene.createTrigger(), await scene.createTrigger()]
  for (const { id } of [broken, whole]) await scene.makeDue(id)
  await scene.service.sql.query(`update triggers set cron_expression = 'nonsense' where id = $1`, [broken.id])
  await scene.plan()
  expect((await outcomes(whole.id)).map(([, outcome]) => outcome)).toEqual(['pending'])
  expect(await outcomes(broken.id)).toEqual([])
  expect(scene.service.logLines).toContainEqual(
    expect.objectContaining({ msg: 'cannot plan trigger', trigger: broken.id }),
  )
})

test('a project has a limited number of triggers', async () => {
  const own = await startTriggerScene({ env: { SVC_TRIGGERS_MAX_PER_PROJECT: '2' } })
  try {
    for (const name of ['a', 'b']) await own.createTrigger({ name })
    await expect(own.createTrigger({ name: 'c' })).rejects.toThrow(
      'a project can have at most 2 triggers; delete one, or ask the operator to raise triggers.max_per_project',
    )
    const { rows } = await own.service.sql.query('select count(*)::int as kept from triggers')
    expect(rows).toEqual([{ kept: 2 }])
  } finally {
    await own.close()
  }
})

test('arithmetic that takes long is done in parts, and nothing is computed for whom nobody is registered', async () => {
  await scene.register()
  const other = await seedProject(scene.service.sql, 'other')
  const expression = (n: number): string => `CRON_TZ=Europe/Berlin ${n % 60},${(n * 7) % 60} * 1-30 * *`
  const [many, own] = [Array.from({ length: 300 }, (_, n) => expression(n)), await scene.createTrigger()]
  await scene.service.sql.query(
    `insert into triggers (id, project_id, application_id, name, description, cron_expression, run_key, enabled, next_fire_at)
     select gen_random_uuid(), $1, $2, 'seeded', '', expression, '', true, now() - interval '3 hours'
     from unnest($3::text[]) expression`,
    [other.id, other.applicationId, many],
  )
  await scene.makeDue(own.id)
  await scene.plan()
  expect((await outcomes(own.id)).map(([, outcome]) => outcome)).toEqual(['pending'])
  const { rows } = await scene.service.sql.query(
    'select count(*)::int as due from triggers where next_fire_at <= now()',
  )
  expect(rows).toEqual([{ due: 0 }])
})
