import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'

let service: TestApp
beforeAll(async () => {
  service = await startTestApp()
})
afterAll(() => service.close())

const counted = async (pool: string): Promise<number> => {
  const lines = (await service.world.metrics.registry.metrics()).split('\n')
  const name = `svc_db_query_duration_seconds_count{pool="${pool}"} `
  return Number(lines.find((line) => line.startsWith(name))?.slice(name.length))
}

test('every statement is counted by the connections it runs on, also one that fails', async () => {
  const { run, db } = service.world.database
  const before = [await counted('requests'), await counted('lookups'), await counted('long')]
  await db.read.selectFrom('projects').select('id').execute()
  await run({ name: 'one', kind: 'read', text: 'select $1::int as one' }, [1])
  await expect(
    run({ name: 'none', kind: 'read', size: 'long', text: 'select 1 / $1::int' }, [0]),
  ).rejects.toThrow('division by zero')
  const after = [await counted('requests'), await counted('lookups'), await counted('long')]
  expect(after.map((count, index) => count - (before[index] as number))).toEqual([1, 1, 1])
})
