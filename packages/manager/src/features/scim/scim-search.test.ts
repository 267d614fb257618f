// Tests filters and pages over SCIM. The expected users follow from the rules of RFC 7644, not from the SQL.
import { beforeAll, describe, expect, test } from 'vitest'
import { useProject } from '../../../test/kit/project.ts'
import { createScimClient, createScimToken, newUser } from '../../../test/kit/scim.ts'

const { service, admin } = useProject()
let token = ''
const scim = createScimClient(
  () => service,
  () => token,
)
const ids: Record<string, string> = {}
const subjects: Record<string, string> = {
  ann: '0b54bc1c-2b1f-4a68-9a55-0c8a51a4c0d1',
  bob: '1b54bc1c-2b1f-4a68-9a55-0c8a51a4c0d2',
  cal: '2b54bc1c-2b1f-4a68-9a55-0c8a51a4c0d3',
}

beforeAll(async () => {
  token = (await createScimToken(service, admin)).token
  const people = {
    ann: {
      userName: 'Ann_100%@Example.com',
      displayName: 'Ann Archer',
      name: { formatted: 'Ann Archer', givenName: 'Ann', familyName: 'Archer' },
      emails: [
        { value: 'Ann@Work.example', type: 'work', primary: true },
        { value: 'ann@home.example', type: 'home' },
      ],
    },
    bob: {
      userName: 'bob\\bakes@example.com',
      displayName: null,
      name: { givenName: 'Bob' },
      emails: [{ value: 'bob@home.example', type: 'home', display: 'Bob at home' }],
      active: false,
    },
    cal: { userName: 'cal"quote@example.com', displayName: 'Cal', emails: [] },
  }
  for (const [name, change] of Object.entries(people)) {
    const { status, body } = await scim.post(newUser({ externalId: subjects[name], ...change }))
    expect([status, body.detail]).toEqual([201, undefined])
    ids[body.id] = name
  }
})

/** Returns the names of the people that the filter finds, or the refusal. */
const find = async (filter: string): Promise<unknown> => {
  const { status, body } = await scim.search(filter)
  if (status !== 200) return [status, body.scimType]
  expect(body.totalResults).toBe(body.Resources.length)
  return (body.Resources as { id: string }[])
    .map(({ id }) => ids[id] ?? id)
    .toSorted((a, b) => a.localeCompare(b))
}
const expectFound = async (filters: Record<string, unknown>): Promise<void> => {
  const found: Record<string, unknown> = {}
  for (const filter of Object.keys(filters)) found[filter] = await find(filter)
  expect(found).toEqual(filters)
}

describe('filters', () => {
  test('[scim.filter] equality of names and addresses ignores case, that of externalId does not', () =>
    expectFound({
      'userName eq "ANN_100%@example.COM"': ['ann'],
      'userName eq "nobody"': [],
      'userName eq "cal\\"quote@example.com"': ['cal'],
      'userName eq "bob\\\\bakes@example.com"': ['bob'],
      [`externalId eq "${subjects['ann']}"`]: ['ann'],
      [`externalId eq "${subjects['ann']?.toUpperCase()}"`]: [],
      [`id eq "${subjects['bob']?.toUpperCase()}"`]: ['bob'],
      'id eq "x"': [],
      'emails.value eq "ANN@home.example"': ['ann'],
      'emails eq "ann@work.example"': ['ann'],
      'emails[type eq "work"].value eq "ann@work.example"': ['ann'],
      'emails[type eq "home"].value eq "ann@work.example"': [],
      'active eq true': ['ann', 'cal'],
      'active eq "False"': ['bob'],
      'name.givenName eq "bob"': ['bob'],
      'meta.resourceType eq "User"': ['ann', 'bob', 'cal'],
      'meta.version eq "W/\\"1\\""': ['ann', 'bob', 'cal'],
      [`meta.location ew "${subjects['cal']}"`]: ['cal'],
    }))

  test('[scim.filter] a wildcard in a value is an ordinary character', () =>
    expectFound({
      'userName co "_100%@"': ['ann'],
      'userName co "%"': ['ann'],
      'userName sw "_"': [],
      'userName sw "a%"': [],
      'userName co "\\\\"': ['bob'],
      'userName ew "%"': [],
    }))

  test('[scim.filter] parts, order and presence', () =>
    expectFound({
      'userName sw "BOB"': ['bob'],
      'userName co "@EXAMPLE"': ['ann', 'bob', 'cal'],
      'userName ew ".com"': ['ann', 'bob', 'cal'],
      'userName gt "b"': ['bob', 'cal'],
      'userName le "ann_100%@example.com"': ['ann'],
      'displayName pr': ['ann', 'cal'],
      'displayName eq null': ['bob'],
      'emails pr': ['ann', 'bob'],
      'emails.display sw "bob"': ['bob'],
      'emails.primary eq true': ['ann'],
      'emails.value co "home"': ['ann', 'bob'],
      'id sw "1b54"': ['bob'],
      'meta.created gt "2020-01-01T00:00:00Z"': ['ann', 'bob', 'cal'],
      'meta.lastModified lt "2020-01-01T00:00:00Z"': [],
    }))

  test('[scim.filter] a missing value is equal to nothing, and different from everything', () =>
    expectFound({
      'displayName ne "Cal"': ['ann', 'bob'],
      'not (displayName eq "Cal")': ['ann', 'bob'],
      'not (displayName co "x" or displayName eq "Cal")': ['ann', 'bob'],
      'emails.value ne "ann@home.example"': ['bob', 'cal'],
      'externalId ne "x"': ['ann', 'bob', 'cal'],
    }))

  test('[scim.filter] and, or, not and a filter on one address', () =>
    expectFound({
      'displayName pr and active eq true': ['ann', 'cal'],
      'userName sw "a" or userName sw "b" and active eq true': ['ann'],
      '(userName sw "a" or userName sw "b") and active eq false': ['bob'],
      'emails[type eq "work" and value co "@work"]': ['ann'],
      'emails[type eq "home" and value co "@work"]': [],
      'emails[not (type eq "work")]': ['ann', 'bob'],
      'not (emails[type eq "work"])': ['bob', 'cal'],
      'emails[value eq "bob@home.example" and type eq "home"]': ['bob'],
    }))

  test('[scim.filter] an unknown attribute has no value', () =>
    expectFound({
      'title eq "x"': [],
      'title pr': [],
      'manager ne "x" and userName sw "a"': ['ann'],
      'ims[type eq "xmpp"]': [],
      [`id eq "${subjects['ann']}" and manager eq "x"`]: [],
    }))

  test('[scim.filter] comparisons that make no sense are refused', () =>
    expectFound({
      'active gt true': [400, 'invalidFilter'],
      'active eq "x"': [400, 'invalidFilter'],
      'userName eq 7': [400, 'invalidFilter'],
      'userName gt null': [400, 'invalidFilter'],
      'meta.created gt "yesterday"': [400, 'invalidFilter'],
      'meta.created co "2026-01-01T00:00:00Z"': [400, 'invalidFilter'],
      'userName eq jyoung': [400, 'invalidFilter'],
    }))

  test('[scim.filter] no text of a filter becomes SQL', async () => {
    const hostile = ["'; drop table scim_users; --", "' or '1'='1", '$1', '\\x', 'a\u0000b', '\ud800', '%s']
    service.statements.length = 0
    for (const text of hostile)
      expect([
        text,
        await find(`userName eq ${JSON.stringify(text)} or emails[value co ${JSON.stringify(text)}]`),
      ]).toEqual([text, []])
    const texts = service.statements.filter((statement) => statement.includes('scim_users'))
    expect(new Set(texts).size).toBe(1)
  })
})

