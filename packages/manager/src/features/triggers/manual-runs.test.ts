// These tests cover runs that people start: their records, their delivery and overlapping requests.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type ManualRunScene, startManualRunScene } from '../../../test/kit/manual-runs.ts'
import { codeOf, expectRefused, uuid } from '../../../test/kit/members.ts'

let scene: ManualRunScene
beforeAll(async () => {
  scene = await startManualRunScene()
})
afterAll(() => scene.close())
afterEach(() => scene.clear())

describe('a run that a person starts', () => {
  test('[triggers.run-now] is planned for now, delivered like a scheduled one, and names the person', async () => {
    const { token } = await scene.register()
    const { id } = await scene.createTrigger({ name: 'Close day', runKey: 'close' })
    const planOf = async () =>
      (await scene.service.sql.query('select next_fire_at, updated_at from triggers where id = $1', [id]))
        .rows
    const plan = await planOf()
    const { data, error } = await scene.run(id)
    expect(error).toBeNull()
    expect(data.run).toEqual({
      id: uuid,
      scheduledAt: expect.any(String),
      environment: { id: scene.project.environmentId },
      outcome: 'pending',
      attempts: 0,
      isManual: true,
      requestedBy: scene.developer.id,
      retryOf: null,
      executedAt: null,
      failure: null,
    })
    expect(Math.abs(Date.parse(data.run.scheduledAt as string) - Date.now())).toBeLessThan(60_000)
    await scene.deliver()
    const [stored] = await scene.runsOf(id)
    expect(stored).toMatchObject({ id: data.run.id, outcome: 'delivered', attempts: 1 })
    expect(scene.backend.received).toHaveLength(1)
    const [request] = scene.backend.received
    expect(request?.headers).toMatchObject({
      authorization: `Bearer ${token}`,
      'webhook-id': data.run.id,
      'x-svc-scheduled-at': data.run.scheduledAt,
      'x-svc-attempt': '1',
    })
    expect(JSON.parse(String(request?.body))).toEqual({
      trigger_id: id,
      trigger_name: 'Close day',
      cron_expression: '@yearly',
      run_key: 'close',
      executed_at: stored?.executed_at?.toISOString(),
    })
    expect(await planOf()).toEqual(plan)
    expect(await scene.auditOf(id)).toEqual([
      {
        entity_type: 'trigger',
        action: 'run',
        user_id: scene.developer.id,
        changes: {
          runId: { before: null, after: data.run.id },
          environmentId: { before: null, after: scene.project.environmentId },
          scheduledAt: { before: null, after: data.run.scheduledAt },
        },
      },
    ])
  })

  test('is shown in the list beside planned runs, which nobody requested', async () => {
    await scene.register()
    const { id } = await scene.createTrigger()
    await scene.endedRun(id, 'missed')
    const { data } = await scene.run(id)
    const listed = await scene.service.query(
      scene.developer,
      '{ runs: triggerRuns(trigger: "' + id + '") { id isManual requestedBy retryOf } }',
    )
    expect(listed.data.runs).toEqual([
      { id: data.run.id, isManual: true, requestedBy: scene.developer.id, retryOf: null },
      { id: uuid, isManual: false, requestedBy: null, retryOf: null },
    ])
  })

  test('[triggers.run-now] runs a disabled trigger, also if it is disabled meanwhile; a deleted one is cancelled', async () => {
    await scene.register()
    const disabled = await scene.createTrigger({ enabled: false })
    expect((await scene.run(disabled.id)).error).toBeNull()
    const later = await scene.createTrigger()
    expect((await scene.run(later.id)).error).toBeNull()
    await scene.updateTrigger(later.id, { enabled: false })
    const deleted = await scene.createTrigger()
    expect((await scene.run(deleted.id)).error).toBeNull()
    await scene.service.query(scene.admin, `mutation { deleteTrigger(id: "${deleted.id}") }`)
    await scene.deliver()
    for (const [{ id }, outcome] of [
      [disabled, 'delivered'],
      [later, 'delivered'],
      [deleted, 'cancelled'],
    ] as const)
      expect([id, await scene.runsOf(id)]).toMatchObject([id, [{ outcome }]])
    expect(scene.backend.received).toHaveLength(2)
  })

  test('is retried like a scheduled one, and each attempt has the same id', async () => {
    await scene.register()
    scene.answerWith(503)
    const { id } = await scene.createTrigger()
    const { data } = await scene.run(id)
    for (const _ of [1, 2, 3, 4]) {
      await scene.deliver()
      await scene.skipWaits()
    }
    expect(scene.backend.received.map(({ headers }) => headers['webhook-id'])).toEqual(
      Array.from({ length: 4 }, () => data.run.id),
    )
    expect(await scene.runsOf(id)).toMatchObject([{ outcome: 'failed', attempts: 4 }])
  })

  test('needs a registered, live backend in the environment', async () => {
    const { id } = await scene.createTrigger()
    const without = await scene.run(id)
    expectRefused(without, 'conflict')
    expect(without.error).toMatch(
      /^no backend of the application is registered in this environment; register one/,
    )
    await scene.silence(await scene.register(), 91)
    const silent = await scene.run(id)
    expectRefused(silent, 'conflict')
    expect(silent.error).toMatch(
      /^no registered backend of the application is live in this environment; check/,
    )
    expect(await scene.runsOf(id)).toEqual([])
    expect(await scene.auditOf(id)).toEqual([])
    expect(await scene.jobsWhere('true')).toBe(0)
  })
})

