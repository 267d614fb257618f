// Tests `manager triggers runs` and `manager triggers retry`.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { testEnv } from '@manager/harness/test-env.ts'
import { type TriggerScene, startTriggerScene } from './kit/callbacks.ts'
import { runManager } from './kit/commands.ts'
import { seedRuns } from './kit/triggers.ts'

let scene: TriggerScene
let trigger: { id: string; name: string }
/** Planned time of the run under test. It is not at a full minute, so the scheduler never plans a run at this time. */
const plannedAt = new Date(Math.floor(Date.now() / 60_000) * 60_000 - 30_000)

beforeAll(async () => {
  scene = await startTriggerScene()
})
afterAll(() => scene.close())
beforeEach(async () => {
  for (const table of ['triggers', 'trigger_runs', 'queued_jobs', 'backend_registrations'])
    await scene.service.sql.query(`delete from ${table}`)
  trigger = await scene.createTrigger()
})

const triggers = (...args: string[]) => runManager(['triggers', ...args], testEnv(scene.service.database.url))
/** Seeds missed runs of the trigger and returns their ids, newest first. */
async function addRuns(count: number): Promise<string[]> {
  const { id: projectId, applicationId, environmentId } = scene.project
  for (let left = count - 1; left >= 0; left--) {
    const until = new Date(plannedAt.getTime() - left * 60_000)
    const of = { projectId, applicationId, environmentId, triggerId: trigger.id }
    await seedRuns(scene.service.sql, of, { count: 1, until })
    // The ids increase with time, like the ids of the service.
    await scene.service.sql.query('update trigger_runs set id = $1 where scheduled_at = $2', [
      idAt(until),
      until,
    ])
  }
  return (await scene.runsOf(trigger.id)).map(({ id }) => id).toReversed()
}
const idAt = (time: Date): string => {
  const digits = time.getTime().toString(16).padStart(12, '0')
  return `${digits.slice(0, 8)}-${digits.slice(8)}-7${randomUUID().slice(15)}`
}
const end = (id: string, outcome: string, failure: string | null, status: number | null = null) =>
  scene.service.sql.query(
    `update trigger_runs set outcome = $2, failure = $3, response_status = $4, attempts = 4, starts = 4,
       executed_at = scheduled_at, finished_at = now() where id = $1`,
    [id, outcome, failure, status],
  )
const auditRows = async () =>
  (
    await scene.service.sql.query(
      `select entity_id, action, changes, principal_type, principal_id from audit_logs
       where entity_type = 'trigger_run' order by seq`,
    )
  ).rows

describe('manager triggers runs', () => {
  test('prints a table, newest first: when, of what, how it ended and why', async () => {
    const [newest = '', older = ''] = await addRuns(2)
    await end(newest, 'failed', 'the backend returned 500', 500)
    await end(older, 'delivered', null, 204)
    const { code, stdout, stderr } = await triggers('runs')
    expect([code, stderr]).toEqual([0, ''])
    const [header, ...rows] = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/))
    expect(header).toEqual([
      'PLANNED',
      'PROJECT',
      'APPLICATION',
      'ENVIRONMENT',
      'TRIGGER',
      'OUTCOME',
      'ATTEMPTS',
      'RESULT',
      'RUN',
    ])
    const shared = ['shop', 'shop-app', 'dev', 'seeded']
    const earlier = new Date(plannedAt.getTime() - 60_000)
    expect(rows).toEqual([
      [plannedAt.toISOString(), ...shared, 'failed', '4', 'the backend returned 500', newest],
      [earlier.toISOString(), ...shared, 'delivered', '4', '204', older],
    ])
  })

  test('--json prints an object for each run', async () => {
    const [id = ''] = await addRuns(1)
    await end(id, 'failed', 'the backend returned 500', 500)
    const { code, stdout } = await triggers('runs', '--json')
    expect(code).toBe(0)
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([
      {
        id,
        scheduled_at: plannedAt.toISOString(),
        project: 'shop',
        application: 'shop-app',
        trigger: 'seeded',
        environment: 'dev',
        outcome: 'failed',
        attempts: 4,
        response_status: 500,
        failure: 'the backend returned 500',
      },
    ])
  })

  test('lists only the trigger, the outcome and the number that are asked for', async () => {
    const [newest = '', older = ''] = await addRuns(3)
    await end(older, 'failed', 'the backend returned 400', 400)
    const other = await scene.createTrigger({ name: 'other' })
    const idsOf = async (...args: string[]) => {
      const { stdout } = await triggers('runs', '--json', ...args)
      return [...stdout.matchAll(/"id":"([^"]+)"/g)].map(([, id]) => id)
    }
    expect(await idsOf('--outcome', 'failed')).toEqual([older])
    expect(await idsOf('--limit', '1')).toEqual([newest])
    expect(await idsOf('--trigger', trigger.id)).toHaveLength(3)
    expect(await idsOf('--trigger', other.id)).toEqual([])
  })

  test('without runs it says so, and prints nothing where a program reads', async () => {
    expect(await triggers('runs')).toEqual({ code: 0, stdout: '', stderr: 'No runs found.\n' })
    expect(await triggers('runs', '--json')).toEqual({ code: 0, stdout: '', stderr: 'No runs found.\n' })
  })

  test('what it cannot read is refused with what to write instead', async () => {
    const refusals = [
      [['--trigger', 'nightly'], 'error: --trigger must be a trigger id (a UUID)'],
      [
        ['--outcome', 'lost'],
        'Allowed choices are pending, delivered, failed, cancelled, skipped_no_backend',
      ],
      [['--limit', '0'], 'Use a number from 1 to 1000.'],
      [['--limit', '1001'], 'Use a number from 1 to 1000.'],
    ] as const
    for (const [args, text] of refusals) {
      const { code, stdout, stderr } = await triggers('runs', ...args)
      expect([args, code, stdout]).toEqual([args, 1, ''])
      expect(stderr).toContain(text)
    }
  })
})

