// These tests cover the series of trigger runs and the schedule that counts them.
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { v7 } from 'uuid'
import { useProject } from '../../../test/kit/project.ts'
import { runSchedule } from '../../../test/kit/schedules.ts'
import { seedTrigger } from '../../../test/kit/triggers.ts'
import type { Person } from '@manager/harness/callers.ts'
import { type SeededProject, seedProject } from '@manager/harness/seed.ts'
import { createAudit } from '../../platform/audit/append.ts'
import { createSmallestId } from '../../platform/ids.ts'
import { createJobs } from '../../platform/jobs/jobs.ts'
import { type RollUp, createRollUpSchedule } from '../../platform/jobs/roll-ups.ts'
import { countRuns } from './run-counts-roll-up.store.ts'
import { createRunOperations } from './run-operations.service.ts'

const { service, admin, other, person } = useProject({ withOther: true })

const minuteMs = 60_000
const hourOf = (at: Date): string => new Date(Math.floor(at.getTime() / 3_600_000) * 3_600_000).toISOString()
const ago = (minutes: number): Date => new Date(Date.now() - minutes * minuteMs)

let project: SeededProject
let triggerId: string
let count = 0
beforeEach(async () => {
  project = await seedProject(service.sql, `runs-${++count}`)
  triggerId = await seedTrigger(service.sql, project)
  await startAt(ago(45))
})

const startAt = (at: Date) =>
  service.sql.query("update roll_ups set counted_until = $1 where name = 'trigger_runs'", [at])
const rollUp = (counter: RollUp['count'] = countRuns) =>
  createRollUpSchedule(service.world.database.db, {
    name: 'trigger_runs',
    lagMs: 1_000,
    count: counter,
    onLag: () => {},
  }).run()
/** Makes a range due, so that the schedule checks open runs again. */
const rollUpAgain = async (): Promise<void> => {
  await startAt(new Date(Date.now() - 3_000))
  await rollUp()
}

/** Seeds a run that was planned for `at`, by default when it was due, and returns its id. */
async function seedRun(
  outcome: string,
  { at = ago(30), plannedAt, trigger = triggerId }: { at?: Date; plannedAt?: Date; trigger?: string } = {},
): Promise<string> {
  const id = v7({ msecs: (plannedAt ?? at).getTime() })
  await service.sql.query(
    `insert into trigger_runs (id, scheduled_at, project_id, application_id, trigger_id, environment_id, trigger_name,
       cron_expression, run_key, outcome) values ($1, $2, $3, $4, $5, $6, 'seeded', '* * * * *', '', $7)`,
    [id, at, project.id, project.applicationId, trigger, randomUUID(), outcome],
  )
  return id
}
const setOutcome = (id: string, outcome: string) =>
  service.sql.query('update trigger_runs set outcome = $2 where id = $1', [id, outcome])

type Arguments = { by?: Person; triggerId?: string; from?: string; to?: string }
const seriesOf = ({ id: projectId }: SeededProject, { by = admin, ...args }: Arguments = {}) =>
  service.query(
    by,
    `query($projectId: ID!, $triggerId: ID, $from: String!, $to: String!) {
      points: runSeries(projectId: $projectId, triggerId: $triggerId, from: $from, to: $to) {
        hour outcome count } }`,
    { projectId, from: ago(20 * 1_440).toISOString(), to: ago(-60).toISOString(), ...args },
  )
type Point = { hour: string; outcome: string; count: number }
async function pointsOf(...args: Parameters<typeof seriesOf>): Promise<Point[]> {
  const { data, error } = await seriesOf(...args)
  expect(error).toBeNull()
  return data.points as Point[]
}
async function totalsOf(...args: Parameters<typeof seriesOf>): Promise<Record<string, number>> {
  const totals: Record<string, number> = {}
  for (const { outcome, count: runs } of await pointsOf(...args))
    totals[outcome] = (totals[outcome] ?? 0) + runs
  return totals
}

