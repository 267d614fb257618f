// These tests cover the series of calls and the schedule that counts them: every call is counted exactly once, even
// after failures.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { sql } from 'kysely'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { type Caller, seedCall, seedCaller } from '../../../test/kit/esb-calls.ts'
import { useProject } from '../../../test/kit/project.ts'
import { runSchedule } from '../../../test/kit/schedules.ts'
import type { Person } from '@manager/harness/callers.ts'
import { type SeededProject, seedProject } from '@manager/harness/seed.ts'
import { type RollUp, createRollUpSchedule } from '../../platform/jobs/roll-ups.ts'
import type { Tx } from '../../platform/postgres/handles.ts'
import { countCalls } from './call-counts-roll-up.store.ts'

const { service, admin, other, person, member } = useProject({ withOther: true })
const replicas: TestApp[] = []
afterAll(async () => {
  for (const replica of replicas) await replica.close()
})

const minuteMs = 60_000
const dayMs = 1_440 * minuteMs
const hourOf = (at: Date): string => new Date(Math.floor(at.getTime() / 3_600_000) * 3_600_000).toISOString()
const ago = (minutes: number): Date => new Date(Date.now() - minutes * minuteMs)

let project: SeededProject
let caller: Caller
let projects = 0
beforeEach(async () => {
  project = await seedProject(service.sql, `calls-${++projects}`)
  caller = await seedCaller(service.sql, project)
  await startAt(ago(45))
})

const startAt = (at: Date) =>
  service.sql.query("update roll_ups set counted_until = $1 where name = 'esb_calls'", [at])
const count = (fromMinutes: number, untilMinutes: number) =>
  service.world.database.db.transaction((tx) =>
    countCalls(tx, { from: ago(fromMinutes).toISOString(), until: ago(untilMinutes).toISOString() }),
  )
const lagMs = 3_000
const rollUp = (counter: RollUp['count'] = countCalls, { world }: TestApp = service) =>
  createRollUpSchedule(world.database.db, {
    name: 'esb_calls',
    lagMs,
    count: counter,
    onLag: () => {},
  }).run()

type Point = { hour: string; outcome: string; count: number; totalDurationMs: number }
async function seriesOf(
  { id: projectId }: SeededProject,
  { by = admin, ...args }: { by?: Person; applicationId?: string; from?: string; to?: string } = {},
) {
  const bounds = { from: ago(1_440).toISOString(), to: ago(-60).toISOString() }
  return service.query(
    by,
    `query($projectId: ID!, $applicationId: ID, $from: String!, $to: String!) {
      points: callSeries(projectId: $projectId, applicationId: $applicationId, from: $from, to: $to) {
        hour outcome count totalDurationMs } }`,
    { projectId, ...bounds, ...args },
  )
}
const pointsOf = async (...args: Parameters<typeof seriesOf>): Promise<Point[]> => {
  const { data, error } = await seriesOf(...args)
  expect(error).toBeNull()
  return data.points as Point[]
}
/** Returns the number of calls by outcome. */
async function totalsOf(...args: Parameters<typeof seriesOf>): Promise<Record<string, number>> {
  const totals: Record<string, number> = {}
  for (const { outcome, count: calls } of await pointsOf(...args))
    totals[outcome] = (totals[outcome] ?? 0) + calls
  return totals
}

