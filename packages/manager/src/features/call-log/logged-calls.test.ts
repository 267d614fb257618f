// These tests read logged calls through GraphQL. logged-calls-plans.test.ts covers the query plans.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { seedEndpoint } from '../../../test/kit/endpoints.ts'
import {
  type Caller,
  esbAuditLogsOf,
  seedCall,
  seedCaller,
  seedCalls,
  seedPair,
} from '../../../test/kit/esb-calls.ts'
import type { GraphqlAnswer } from '@manager/harness/graphql.ts'
import { expectRefused } from '../../../test/kit/members.ts'
import { useProject } from '../../../test/kit/project.ts'
import { type SeededProject, seedMember, seedProject, seedUser } from '@manager/harness/seed.ts'

const mebibyte = 1_048_576
const everything = `id timestamp sourceIP method path targetURL responseStatus durationMs transformationApplied failure
  requestHeaders { name value } requestBody responseHeaders { name value } responseBody
  endpoint { id name consumeURL } application { id slug } machineUser { id name username }`

const { service, admin, project } = useProject()

type Args = { endpointId?: string | null; limit?: number | null }
const callsOf = (applicationId: string, args: Args = {}, selected = 'id', caller = admin) =>
  esbAuditLogsOf(service, caller, { applicationId, ...args }, selected)
const idsOf = ({ data }: GraphqlAnswer): string[] => (data.calls as { id: string }[]).map(({ id }) => id)
const ago = (seconds: number): string => new Date(Date.now() - seconds * 1_000).toISOString()
const newApplication = async (of: SeededProject): Promise<SeededProject> => {
  const applicationId = randomUUID()
  await service.sql.query('insert into applications (id, project_id, name, slug) values ($1, $2, $3, $3)', [
    applicationId,
    of.id,
    `a${applicationId.slice(0, 8)}`,
  ])
  return { ...of, applicationId }
}

