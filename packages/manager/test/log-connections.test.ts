// Tests the connections of the logs: filters by time, status and text, and paging by cursor, which reads a bounded
// number of rows per page.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { seedEndpoint } from './kit/endpoints.ts'
import { type Caller, seedCall, seedCaller, seedCalls } from './kit/esb-calls.ts'
import { useProject } from './kit/project.ts'
import { seedRuns, seedTrigger } from './kit/triggers.ts'
import { seedMachineUser } from '@manager/harness/seed.ts'

const { service, admin, project, other } = useProject({ withOther: true })

type Node = Record<string, unknown>
type Page = {
  nodes: Node[]
  pageInfo: { hasNextPage: boolean; endCursor: string | null }
  totalCount: number
  isTotalExact: boolean
  isComplete: boolean
}
type Args = Record<string, unknown>
type Kind = { field: string; parent: string; args: Record<string, string>; selected: string }

const calls: Kind = {
  field: 'esbAuditLogsConnection',
  parent: 'applicationId',
  args: { endpointId: 'ID', machineUserId: 'ID', requestId: 'String', status: 'String', text: 'String' },
  selected: 'id timestamp path',
}
const runs: Kind = {
  field: 'triggerRunsConnection',
  parent: 'trigger',
  args: { environmentId: 'ID', outcome: 'String' },
  selected: 'id scheduledAt outcome',
}
const trail: Kind = {
  field: 'auditLogsConnection',
  parent: 'projectID',
  args: { entityId: 'ID', userId: 'ID', text: 'String' },
  selected: 'id seq action entityID createdAt',
}

function ask({ field, parent, args, selected }: Kind, parentId: string, values: Args) {
  const types: Record<string, string> = {
    ...args,
    ...(field === runs.field ? {} : { filters: '[Filter!]', order: '[Order!]' }),
    from: 'String',
    to: 'String',
    pagination: 'Pagination',
    after: 'String',
  }
  const names = Object.keys(types)
  return service.query(
    admin,
    `query($parent: ID!, ${names.map((name) => `$${name}: ${types[name]}`).join(', ')}) {
      page: ${field}(${parent}: $parent, ${names.map((name) => `${name}: $${name}`).join(', ')}) {
        nodes { ${selected} } pageInfo { hasNextPage endCursor } totalCount isTotalExact isComplete } }`,
    { parent: parentId, ...values },
  )
}

async function read(kind: Kind, parentId: string, values: Args = {}): Promise<Page> {
  const { data, error } = await ask(kind, parentId, values)
  expect(error).toBeNull()
  return data.page as Page
}

/** Reads all pages. Throws if there are more than 1,000. */
async function walk(kind: Kind, parentId: string, values: Args, limit = 10): Promise<Node[]> {
  const nodes: Node[] = []
  let after: string | null = null
  for (let count = 0; count < 1_000; count++) {
    const page: Page = await read(kind, parentId, { ...values, after, pagination: { limit, offset: 0 } })
    nodes.push(...page.nodes)
    if (!page.pageInfo.hasNextPage) return nodes
    after = page.pageInfo.endCursor
  }
  throw new Error('the walk did not end')
}

const now = Date.now()
const before = (ms: number): string => new Date(now - ms).toISOString()

/** Seeds an application with two callers that made 25 and 8 calls, a second apart, and returns them. */
async function seedTwoCallers(): Promise<{ applicationId: string; busy: Caller; quiet: Caller }> {
  const applicationId = randomUUID()
  await service.sql.query(
    "insert into applications (id, project_id, slug, name) values ($1, $2, 'log-' || left($3, 8), 'log')",
    [applicationId, project.id, applicationId],
  )
  const owner = { ...project, applicationId }
  const [busy, quiet] = [await seedCaller(service.sql, owner), await seedCaller(service.sql, owner)]
  await seedCalls(service.sql, busy, { count: 25, until: new Date(now), everyMs: 1_000 })
  await seedCalls(service.sql, quiet, { count: 8, until: new Date(now - 500), everyMs: 3_000 })
  return { applicationId, busy, quiet }
}

