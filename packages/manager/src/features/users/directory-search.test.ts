// Tests userProviderSearch with a real LDAP directory: the same arguments and errors as with the local directory, and
// a service that does not depend on it.
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { type Slapd, slapdReader, startSlapd } from '@manager/harness/engines/slapd.ts'
import { seedMember, seedProject, seedUser } from '@manager/harness/seed.ts'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { ldapEnv, personId, toLdif } from '../../../test/kit/ldap.ts'

const names = ['Ada Sorted', 'Bea Sorted', 'Cem Sorted', 'Dan Other']
const ldif = [
  ...names.map((cn, n) =>
    toLdif({ id: personId(n), uid: `p${n}`, cn, mail: `${cn.slice(0, 3)}@example.org` }),
  ),
  ...Array.from({ length: 105 }, (_, n) =>
    toLdif({ id: personId(100 + n), uid: `crowd${n}`, cn: `Crowd ${n}` }),
  ),
].join('')

let slapd: Slapd
let service: TestApp
let admin: Person

beforeAll(async () => {
  slapd = await startSlapd({ ldif })
  service = await startTestApp({ env: ldapEnv(slapd) })
  admin = await seedUser(service.sql, 'admin', 'administrator')
})
afterAll(async () => {
  await service.close()
  await slapd.close()
})

const search = (caller: Person, text: string, more = '') =>
  service.query(
    caller,
    `query($text: String!) { found: userProviderSearch(name: $text${more}) { id username email displayName disabled } }`,
    { text },
  )
const namesFor = async (text: string, more = '') => {
  const { data, error } = await search(admin, text, more)
  return error ?? data.found.map((one: { displayName: string }) => one.displayName)
}

