// Tests the messages of `npm run dev` when it cannot start, which processes it stops, and how it prints the log.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, type Server, createServer } from 'node:net'
import { userInfo } from 'node:os'
import { PassThrough } from 'node:stream'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { claimFolder } from '../tools/dev-folder.ts'
import { printPretty } from '../tools/pretty-log.ts'
import { testEnv } from '@manager/harness/test-env.ts'
import { register } from '@manager/harness/backends.ts'
import { type TestDatabase, createScratchDatabase } from './kit/databases.ts'
import { type DevSandbox, createDevSandbox } from './kit/dev.ts'
import { redisUrl } from '@manager/harness/run-engines.ts'
import { runUntilExit } from '@manager/harness/process.ts'
import { seedMachineUser, seedProject } from '@manager/harness/seed.ts'

let sandbox: DevSandbox
let folder: string
let other: Server
let taken: string
beforeAll(async () => {
  sandbox = await createDevSandbox()
  folder = `${sandbox.tmp}/manager-dev-${userInfo().username}`
  other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  taken = String((other.address() as AddressInfo).port)
})
afterAll(() => {
  other.close()
  sandbox.remove()
})

/** Runs `npm run dev` until it exits, and returns its output and exit code. */
async function runDev(env: Record<string, string>): Promise<[string, number | string]> {
  const run = sandbox.start(env)
  await once(run.child, 'close')
  return [run.output(), await run.exit]
}

describe('npm run dev says in one sentence', () => {
  test.each(['SVC_PORT', 'SVC_HEALTH_PORT'])('that the port of %s is taken', async (variable) => {
    expect(await runDev({ [variable]: taken })).toEqual([
      `error: port ${taken} is already in use; set ${variable} to another port\n`,
      1,
    ])
    expect(sandbox.processes()).toEqual([])
  })

  test('that it runs already, and where', async () => {
    const running = await claimFolder(folder, '8099', [userInfo().uid])
    expect(await runDev({})).toEqual([
      `error: npm run dev is already running (process ${process.pid}): use it at http://localhost:8099, or stop it first\n`,
      1,
    ])
    running.release()
  })

  test('that the migrations failed, and why', async () => {
    const env = { SVC_DATABASE_URL: 'postgres://nobody:hidden@127.0.0.1:1/x', SVC_REDIS_URL: redisUrl() }
    expect(await runDev(env)).toEqual([
      'error: the migrations failed: cannot reach the database at 127.0.0.1:1 (ECONNREFUSED); check that PostgreSQL is running, that the network allows the connection, and that database.url (SVC_DATABASE_URL) is correct\n',
      1,
    ])
  })

  test('that PostgreSQL does not start, and where its log is', async () => {
    mkdirSync(`${folder}/data`, { recursive: true })
    writeFileSync(`${folder}/data/PG_VERSION`, 'none')
    const [said, code] = await runDev({ SVC_REDIS_URL: redisUrl() })
    expect([said, code]).toEqual([expect.stringMatching(/^error: PostgreSQL: .+ \(see .+\/log\)\n$/), 1])
    expect(said).toContain(`${folder}/log`)
  })

  test('that the folder is of another user', async () => {
    await expect(claimFolder(folder, '8099', [])).rejects.toThrow(
      `${folder} belongs to another user: remove the folder, or set TMPDIR to a folder of your own`,
    )
  })
})

describe('the processes of a killed run', () => {
  test('are ended by the next one, and no others: not one that has got the id of an ended one since', async () => {
    const [left, foreign] = [0, 1].map(() => spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' }))
    const dir = `${sandbox.tmp}/killed`
    const owners = [userInfo().uid]
    const first = await claimFolder(dir, '8099', owners)
    for (const child of [left, foreign]) first.add(child?.pid as number)
    const file = `${dir}/processes.json`
    const claim = JSON.parse(readFileSync(file, 'utf8')) as {
      run: { started: string }
      children: { started: string }[]
    }
    // Simulate reused pids: the recorded start times differ from those of the running processes.
    claim.run.started = '1'
    ;(claim.children[1] as { started: string }).started = '1'
    writeFileSync(file, JSON.stringify(claim))
    const ended = once(left as NodeJS.EventEmitter, 'exit')
    const second = await claimFolder(dir, '8099', owners)
    expect(await ended).toEqual([null, 'SIGTERM'])
    expect([foreign?.exitCode, foreign?.signalCode]).toEqual([null, null])
    process.kill(foreign?.pid as number, 0)
    foreign?.kill('SIGKILL')
    second.release()
  })
})

test('on a terminal, lines of the log are short and cannot move the cursor; other lines stay as they are', async () => {
  const [log, terminal] = [new PassThrough(), new PassThrough()]
  printPretty(log, terminal, false)
  const line = {
    level: 'info',
    time: '2026-01-01T10:00:00.000Z',
    pid: 7,
    route: '/query',
    msg: 'a\u001B[2Jb',
  }
  log.end(`${JSON.stringify(line)}\nRestarting 'main.ts'\n`)
  await once(log, 'close')
  expect(String(terminal.read())).toMatch(
    /^\[\d\d:\d\d:00\.000\] INFO: a\[2Jb \{"route":"\/query"\}\nRestarting 'main\.ts'\n$/,
  )
})

test('npm run dev lets backends of this machine register', async () => {
  const database = await createScratchDatabase()
  const sql = new Pool({ connectionString: database.url, max: 1 })
  const run = sandbox.start(testEnv(database.url) as Record<string, string>)
  try {
    const project = await seedProject(sql, 'main')
    const { token } = await seedMachineUser(sql, project)
    await run.wrote('manager is ready')
    for (const host of ['127.0.0.1', 'localhost', '[::1]'])
      expect(
        await register({ url: sandbox.url }, token, {
          application_id: project.applicationId,
          callback_url: `http://${host}:3000/callbacks`,
        }),
      ).toMatchObject({ body: { success: true } })
  } finally {
    run.child.kill('SIGTERM')
    await run.exit
    await sql.end()
    await database.drop()
  }
})

describe('the service', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createScratchDatabase()
  })
  afterAll(() => database.drop())

  test.each([
    ['SVC_PORT', 'http.port', 'SVC_HEALTH_PORT'],
    ['SVC_HEALTH_PORT', 'health.port', 'SVC_PORT'],
  ])('says that the port of %s is taken, and how to set it', async (variable, key, free) => {
    const env = { ...testEnv(database.url), [free]: '0', [variable]: taken }
    const { code, stderr } = await runUntilExit(env)
    expect([code, stderr]).toEqual([
      1,
      `start failed: port ${taken} on 127.0.0.1 is already in use; set ${variable} (${key}) to another port\n`,
    ])
  })
})