describe('the calls of an application', () => {
  test('[esb-audit.query] come newest first, of all its endpoints and callers, or of one endpoint, and no others', async () => {
    const own = await seedProject(service.sql, 'order')
    const [first, second] = [await seedCaller(service.sql, own), await seedCaller(service.sql, own)]
    const crossed: Caller = { ...first, machineUserId: second.machineUserId }
    const ids: string[] = []
    for (const [index, caller] of [first, second, crossed, first, second, crossed].entries())
      ids.unshift(await seedCall(service.sql, caller, { createdAt: ago(60 - index) }))
    await seedCall(service.sql, await seedCaller(service.sql, project))
    await seedCall(service.sql, await seedCaller(service.sql, await newApplication(own)))
    expect(idsOf(await callsOf(own.applicationId))).toEqual(ids)
    const { endpointId } = first
    const ofFirst = ids.filter((_, index) => index % 3 !== 1)
    expect(idsOf(await callsOf(own.applicationId, { endpointId }))).toEqual(ofFirst)
    expect(idsOf(await callsOf(own.applicationId, { endpointId, limit: 3 }))).toEqual(ofFirst.slice(0, 3))
    expect(idsOf(await callsOf(own.applicationId, { endpointId: null, limit: null }))).toEqual(ids)
    // Ids are case-insensitive.
    const upper = { endpointId: endpointId.toUpperCase() }
    expect(idsOf(await callsOf(own.applicationId.toUpperCase(), upper))).toEqual(ofFirst)
  })

  test('[esb-audit.query] of one moment come in one order, also across months', async () => {
    const own = await seedProject(service.sql, 'ties')
    const [one, other] = [await seedCaller(service.sql, own), await seedCaller(service.sql, own)]
    const now = new Date()
    const border = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth()))
    const expected: string[] = []
    for (const time of [border.getTime() - 1, border.getTime()]) {
      const made: string[] = []
      for (const caller of [one, other, one, other])
        made.push(await seedCall(service.sql, caller, { createdAt: new Date(time).toISOString() }))
      expected.unshift(...made.toSorted().toReversed())
    }
    expect(idsOf(await callsOf(own.applicationId))).toEqual(expected)
    for (let limit = 1; limit <= 8; limit++)
      expect(idsOf(await callsOf(own.applicationId, { limit }))).toEqual(expected.slice(0, limit))
  })

  test('[esb-audit.query] of more callers than the limit are the newest of all', async () => {
    const own = await seedProject(service.sql, 'crowded')
    const callers: Caller[] = []
    for (let index = 0; index < 25; index++) callers.push(await seedCaller(service.sql, own))
    // The calls have only three timestamps, so that many calls share one.
    const start = Date.now()
    for (let index = 0; index < 150; index++) {
      const [caller, seconds] = [callers[(index * index) % 25] as Caller, index % 3]
      await seedCall(service.sql, caller, { createdAt: new Date(start - seconds * 1_000).toISOString() })
    }
    const { rows } = await service.sql.query<{ id: string }>(
      `select id from esb_audit_logs where endpoint_id = any($1) order by created_at desc, id desc`,
      [callers.map(({ endpointId }) => endpointId)],
    )
    const expected = rows.map(({ id }) => id)
    for (const limit of [1, 2, 3, 5, 10, 24, 25, 26, 100])
      expect(idsOf(await callsOf(own.applicationId, { limit }))).toEqual(expected.slice(0, limit))
  })

  test('[esb-audit.query] are at most 100, and as many as the limit says; a limit outside 1 to 100 is refused', async () => {
    const own = await seedProject(service.sql, 'limits')
    const caller = await seedCaller(service.sql, own)
    await seedCalls(service.sql, caller, { count: 130, everyMs: 1_000 })
    const all = idsOf(await callsOf(own.applicationId))
    expect(all).toHaveLength(100)
    for (const limit of [1, 2, 7, 10, 33, 99, 100])
      expect(idsOf(await callsOf(own.applicationId, { limit }))).toEqual(all.slice(0, limit))
    for (const limit of [0, -1, 101, 1_000, 2_147_483_647, -2_147_483_648]) {
      const answer = await callsOf(own.applicationId, { limit })
      expectRefused(answer, 'bad_request')
      expect(answer.error).toBe('limit must be from 1 to 100')
    }
  })

  test('[esb-audit.query] without any, and of pairs whose calls are gone, are an empty list', async () => {
    const own = await seedProject(service.sql, 'empty')
    expect(idsOf(await callsOf(own.applicationId))).toEqual([])
    const caller = await seedCaller(service.sql, own)
    await seedPair(service.sql, caller)
    expect(idsOf(await callsOf(own.applicationId, { endpointId: caller.endpointId }))).toEqual([])
  })

  test('[esb-audit.query] an endpoint of another application, and what is unknown, is not found', async () => {
    const caller = await seedCaller(service.sql, project)
    await seedCall(service.sql, caller)
    const sibling = await newApplication(project)
    const elsewhere = await seedEndpoint(service.sql, await seedProject(service.sql, 'elsewhere'))
    for (const endpointId of [
      elsewhere,
      await seedEndpoint(service.sql, sibling),
      randomUUID(),
      'nothing',
      '',
    ])
      expect((await callsOf(project.applicationId, { endpointId })).error).toBe('endpoint not found')
    expect((await callsOf(sibling.applicationId, { endpointId: caller.endpointId })).error).toBe(
      'endpoint not found',
    )
    for (const unknown of [randomUUID(), 'nothing', project.id])
      expect((await callsOf(unknown)).error).toBe('application not found')
  })
})

