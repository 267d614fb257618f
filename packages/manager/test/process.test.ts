// Tests the service process: startup, startup errors, draining under load, and the operator CLI.
import { execFile, spawn } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { promisify } from 'node:util'
import type { Command } from 'commander'
import { Client, Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createProgram } from '../src/commands/program.ts'
import { createTerminal } from '../src/commands/terminal.ts'
import { headersOf } from '@manager/harness/callers.ts'
import { testEnv } from '@manager/harness/test-env.ts'
import { schemaStateOf } from './kit/baselines.ts'
import { type TestDatabase, createEmptyDatabase, createScratchDatabase } from './kit/databases.ts'
import { timedPost } from './kit/http.ts'
import { isWaiting, waitForLockWait } from './kit/locks.ts'
import { runManager, startRefusal } from './kit/commands.ts'
import { runManagerProcess, runUntilExit, startProcess } from '@manager/harness/process.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createScratchDatabase()
})
afterAll(() => database.drop())

const person = { id: '0b54bc1c-2b1f-4a68-9a55-0c8a51a4c0de' }
const migrations = globSync('*.sql', { cwd: new URL('../migrations/', import.meta.url).pathname })
  .toSorted()
  .map((file) => file.slice(0, -4))
const ask = JSON.stringify({ query: '{ me { id } }' })

describe('start', () => {
  test('three configuration errors are all named, and the exit is not zero', async () => {
    const env = { ...testEnv(database.url), SVC_PORT: 'eighty', SVC_MASTER_KEY: 'short', SVC_UNKNOWN: 'x' }
    const result = await runUntilExit(env)
    expect(result.code).toBe(1)
    expect(result.stderr).toContain('the configuration is invalid (problems: 3)')
    expect(result.stderr).toContain('SVC_PORT must be a whole number from 0 to 65535')
    expect(result.stderr).toContain('SVC_MASTER_KEY must be the base64 of 32 bytes')
    expect(result.stderr).toContain('SVC_UNKNOWN is not a known setting')
  })

  test('[versioning.migrations-explicit] a schema that is too old or too new stops the start and says what to do', async () => {
    const empty = await createEmptyDatabase()
    const old = await runUntilExit(testEnv(empty.url))
    expect([old.code, old.stderr]).toEqual([
      1,
      expect.stringMatching(/schema is too old: 0001_core.*migrate up/),
    ])
    const client = new Client({ connectionString: empty.url })
    await client.connect()
    const { rows: tables } = await client.query("select 1 from pg_tables where schemaname = 'public'")
    expect(tables).toEqual([])
    await runManager(['migrate', 'up'], testEnv(empty.url))
    await client.query("insert into pgmigrations (name, run_on) values ('9999_future', now())")
    const { described } = await schemaStateOf(empty)
    // Older releases start if the newer migration is compatible with them.
    const running = await startProcess(empty.url, { SVC_SHUTDOWN_DRAIN_DELAY_MS: '0' })
    running.child.kill('SIGTERM')
    expect(await running.exit).toBe(0)
    expect((await schemaStateOf(empty)).described).toEqual(described)
    await client.query("update schema_compatibility set oldest_migration = '9999_future'")
    expect(await startRefusal(testEnv(empty.url))).toMatch(/too new for this release.*9999_future/)
    expect((await runManager(['migrate', 'check'], testEnv(empty.url))).code).toBe(4)
    await client.end()
    await empty.drop()
  })

  test('a proxy secret that no header can carry is refused', async () => {
    for (const secret of ['geheimnis-ü', ' padded ', 'a\nb']) {
      const result = await runManager(['config', 'check'], {
        ...testEnv(database.url),
        SVC_PROXY_SECRET: secret,
      })
      expect([secret, result.code, result.stderr]).toEqual([
        secret,
        1,
        expect.stringContaining('SVC_PROXY_SECRET must be a string of'),
      ])
    }
  })

  test('secrets stay out of the log and of config print', async () => {
    const env = {
      ...testEnv(database.url),
      SVC_PROXY_SECRET: 'a-very-secret-thing',
      SVC_SHUTDOWN_DRAIN_DELAY_MS: '0',
    }
    const running = await startProcess(database.url, env)
    await timedPost(
      new Agent(),
      `${running.url}/query`,
      { ...headersOf(person), 'x-proxy-auth': 'a-very-secret-thing', authorization: 'Bearer tok-123456' },
      ask,
    )
    running.child.kill('SIGTERM')
    await running.exit
    const log = running.lines.join('\n')
    expect(log).toContain('"route":"/query"')
    expect(log).not.toMatch(/a-very-secret-thing|tok-123456/)
    const printed = await runManager(['config', 'print'], env)
    expect(printed.stdout).toContain('# proxy.secret: ********')
    expect(printed.stdout).not.toContain('a-very-secret-thing')
  })
})