describe('callSeries', () => {
  test('[esb-audit.series] counts calls by hour and outcome, of the project and of each application', async () => {
    const applicationId = randomUUID()
    await service.sql.query(
      "insert into applications (id, project_id, slug, name) values ($1, $2, 'second', 'Second')",
      [applicationId, project.id],
    )
    const second = await seedCaller(service.sql, { ...project, applicationId })
    const [early, late] = [ago(40), ago(20)]
    const outcomes = [
      ['ok', { responseStatus: 200 }],
      ['ok', { responseStatus: 302 }],
      ['client_error', { responseStatus: 404 }],
      ['server_error', { responseStatus: 500 }],
      ['rejected', { responseStatus: 403, failure: 'no access' }],
      ['failed', { responseStatus: 502, failure: 'the partner is unreachable' }],
      ['failed', { responseStatus: null, failure: 'the client disconnected' }],
    ] as const
    for (const [, values] of outcomes)
      await seedCall(service.sql, caller, { createdAt: early.toISOString(), durationMs: 7, ...values })
    await seedCall(service.sql, second, { createdAt: late.toISOString(), durationMs: 3_000 })
    await rollUp()
    expect(await totalsOf(project)).toEqual({
      ok: 3,
      client_error: 1,
      server_error: 1,
      rejected: 1,
      failed: 2,
    })
    expect(await totalsOf(project, { applicationId })).toEqual({ ok: 1 })
    expect(await pointsOf(project, { applicationId })).toEqual([
      { hour: hourOf(late), outcome: 'ok', count: 1, totalDurationMs: 3_000 },
    ])
    const ofFirst = await pointsOf(project, { applicationId: project.applicationId })
    expect(ofFirst).toContainEqual({ hour: hourOf(early), outcome: 'failed', count: 2, totalDurationMs: 14 })
    expect(await totalsOf(other)).toEqual({})
    // A second run of the same schedule, and the schedule of the service, find nothing new.
    await rollUp()
    await runSchedule(service, 'esb-calls-counts')
    expect(await totalsOf(project, { applicationId })).toEqual({ ok: 1 })
  })

  test('[esb-audit.series] a call in flight is counted when it has ended, or as unknown after two hours', async () => {
    const createdAt = ago(30).toISOString()
    const id = await seedCall(service.sql, caller, { createdAt, responseStatus: null, durationMs: null })
    await rollUp()
    expect(await totalsOf(project)).toEqual({})
    await service.sql.query(
      'update esb_audit_logs set response_status = 201, duration_ms = 900000 where id = $1',
      [id],
    )
    // A schedule settles open calls together with the next range.
    await startAt(ago(2))
    await rollUp()
    expect(await pointsOf(project)).toEqual([
      { hour: hourOf(new Date(createdAt)), outcome: 'ok', count: 1, totalDurationMs: 900_000 },
    ])
    const lost = { createdAt: ago(130).toISOString(), responseStatus: null, durationMs: null }
    await seedCall(service.sql, caller, lost)
    for (const [from, until] of [
      [131, 129],
      [3, 2],
    ] as const)
      await count(from, until)
    expect(await totalsOf(project)).toEqual({ ok: 1, unknown: 1 })
    const { rows } = await service.sql.query('select from esb_open_calls where project_id = $1', [project.id])
    expect(rows).toEqual([])
  })

  test('[esb-audit.series] a transaction that is rolled back or killed after counting counts nothing twice', async () => {
    for (let minutes = 40; minutes > 5; minutes -= 5)
      await seedCall(service.sql, caller, { createdAt: ago(minutes).toISOString() })
    let [failures, kills] = [0, 0]
    const failing = async (tx: Tx, range: Parameters<RollUp['count']>[1]): Promise<void> => {
      await countCalls(tx, range)
      if (failures++ < 3) throw new Error('the process stops here')
    }
    const killed = async (tx: Tx, range: Parameters<RollUp['count']>[1]): Promise<void> => {
      await countCalls(tx, range)
      if (kills++ > 0) return
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx)
      await service.sql.query('select pg_terminate_backend($1)', [rows[0]?.pid])
    }
    for (let run = 0; run < 3; run++) await expect(rollUp(failing)).rejects.toThrow('stops here')
    await rollUp(killed).catch(() => undefined)
    await rollUp()
    expect(kills).toBeGreaterThan(0)
    expect(await totalsOf(project)).toEqual({ ok: 7 })
  })

  test('[esb-audit.series] two processes that count while calls start and end count each call once', async () => {
    const replica = await startTestApp({ database: service.database })
    replicas.push(replica)
    await startAt(new Date(Date.now() - lagMs - 1_000))
    const until = Date.now() + 5_000
    let written = 0
    const write = async (): Promise<void> => {
      while (Date.now() < until) {
        const id = await seedCall(service.sql, caller, { responseStatus: null, durationMs: null })
        written++
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 40))
        await service.sql.query(
          'update esb_audit_logs set response_status = 200, duration_ms = 1 where id = $1',
          [id],
        )
      }
    }
    const roll = async (on: TestApp): Promise<void> => {
      while (Date.now() < until) {
        await rollUp(countCalls, on)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
    await Promise.all([write(), write(), roll(service), roll(replica)])
    // The second range settles calls that were in flight during the first one.
    for (const waitMs of [lagMs + 1_100, 1_100]) {
      await new Promise((resolve) => setTimeout(resolve, waitMs))
      await rollUp()
    }
    expect(await totalsOf(project)).toEqual({ ok: written })
  }, 60_000)

  test('[esb-audit.series] a month boundary separates hours, and both months are read in one series', async () => {
    const now = new Date()
    const boundary = Date.UTC(now.getUTCFullYear(), now.getUTCMonth())
    for (const at of [boundary - 1, boundary])
      await seedCall(service.sql, caller, { createdAt: new Date(at).toISOString() })
    const range = {
      from: new Date(boundary - minuteMs).toISOString(),
      until: new Date(boundary + minuteMs).toISOString(),
    }
    await service.world.database.db.transaction((tx) => countCalls(tx, range))
    const bounds = {
      from: new Date(boundary - dayMs).toISOString(),
      to: new Date(boundary + dayMs).toISOString(),
    }
    expect((await pointsOf(project, bounds)).map(({ hour, count: calls }) => [hour, calls])).toEqual([
      [hourOf(new Date(boundary - 1)), 1],
      [hourOf(new Date(boundary)), 1],
    ])
    // The bounds select hours by their start.
    const firstOfMonth = new Date(boundary).toISOString()
    expect(await pointsOf(project, { ...bounds, from: firstOfMonth })).toHaveLength(1)
    expect(await pointsOf(project, { ...bounds, to: firstOfMonth })).toHaveLength(1)
  })

  test('[esb-audit.series] the counts of an application are deleted with it, those of a project with the project', async () => {
    await seedCall(service.sql, caller, { createdAt: ago(30).toISOString() })
    await seedCall(service.sql, caller, {
      createdAt: ago(30).toISOString(),
      responseStatus: null,
      durationMs: null,
    })
    await rollUp()
    const rowsOf = async (table: string): Promise<number> => {
      const { rows } = await service.sql.query(`select from ${table} where project_id = $1`, [project.id])
      return rows.length
    }
    expect([await rowsOf('esb_call_counts'), await rowsOf('esb_open_calls')]).toEqual([2, 1])
    await service.sql.query('delete from applications where id = $1', [project.applicationId])
    expect([await rowsOf('esb_call_counts'), await rowsOf('esb_open_calls')]).toEqual([1, 0])
    expect(await totalsOf(project)).toEqual({ ok: 1 })
    await service.sql.query('delete from projects where id = $1', [project.id])
    expect(await rowsOf('esb_call_counts')).toBe(0)
  })
})

