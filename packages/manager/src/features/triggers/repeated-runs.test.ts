// These tests cover retries of runs by people, the rights to start and retry runs, and the rate limit.
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type ManualRunScene, runTrigger, startManualRunScene } from '../../../test/kit/manual-runs.ts'
import { whileLocked, waitForLockWait } from '../../../test/kit/locks.ts'
import { codeOf, expectRefused } from '../../../test/kit/members.ts'
import { seedBackend, seedTrigger } from '../../../test/kit/triggers.ts'
import { startTestApp } from '../../../test/kit/app.ts'
import { seedProject } from '@manager/harness/seed.ts'

let scene: ManualRunScene
beforeAll(async () => {
  scene = await startManualRunScene()
})
afterAll(() => scene.close())
afterEach(() => scene.clear())

describe('retryTriggerRun', () => {
  test.each(['failed', 'cancelled', 'skipped_no_backend', 'skipped_overlap', 'missed'])(
    '[triggers.retry-run] repeats a run that ended as %s with a new run, and leaves the old one unchanged',
    async (outcome) => {
      await scene.register()
      const { id } = await scene.createTrigger({ runKey: 'again' })
      const old = await scene.endedRun(id, outcome)
      const [before] = await scene.runsOf(id)
      const { data, error } = await scene.retry(old)
      expect(error).toBeNull()
      expect(data.run).toMatchObject({
        outcome: 'pending',
        isManual: true,
        requestedBy: scene.developer.id,
        retryOf: old,
        executedAt: null,
      })
      expect(data.run.id).not.toBe(old)
      await scene.deliver()
      const [kept, repeated] = await scene.runsOf(id)
      expect(kept).toEqual(before)
      expect(repeated).toMatchObject({ id: data.run.id, outcome: 'delivered' })
      const [request] = scene.backend.received
      expect(request?.headers['webhook-id']).toBe(data.run.id)
      expect(JSON.parse(String(request?.body))).toMatchObject({ run_key: 'again' })
      expect(await scene.auditOf(id)).toMatchObject([
        { entity_type: 'trigger', action: 'retry', changes: { retryOf: { after: old } } },
      ])
    },
  )

  test('[triggers.retry-run] a run that is pending or delivered, or that has a retry under way or delivered, is refused', async () => {
    await scene.register()
    const { id } = await scene.createTrigger()
    const pending = await scene.retry(await scene.endedRun(id, 'pending'))
    expectRefused(pending, 'conflict')
    expect(pending.error).toMatch(/^the run is still pending/)
    await scene.service.sql.query('delete from trigger_runs')
    const delivered = await scene.retry(await scene.endedRun(id, 'delivered'))
    expectRefused(delivered, 'conflict')
    expect(delivered.error).toMatch(/^the run was delivered; start another run with runTrigger/)
    await scene.service.sql.query('delete from trigger_runs')
    const old = await scene.endedRun(id, 'failed')
    const answers = await Promise.all(Array.from({ length: 6 }, () => scene.retry(old)))
    const first = answers.find(({ error }) => error === null)
    expect(answers.filter((answer) => codeOf(answer) === 'conflict')).toHaveLength(5)
    expect((await scene.retry(old)).error).toMatch(
      `the run ${first?.data.run.id} is already a pending retry of this run`,
    )
    await scene.deliver()
    expect((await scene.retry(old)).error).toMatch(
      `the run ${first?.data.run.id} is a retry of this run that was already delivered`,
    )
    expect(scene.backend.received).toHaveLength(1)
  })

  test('a failed retry can be repeated, and so can the first run', async () => {
    await scene.register()
    scene.answerWith(400)
    const { id } = await scene.createTrigger()
    const old = await scene.endedRun(id, 'failed')
    const first = await scene.retry(old)
    await scene.deliver()
    const second = await scene.retry(first.data.run.id as string)
    await scene.deliver()
    const third = await scene.retry(old)
    expect([second.data.run.retryOf, third.data.run.retryOf]).toEqual([first.data.run.id, old])
  })

  test('waits for a run of the same trigger, and for a backend; a run of a deleted trigger has none', async () => {
    const { id } = await scene.createTrigger()
    const old = await scene.endedRun(id, 'failed')
    expect((await scene.retry(old)).error).toMatch(/^no backend of the application is registered/)
    await scene.register()
    const other = await scene.run(id)
    expect((await scene.retry(old)).error).toMatch(
      `the run ${other.data.run.id} of the trigger is still pending`,
    )
    await scene.service.query(scene.admin, `mutation { deleteTrigger(id: "${id}") }`)
    expect((await scene.retry(old)).error).toBe('trigger not found')
    expect((await scene.retry(randomUUID())).error).toBe('trigger run not found')
    expect((await scene.retry('x')).error).toBe('trigger run not found')
  })
})