describe('manager triggers retry', () => {
  test('a failed run is delivered again under its id, with all its attempts and an audit row', async () => {
    await scene.register()
    const [id = ''] = await addRuns(1)
    await end(id, 'failed', 'the backend returned 500', 500)
    expect(await triggers('retry', id)).toEqual({
      code: 0,
      stdout: `Queued the run of trigger seeded (planned for ${plannedAt.toISOString()}) for delivery.\n`,
      stderr: '',
    })
    expect(await scene.runsOf(trigger.id)).toMatchObject([
      { id, outcome: 'pending', attempts: 0, finished_at: null, response_status: null, failure: null },
    ])
    expect(await scene.jobsWhere("queue = 'trigger-attempts'")).toBe(1)
    expect(await auditRows()).toEqual([
      {
        entity_id: id,
        action: 'update',
        changes: { outcome: { before: 'failed', after: 'pending' } },
        principal_type: 'system',
        principal_id: 'manager triggers retry',
      },
    ])
    await scene.deliver()
    expect(scene.backend.received.map(({ headers }) => headers['webhook-id'])).toEqual([id])
    expect(await scene.runsOf(trigger.id)).toMatchObject([{ id, outcome: 'delivered', attempts: 1 }])
    expect((await triggers('retry', id)).stderr).toBe(
      'error: only failed runs can be retried; this run is delivered\n',
    )
  })

  test('a run that is still going is refused, unless nothing is left that would deliver it', async () => {
    await scene.register()
    const [id = ''] = await addRuns(1)
    await end(id, 'failed', 'the backend returned 500', 500)
    expect(await triggers('retry', id)).toMatchObject({ code: 0 })
    expect((await triggers('retry', id)).stderr).toBe(
      'error: only failed runs can be retried; this run is pending\n',
    )
    await scene.service.sql.query('delete from queued_jobs')
    expect(await triggers('retry', id)).toMatchObject({ code: 0 })
    expect(await scene.jobsWhere("queue = 'trigger-attempts'")).toBe(1)
  })

  test('a run is refused while another run of the trigger is pending, or after a retry was delivered', async () => {
    await scene.register()
    const before = await auditRows()
    const [id = ''] = await addRuns(1)
    await end(id, 'failed', 'the backend returned 500', 500)
    const start = async (mutation: string): Promise<string> => {
      const { data, error } = await scene.service.query(scene.admin, `mutation { run: ${mutation} { id } }`)
      expect(error).toBeNull()
      return data.run.id as string
    }
    const manual = await start(
      `runTrigger(id: "${trigger.id}", environmentId: "${scene.project.environmentId}")`,
    )
    const refuse = async (text: string): Promise<void> =>
      expect(await triggers('retry', id)).toEqual({ code: 1, stdout: '', stderr: `error: ${text}\n` })
    await refuse(`the run ${manual} of the trigger is still pending in this environment; wait until it ends`)
    await scene.deliver()
    const retry = await start(`retryTriggerRun(id: "${id}")`)
    await refuse(`the run ${retry} is already a pending retry of this run; wait until it ends`)
    await scene.deliver()
    await refuse(
      `the run ${retry} is a retry of this run that was already delivered; start another run with runTrigger`,
    )
    expect(await scene.runsOf(trigger.id)).toMatchObject([
      { id, outcome: 'failed' },
      { id: manual, outcome: 'delivered' },
      { id: retry, outcome: 'delivered' },
    ])
    expect(await auditRows()).toEqual(before)
  })

  test('a run of a deleted trigger is retried, too', async () => {
    const [id = ''] = await addRuns(1)
    await end(id, 'failed', 'the backend returned 500', 500)
    await scene.service.sql.query('delete from triggers where id = $1', [trigger.id])
    expect(await triggers('retry', id)).toMatchObject({ code: 0 })
  })

  test('a run that is not failed, or not there, is refused and stays as it is', async () => {
    const before = await auditRows()
    const [id = ''] = await addRuns(1)
    expect(await triggers('retry', id)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: only failed runs can be retried; this run is missed\n',
    })
    for (const unknown of [randomUUID(), 'nightly'])
      expect(await triggers('retry', unknown)).toEqual({
        code: 1,
        stdout: '',
        stderr: `error: run ${unknown} does not exist; use \`manager triggers runs --outcome failed\` to list failed runs\n`,
      })
    expect([await scene.runsOf(trigger.id), await auditRows()]).toMatchObject([
      [{ outcome: 'missed' }],
      before,
    ])
    expect(await scene.jobsWhere('true')).toBe(0)
  })
})