describe('userProviderSearch', () => {
  test('[users.provider-search] finds people who have never signed in', async () => {
    const { data, error } = await search(admin, 'ada')
    expect(error).toBeNull()
    expect(data.found).toEqual([
      {
        id: personId(0),
        username: 'p0',
        email: 'Ada@example.org',
        displayName: 'Ada Sorted',
        disabled: false,
      },
    ])
    // Users whom the directory does not know are not found.
    expect(await namesFor('admin')).toEqual([])
  })

  test('[users.provider-search] [lists.arguments] filters, order and pages narrow what the text finds', async () => {
    expect(await namesFor('sorted', ', order: {field: "displayName", direction: DESC}')).toEqual([
      'Cem Sorted',
      'Bea Sorted',
      'Ada Sorted',
    ])
    expect(await namesFor('sorted', ', pagination: {limit: 1, offset: 1}')).toEqual(['Bea Sorted'])
    expect(await namesFor('sorted', ', filters: {field: "email", value: "CEM"}')).toEqual(['Cem Sorted'])
    expect(await namesFor('sorted', `, filters: {field: "id", value: "${personId(1)}"}`)).toEqual([
      'Bea Sorted',
    ])
    expect(await namesFor('sorted', ', filters: {field: "disabled", value: "true"}')).toBe(
      'unknown filter field "disabled"; allowed: id, username, email, displayName',
    )
    expect(await namesFor('c', ', filters: {field: "displayName", value: "sorted"}')).toEqual(['Cem Sorted'])
    expect(await namesFor('   ')).toBe('name must have 1 to 200 characters')
  })

  test('[lists.default-page] a list is cut at 100 people and says so; the connection leads to all of them', async () => {
    const answer = await search(admin, 'crowd')
    expect(answer.data.found).toHaveLength(100)
    expect(answer.extensions?.truncatedLists).toEqual([{ path: ['found'], limit: 100 }])
    const pageOf = async (after: string | null) => {
      const { data } = await service.query(
        admin,
        `query($after: String) { page: userProviderSearchConnection(name: "crowd", pagination: {limit: 50, offset: 0}, after: $after) {
          nodes { id } totalCount isTotalExact pageInfo { hasNextPage endCursor } } }`,
        { after },
      )
      return data.page as {
        nodes: { id: string }[]
        totalCount: number
        pageInfo: { hasNextPage: boolean; endCursor: string }
      }
    }
    const ids = new Set<string>()
    const totals: number[] = []
    let page = await pageOf(null)
    for (;;) {
      totals.push(page.totalCount)
      for (const { id } of page.nodes) ids.add(id)
      if (!page.pageInfo.hasNextPage) break
      page = await pageOf(page.pageInfo.endCursor)
    }
    expect(totals).toEqual([105, 105, 105])
    expect(ids.size).toBe(105)
  })

  test('the total is inexact if the directory has more people than the Manager reads, and costs no second search', async () => {
    const limited = await startTestApp({
      database: service.database,
      env: { ...ldapEnv(slapd), SVC_LDAP_MAX_RESULTS: '104' },
    })
    try {
      const countOf = async (app: TestApp, text: string, more = '') => {
        const { data, error } = await app.query(
          admin,
          `{ page: userProviderSearchConnection(name: "${text}"${more}) { totalCount isTotalExact } }`,
        )
        expect(error).toBeNull()
        return data.page as { totalCount: number; isTotalExact: boolean }
      }
      expect(await countOf(limited, 'crowd')).toEqual({ totalCount: 104, isTotalExact: false })
      expect(await limited.world.metrics.registry.metrics()).toContain(
        'svc_directory_request_duration_seconds_count{outcome="answered"} 1\n',
      )
      const filters = ', filters: {field: "displayName", value: "nobody"}'
      expect(await countOf(limited, 'crowd', filters)).toEqual({ totalCount: 0, isTotalExact: false })
      expect(await countOf(limited, 'sorted')).toEqual({ totalCount: 3, isTotalExact: true })
      expect(await countOf(service, 'crowd')).toEqual({ totalCount: 105, isTotalExact: true })
    } finally {
      await limited.close()
    }
  })

  test('[policy.user-provider-search] is refused to people without the role, before the directory is asked', async () => {
    const project = await seedProject(service.sql, 'searchers')
    const [tester, maintainer] = [
      await seedUser(service.sql, 'tester'),
      await seedUser(service.sql, 'maintainer'),
    ]
    await seedMember(service.sql, tester, 'tester', { projectId: project.id })
    await seedMember(service.sql, maintainer, 'maintainer', { projectId: project.id })
    expect((await search(tester, 'ada')).errors[0]?.extensions?.code).toBe('forbidden')
    expect((await search(maintainer, 'ada')).error).toBeNull()
  })
})

describe('a service whose directory does not answer', () => {
  let hanging: TestApp
  const server = createServer((socket) => socket.resume().on('error', () => undefined))
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `ldap://127.0.0.1:${(server.address() as AddressInfo).port}`
    hanging = await startTestApp({
      database: service.database,
      env: { ...ldapEnv({ url }), SVC_LDAP_CONNECT_TIMEOUT: '200ms', SVC_LDAP_REQUEST_TIMEOUT: '300ms' },
    })
  })
  afterAll(async () => {
    await hanging.close()
    await new Promise((resolve) => server.close(resolve))
  })

  test('stays ready and serves everything else; the search says when to try again', async () => {
    const answer = await hanging.query(
      admin,
      '{ projects { slug } found: userProviderSearch(name: "ada") { id } }',
    )
    expect(answer.errors).toMatchObject([
      { message: 'the user directory is not available; try again', extensions: { code: 'unavailable' } },
    ])
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5'])
    const [ready, others] = await Promise.all([
      hanging.app.readiness.check(),
      hanging.query(admin, '{ me { id } projects { slug } users { id } }'),
    ])
    expect(ready).toMatchObject({ status: 'ready', degraded: [] })
    expect(others.error).toBeNull()
    expect(hanging.logLines.filter(({ level }) => level === 'error')).toEqual([])
    expect(JSON.stringify(hanging.logLines)).not.toContain(slapdReader.password)
  })
})
