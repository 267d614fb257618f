// Tests filters and pages of groups. The expected groups follow from the rules of RFC 7644, not from the SQL.
import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { useProject } from '../../../test/kit/project.ts'
import { createScimClient, createScimToken, groupSchema, membersOf, newUser } from '../../../test/kit/scim.ts'

const { service, admin } = useProject()
let token = ''
const getService = () => service
const getToken = () => token
const users = createScimClient(getService, getToken)
const groups = createScimClient(getService, getToken, '/Groups')
const names: Record<string, string> = {}
const ids: Record<string, string> = {}
let [ann, bob] = ['', '']

beforeAll(async () => {
  token = (await createScimToken(service, admin)).token
  ;[ann, bob] = [(await users.post(newUser())).body.id, (await users.post(newUser())).body.id]
  const bodies = {
    red: { displayName: 'Red_100% "Team"', externalId: 'Ext-1', members: membersOf(ann, bob) },
    green: { displayName: 'green\\team', members: membersOf(ann) },
    blue: { displayName: 'Blue' },
  }
  for (const [name, body] of Object.entries(bodies)) {
    const answer = await groups.post(body)
    expect([answer.status, answer.body.detail]).toEqual([201, undefined])
    names[answer.body.id] = name
    ids[name] = answer.body.id
  }
})

/** Returns the names of the groups that the filter finds, or the refusal. */
const find = async (filter: string): Promise<unknown> => {
  const { status, body } = await groups.search(filter)
  if (status !== 200) return [status, body.scimType]
  expect(body.totalResults).toBe(body.Resources.length)
  return (body.Resources as { id: string }[]).map(({ id }) => names[id] ?? id).toSorted()
}
const expectFound = async (filters: Record<string, unknown>): Promise<void> => {
  const found: Record<string, unknown> = {}
  for (const filter of Object.keys(filters)) found[filter] = await find(filter)
  expect(found).toEqual(filters)
}
const all = ['blue', 'green', 'red']

describe('filters', () => {
  test('[scim.groups-filter] equality of names ignores case, that of externalId does not', () =>
    expectFound({
      'displayName eq "RED_100% \\"team\\""': ['red'],
      'displayName eq "GREEN\\\\team"': ['green'],
      'displayName eq "nothing"': [],
      'externalId eq "Ext-1"': ['red'],
      'externalId eq "ext-1"': [],
      'externalId ne "Ext-1"': ['blue', 'green'],
      [`id eq "${ids['blue']?.toUpperCase()}"`]: ['blue'],
      'id eq "x"': [],
      [`${groupSchema}:displayName eq "blue"`]: ['blue'],
    }))

  test('[scim.groups-filter] groups are found by their members', () =>
    expectFound({
      [`members eq "${ann}"`]: ['green', 'red'],
      [`members.value eq "${bob.toUpperCase()}"`]: ['red'],
      [`members[value eq "${bob}"]`]: ['red'],
      [`members[value eq "${ann}" and type eq "user"]`]: ['green', 'red'],
      [`members[value eq "${ann}" and type eq "Group"]`]: [],
      [`members[value eq "${ann}" or value eq "${bob}"]`]: ['green', 'red'],
      [`members[value eq "${ann}" and value eq "${bob}"]`]: [],
      [`members[value ne "${ann}"]`]: ['red'],
      [`members eq "${ann}" and members eq "${bob}"`]: ['red'],
      [`members ne "${ann}"`]: ['blue'],
      [`members.value ne "${bob}"`]: ['blue', 'green'],
      [`not (members eq "${bob}")`]: ['blue', 'green'],
      [`displayName eq "blue" or members eq "${bob}"`]: ['blue', 'red'],
      [`members eq "${randomUUID()}"`]: [],
      'members eq "x"': [],
      'members pr': ['green', 'red'],
      'members eq null': ['blue'],
      'members.type eq "User"': ['green', 'red'],
      'members.display eq "x"': [],
    }))

  test('[scim.groups-filter] parts, order, presence, times and unknown attributes', () =>
    expectFound({
      'displayName co "_100%"': ['red'],
      'displayName sw "GREEN"': ['green'],
      'displayName ew "%"': [],
      'displayName ge "green"': ['green', 'red'],
      'externalId pr': ['red'],
      'meta.created gt "2020-01-01T00:00:00Z"': all,
      'meta.lastModified lt "2020-01-01T00:00:00Z"': [],
      'meta.resourceType eq "Group"': all,
      'meta.version eq "W/\\"0\\""': [],
      [`meta.location ew "/Groups/${ids['red']}"`]: ['red'],
      'userName eq "x"': [],
      'userName ne "x"': all,
      'emails[value eq "x"]': [],
    }))

  test('[scim.groups-filter] comparisons that make no sense are refused', () =>
    expectFound({
      'displayName eq 7': [400, 'invalidFilter'],
      'members co "a"': [400, 'invalidFilter'],
      'members gt "a"': [400, 'invalidFilter'],
      'members eq 7': [400, 'invalidFilter'],
      'members[value sw "a"]': [400, 'invalidFilter'],
      'displayName eq': [400, 'invalidFilter'],
    }))

  test('[scim.groups-filter] no text of a filter becomes SQL', async () => {
    const hostile = [
      "'; drop table scim_groups; --",
      "' or '1'='1",
      "') or true --",
      '$1',
      ':a',
      '\\x',
      "\\'",
      'a\u0000b',
      '\ud800',
      '%s',
      '{"a": 1}',
      "'::uuid[]",
    ]
    const texts = new Set<string>()
    const expectNothing = async (text: string): Promise<void> => {
      const value = JSON.stringify(text)
      const filter = `displayName eq ${value} or externalId eq ${value} or members eq ${value} or members[value eq ${value}] or meta.location co ${value} or id eq ${value}`
      service.statements.length = 0
      expect([text, await find(filter)]).toEqual([text, []])
      for (const statement of service.statements.filter((one) => one.includes('scim_groups')))
        texts.add(statement)
    }
    for (const text of hostile) await expectNothing(text)
    const part = fc.constantFrom(
      "'",
      '"',
      ';',
      '--',
      '/*',
      '$1',
      '%',
      '_',
      '\\',
      '(',
      ')',
      '\0',
      'or',
      ' ',
      'zq',
    )
    const anyText = fc.array(part, { minLength: 1, maxLength: 12 }).map((parts) => `zq${parts.join('')}`)
    await fc.assert(fc.asyncProperty(anyText, expectNothing), { numRuns: 40 })
    expect(texts.size).toBe(1)
  })
})

