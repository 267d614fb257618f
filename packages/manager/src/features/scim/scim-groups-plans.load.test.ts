// Tests that equality of displayName, externalId, id and members.value uses an index, whatever the number of groups: 20,000, or
// 200,000 with LOAD_SIZE=full. Each group has 10 of 20,000 people.
import { loadSize } from '@manager/harness/load-sizes.ts'
import { beforeAll, describe, expect, test } from 'vitest'
import { useProject } from '../../../test/kit/project.ts'
import { createScimClient, createScimToken, membersOf, newGroup } from '../../../test/kit/scim.ts'
import { countTableReads } from '../../../test/kit/table-reads.ts'

const groupCount = loadSize(20_000, 200_000)
const [userCount, membersPerGroup] = [20_000, 10]
const { service, admin } = useProject()
let token = ''
const getService = () => service
const getToken = () => token
const groups = createScimClient(getService, getToken, '/Groups')
const userId = (index: number) => `f0000000-0000-4000-8000-${String(index).padStart(12, '0')}`
const groupId = (index: number) => `f1000000-0000-4000-8000-${String(index).padStart(12, '0')}`

beforeAll(async () => {
  token = (await createScimToken(service, admin)).token
  await service.sql.query(
    `insert into users (id, external_username, is_provisioned)
     select ('f0000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 'u' || n, true from generate_series(0, $1 - 1) n`,
    [userCount],
  )
  await service.sql.query(
    `insert into scim_users (user_id, user_name, active) select id, external_username, true from users where is_provisioned`,
  )
  await service.sql.query(
    `insert into scim_groups (id, display_name, external_id, member_count)
     select ('f1000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 'Team ' || n, 'x' || n, $2
     from generate_series(0, $1 - 1) n`,
    [groupCount, membersPerGroup],
  )
  await service.sql.query(
    `insert into scim_group_members (group_id, user_id)
     select ('f1000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid,
       ('f0000000-0000-4000-8000-' || lpad(((n + m * 997) % $2::int)::text, 12, '0'))::uuid
     from generate_series(0, $1 - 1) n, generate_series(1, $3) m`,
    [groupCount, userCount, membersPerGroup],
  )
  await service.sql.query('vacuum analyze scim_groups, scim_group_members, scim_users')
}, 600_000)

const countReads = (table: string, run: () => Promise<unknown>) =>
  countTableReads(service, table, run, () => groups.get(`/Groups/${groupId(1)}`))

describe('searches', () => {
  test.each([
    ['displayName eq "TEAM 777"', 1],
    ['externalId eq "x777"', 1],
    [`id eq "${groupId(777)}"`, 1],
    [`members eq "${userId(777)}"`, (groupCount / userCount) * membersPerGroup],
    [
      `members.value eq "${userId(777)}" and displayName co "Team"`,
      (groupCount / userCount) * membersPerGroup,
    ],
    [`members[value eq "${userId(777)}"]`, (groupCount / userCount) * membersPerGroup],
    ['displayName eq "team 777" or externalId eq "x778"', 2],
    [
      `displayName eq "team 777" or members eq "${userId(5)}"`,
      1 + (groupCount / userCount) * membersPerGroup,
    ],
  ])('[scim.groups-filter] %s reads few rows', { timeout: 120_000 }, async (filter, total) => {
    for (const table of ['scim_groups', 'scim_group_members']) {
      const { scanned, fetched } = await countReads(table, async () => {
        for (let count = 0; count < 3; count++) {
          const { body } = await groups.search(filter, '&excludedAttributes=members')
          expect(body.totalResults).toBe(total)
        }
      })
      expect([table, scanned]).toEqual([table, 0])
      expect(fetched).toBeLessThan(100 + 12 * total)
    }
  })

  test(
    '[scim.groups-filter] a filter without an index ends within its time limit',
    { timeout: 120_000 },
    async () => {
      const startedAt = performance.now()
      const { status, body } = await groups.search(`displayName co "nothing" or members ne "${userId(1)}"`)
      expect(['200 undefined', '400 tooMany']).toContain(`${status} ${body.scimType}`)
      expect(performance.now() - startedAt).toBeLessThan(10_000)
    },
  )

  test(
    '[scim.groups-patch-limits] a group gets 20,000 members with one request, and a patch of one of them reads few rows',
    { timeout: 120_000 },
    async () => {
      const all = Array.from({ length: userCount }, (_, index) => userId(index))
      const { status, body } = await groups.post(newGroup({ members: membersOf(...all) }))
      expect([status, body.members?.length]).toEqual([201, userCount])
      // The reads of the POST are reported with a delay.
      await countReads('scim_group_members', () => Promise.resolve())
      const { scanned, fetched } = await countReads('scim_group_members', async () => {
        const patched = await groups.patch(body.id, [
          { op: 'remove', path: `members[value eq "${userId(7)}"]` },
        ])
        expect(patched.status).toBe(200)
      })
      expect(scanned).toBe(0)
      expect(fetched).toBeLessThan(100)
      expect((await groups.get(`/Groups/${body.id}`)).body.members).toHaveLength(userCount - 1)
    },
  )
})