describe('the log of calls', () => {
  test('is walked by cursor over all callers, newest first, without a gap', async () => {
    const { applicationId } = await seedTwoCallers()
    const whole = await service.query(
      admin,
      `{ rows: esbAuditLogs(applicationId: "${applicationId}") { id } }`,
    )
    expect(whole.data.rows).toHaveLength(33)
    for (const limit of [1, 10, 100]) {
      const walked = await walk(calls, applicationId, {}, limit)
      expect(walked.map(({ id }) => ({ id }))).toEqual(whole.data.rows)
    }
    const page = await read(calls, applicationId)
    expect(page).toMatchObject({ totalCount: 33, isTotalExact: true, isComplete: true })
  })

  test('is limited by time, caller, endpoint, request id, status and text', async () => {
    const { applicationId, busy, quiet } = await seedTwoCallers()
    const createdAt = before(100)
    await seedCall(service.sql, busy, { createdAt, responseStatus: 503, path: '/wanted/%', requestId: 'r-1' })
    await seedCall(service.sql, quiet, { createdAt, responseStatus: 404, requestId: 'r-1' })
    await seedCall(service.sql, quiet, {
      createdAt,
      responseStatus: null,
      failure: 'timed out',
      requestId: 'r-2',
    })
    const count = async (values: Args): Promise<number> => {
      const nodes = await walk(calls, applicationId, values)
      expect((await read(calls, applicationId, values)).totalCount).toBe(nodes.length)
      return nodes.length
    }
    expect(await count({ from: before(4_500), to: before(2_000) })).toBe(2 + 1)
    expect(await count({ from: before(150), to: before(50) })).toBe(3)
    expect(await count({ machineUserId: quiet.machineUserId })).toBe(10)
    expect(await count({ endpointId: busy.endpointId })).toBe(26)
    expect(await count({ requestId: 'r-1' })).toBe(2)
    expect(await count({ requestId: 'r-1', machineUserId: quiet.machineUserId })).toBe(1)
    expect(await count({ status: '503' })).toBe(1)
    expect(await count({ status: '4xx' })).toBe(1)
    expect(await count({ status: 'failed' })).toBe(1)
    expect(await count({ status: '2xx', endpointId: quiet.endpointId })).toBe(8)
    const day = { from: before(3_600_000), to: before(-1_000) }
    expect(await count({ ...day, text: 'WANTED' })).toBe(1)
    expect(await count({ ...day, text: '/%' })).toBe(1)
    expect(await count({ filters: [{ field: 'failure', value: 'timed' }] })).toBe(1)
  })

  test('rejects an order, an offset, an unknown status, and a text without a day', async () => {
    const { applicationId } = await seedTwoCallers()
    for (const [values, message] of [
      [{ order: [{ field: 'path' }] }, 'omit order'],
      [{ pagination: { limit: 10, offset: 10 } }, 'pass the cursor `after` instead'],
      [{ pagination: { limit: 7, offset: 0 } }, '1, 10, 20, 25, 50, 100'],
      [{ status: '6xx' }, 'status must be'],
      [{ text: 'x' }, 'at most 24 hours apart'],
      [{ text: 'x', from: before(86_400_001), to: before(0) }, 'at most 24 hours apart'],
      [{ text: ' ', from: before(1), to: before(0) }, 'text must not be empty'],
      [{ text: 'x'.repeat(201), from: before(1), to: before(0) }, 'at most 200 characters'],
      [{ from: before(0), to: before(1) }, 'from must be before to'],
      [{ from: 'yesterday' }, 'RFC 3339'],
      [{ after: 'x' }, 'after is not a valid cursor'],
      [
        { after: Buffer.from('["call createdAt desc","x","y"]').toString('base64url') },
        'after is not a valid cursor',
      ],
      [{ machineUserId: 'x' }, 'machine user not found'],
      [{ requestId: ' ' }, 'requestId must be'],
    ] as const) {
      const { error } = await ask(calls, applicationId, values)
      expect(error ?? 'accepted').toContain(message)
    }
  })

  test('reads at most 10,000 rows for a page, and the next page continues there', async () => {
    const { applicationId, busy } = await seedTwoCallers()
    await seedCalls(service.sql, busy, { count: 12_000, until: new Date(now - 60_000), everyMs: 1 })
    await seedCall(service.sql, busy, { createdAt: before(7_200_000), responseStatus: 418 })
    const first = await read(calls, applicationId, { status: '418' })
    expect(first).toMatchObject({ nodes: [], isComplete: false, isTotalExact: false })
    expect(first.pageInfo.hasNextPage).toBe(true)
    expect(await walk(calls, applicationId, { status: '418' })).toHaveLength(1)
    expect((await read(calls, applicationId, { status: '200' })).nodes).toHaveLength(100)
  })

  test('of an application of another project stays out of reach', async () => {
    const machineUser = await seedMachineUser(service.sql, other)
    const endpointId = await seedEndpoint(service.sql, other)
    await seedCall(service.sql, { projectId: other.id, endpointId, machineUserId: machineUser.id }, {})
    const { error } = await ask(calls, project.applicationId, { endpointId })
    expect(error).toBe('endpoint not found')
    expect(await walk(calls, project.applicationId, { machineUserId: machineUser.id })).toEqual([])
  })
})

