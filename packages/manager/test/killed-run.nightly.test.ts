// Tests that a killed test run leaves no databases and no servers behind.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { describe, expect, test } from 'vitest'
import { asAdmin, prefixOf } from './kit/databases.ts'
import { adminUrl } from '@manager/harness/run-engines.ts'

const databasesOf = (run: string): Promise<string[]> =>
  asAdmin(async (client) => {
    const { rows } = await client.query<{ name: string }>(
      'select datname as name from pg_database where starts_with(datname, $1)',
      [prefixOf(run)],
    )
    return rows.map(({ name }) => name)
  })

/** Starts a test run of these files in its own process group. */
function startRun(files: string[], env: NodeJS.ProcessEnv): ChildProcess {
  return spawn('npx', ['vitest', 'run', ...files], {
    cwd: new URL('../../../', import.meta.url).pathname,
    env: { ...process.env, TEST_RUN: undefined, ...env },
    stdio: 'ignore',
    detached: true,
  })
}

async function kill(child: ChildProcess): Promise<void> {
  process.kill(-(child.pid as number), 'SIGKILL')
  await once(child, 'exit')
}

describe('a run that is killed', () => {
  test('leaves no databases behind on a server that it was given', { timeout: 120_000 }, async () => {
    const run = randomBytes(6).toString('hex')
    const env = { NAMED_TEST_RUN: run, TEST_DATABASE_URL: adminUrl() }
    const child = startRun(['features/settings/settings-cascade.test.ts'], env)
    await expect.poll(async () => (await databasesOf(run)).length, { timeout: 60_000 }).toBeGreaterThan(0)
    await kill(child)
    await expect.poll(() => databasesOf(run), { timeout: 30_000 }).toEqual([])
  })

  test(
    'leaves none of the engines that it started, the S3 service included',
    { timeout: 120_000 },
    async () => {
      // PostgreSQL runs as a different user and must be able to access its folder.
      const home = mkdtempSync(`${tmpdir()}/killed-run-`)
      chmodSync(home, 0o755)
      const own = { TEST_DATABASE_URL: undefined, TEST_REDIS_URL: undefined, TEST_S3_URL: undefined }
      const files = ['features/settings/settings-cascade.test.ts', 'platform/blobs/bucket-away.test.ts']
      const child = startRun(files, { ...own, TEST_ENGINES: undefined, TMPDIR: home })
      // PostgreSQL, Redis, and the Ceph processes: monitor, manager, storage daemon and gateway.
      const engines = (): string[] => processesIn(`${home}/manager-engines-`)
      await expect.poll(() => engines().length, { timeout: 90_000 }).toBeGreaterThanOrEqual(6)
      await kill(child)
      await expect.poll(() => processesIn(home), { timeout: 60_000 }).toEqual([])
      const left = readdirSync(home).filter((name) => /^manager-(?:engines|keeper)/.test(name))
      expect(left).toEqual([])
      rmSync(home, { recursive: true })
    },
  )
})

/** Returns the processes whose command line contains the folder. */
const processesIn = (folder: string): string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder)
    } catch {
      return false
    }
  })
