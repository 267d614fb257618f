// Tests that `npm run dev` stops everything that it has started, however it exits. Processes that a killed
// run leaves behind must not block the next run.
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type DevSandbox, type DevRun, createDevSandbox } from './kit/dev.ts'
import { loadSize } from '@manager/harness/load-sizes.ts'

const ready = 'manager is ready'
let sandbox: DevSandbox
beforeEach(async () => {
  sandbox = await createDevSandbox()
})
afterEach(() => sandbox.remove())

async function expectNothingLeft(): Promise<void> {
  await expect.poll(() => sandbox.processes()).toEqual([])
}

/**
 * Starts `npm run dev` and waits until it is ready. Then at least this process, PostgreSQL, Redis, the watcher and the
 * service are running.
 */
async function startReady(start: () => DevRun = sandbox.start): Promise<DevRun> {
  const run = start()
  await run.wrote(ready)
  expect(sandbox.processes().length).toBeGreaterThanOrEqual(5)
  return run
}

/** Retries until the response matches: on a busy machine, a newly started service sheds requests. */
async function expectAnswer(query: string, data: unknown): Promise<void> {
  const ask = async (): Promise<unknown> => {
    const response = await fetch(`${sandbox.url}/query`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    })
    return response.json()
  }
  await expect.poll(ask).toEqual({ data })
}

// An ordinary run tests only SIGINT here. The tests below also cover SIGTERM (a stopped run) and SIGHUP (a
// closed terminal).
const signals = ['SIGINT', 'SIGHUP', 'SIGTERM'] as const
test.each(signals.slice(0, loadSize(1, 3)))('%s stops everything', async (signal) => {
  const run = await startReady()
  run.child.kill(signal)
  expect(await run.exit).toBe(0)
  await expectNothingLeft()
  // Without a terminal, the log is still JSON.
  expect(run.output()).toMatch(/^\{.*"msg":"stopped"\}$/m)
})

test('on a terminal the log is for people, and closing the terminal stops everything', async () => {
  const run = await startReady(sandbox.startOnTerminal)
  expect(run.output()).toMatch(/^\[\d\d:\d\d:\d\d\.\d{3}\] \S*INFO\S*: \S*manager is ready/m)
  run.child.kill('SIGKILL')
  await expectNothingLeft()
  const again = await startReady()
  again.child.kill('SIGTERM')
  expect(await again.exit).toBe(0)
})

test('killed, it leaves processes; the next run ends them, and the data is there', async () => {
  const first = await startReady()
  const create = 'mutation { createProject(input: {name: "Kept", slug: "kept"}) { slug } }'
  await expectAnswer(create, { createProject: { slug: 'kept' } })
  const before = sandbox.processes()
  first.child.kill('SIGKILL')
  expect(await first.exit).toBe('SIGKILL')
  const second = await startReady()
  expect(before.filter((pid) => sandbox.processes().includes(pid))).toEqual([])
  await expectAnswer('{ projects { slug } }', { projects: [{ slug: 'kept' }] })
  second.child.kill('SIGTERM')
  expect(await second.exit).toBe(0)
  await expectNothingLeft()
})

test('a second run says that there is one, and leaves it alone', async () => {
  const first = await startReady()
  const second = sandbox.start()
  expect(await second.exit).toBe(1)
  await second.wrote(
    `error: npm run dev is already running (process ${first.child.pid}): use it at http://localhost:${sandbox.env['SVC_PORT']}, or stop it first\n`,
  )
  await expectAnswer('{ projects { slug } }', { projects: [] })
  first.child.kill('SIGTERM')
  expect(await first.exit).toBe(0)
})

test('when its watcher is killed, it ends with everything', async () => {
  const run = await startReady()
  const watcher = sandbox
    .processes()
    .find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('\0--watch\0'))
  process.kill(watcher as number, 'SIGKILL')
  expect(await run.exit).toBe(1)
  expect(sandbox.processes()).toEqual([])
})

test('a PostgreSQL that was killed, and whose id another program has since, does not hinder a start', async () => {
  const first = await startReady()
  first.child.kill('SIGTERM')
  expect(await first.exit).toBe(0)
  const asPostgres = process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--'] : []
  const command = [...asPostgres, 'bash', '-c', 'echo $$; exec sleep 1000']
  const foreign = spawn('env', command, { stdio: ['ignore', 'pipe', 'ignore'] })
  const pid = await new Promise<string>((resolve) =>
    foreign.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString().trim())),
  )
  const data = `${sandbox.tmp}/manager-dev-${userInfo().username}/data`
  writeFileSync(`${data}/postmaster.pid`, `${pid}\n${data}\n1700000000\n5432\n`)
  const second = await startReady()
  expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).toBe('sleep\x001000\0')
  second.child.kill('SIGTERM')
  expect(await second.exit).toBe(0)
  process.kill(Number(pid), 'SIGKILL')
})