describe('drain', () => {
  test('npm start passes SIGTERM on', async () => {
    const child = spawn('npm', ['start', '--silent'], {
      cwd: new URL('../../../', import.meta.url).pathname,
      env: {
        ...process.env,
        ...testEnv(database.url),
        SVC_PORT: '0',
        SVC_HEALTH_PORT: '0',
        SVC_SHUTDOWN_DRAIN_DELAY_MS: '0',
      },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let log = ''
    child.stdout.on('data', (chunk: Buffer) => {
      log += chunk.toString()
      if (log.includes('manager is ready') && !child.killed) child.kill('SIGTERM')
    })
    await new Promise((resolve) => child.stdout.once('close', resolve))
    expect(log).toContain('"stopped"')
  })

  test('while draining, readiness says so, requests are served and connections are closed after their answer', async () => {
    const replica = await startProcess(database.url, { SVC_SHUTDOWN_DRAIN_DELAY_MS: '300000' })
    replica.child.kill('SIGTERM')
    let verdict: { status: string } = { status: 'ready' }
    while (verdict.status === 'ready')
      verdict = (await (await fetch(`${replica.healthUrl}/readyz`)).json()) as { status: string }
    expect(verdict.status).toBe('draining')
    const answer = await fetch(`${replica.url}/query`, {
      method: 'POST',
      headers: { ...headersOf(person), 'content-type': 'application/json' },
      body: ask,
    })
    expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close'])
    expect((await fetch(`${replica.healthUrl}/healthz`)).status).toBe(200)
    replica.child.kill('SIGKILL')
    await replica.exit
  })
})

describe('migrations', () => {
  test('two migrators at once: one waits, both end well', async () => {
    const empty = await createEmptyDatabase()
    const results = await Promise.all([0, 1, 2].map(() => runManager(['migrate', 'up'], testEnv(empty.url))))
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0])
    expect(results.filter(({ stdout }) => stdout.includes('applied 0001_core'))).toHaveLength(1)
    expect(results.filter(({ stdout }) => stdout.includes('Nothing to do'))).toHaveLength(2)
    await empty.drop()
  })

  test('a migrator waits for one that is at work, and says so', async () => {
    const empty = await createEmptyDatabase()
    const holder = new Client({ connectionString: empty.url })
    await holder.connect()
    await holder.query('select pg_advisory_lock(7202611152)')
    const waiting = runManager(['migrate', 'up'], testEnv(empty.url))
    for (;;) {
      const { rowCount } = await holder.query(
        `select 1 from pg_stat_activity where datname = current_database() and state = 'idle'
           and application_name = 'manager-migrate' and query like '%pg_try_advisory_lock%'`,
      )
      if (rowCount !== 0) break
    }
    await holder.end()
    const { code, stdout } = await waiting
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/another migration is running.*\napplied 0001_core/),
    ])
    await empty.drop()
  })

  test('a migration that meets a busy table gives way and tries again', async () => {
    const empty = await createEmptyDatabase()
    const busy = new Client({ connectionString: empty.url })
    await busy.connect()
    // An uncommitted table with the same name makes the migration wait until its lock timeout expires.
    await busy.query('begin; create table users (id int)')
    const waiting = runManager(['migrate', 'up'], testEnv(empty.url))
    // Wait until the migration waits for the lock and times out. Then release the table, so that the retry succeeds.
    const sql = new Pool({ connectionString: empty.url })
    await waitForLockWait(sql)
    await expect.poll(() => isWaiting(sql)).toBe(false)
    await sql.end()
    await busy.query('rollback')
    const { code, stdout } = await waiting
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/a table is locked; retrying \(attempt 1 of 15\)[^]*applied 0001_core/),
    ])
    await busy.end()
    await empty.drop()
  })

  test('the role that migrates cannot be named as the application role', async () => {
    const own = await createScratchDatabase()
    const { code, stderr } = await runManager(['migrate', 'up'], {
      ...testEnv(own.url),
      SVC_DATABASE_SERVICE_ROLE: new URL(own.url).username,
    })
    expect([code, stderr]).toEqual([1, expect.stringContaining('must not be the role that runs migrations')])
    await own.drop()
  })

  test('status, check and baseline tell and record what there is', async () => {
    const empty = await createEmptyDatabase()
    const env = testEnv(empty.url)
    expect(await runManager(['migrate', 'check'], env)).toMatchObject({
      code: 3,
      stdout: expect.stringContaining('too old'),
    })
    const refused = await runManager(['migrate', 'baseline', '0001_core'], env)
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('run `migrate up` instead')])
    await runManager(['migrate', 'up'], env)
    const status = await runManager(['migrate', 'status'], env)
    expect(status.stdout).toBe(
      `${migrations.map((name) => `applied  ${name}\n`).join('')}The schema is compatible with this release.\n`,
    )
    expect((await runManager(['migrate', 'check'], env)).code).toBe(0)
    const client = new Client({ connectionString: empty.url })
    await client.connect()
    await client.query('drop table pgmigrations')
    const baseline = await runManager(['migrate', 'baseline', migrations.at(-1) as string], env)
    expect([baseline.code, baseline.stdout]).toEqual([
      0,
      `the schema matches ${migrations.at(-1)}\nrecorded as applied: ${migrations.join(', ')}\n`,
    ])
    expect((await runManager(['migrate', 'check'], env)).code).toBe(0)
    await client.end()
    await empty.drop()
  })

  test('[versioning.baseline] an install older than versioned migrations is recorded as it is, and migrates on from there', async () => {
    const old = await createEmptyDatabase()
    const client = new Client({ connectionString: old.url })
    await client.connect()
    const [present, last] = [migrations.slice(0, -1), migrations.at(-1) as string]
    for (const name of present)
      await client.query(readFileSync(new URL(`../migrations/${name}.sql`, import.meta.url), 'utf8'))
    await client.end()
    const env = testEnv(old.url)
    const found = `the schema matches ${present.at(-1)}\n`
    const dryRun = await runManager(['migrate', 'baseline', '--dry-run'], env)
    expect([dryRun.code, dryRun.stdout]).toEqual([
      0,
      `${found}would be recorded as applied: ${present.join(', ')}\n`,
    ])
    const other = await runManager(['migrate', 'baseline', last], env)
    expect([other.code, other.stdout, other.stderr]).toEqual([
      1,
      expect.stringMatching(/(?:missing|differs): /),
      expect.stringContaining(`matches ${present.at(-1)}, not ${last}; nothing was recorded`),
    ])
    const baseline = await runManager(['migrate', 'baseline'], env)
    expect([baseline.code, baseline.stdout]).toEqual([
      0,
      `${found}recorded as applied: ${present.join(', ')}\n`,
    ])
    const up = await runManager(['migrate', 'up'], env)
    expect([up.code, up.stdout]).toEqual([0, expect.stringContaining(`applied ${last}\n`)])
    expect(up.stdout.match(/^applied /gm)).toHaveLength(1)
    expect((await runManager(['migrate', 'check'], env)).code).toBe(0)
    await old.drop()
  })

  test('an application role of its own can do its work but not touch the audit trail', async () => {
    const own = await createScratchDatabase()
    const role = `${own.name}_app`
    const admin = new Client({ connectionString: own.url })
    await admin.connect()
    await admin.query(`create role ${role} login`)
    await runManager(['migrate', 'up'], { ...testEnv(own.url), SVC_DATABASE_SERVICE_ROLE: role })
    const url = new URL(own.url)
    url.username = role
    const app = new Client({ connectionString: url.href })
    await app.connect()
    await app.query("insert into projects (id, name, slug) values (gen_random_uuid(), 'x', 'x')")
    await app.query('alter table audit_logs disable trigger all').then(
      () => expect.unreachable(),
      (error: Error) => expect(error.message).toContain('must be owner'),
    )
    for (const statement of [
      'update audit_logs set seq = 1',
      'delete from audit_logs',
      'truncate audit_logs',
      'delete from audit_checkpoints',
      "update schema_compatibility set oldest_migration = ''",
    ])
      await expect(app.query(statement)).rejects.toThrow(/permission denied/)
    const running = await startProcess(url.href, { SVC_SHUTDOWN_DRAIN_DELAY_MS: '0' })
    const answer = await timedPost(new Agent(), `${running.url}/query`, headersOf(person), ask)
    expect(answer.status).toBe(200)
    expect((await fetch(`${running.healthUrl}/readyz`)).status).toBe(200)
    running.child.kill('SIGTERM')
    await running.exit
    await app.end()
    await admin.query(`drop owned by ${role}`)
    await admin.query(`drop role ${role}`)
    await admin.end()
    await own.drop()
  })
})

