// These tests check the query plan for the runs of one trigger among many. They run the statement of the service again
// with EXPLAIN.
import { beforeAll, describe, expect, test } from 'vitest'
import { useProject } from '../../../test/kit/project.ts'
import { seedRuns, seedTrigger, triggerCalls } from '../../../test/kit/triggers.ts'

const { service, admin, project } = useProject()
const { runsOf } = triggerCalls(() => service)

type Plan = {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: Plan[]
}

/** The first trigger has most of the runs, in two months. The second trigger has a few. */
const triggers: string[] = []
beforeAll(async () => {
  const now = new Date()
  const lastMonth = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth()) - 1)
  const { rows } = await service.sql.query<{ id: string }>(
    'select id from environments where project_id = $1',
    [project.id],
  )
  for (const count of [10_000, 10]) {
    const triggerId = await seedTrigger(service.sql, project)
    triggers.push(triggerId)
    for (const { id: environmentId } of rows)
      for (const until of [now, lastMonth])
        await seedRuns(
          service.sql,
          { projectId: project.id, applicationId: project.applicationId, triggerId, environmentId },
          { count, until },
        )
  }
  await service.sql.query('vacuum analyze trigger_runs')
})

/** Returns the plan nodes that read runs. Runs the settings and the statement again, in one transaction. */
async function nodesOf(values: unknown[]): Promise<Plan[]> {
  const client = await service.sql.connect()
  const nodes: Plan[] = []
  const walk = (plan: Plan): void => {
    nodes.push(plan)
    for (const child of plan.Plans ?? []) walk(child)
  }
  await client.query('begin')
  for (const text of service.statements)
    if (text.includes('set_config')) await client.query(text)
    else if (text.includes('from trigger_runs')) {
      const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
        `explain (analyze, format json) ${text}`,
        values,
      )
      walk((rows[0] as { 'QUERY PLAN': [{ Plan: Plan }] })['QUERY PLAN'][0].Plan)
    }
  await client.query('rollback')
  client.release()
  return nodes
}

describe('60,000 runs of a trigger in two months', () => {
  test.each([
    [0, 100],
    [0, 1],
    [1, 30],
  ] as const)(
    'are read from the end of the primary key, no more than the limit: trigger %i, limit %i',
    async (index, limit) => {
      const trigger = triggers[index] as string
      service.statements.length = 0
      expect((await runsOf(admin, trigger, limit)).data.rows).toHaveLength(limit)
      const nodes = await nodesOf([trigger, limit])
      const reads = nodes.filter((node) => node['Relation Name']?.startsWith('trigger_runs') === true)
      expect(reads.length).toBeGreaterThan(0)
      for (const node of reads)
        expect([node['Node Type'], node['Index Name']]).toEqual([
          'Index Scan',
          expect.stringMatching(/^trigger_runs_\d{4}_\d{2}_pkey$/),
        ])
      expect(nodes.filter((node) => node['Node Type'].includes('Sort'))).toEqual([])
      const rows = reads.reduce(
        (sum, node) =>
          sum + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
        0,
      )
      expect(rows).toBeLessThanOrEqual(limit)
    },
  )
})