describe('pages', () => {
  const page = async (query: string) => {
    const { body } = await scim.get(`/Users?${query}`)
    const { totalResults, startIndex, itemsPerPage, Resources } = body
    return [totalResults, startIndex, itemsPerPage, (Resources as { id: string }[]).map(({ id }) => ids[id])]
  }

  test('[scim.read] pages have a fixed order and the number of all users', async () => {
    expect(await page('')).toEqual([3, 1, 3, ['ann', 'bob', 'cal']])
    expect(await page('startIndex=1&count=2')).toEqual([3, 1, 2, ['ann', 'bob']])
    expect(await page('startIndex=3&count=2')).toEqual([3, 3, 1, ['cal']])
    expect(await page('startIndex=4&count=2')).toEqual([3, 4, 0, []])
    expect(await page('count=0')).toEqual([3, 1, 0, []])
    expect(await page('startIndex=-3&count=1')).toEqual([3, 1, 1, ['ann']])
    expect(await page('filter=emails%20pr&startIndex=2&count=1')).toEqual([2, 2, 1, ['bob']])
    expect(await page('filter=&count=1')).toEqual([3, 1, 1, ['ann']])
  })

  test('[scim.read] a list returns the selected attributes', async () => {
    const { body } = await scim.search('userName sw "cal"', '&attributes=active')
    expect(body.Resources).toEqual([{ schemas: expect.any(Array), id: subjects['cal'], active: true }])
  })

  test('[scim.errors] a parameter that is not a number, or is repeated, is refused', async () => {
    expect((await scim.get('/Users?count=x')).body).toMatchObject({ status: '400', scimType: 'invalidValue' })
    expect((await scim.get('/Users?filter=a&filter=b')).status).toBe(400)
  })

  test('[scim.filter-limits] a filter that matches too many users, or takes too long, answers tooMany', async () => {
    await service.sql.query(`
      insert into users (id, external_username, is_provisioned)
      select ('f0000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 'many' || n, true from generate_series(1, 10001) n`)
    await service.sql.query(`
      insert into scim_users (user_id, user_name, active)
      select id, external_username, true from users where external_username like 'many%'`)
    expect(await find('userName sw "many"')).toEqual([400, 'tooMany'])
    expect((await scim.search('userName sw "many1"', '&count=1')).body.totalResults).toBe(1_112 + 1)
    expect((await scim.get('/Users?count=1')).body.totalResults).toBe(10_004)
    const client = await service.sql.connect()
    await client.query('begin')
    await client.query('lock table scim_users in access exclusive mode')
    expect(await find('displayName co "x"')).toEqual([400, 'tooMany'])
    await client.query('rollback')
    client.release()
  })
})