describe('overlap', () => {
  test('a second run of the environment is refused until the first has ended; other environments may run', async () => {
    await scene.register()
    const qas = await scene.environmentNamed('qas')
    await scene.register(undefined, { ...scene.project, environmentId: qas })
    const { id } = await scene.createTrigger()
    const first = await scene.run(id)
    const second = await scene.run(id)
    expectRefused(second, 'conflict')
    expect(second.error).toBe(
      `the run ${first.data.run.id} of the trigger is still pending in this environment; wait until it ends`,
    )
    expect((await scene.run(id, { environmentId: qas })).error).toBeNull()
    await scene.deliver()
    expect((await scene.run(id)).error).toBeNull()
    expect(await scene.runsOf(id)).toHaveLength(3)
  })

  test('[triggers.run-overlap] of 20 concurrent requests one starts a run, and the others are refused', async () => {
    await scene.register()
    const { id } = await scene.createTrigger()
    const people = await Promise.all(Array.from({ length: 4 }, () => scene.memberOf('developer')))
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => scene.run(id, {}, people[index % people.length])),
    )
    expect(answers.filter(({ error }) => error === null)).toHaveLength(1)
    expect(new Set(answers.map((answer) => codeOf(answer) ?? 'ok'))).toEqual(new Set(['ok', 'conflict']))
    await scene.deliver()
    expect(scene.backend.received).toHaveLength(1)
    expect(await scene.runsOf(id)).toHaveLength(1)
    expect(await scene.auditOf(id)).toHaveLength(1)
  })

  test('a planned run that becomes due meanwhile is skipped, and a tick and a request never both run', async () => {
    await scene.register()
    const { id } = await scene.createTrigger()
    expect((await scene.run(id)).error).toBeNull()
    await scene.makeDue(id)
    await scene.plan()
    const outcomes = (await scene.runsOf(id)).map(({ outcome }) => outcome)
    expect(outcomes.toSorted()).toEqual(['pending', 'skipped_overlap'])
    for (let round = 0; round < 10; round++) {
      const other = await scene.createTrigger()
      await scene.makeDue(other.id)
      await Promise.all([scene.plan(), scene.run(other.id)])
      await scene.plan()
      const runs = await scene.runsOf(other.id)
      expect(runs.filter(({ outcome }) => outcome === 'pending')).toHaveLength(1)
    }
  })
})

describe('requestKey', () => {
  test('[triggers.run-key] a repeated key returns the run that it started, for 24 hours', async () => {
    await scene.register()
    const { id } = await scene.createTrigger()
    const first = await scene.run(id, { requestKey: 'click 1' })
    const repeated = await scene.run(id, { requestKey: 'click 1' })
    expect(repeated.data.run).toEqual(first.data.run)
    await scene.deliver()
    const afterwards = await scene.run(id, { requestKey: 'click 1' })
    expect(afterwards.data.run).toMatchObject({ id: first.data.run.id, outcome: 'delivered' })
    expect(await scene.auditOf(id)).toHaveLength(1)
    expect((await scene.run(id, { requestKey: 'click 2' })).data.run.id).not.toBe(first.data.run.id)
    await scene.deliver()
    await scene.service.sql.query(`update trigger_runs set scheduled_at = scheduled_at - interval '25 hours'`)
    expect((await scene.run(id, { requestKey: 'click 1' })).data.run.outcome).toBe('pending')
    expect(await scene.runsOf(id)).toHaveLength(3)
  })

  test('concurrent requests with one key start one run and all return it', async () => {
    await scene.register()
    const { id } = await scene.createTrigger()
    const answers = await Promise.all(Array.from({ length: 6 }, () => scene.run(id, { requestKey: 'k' })))
    expect(new Set(answers.map(({ data }) => data?.run.id)).size).toBe(1)
    expect(await scene.runsOf(id)).toHaveLength(1)
  })

  test('belongs to one trigger and environment, and has 1 to 200 characters', async () => {
    await scene.register()
    const qas = await scene.environmentNamed('qas')
    await scene.register(undefined, { ...scene.project, environmentId: qas })
    const [one, other] = [await scene.createTrigger(), await scene.createTrigger()]
    const key = 'k'.repeat(200)
    const first = await scene.run(one.id, { requestKey: key })
    expect((await scene.run(other.id, { requestKey: key })).data.run.id).not.toBe(first.data.run.id)
    expectRefused(await scene.run(one.id, { requestKey: key, environmentId: qas }), 'key_reused')
    for (const requestKey of ['', `${key}k`, 'a\u0007'])
      expectRefused(await scene.run(other.id, { requestKey }), 'bad_request')
  })
})