describe('the runs of a trigger', () => {
  test('are walked by cursor and limited by time, environment and outcome', async () => {
    const triggerId = await seedTrigger(service.sql, project)
    const of = { projectId: project.id, applicationId: project.applicationId, triggerId }
    const environments = await service.query(
      admin,
      `{ rows: environments(projectId: "${project.id}") { id } }`,
    )
    const [first, second] = (environments.data.rows as { id: string }[]).map(({ id }) => id) as [
      string,
      string,
    ]
    await seedRuns(service.sql, { ...of, environmentId: first }, { count: 25, until: new Date(now) })
    await seedRuns(service.sql, { ...of, environmentId: second }, { count: 5, until: new Date(now) })
    await service.sql.query(
      `update trigger_runs set outcome = 'failed' where trigger_id = $1 and environment_id = $2`,
      [triggerId, second],
    )
    const whole = await service.query(admin, `{ rows: triggerRuns(trigger: "${triggerId}") { id } }`)
    for (const limit of [1, 10])
      expect((await walk(runs, triggerId, {}, limit)).map(({ id }) => ({ id }))).toEqual(whole.data.rows)
    expect(await walk(runs, triggerId, { outcome: 'failed' })).toHaveLength(5)
    expect(await walk(runs, triggerId, { environmentId: first })).toHaveLength(25)
    expect(await walk(runs, triggerId, { from: before(150_000) })).toHaveLength(6)
    expect(await read(runs, triggerId, { outcome: 'failed' })).toMatchObject({
      totalCount: 5,
      isTotalExact: true,
    })
    expect((await ask(runs, triggerId, { outcome: 'nonsense' })).error).toContain('outcome must be one of')
  })
})

describe('the audit trail', () => {
  test('is walked by cursor and limited by time, entity, person and text', async () => {
    const create = (slug: string) =>
      service.query(
        admin,
        'mutation($id: ID!, $slug: String!) { createTenant(projectId: $id, input: {name: "x", slug: $slug}) { id } }',
        { id: project.id, slug },
      )
    const start = new Date(Date.now() - 1).toISOString()
    const created = await create('trail-0')
    for (let index = 1; index < 12; index++) await create(`trail-${index}`)
    const whole = await service.query(admin, `{ rows: auditLogs(projectID: "${project.id}") { id } }`)
    for (const limit of [1, 10])
      expect((await walk(trail, project.id, {}, limit)).map(({ id }) => ({ id }))).toEqual(whole.data.rows)
    const tenantId = created.data.createTenant.id as string
    expect(await walk(trail, project.id, { entityId: tenantId })).toMatchObject([{ entityID: tenantId }])
    expect((await walk(trail, project.id, { userId: admin.id })).length).toBeGreaterThanOrEqual(12)
    expect(await walk(trail, project.id, { userId: randomUUID() })).toEqual([])
    expect(await walk(trail, project.id, { from: start })).toHaveLength(12)
    expect(await walk(trail, project.id, { to: start })).toHaveLength(whole.data.rows.length - 12)
    const window = { from: start, to: new Date(Date.now() + 60_000).toISOString() }
    expect(await walk(trail, project.id, { ...window, text: 'TRAIL-1' })).toHaveLength(3)
    expect(await walk(trail, project.id, { filters: [{ field: 'action', value: 'delete' }] })).toEqual([])
    expect((await ask(trail, project.id, { order: [{ field: 'seq' }] })).error).toContain('omit order')
  })
})
