// Tests the time windows of the plain log lists: `from` is inclusive, and `to` is exclusive.
import { expect, test } from 'vitest'
import { seedCaller, seedCalls } from './kit/esb-calls.ts'
import { useProject } from './kit/project.ts'
import { seedRuns, seedTrigger } from './kit/triggers.ts'

const { service, admin, project } = useProject()

type Bounds = { from?: string; to?: string }
const ask = (list: string, bounds: Bounds, selected: string) =>
  service.query(
    admin,
    `query($from: String, $to: String) { rows: ${list.replace(')', ', from: $from, to: $to)')} { at: ${selected} } }`,
    bounds,
  )
async function timesOf(list: string, bounds: Bounds, selected: string): Promise<string[]> {
  const { data, error } = await ask(list, bounds, selected)
  expect([list, error]).toEqual([list, null])
  return (data.rows as { at: string }[]).map(({ at }) => at)
}

/** Expects that each window of a log returns exactly those rows of the complete list that are in the window. */
async function expectWindows(list: string, selected: string): Promise<void> {
  const all = await timesOf(list, {}, selected)
  expect(all.length).toBeGreaterThanOrEqual(12)
  const [newer = '', older = ''] = [all.at(3), all.at(-4)]
  const windows: Bounds[] = [
    { from: older },
    { to: newer },
    { from: older, to: newer },
    { to: all.at(-1) ?? '' },
  ]
  for (const bounds of windows)
    expect([bounds, await timesOf(list, bounds, selected)]).toEqual([
      bounds,
      all.filter((at) => at >= (bounds.from ?? '') && at < (bounds.to ?? '9')),
    ])
  for (const [bounds, text] of [
    [{ from: 'yesterday' }, 'from must be an RFC 3339 timestamp'],
    [{ to: '2026-02-30T00:00:00Z' }, 'to must be an RFC 3339 timestamp'],
    [{ from: newer, to: older }, 'from must be before to'],
  ] as const)
    expect((await ask(list, bounds, selected)).error).toContain(text)
}

test('[lists.windows] logged calls are selected by time, in every order and of one endpoint', async () => {
  const callers = [await seedCaller(service.sql, project), await seedCaller(service.sql, project)]
  for (const [index, caller] of callers.entries())
    await seedCalls(service.sql, caller, {
      count: 15,
      until: new Date(Date.now() - index * 300),
      everyMs: 3_600_000,
    })
  const args = `applicationId: "${project.applicationId}"`
  await expectWindows(`esbAuditLogs(${args})`, 'timestamp')
  await expectWindows(`esbAuditLogs(${args}, endpointId: "${callers[0]?.endpointId}")`, 'timestamp')
  await expectWindows(
    `esbAuditLogs(${args}, order: [{field: "timestamp", direction: DESC}], limit: 50)`,
    'timestamp',
  )
  await expectWindows(`esbAuditLogs(${args}, filters: [{field: "method", value: "POST"}])`, 'timestamp')
})

test('[lists.windows] trigger runs are selected by planned time', async () => {
  const triggerId = await seedTrigger(service.sql, project)
  const { rows } = await service.sql.query<{ id: string }>(
    'select id from environments where project_id = $1 limit 1',
    [project.id],
  )
  const { id: projectId, applicationId } = project
  const of = { projectId, applicationId, triggerId, environmentId: rows[0]?.id ?? '' }
  await seedRuns(service.sql, of, { count: 15, until: new Date() })
  await expectWindows(`triggerRuns(trigger: "${triggerId}")`, 'scheduledAt')
})

test('[lists.windows] the audit trail is selected by time, in every order', async () => {
  for (let index = 0; index < 12; index++)
    await service.query(
      admin,
      'mutation($id: ID!, $slug: String!) { createTenant(projectId: $id, input: {name: "x", slug: $slug}) { id } }',
      { id: project.id, slug: `window-${index}` },
    )
  await expectWindows(`auditLogs(projectID: "${project.id}")`, 'createdAt')
  await expectWindows(
    `auditLogs(projectID: "${project.id}", order: [{field: "createdAt", direction: DESC}])`,
    'createdAt',
  )
})