describe('pages', () => {
  const page = async (query: string) => {
    const { totalResults, startIndex, itemsPerPage, Resources } = (await groups.get(`/Groups?${query}`)).body
    return [
      totalResults,
      startIndex,
      itemsPerPage,
      (Resources as { id: string }[]).map(({ id }) => names[id]),
    ]
  }

  test('[scim.groups-read] pages have a fixed order and the number of all groups', async () => {
    expect(await page('')).toEqual([3, 1, 3, ['red', 'green', 'blue']])
    expect(await page('startIndex=2&count=1')).toEqual([3, 2, 1, ['green']])
    expect(await page('startIndex=4')).toEqual([3, 4, 0, []])
    expect(await page('count=0')).toEqual([3, 1, 0, []])
    expect(await page('filter=members%20pr&startIndex=2&count=1')).toEqual([2, 2, 1, ['green']])
  })

  test('[scim.groups-read] a list has the members unless they are excluded, and then does not read them', async () => {
    const { body } = await groups.search(`members eq "${bob}"`)
    expect(body.Resources[0].members).toHaveLength(2)
    service.statements.length = 0
    const excluded = await groups.search('displayName eq "blue"', '&excludedAttributes=members')
    expect(excluded.body.Resources[0].displayName).toBe('Blue')
    const named = await groups.get('/Groups?attributes=displayName')
    expect(Object.keys(named.body.Resources[0]).toSorted()).toEqual(['displayName', 'id', 'schemas'])
    expect(service.statements.filter((text) => text.includes('scim_group_members'))).toEqual([])
  })

  test('[scim.groups-read] a page ends before it has more than 50,000 members, and the next one continues', async () => {
    await service.sql.query("update scim_groups set member_count = 50000 where display_name = 'green\\team'")
    expect(await page('')).toEqual([3, 1, 1, ['red']])
    expect(await page('startIndex=2')).toEqual([3, 2, 2, ['green', 'blue']])
    expect(await page('excludedAttributes=members')).toEqual([3, 1, 3, ['red', 'green', 'blue']])
    await service.sql.query("update scim_groups set member_count = 1 where display_name = 'green\\team'")
  })

  test('[scim.groups-filter] a filter that matches too many groups, or takes too long, answers tooMany', async () => {
    await service.sql.query(`
      insert into scim_groups (id, display_name)
      select ('f0000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 'many' || n from generate_series(1, 10001) n`)
    expect(await find('displayName sw "many"')).toEqual([400, 'tooMany'])
    expect((await groups.search('displayName sw "many1"', '&count=1')).body.totalResults).toBe(1_113)
    expect((await groups.get('/Groups?count=1')).body.totalResults).toBe(10_004)
    const client = await service.sql.connect()
    await client.query('begin')
    await client.query('lock table scim_groups in access exclusive mode')
    expect(await find('displayName co "x"')).toEqual([400, 'tooMany'])
    await client.query('rollback')
    client.release()
    await service.sql.query("delete from scim_groups where display_name like 'many%'")
  })
})