describe('the command line', () => {
  test('every command explains itself without any configuration', async () => {
    const explain = (command: Command, path: string): string[] => {
      let text = ''
      command.configureOutput({ writeOut: (part) => void (text += part) }).outputHelp()
      expect(text).toMatch(new RegExp(`^Usage: ${path}`))
      expect(text.split('\n').filter((line) => line.length > 130)).toEqual([])
      return [path, ...command.commands.flatMap((inner) => explain(inner, `${path} ${inner.name()}`))]
    }
    const explained = explain(
      createProgram(createTerminal({ env: {}, stdout: process.stdout, stderr: process.stderr })),
      'manager',
    )
    for (const name of ['migrate up', 'config check', 'admin revoke', 'audit verify', 'keys exchange-master'])
      expect(explained).toContain(`manager ${name}`)
    const { code, stdout } = await runManager(['--help'], {})
    expect([code, stdout]).toEqual([0, expect.stringContaining('Examples:')])
  })

  test('as a process, it prints the same and exits with the same code', async () => {
    const empty = await createEmptyDatabase()
    onTestFinished(() => empty.drop())
    const env = testEnv(database.url)
    const ends: [string[], Record<string, string | undefined>, number][] = [
      [['--version'], {}, 0],
      [['migrate', 'check'], testEnv(empty.url), 3],
      [['admin', 'revoke', 'nobody@example.com'], env, 1],
      [['migrate', 'down'], env, 1],
      // Commands that open pools, stores or pipes must also exit when they run as a process.
      [['audit', 'verify'], env, 0],
      [['keys', 'rotate'], env, 0],
      [['pilet-keys', 'sign'], env, 0],
    ]
    for (const [args, own, code] of ends) {
      const ended = await runManagerProcess(args, own)
      expect([args, ended.code]).toEqual([args, code])
      expect(ended.stdout + ended.stderr).not.toBe('')
      expect(ended).toEqual(await runManager(args, own))
    }
  })

  test('help into a pipe that closes early is not an error', async () => {
    const manager = new URL('../src/commands/manager.ts', import.meta.url).pathname
    const line = `'${process.execPath}' '${manager}' --help | true; echo "\${PIPESTATUS[0]}"`
    expect(await promisify(execFile)('bash', ['--norc', '-c', line])).toEqual({ stdout: '0\n', stderr: '' })
  })

  test('a file and the environment make the configuration; the environment wins', async () => {
    const file = `${mkdtempSync(`${tmpdir()}/manager-config-`)}/manager.yaml`
    writeFileSync(file, 'log:\n  level: debug\nhttp:\n  port: 9000\nroles: [api, jobs]\n')
    const { SVC_PROXY_SECRET: _, ...env } = testEnv(database.url)
    const printed = await runManager(['--config', file, 'config', 'print'], { ...env, SVC_PORT: '9100' })
    expect(printed.stdout).toMatch(/http.port: 9100\n/)
    expect(printed.stdout).toMatch(/log.level: debug\n/)
    expect((await runManager(['--config', file, 'config', 'check'], env)).stdout).toMatch(
      /The configuration is valid\.\n$/,
    )
    writeFileSync(file, 'log:\n  levle: debug\nhttp:\n  port: many\n')
    const wrong = await runManager(['--config', file, 'config', 'check'], env)
    expect(wrong.code).toBe(1)
    expect(wrong.stderr).toContain('log.levle is not a known key')
    expect(wrong.stderr).toContain('http.port must be a whole number')
  })
})
