// These tests cover the planning of triggers, previews of the next fire times, and recorded runs.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { waitForLockWait } from '../../../test/kit/locks.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedRuns, seedTrigger, triggerCalls } from '../../../test/kit/triggers.ts'
import { parseCron } from './cron.pure.ts'

const { service, admin, project } = useProject()
const { create, update, get, runsOf, planOf, auditOf } = triggerCalls(() => service)

type Plan = { nextFireAt: Date | null; now: Date }
const made = async (input: object): Promise<string> => {
  const { data } = await create(admin, project.applicationId, { name: 'planned', ...input })
  return data.row.id as string
}
/** Simulates a next fire time that a tick has set. No edit would compute the same time. */
const moved = new Date('2040-01-01T00:00:00.000Z')
const move = (id: string) =>
  service.sql.query('update triggers set next_fire_at = $2 where id = $1', [id, moved])
/** Expects the next fire time to be the first match of the expression after the current database time. */
function expectPlanned({ nextFireAt, now }: Plan, expression: string): void {
  const cron = parseCron(expression)
  expect([cron.findNext(new Date(now.getTime() - 60_000)), cron.findNext(now)]).toContainEqual(nextFireAt)
}

describe('the plan of a trigger', () => {
  test('is the next instant by the clock of the database, and none for a disabled trigger', async () => {
    // Fire times of this expression are years apart, so none passes during the test.
    const expression = '0 0 29 2 *'
    expectPlanned((await planOf(await made({ cronExpression: expression }))) as Plan, expression)
    const disabled = await made({ cronExpression: expression, enabled: false })
    expect((await planOf(disabled))?.nextFireAt).toBeNull()
  })

  test('is made anew when the expression changes, or the trigger is enabled, and ends when it is disabled', async () => {
    const id = await made({ cronExpression: '0 0 29 2 *' })
    await move(id)
    await update(admin, id, { cronExpression: '0 0 1 6 *' })
    expectPlanned((await planOf(id)) as Plan, '0 0 1 6 *')
    await update(admin, id, { enabled: false })
    expect((await planOf(id))?.nextFireAt).toBeNull()
    await update(admin, id, { cronExpression: '0 0 29 2 *' })
    expect((await planOf(id))?.nextFireAt).toBeNull()
    await update(admin, id, { enabled: true })
    expectPlanned((await planOf(id)) as Plan, '0 0 29 2 *')
  })

  test('stays as a tick left it when an update touches neither, and the audit trail shows no plan', async () => {
    const id = await made({ cronExpression: '0 0 29 2 *' })
    await move(id)
    for (const input of [
      { name: 'renamed' },
      { cronExpression: '0 0 29 2 *', enabled: true },
      { cronExpression: null, enabled: null },
      {},
    ]) {
      expect((await update(admin, id, input)).error).toBeNull()
      expect((await planOf(id))?.nextFireAt).toEqual(moved)
    }
    await update(admin, id, { enabled: false })
    const changes = (await auditOf(id)).map((row) => Object.keys(row.changes))
    expect(changes.flat()).toContain('enabled')
    expect(changes.flat()).not.toContain('nextFireAt')
  })

  test('is made of what the row holds once it is locked: an edit waits for the one before', async () => {
    const id = await made({ cronExpression: '0 0 29 2 *' })
    const other = await service.sql.connect()
    await other.query('begin')
    await other.query('update triggers set enabled = false, next_fire_at = null where id = $1', [id])
    const edited = update(admin, id, { cronExpression: '0 0 1 6 *' })
    await waitForLockWait(service.sql)
    await other.query('commit')
    other.release()
    expect((await edited).data.row).toMatchObject({ cronExpression: '0 0 1 6 *', enabled: false })
    expect((await planOf(id))?.nextFireAt).toBeNull()
  })
})

describe('what comes next', () => {
  const instants = async (id: string, count?: number): Promise<string[]> => {
    const { data } = await get(admin, id, count === undefined ? 'nextRuns' : `nextRuns(count: ${count})`)
    return data.row.nextRuns as string[]
  }
  /** Returns the instants of an expression after the first instant in the list. */
  const following = (expression: string, list: readonly string[]): string[] => {
    const cron = parseCron(expression)
    return list.map((instant, index) =>
      index === 0 ? instant : (cron.findNext(new Date(list[index - 1] as string)) as Date).toISOString(),
    )
  }

  test('[triggers.runs] nextRuns lists the next planned instants, ten or as many as are asked for', async () => {
    const id = await made({ cronExpression: '0 0 29 2 *' })
    const ten = await instants(id)
    expect(ten).toHaveLength(10)
    expect(ten[0]).toBe((await planOf(id))?.nextFireAt?.toISOString())
    expect(ten).toEqual(following('0 0 29 2 *', ten))
    expect(await instants(id, 3)).toEqual(ten.slice(0, 3))
    expect(await instants(id, 100)).toHaveLength(100)
  })

  test('[triggers.runs] of a disabled trigger it lists when it would fire', async () => {
    const [enabled, disabled] = [
      await made({ cronExpression: '0 0 29 2 *' }),
      await made({ cronExpression: '0 0 29 2 *', enabled: false }),
    ]
    expect(await instants(disabled)).toEqual(await instants(enabled))
  })

  test('[triggers.runs] a count outside 1 to 100 is refused', async () => {
    const id = await seedTrigger(service.sql, project)
    for (const count of [0, -1, 101])
      expect((await get(admin, id, `nextRuns(count: ${count})`)).error).toBe('count must be from 1 to 100')
    expect((await get(admin, id, 'nextRuns(count: null)')).data.row.nextRuns).toHaveLength(10)
  })

  test('a form sees the next ten instants of what is typed, or what is wrong with it', async () => {
    const preview = (cronExpression: string) =>
      service.query(admin, 'query($text: String!) { rows: nextRuns(cronExpression: $text) }', {
        text: cronExpression,
      })
    const { data } = await preview('CRON_TZ=Europe/Berlin 0 12 29 2 *')
    expect(data.rows).toHaveLength(10)
    expect(data.rows).toEqual(following('CRON_TZ=Europe/Berlin 0 12 29 2 *', data.rows as string[]))
    expect((await preview('* * * * * *')).error).toContain('cronExpression has 6 fields and must have 5')
  })

  test('one document asks for at most 1000 instants, whatever it asks them of', async () => {
    const id = await seedTrigger(service.sql, project)
    const fields = (count: number): string =>
      Array.from({ length: count }, (_, index) => `a${index}: nextRuns(count: 100)`).join(' ')
    expect((await get(admin, id, fields(10))).error).toBeNull()
    expect((await get(admin, id, fields(11))).error).toContain('more than 1000 times in nextRuns')
  })
})