describe('arguments and rights', () => {
  test('[esb-audit.series] the range is bounded and well formed', async () => {
    const [from, to] = ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z']
    expect((await seriesOf(project, { from, to })).error).toBeNull()
    for (const [bounds, message] of [
      [{ from, to: '2026-02-01T00:00:01Z' }, 'from and to can be at most 31 days apart'],
      [{ from: to, to: from }, 'from must be before to'],
      [{ from, to: from }, 'from must be before to'],
      [{ from: 'yesterday', to }, 'from must be an RFC 3339 timestamp'],
      [{ from, to: '2026-02-01' }, 'to must be an RFC 3339 timestamp'],
      [{ from, to: 'x'.repeat(20_000) }, 'to must be an RFC 3339 timestamp'],
    ] as const)
      expect((await seriesOf(project, bounds)).error).toContain(message)
  })

  test('[esb-audit.series] applications of other projects, unknown ids and invalid ids are not found', async () => {
    for (const applicationId of [other.applicationId, randomUUID(), 'x', ''])
      expect((await seriesOf(project, { applicationId })).error).toBe('application not found')
  })

  test('[esb-audit.series] every role of the project reads the series, and nobody else', async () => {
    const stranger = await person(`stranger-${projects}`)
    expect((await seriesOf(project, { by: stranger })).error).toBe('project not found')
    const elsewhere = await member(`elsewhere-${projects}`, 'owner')
    expect((await seriesOf(project, { by: elsewhere })).error).toBe('project not found')
  })
})
