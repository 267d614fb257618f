// A run of the tests that is killed leaves no databases behind, and no engines either.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { describe, expect, test } from 'vitest'
import { asAdmin, prefixOf } from './kit/databases.ts'

const databasesOf = (run: string): Promise<string[]> =>
  asAdmin(async (client) => {
    const { rows } = await client.query<{ name: string }>(
      'select datname as name from pg_database where starts_with(datname, $1)',
      [prefixOf(run)],
    )
    return rows.map(({ name }) => name)
  })

describe('a run that is killed', () => {
  test('leaves no databases behind', { timeout: 120_000 }, async () => {
    const run = randomBytes(6).toString('hex')
    const child = spawn('npx', ['vitest', 'run', 'features/settings/settings-cascade.test.ts'], {
      cwd: new URL('../../../', import.meta.url).pathname,
      env: { ...process.env, NAMED_TEST_RUN: run },
      stdio: 'ignore',
      detached: true,
    })
    await expect.poll(async () => (await databasesOf(run)).length, { timeout: 60_000 }).toBeGreaterThan(0)
    process.kill(-(child.pid as number), 'SIGKILL')
    await once(child, 'exit')
    await expect.poll(() => databasesOf(run), { timeout: 30_000 }).toEqual([])
  })

  test('leaves nothing of the S3 service it had started', { timeout: 180_000 }, async () => {
    const home = mkdtempSync(`${tmpdir()}/killed-run-`)
    const child = spawn('npx', ['vitest', 'run', 'platform/blobs/bucket-away.test.ts'], {
      cwd: new URL('../../../', import.meta.url).pathname,
      env: { ...process.env, TMPDIR: home, TEST_S3_URL: undefined },
      stdio: 'ignore',
      detached: true,
    })
    const daemons = (): string[] => processesIn(`${home}/manager-s3-`)
    // The keeper itself, monitor, manager, OSD and gateway.
    await expect.poll(() => daemons().length, { timeout: 90_000, interval: 200 }).toBeGreaterThanOrEqual(5)
    process.kill(-(child.pid as number), 'SIGKILL')
    await once(child, 'exit')
    await expect.poll(daemons, { timeout: 60_000 }).toEqual([])
    expect(readdirSync(home).filter((name) => name.startsWith('manager-s3-'))).toEqual([])
    rmSync(home, { recursive: true })
  })

  test('leaves none of the engines that run.ts gave it', { timeout: 120_000 }, async () => {
    // PostgreSQL runs as another user, who must reach its folder.
    const home = mkdtempSync(`${tmpdir()}/killed-run-`)
    chmodSync(home, 0o755)
    const run = new URL('./engines/run.ts', import.meta.url).pathname
    const child = spawn(
      process.execPath,
      [run, 'bash', '-c', 'echo "$TEST_DATABASE_URL $TEST_REDIS_URL"; sleep 600'],
      {
        stdio: ['ignore', 'pipe', 'ignore'],
        env: { ...process.env, TMPDIR: home },
        detached: true,
      },
    )
    const [text] = (await once(child.stdout, 'data')) as [Buffer]
    const ports = text
      .toString()
      .trim()
      .split(' ')
      .map((url) => Number(new URL(url).port))
    expect(await Promise.all(ports.map(isOpen))).toEqual([true, true])
    process.kill(-(child.pid as number), 'SIGKILL')
    await expect.poll(() => Promise.all(ports.map(isOpen)), { timeout: 60_000 }).toEqual([false, false])
    await expect
      .poll(() => readdirSync(home).filter((name) => name.startsWith('manager-engines-')))
      .toEqual([])
    rmSync(home, { recursive: true })
  })
})

/** Processes whose command line names the folder. */
const processesIn = (folder: string): string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder)
    } catch {
      return false
    }
  })

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
