// Counts the statements that gateway calls run: their number depends on the round trips to the database, not on the
// number of calls.
import { expect, test } from 'vitest'
import { useCountedGateway } from '../kit/counted-statements.ts'

const { gateway, ask, builds } = useCountedGateway()

test('a single warm call costs three: its token, its beginning, its end', async () => {
  const { path } = await gateway.endpoint({ url: `${gateway.upstream.url}/target` })
  await ask(path, 1)
  expect(await ask(path, 1)).toHaveLength(3)
})

test('a call that is not logged costs one', async () => {
  const { path } = await gateway.endpoint({ url: `${gateway.upstream.url}/target`, logLevel: 'NONE' })
  await ask(path, 1)
  expect(await ask(path, 1)).toHaveLength(1)
})

test('250 first calls at once look the endpoint up once', async () => {
  const { path } = await gateway.endpoint({ url: `${gateway.upstream.url}/target`, logLevel: 'NONE' })
  const before = await builds()
  const statements = await ask(path, 250)
  expect(await builds()).toBe(before + 1)
  expect(statements.filter((text) => text.includes('consume_url'))).toHaveLength(1)
})