describe('rights', () => {
  test('readers are refused, and objects of another project do not exist', async () => {
    const { sql } = scene.service
    await scene.register()
    const { id } = await scene.createTrigger()
    const old = await scene.endedRun(id, 'failed')
    const other = await seedProject(sql, 'other')
    await seedBackend(sql, other)
    const foreign = await seedTrigger(sql, other)
    const foreignRun = await scene.endedRun(foreign, 'failed', other)
    const tester = await scene.memberOf('tester')
    expect((await scene.run(id, {}, tester)).error).toMatch(/^not permitted: requires project role developer/)
    expect((await scene.retry(old, tester)).error).toMatch(/^not permitted/)
    const stranger = await scene.memberOf('owner', other)
    expect((await scene.run(id, {}, stranger)).error).toBe('trigger not found')
    expect((await scene.retry(old, stranger)).error).toBe('trigger run not found')
    expect((await scene.run(foreign)).error).toBe('trigger not found')
    expect((await scene.retry(foreignRun)).error).toBe('trigger run not found')
    for (const environmentId of [other.environmentId, randomUUID(), 'x'])
      expect((await scene.run(id, { environmentId })).error).toBe('environment not found')
    // An administrator may use both projects, but must not mix them in one request.
    expect((await scene.run(id, { environmentId: other.environmentId }, scene.admin)).error).toBe(
      'environment not found',
    )
    expect(await scene.jobsWhere('true')).toBe(0)
  })

  test('a role that is lost while the request waits starts nothing', async () => {
    await scene.register()
    const { id } = await scene.createTrigger()
    const person = await scene.memberOf('developer')
    const { error } = await whileLocked(
      scene.service.database.url,
      ['delete from user2projects where user_id = $1', [person.id]],
      async (commit) => {
        const answer = scene.run(id, {}, person)
        await waitForLockWait(scene.service.sql)
        await commit()
        return answer
      },
    )
    expect(error).toMatch(/^not permitted/)
    expect(await scene.runsOf(id)).toEqual([])
  })

  test('a run is no change of the trigger: a conflict of revisions names the editor', async () => {
    await scene.register()
    const { id } = await scene.createTrigger()
    await scene.updateTrigger(id, { name: 'edited' })
    expect((await scene.run(id)).error).toBeNull()
    const { errors } = await scene.service.query(
      scene.admin,
      `mutation { updateTrigger(id: "${id}", input: {name: "stale", expectedRevision: 1}) { id } }`,
    )
    expect(errors[0]?.extensions).toMatchObject({ code: 'CONFLICT', changedBy: 'admin' })
  })
})

test('a project may start 2 runs a minute; further requests are told how long to wait', async () => {
  const limited = await startTestApp({
    database: scene.service.database,
    env: { SVC_TRIGGERS_MANUAL_RUNS_PER_MINUTE: '2' },
  })
  try {
    const project = await seedProject(limited.sql, 'limited')
    await seedBackend(limited.sql, project)
    const triggers = [1, 2, 3].map(() => seedTrigger(limited.sql, project))
    const answers = []
    for (const id of await Promise.all(triggers))
      answers.push(await runTrigger(limited, scene.admin, id, { environmentId: project.environmentId }))
    expect(answers.map((answer) => codeOf(answer) ?? 'ok')).toEqual(['ok', 'ok', 'rate_limited'])
    const waitSeconds = Number(answers[2]?.headers.get('retry-after'))
    expect(waitSeconds).toBeGreaterThanOrEqual(1)
    expect(waitSeconds).toBeLessThanOrEqual(60)
  } finally {
    await limited.close()
  }
})