describe('recorded runs', () => {
  const of = async (): Promise<{
    projectId: string
    applicationId: string
    triggerId: string
    environmentId: string
  }> => ({
    projectId: project.id,
    applicationId: project.applicationId,
    triggerId: await seedTrigger(service.sql, project),
    environmentId: project.environmentId,
  })

  test('[triggers.runs] triggerRuns shows what became of each planned instant, newest first', async () => {
    const own = await of()
    const { rows } = await service.sql.query<{ id: string }>(
      "select id from environments where project_id = $1 and name = 'run'",
      [project.id],
    )
    const [first, second] = [new Date(Date.now() - 120_000), new Date(Date.now() - 60_000)]
    await seedRuns(service.sql, own, { count: 1, until: first })
    const id = randomUUID()
    await service.sql.query(
      `insert into trigger_runs (id, scheduled_at, project_id, application_id, trigger_id, environment_id, trigger_name,
         cron_expression, run_key, outcome, attempts, starts, executed_at, finished_at, response_status, failure)
       values ($1, $2, $3, $4, $5, $6, 'seeded', '@hourly', '', 'failed', 4, 5, $2, $2, 503, 'the backend returned 503')`,
      [id, second, own.projectId, own.applicationId, own.triggerId, rows[0]?.id],
    )
    const { data } = await runsOf(admin, own.triggerId)
    expect(data.rows).toEqual([
      {
        id,
        scheduledAt: second.toISOString(),
        environment: { id: rows[0]?.id, name: 'run' },
        outcome: 'failed',
        attempts: 4,
        executedAt: second.toISOString(),
        finishedAt: second.toISOString(),
        responseStatus: 503,
        failure: 'the backend returned 503',
        createdAt: expect.any(String),
      },
      expect.objectContaining({
        scheduledAt: first.toISOString(),
        environment: { id: project.environmentId, name: 'dev' },
        outcome: 'missed',
        attempts: 0,
        executedAt: null,
        finishedAt: null,
        responseStatus: null,
        failure: null,
      }),
    ])
  })

  test('[triggers.runs] triggerRuns shows as many as its limit, of one trigger', async () => {
    const [own, other] = [await of(), await of()]
    await seedRuns(service.sql, own, { count: 120, until: new Date() })
    await seedRuns(service.sql, other, { count: 5, until: new Date() })
    expect((await runsOf(admin, own.triggerId, 7)).data.rows).toHaveLength(7)
    expect((await runsOf(admin, own.triggerId)).data.rows).toHaveLength(100)
    expect((await runsOf(admin, other.triggerId)).data.rows).toHaveLength(5)
    for (const limit of [0, -1, 101])
      expect((await runsOf(admin, own.triggerId, limit)).error).toBe('limit must be from 1 to 100')
    expect((await runsOf(admin, randomUUID())).error).toBe('trigger not found')
  })

  test('a month of them goes once its last run is older than the setting says, and the coming months are there', async () => {
    await service.sql.query(
      `create table trigger_runs_2020_01 partition of trigger_runs
       for values from ('2020-01-01 00:00:00+00') to ('2020-02-01 00:00:00+00')`,
    )
    const own = await of()
    await seedRuns(service.sql, own, { count: 1, until: new Date('2020-01-31T23:59:00Z') })
    await seedRuns(service.sql, own, { count: 1, until: new Date() })
    const months = async (): Promise<number> => {
      const { rowCount } = await service.sql.query(
        "select from pg_inherits where inhparent = 'trigger_runs'::regclass",
      )
      return rowCount as number
    }
    const before = await months()
    const schedule = service.app.schedules.find(({ name }) => name === 'trigger-run-retention')
    await schedule?.run()
    expect(await months()).toBe(before - 1)
    expect((await runsOf(admin, own.triggerId)).data.rows).toHaveLength(1)
  })
})
