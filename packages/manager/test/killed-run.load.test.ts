// A run of the tests that is killed leaves no databases behind.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { asAdmin } from './kit/databases.ts'

const databases = (): Promise<string[]> =>
  asAdmin(async (client) => {
    const { rows } = await client.query<{ name: string }>(
      "select datname as name from pg_database where datname like 'svc_test_%'",
    )
    return rows.map(({ name }) => name)
  })

describe('a run that is killed', () => {
  test('leaves no databases behind', { timeout: 120_000 }, async () => {
    const before = new Set(await databases())
    const added = async (): Promise<string[]> => (await databases()).filter((name) => !before.has(name))
    const root = new URL('../../../', import.meta.url).pathname
    const child = spawn('npx', ['vitest', 'run', 'features/settings/settings-cascade.test.ts'], {
      cwd: root,
      stdio: 'ignore',
      detached: true,
    })
    await expect.poll(async () => (await added()).length, { timeout: 60_000 }).toBeGreaterThan(0)
    process.kill(-(child.pid as number), 'SIGKILL')
    await once(child, 'exit')
    await expect.poll(added, { timeout: 30_000 }).toEqual([])
  })
})
