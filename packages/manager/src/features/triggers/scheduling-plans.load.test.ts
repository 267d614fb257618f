// These tests compare the cost of a tick instead of measuring time. The plan and the number of buffer pages are
// the same for 10,000 and for a million idle triggers.
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TriggerScene, startTriggerScene } from '../../../test/kit/callbacks.ts'
import { loadSize } from '@manager/harness/load-sizes.ts'

type Node = { 'Node Type': string; 'Index Name'?: string; Plans?: Node[] } & Record<string, unknown>

let scene: TriggerScene
let client: Client
beforeAll(async () => {
  scene = await startTriggerScene()
  client = new Client({ connectionString: scene.service.database.url })
  await client.connect()
  await scene.register()
  await seed(100, 'now() - interval $$1 second$$')
})
afterAll(async () => {
  await client.end()
  await scene.close()
})

const seed = (count: number, nextFireAt: string) =>
  client.query(
    `insert into triggers (id, project_id, application_id, name, description, cron_expression, run_key, enabled, next_fire_at)
     select gen_random_uuid(), $1, $2, 'seeded', '', '0 3 1 1 *', '', true, ${nextFireAt} from generate_series(1, ${count}) n`,
    [scene.project.id, scene.project.applicationId],
  )

/** Returns the plan of a statement as lines, and the number of pages that it touched. */
async function explain(text: string, values: unknown[]): Promise<{ plan: string[]; pages: number }> {
  await client.query('begin')
  const { rows } = await client.query(`explain (analyze, buffers, format json) ${text}`, values)
  await client.query('rollback')
  const lines: string[] = []
  const walk = (node: Node): void => {
    lines.push(`${node['Node Type']} ${node['Index Name'] ?? ''}`.trim())
    for (const child of node.Plans ?? []) walk(child)
  }
  const root = rows[0]['QUERY PLAN'][0].Plan as Node
  walk(root)
  return { plan: lines, pages: Number(root['Shared Hit Blocks']) + Number(root['Shared Read Blocks']) }
}

test('one tick reads what is due, whatever number of triggers sleeps', async () => {
  scene.service.statements.length = 0
  await scene.plan()
  const statements = (part: string): string => {
    const found = scene.service.statements.find((text) => text.includes(part))
    if (found === undefined) throw new Error(`no statement with ${part}`)
    return found
  }
  const [claim, next] = [statements('for update skip locked'), statements('due_ms')]
  const costs = []
  for (const more of [10_000, loadSize(90_000, 990_000)]) {
    await seed(more, "now() + n * interval '1 second' + interval '1 hour'")
    await client.query(`update triggers set next_fire_at = now() - interval '1 second' where id in
      (select id from triggers order by next_fire_at limit 100)`)
    await client.query('vacuum analyze triggers')
    costs.push({ claim: await explain(claim, [500]), next: await explain(next, []) })
  }
  const [few, many] = costs
  process.stdout.write(
    `a tick with 100 due triggers: ${few?.claim.pages} pages of 10,000 triggers, ${many?.claim.pages} of ${loadSize(100_000, 1_000_000)}; the look for the next one: ${few?.next.pages} and ${many?.next.pages}\n`,
  )
  expect(many?.claim.plan).toEqual(few?.claim.plan)
  expect(many?.next.plan).toEqual(few?.next.plan)
  expect(many?.claim.plan).toContain('Index Scan triggers_due_idx')
  // Each row is on at most one additional page, and the index is one or two levels deeper.
  expect(many?.claim.pages).toBeLessThanOrEqual((few?.claim.pages as number) + 110)
  expect(many?.next.pages).toBeLessThanOrEqual((few?.next.pages as number) + 4)
}, 300_000)
