// Tests the list of personal access tokens that expire soon.
import { expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { seedAccessToken } from '@manager/harness/seed.ts'
import { useProject } from '../../../test/kit/project.ts'

const { service, admin, person } = useProject()

/** Seeds a token that expires in `days` days, or that does not expire. */
const seed = async (owner: Person, days: number | null): Promise<string> => {
  const id = await seedAccessToken(service.sql, owner)
  await service.sql.query(
    'update personal_access_tokens set expires_at = now() + make_interval(hours => $2) where id = $1',
    [id, days === null ? null : days * 24],
  )
  return id
}
const list = (caller: Person, args: Record<string, unknown> = {}) =>
  service.query(
    caller,
    `query($days: Int = 14, $filters: [Filter!], $order: [Order!], $pagination: Pagination) {
      rows: expiringAccessTokens(days: $days, filters: $filters, order: $order, pagination: $pagination) { id user { id } } }`,
    args,
  )
const idsOf = async (caller: Person, args: Record<string, unknown> = {}): Promise<string[]> =>
  ((await list(caller, args)).data.rows as { id: string }[]).map(({ id }) => id)

test('lists usable tokens that expire within the period, the next one first', async () => {
  const [ann, bob] = [await person('ann'), await person('bob')]
  const [later, soon] = [await seed(ann, 10), await seed(ann, 1)]
  const nextMonth = await seed(ann, 20)
  await seed(ann, null)
  await seed(ann, -1)
  const revoked = await seed(ann, 2)
  await service.sql.query('update personal_access_tokens set revoked = true where id = $1', [revoked])
  const foreign = await seed(bob, 5)
  expect(await idsOf(ann)).toEqual([soon, later])
  expect(await idsOf(ann, { days: null })).toEqual([soon, later])
  expect(await idsOf(ann, { days: 3 })).toEqual([soon])
  expect(await idsOf(ann, { days: 30 })).toEqual([soon, later, nextMonth])
  expect(await idsOf(bob)).toEqual([foreign])
  expect(await idsOf(admin)).toEqual([soon, foreign, later])
  expect(await idsOf(await person('stranger'))).toEqual([])
  const order = { field: 'expiresAt', direction: 'DESC' }
  expect(await idsOf(admin, { order, pagination: { limit: 1, offset: 0 } })).toEqual([later])
  const filters = { field: 'id', value: foreign }
  expect(await idsOf(ann, { filters })).toEqual([])
})

test('rejects a period of less than a day or more than a year', async () => {
  for (const days of [0, -1, 366])
    expect((await list(admin, { days })).error).toBe('days must be from 1 to 365')
})