describe('one call', () => {
  test('[esb-audit.query] tells what was called by whom, from where and with what result; contents where they were kept', async () => {
    const own = await seedProject(service.sql, 'fields')
    const caller = await seedCaller(service.sql, own)
    const full = {
      createdAt: ago(10),
      sourceIp: '2001:db8::7',
      method: 'PUT',
      path: '/orders?id=7',
      targetUrl: 'https://partner.example/orders?id=7',
      responseStatus: 201,
      durationMs: 0,
      transformed: true,
      failure: null,
      requestHeaders: [
        { name: 'accept', value: 'text/plain' },
        { name: 'accept', value: 'ünicode' },
      ],
      requestBody: '{"a": "ü"}',
      responseHeaders: [],
      responseBody: '',
    }
    const fullId = await seedCall(service.sql, caller, full)
    const unanswered = {
      responseStatus: null,
      durationMs: 30_000,
      failure: 'the upstream did not answer in time',
    }
    const unansweredId = await seedCall(service.sql, caller, { createdAt: ago(5), ...unanswered })
    const openId = await seedCall(service.sql, caller, {
      createdAt: ago(1),
      responseStatus: null,
      durationMs: null,
    })
    const { data, error } = await callsOf(own.applicationId, {}, everything)
    expect(error).toBeNull()
    const {
      rows: [machine],
    } = await service.sql.query<{ username: string }>('select username from machine_users where id = $1', [
      caller.machineUserId,
    ])
    const owners = {
      endpoint: { id: caller.endpointId, name: 'seeded', consumeURL: `/${caller.endpointId}` },
      application: { id: own.applicationId, slug: own.applicationSlug },
      machineUser: { id: caller.machineUserId, name: 'seeded', username: machine?.username },
    }
    const { createdAt: timestamp, sourceIp: sourceIP, targetUrl: targetURL, transformed, ...shown } = full
    const none = { requestHeaders: null, requestBody: null, responseHeaders: null, responseBody: null }
    expect(data.calls).toEqual([
      expect.objectContaining({ id: openId, responseStatus: null, durationMs: null, ...none, ...owners }),
      expect.objectContaining({ id: unansweredId, ...unanswered, ...none, ...owners }),
      { id: fullId, timestamp, sourceIP, targetURL, transformationApplied: transformed, ...shown, ...owners },
    ])
    expect(data.calls[0]).toMatchObject({ transformationApplied: false, failure: null, method: 'POST' })
  })

  test('many calls cost as many statements as one, whatever is asked of them', async () => {
    const counts = []
    for (const [slug, pairs] of [
      ['one', 1],
      ['many', 30],
    ] as const) {
      const own = await seedProject(service.sql, slug)
      for (let index = 0; index < pairs; index++) {
        const contents = {
          requestBody: `${index}`,
          responseBody: '',
          requestHeaders: [],
          responseHeaders: [],
        }
        const createdAt = ago(pairs - index)
        await seedCall(service.sql, await seedCaller(service.sql, own), { createdAt, ...contents })
      }
      const member = await seedUser(service.sql, slug)
      await seedMember(service.sql, member, 'readonly', { projectId: own.id })
      service.statements.length = 0
      const { data } = await callsOf(own.applicationId, {}, everything, member)
      expect(data.calls).toHaveLength(pairs)
      counts.push(service.statements.length)
      const bodies = (data.calls as { requestBody: string }[]).map(({ requestBody }) => Number(requestBody))
      expect(bodies).toEqual(Array.from({ length: pairs }, (_, index) => pairs - 1 - index))
    }
    expect(counts[1]).toBe(counts[0])
  })
})