describe('runSeries', () => {
  test('[triggers.series] counts runs by planned hour and outcome, of the project and of each trigger', async () => {
    const second = await seedTrigger(service.sql, project)
    const outcomes = ['delivered', 'delivered', 'failed', 'cancelled', 'skipped_no_backend']
    for (const outcome of [...outcomes, 'skipped_overlap']) await seedRun(outcome)
    // A missed run is planned long after it was due.
    const missedAt = ago(10 * 1_440)
    await seedRun('missed', { at: missedAt, plannedAt: ago(20), trigger: second })
    await rollUp()
    expect(await totalsOf(project)).toEqual({
      delivered: 2,
      failed: 1,
      cancelled: 1,
      skipped_no_backend: 1,
      skipped_overlap: 1,
      missed: 1,
    })
    expect(await pointsOf(project, { triggerId: second })).toEqual([
      { hour: hourOf(missedAt), outcome: 'missed', count: 1 },
    ])
    await rollUpAgain()
    await runSchedule(service, 'trigger-runs-counts')
    expect(await totalsOf(project, { triggerId })).toMatchObject({ delivered: 2, failed: 1 })
  })

  test('[triggers.series] a run moves from pending to its outcome, also after an operator has retried it', async () => {
    const id = await seedRun('pending')
    const postponed = await seedRun('pending')
    await rollUp()
    expect(await totalsOf(project)).toEqual({ pending: 2 })
    await setOutcome(id, 'failed')
    await rollUpAgain()
    expect(await totalsOf(project)).toEqual({ pending: 1, failed: 1 })
    const operations = createRunOperations({
      db: service.world.database.db,
      jobs: createJobs({ run: service.world.database.runForJobs }),
      audit: createAudit(service.world.clock),
    })
    await operations.retry(id)
    await rollUpAgain()
    expect(await totalsOf(project)).toEqual({ pending: 2 })
    await setOutcome(id, 'delivered')
    await setOutcome(postponed, 'cancelled')
    await rollUpAgain()
    expect(await totalsOf(project, { triggerId })).toEqual({ delivered: 1, cancelled: 1 })
    // A run that fails again before the schedule has noticed the retry keeps its counted outcome.
    const failing = await seedRun('failed', { at: ago(25) })
    await startAt(ago(26))
    await rollUp()
    await operations.retry(failing)
    await setOutcome(failing, 'failed')
    await rollUpAgain()
    expect(await totalsOf(project)).toEqual({ delivered: 1, cancelled: 1, failed: 1 })
    const { rows } = await service.sql.query('select from trigger_open_runs where project_id = $1', [
      project.id,
    ])
    expect(rows).toEqual([])
  })

  test('[triggers.series] a run that is retried before it is counted is counted once', async () => {
    const id = await seedRun('failed', { at: ago(1) })
    await startAt(ago(2))
    const operations = createRunOperations({
      db: service.world.database.db,
      jobs: createJobs({ run: service.world.database.runForJobs }),
      audit: createAudit(service.world.clock),
    })
    await operations.retry(id)
    await setOutcome(id, 'delivered')
    await rollUp()
    expect(await totalsOf(project)).toEqual({ delivered: 1 })
  })

  test('[triggers.series] a transaction that fails after counting counts nothing twice', async () => {
    for (const minutes of [40, 30, 20]) await seedRun('delivered', { at: ago(minutes) })
    await seedRun('pending')
    let failures = 0
    const failing: RollUp['count'] = async (tx, range) => {
      await countRuns(tx, range)
      if (failures++ % 2 === 0) throw new Error('the process stops here')
    }
    await expect(rollUp(failing)).rejects.toThrow('stops here')
    await expect(rollUp(failing)).rejects.toThrow('stops here')
    await Promise.all([rollUp(), rollUp()])
    await rollUp()
    expect(await totalsOf(project)).toEqual({ delivered: 3, pending: 1 })
  })

  test.each([
    ['the last month and this month', 0],
    ['this month and the next month', 1],
  ])(
    '[triggers.series] runs between %s are counted once, each in the month of its time',
    async (_, offset) => {
      const now = new Date()
      const start = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset))
      const at = (ms: number): Date => new Date(start.getTime() + ms)
      const countRange = (fromMs: number, untilMs: number) =>
        service.world.database.db.transaction((tx) =>
          countRuns(tx, { from: at(fromMs).toISOString(), until: at(untilMs).toISOString() }),
        )
      const points = () =>
        pointsOf(project, { triggerId, from: at(-3_600_000).toISOString(), to: at(3_600_000).toISOString() })
      const [older, newer] = [at(-3_600_000).toISOString(), start.toISOString()]
      await seedRun('delivered', { at: at(-1) })
      const pending = await seedRun('pending', { at: at(-60_000) })
      await seedRun('failed', { at: start })
      // The scheduler was down at the month boundary, so it planned this run in the newer month.
      await seedRun('missed', { at: at(-120_000), plannedAt: at(60_000) })
      await countRange(-600_000, 0)
      expect(await points()).toEqual([
        { hour: older, outcome: 'delivered', count: 1 },
        { hour: older, outcome: 'pending', count: 1 },
      ])
      await setOutcome(pending, 'delivered')
      await countRange(0, 600_000)
      await countRange(600_000, 1_200_000)
      expect(await points()).toEqual([
        { hour: older, outcome: 'delivered', count: 2 },
        { hour: older, outcome: 'missed', count: 1 },
        { hour: newer, outcome: 'failed', count: 1 },
      ])
      const { rows } = await service.sql.query(
        'select distinct tableoid::regclass::text as month from trigger_run_counts where project_id = $1',
        [project.id],
      )
      expect(rows).toHaveLength(2)
    },
  )

  test('[triggers.series] a run is found by the time of its id, to the millisecond', () => {
    const at = new Date('2026-03-04T05:06:07.089Z')
    const id = v7({ msecs: at.getTime() })
    expect(createSmallestId(at.toISOString()) < id).toBe(true)
    expect(createSmallestId(new Date(at.getTime() + 1).toISOString()) > id).toBe(true)
  })
})

describe('arguments and rights', () => {
  test('[triggers.series] triggers of other projects, deleted triggers and invalid ids are not found', async () => {
    const foreign = await seedTrigger(service.sql, other)
    await seedRun('delivered')
    await rollUp()
    expect(await totalsOf(project, { triggerId })).toEqual({ delivered: 1 })
    await service.sql.query('delete from triggers where id = $1', [triggerId])
    for (const id of [foreign, triggerId, randomUUID(), 'x'])
      expect((await seriesOf(project, { triggerId: id })).error).toBe('trigger not found')
    expect(await totalsOf(project)).toEqual({ delivered: 1 })
    expect(await totalsOf(other)).toEqual({})
  })

  test('[triggers.series] the range is bounded, and strangers do not see the project', async () => {
    const range = { from: '2026-01-01T00:00:00Z', to: '2026-02-01T00:00:01Z' }
    expect((await seriesOf(project, range)).error).toContain('at most 31 days apart')
    const stranger = await person(`stranger-${count}`)
    expect((await seriesOf(project, { by: stranger })).error).toBe('project not found')
  })
})
