// Tests that equality of userName, externalId, id and emails.value uses an index, whatever the number of users: 100,000, or 1
// million with LOAD_SIZE=full.
import { loadSize } from '@manager/harness/load-sizes.ts'
import { beforeAll, describe, expect, test } from 'vitest'
import { useProject } from '../../../test/kit/project.ts'
import { createScimClient, createScimToken, newUser } from '../../../test/kit/scim.ts'
import { countTableReads } from '../../../test/kit/table-reads.ts'

const many = loadSize(100_000, 1_000_000)
const { service, admin } = useProject()
let token = ''
const scim = createScimClient(
  () => service,
  () => token,
)

beforeAll(async () => {
  token = (await createScimToken(service, admin)).token
  await service.sql.query(
    `insert into users (id, external_username, is_provisioned)
     select ('f0000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 'u' || n, true from generate_series(1, $1) n`,
    [many],
  )
  await service.sql.query(
    `insert into scim_users (user_id, user_name, external_id, emails, active)
     select ('f0000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 'User' || n || '@Example.com', 'x' || n,
       jsonb_build_array(jsonb_build_object('value', 'Mail' || n || '@example.com', 'type', 'work', 'primary', true)), true
     from generate_series(1, $1) n`,
    [many],
  )
  await service.sql.query('vacuum analyze scim_users')
}, 600_000)

const countReads = (run: () => Promise<unknown>) =>
  countTableReads(service, 'scim_users', run, () => scim.get('/Users/f0000000-0000-4000-8000-000000000001'))

describe('searches', () => {
  test.each([
    'userName eq "USER777@example.com"',
    'externalId eq "x777"',
    'id eq "f0000000-0000-4000-8000-000000000777"',
    'emails.value eq "mail777@EXAMPLE.com"',
    'emails[type eq "work"].value eq "mail777@example.com"',
    'userName eq "user777@example.com" or emails.value eq "mail777@example.com"',
    'userName eq "user777@example.com" and active eq true',
  ])('[scim.filter] %s reads few rows', { timeout: 120_000 }, async (filter) => {
    const { scanned, fetched } = await countReads(async () => {
      for (let count = 0; count < 3; count++) expect((await scim.search(filter)).body.totalResults).toBe(1)
    })
    expect(scanned).toBe(0)
    expect(fetched).toBeLessThan(100)
  })

  test(
    '[scim.filter-limits] a filter without an index ends within its time limit',
    { timeout: 120_000 },
    async () => {
      const startedAt = performance.now()
      const { status, body } = await scim.search('displayName co "nothing" or name.givenName ew "x"')
      expect(['200 undefined', '400 tooMany']).toContain(`${status} ${body.scimType}`)
      expect(performance.now() - startedAt).toBeLessThan(10_000)
    },
  )

  test(
    '[scim.patch-limits] a patch at all limits holds its lock for a short time',
    { timeout: 120_000 },
    async () => {
      const { body } = await scim.post(
        newUser({
          emails: Array.from({ length: 20 }, (_, index) => ({ value: `${'x'.repeat(300)}${index}` })),
        }),
      )
      const filter = Array.from({ length: 10 }, (_, index) => `value co "${'x'.repeat(20)}${index}y"`).join(
        ' or ',
      )
      const operations = Array.from({ length: 100 }, () => ({
        op: 'remove',
        path: `emails[${filter}]`,
      }))
      const startedAt = performance.now()
      expect((await scim.patch(body.id, operations)).status).toBe(200)
      expect(performance.now() - startedAt).toBeLessThan(2_000)
    },
  )
})