describe('contents in one answer', () => {
  const tooMuch = `the contents of this response would exceed ${16 * mebibyte} bytes; request smaller pages or fewer fields`

  test('have 16 MiB together, bodies and headers alike; of more, smaller pages and lists without contents are answered', async () => {
    const body = 'ü'.repeat(4 * mebibyte - 20)
    const headers = [{ name: 'x', value: 'y' }]
    // PostgreSQL writes a space after each colon and comma.
    const bytes = Buffer.byteLength('[{"name": "x", "value": "y"}]')
    const filled = { requestBody: body, requestHeaders: headers }
    for (const [slug, more, error] of [
      ['full', 0, null],
      ['over', 1, tooMuch],
    ] as const) {
      const own = await seedProject(service.sql, slug)
      const caller = await seedCaller(service.sql, own)
      await seedCall(service.sql, caller, { createdAt: ago(2), ...filled })
      const rest = 'x'.repeat(40 * 2 - bytes * 2 + more)
      await seedCall(service.sql, caller, { createdAt: ago(1), ...filled, responseBody: rest })
      const answer = await callsOf(own.applicationId, {}, 'requestBody requestHeaders { name } responseBody')
      expect(answer.error).toBe(error)
      const page = await callsOf(own.applicationId, { limit: 1 }, 'requestBody responseBody')
      expect(page.data.calls).toEqual([{ requestBody: body, responseBody: rest }])
      expect((await callsOf(own.applicationId, {}, 'id path')).data.calls).toHaveLength(2)
    }
  })

  test('are counted as often as they are asked for, and no name repeats headers', async () => {
    const own = await seedProject(service.sql, 'repeated')
    const caller = await seedCaller(service.sql, own)
    const headers = [{ name: 'x', value: 'y'.repeat(5 * mebibyte) }]
    await seedCall(service.sql, caller, { requestBody: 'x'.repeat(5 * mebibyte), requestHeaders: headers })
    const ask = (selected: string) => callsOf(own.applicationId, {}, selected)
    expect((await ask('a: requestBody b: requestBody c: requestBody')).error).toBeNull()
    expect((await ask('a: requestBody b: requestBody c: requestBody d: requestBody')).error).toBe(tooMuch)
    expect((await ask('a: requestBody b: requestBody c: requestBody requestHeaders { name }')).error).toBe(
      tooMuch,
    )
    for (const [repeated, field] of [
      ['a: requestHeaders { name } b: requestHeaders { name }', 'ESBAuditLog.requestHeaders'],
      ['requestHeaders { value a: value }', 'ESBHeader.value'],
    ] as const)
      expect((await ask(repeated)).error).toBe(`request ${field} only once: its contents can be large`)
  })

  test('of 100 calls are answered in one document with all else, and so are five times as many', async () => {
    const own = await seedProject(service.sql, 'all')
    await seedCalls(service.sql, await seedCaller(service.sql, own), { count: 100 })
    expect((await callsOf(own.applicationId, {}, everything)).data.calls).toHaveLength(100)
    const list = (name: string, limit: string) =>
      `${name}: esbAuditLogs(applicationId: "${own.applicationId}"${limit}) { ${everything} }`
    const five = (limit: string) =>
      service.query(admin, `{ ${['a', 'b', 'c', 'd', 'e'].map((name) => list(name, limit)).join(' ')} }`)
    for (const [limit, calls] of [
      ['', 100],
      [', limit: 100', 100],
      [', limit: 50', 50],
    ] as const) {
      const { data, error } = await five(limit)
      expect([limit, error, data.a.length, data.e.length]).toEqual([limit, null, calls, calls])
    }
    expect((await five(', limit: 0')).error).toContain('limit')
  })
})

describe('who may read', () => {
  test('[esb-audit.role] any member of the project and administrators; a member of the application alone is refused, nobody else finds it', async () => {
    const caller = await seedCaller(service.sql, project)
    const id = await seedCall(service.sql, caller)
    const person = async (role: string | null, of: object = {}): Promise<Person> => {
      const someone = await seedUser(service.sql, role ?? 'outsider')
      if (role !== null) await seedMember(service.sql, someone, role, { projectId: project.id, ...of })
      return someone
    }
    const read = (reader: Person) =>
      callsOf(project.applicationId, { endpointId: caller.endpointId }, everything, reader)
    for (const role of ['readonly', 'tester', 'developer', 'maintainer', 'owner'])
      expect(idsOf(await read(await person(role)))).toEqual([id])
    expect(idsOf(await read(admin))).toEqual([id])
    const other = await seedProject(service.sql, 'of-strangers')
    for (const [stranger, code] of [
      [await person(null), 'not_found'],
      [await person('owner', { projectId: other.id }), 'not_found'],
      [await person('owner', { tenantId: project.tenantId }), 'not_found'],
      [await person('normal', { applicationId: project.applicationId }), 'forbidden'],
    ] as const)
      expectRefused(await read(stranger), code)
  })
})
