// Tests the configuration output for operators: it contains warnings and the addresses of PostgreSQL and Redis, but
// never a secret.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findConfigWarnings } from '../../src/config/warnings.ts'
import { settings } from '../../src/settings.ts'
import { parseUrlAddress, createTopology } from '../../src/platform/redis/topology.ts'
import {
  parseDatabaseAddress,
  parseRedisAddress,
  createAddressFormatter,
} from '../../src/platform/engine-addresses.ts'
import { type TestDatabase, createScratchDatabase } from '../kit/databases.ts'
import { minimalEnv, load, useFiles } from '../kit/config.ts'
import { runManager } from '../kit/commands.ts'
import { startProcess } from '@manager/harness/process.ts'

const file = useFiles()
let database: TestDatabase
beforeAll(async () => {
  database = await createScratchDatabase()
})
afterAll(() => database.drop())

const long = 'x'.repeat(32)
const short = 'x'.repeat(31)
const missing =
  'SVC_PROXY_SECRET (proxy.secret) is not set, so every gated route returns 401; create one with `openssl rand -base64 32`, and configure the proxy to send it as X-Proxy-Auth'
const guessable =
  'SVC_PROXY_SECRET (proxy.secret) has fewer than 32 characters and may be guessed; create one with `openssl rand -base64 32`, and keep the current one as SVC_PROXY_SECRET_PREVIOUS until every proxy sends the new one'
const previousGuessable =
  'SVC_PROXY_SECRET_PREVIOUS (proxy.previous_secret) has fewer than 32 characters and may be guessed; remove it as soon as every proxy sends the current secret'

describe('warnings', () => {
  const warningsOf = (env: Record<string, string>) =>
    findConfigWarnings(load({ ...minimalEnv, ...env }), settings)

  test('a proxy secret that is missing or short, and a short former one', () => {
    expect(warningsOf({})).toEqual([missing])
    expect(warningsOf({ SVC_PROXY_SECRET: long })).toEqual([])
    expect(warningsOf({ SVC_PROXY_SECRET: short })).toEqual([guessable])
    expect(warningsOf({ SVC_PROXY_SECRET: long, SVC_PROXY_SECRET_PREVIOUS: short })).toEqual([
      previousGuessable,
    ])
    expect(warningsOf({ SVC_PROXY_SECRET: short, SVC_PROXY_SECRET_PREVIOUS: short })).toEqual([
      guessable,
      previousGuessable,
    ])
  })

  test('a setting of the previous release that has no effect any more', () => {
    const retired = {
      SVC_PROXY_SECRET: long,
      SVC_CLI_LOGIN_STARTS_PER_CLIENT: '30',
      SVC_THROTTLES_CODE_BLOCK_MS: '900000',
    }
    const sentences = [
      'SVC_CLI_LOGIN_STARTS_PER_CLIENT (cli_login.starts_per_client) is set but has no effect; remove it',
      'SVC_THROTTLES_CODE_BLOCK_MS (throttles.code.block_ms) is set but has no effect; remove it',
    ]
    expect(warningsOf(retired)).toEqual(sentences)
    expect(warningsOf({ ...retired, SVC_ENV: 'development' })).toEqual(sentences)
  })

  test('none in development, nor of a secret that nothing needs', () => {
    const both = { SVC_PROXY_SECRET: short, SVC_PROXY_SECRET_PREVIOUS: short }
    expect(warningsOf({ SVC_ENV: 'development' })).toEqual([])
    expect(warningsOf({ SVC_ENV: 'development', ...both })).toEqual([])
    expect(warningsOf({ SVC_ROLES: 'gateway,jobs' })).toEqual([])
    expect(warningsOf({ SVC_ROLES: 'gateway,jobs', SVC_PROXY_SECRET: short })).toEqual([guessable])
  })

  test('config check prints them and exits with zero', async () => {
    expect(await runManager(['config', 'check'], minimalEnv)).toEqual({
      code: 0,
      stdout:
        'database manager on db.example:5432 as svc\nredis on 127.0.0.1:6379\nThe configuration is valid.\n',
      stderr: `warning: ${missing}\n`,
    })
  })

  test('a start logs them, with secrets from files too, and then where its database is', async () => {
    const { hostname, port } = new URL(database.url)
    const running = await startProcess(database.url, {
      SVC_DATABASE_URL: undefined,
      SVC_DATABASE_URL_FILE: file('url', `${database.url}\n`),
      SVC_PROXY_SECRET: undefined,
      SVC_PROXY_SECRET_FILE: file('secret', short),
    })
    running.child.kill('SIGKILL')
    await running.exit
    const lines = running.lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(lines.filter(({ level }) => level === 'warn').map(({ msg }) => msg)).toEqual([guessable])
    expect(lines.find(({ msg }) => msg === 'manager is ready')).toMatchObject({
      database: `${hostname}:${port === '' ? 5432 : port}/${database.name}`,
    })
  })
})

describe('addresses', () => {
  const redisOf = (url: string, env = {}): string => {
    const config = load({ ...minimalEnv, SVC_REDIS_URL: url, ...env })
    return parseRedisAddress(config.redisUrl, createTopology(config))
  }

  test('host, port, name and user of the database, as the driver will take them', () => {
    for (const [url, description, label] of [
      [
        'postgres://svc:x@db.example/manager',
        'database manager on db.example:5432 as svc',
        'db.example:5432/manager',
      ],
      ['postgresql://svc@10.0.0.5:6000/a-b', 'database a-b on 10.0.0.5:6000 as svc', '10.0.0.5:6000/a-b'],
      ['postgres://svc@[::1]:6000/a', 'database a on [::1]:6000 as svc', '[::1]:6000/a'],
      ['postgres://a%40b:x@h/gr%C3%BC%C3%9Fe', 'database grüße on h:5432 as a@b', 'h:5432/grüße'],
      ['postgres://h/a?host=other&port=7000&user=u', 'database a on other:7000 as u', 'other:7000/a'],
      ['postgres://u@h/a?host=/run/postgresql', 'database a on /run/postgresql as u', '/run/postgresql/a'],
      ['postgres://u:x@h', 'database u on h:5432 as u', 'h:5432/u'],
    ] as const)
      expect(parseDatabaseAddress(url)).toMatchObject({ description, label })
    expect(redisOf('redis://127.0.0.1:6379')).toBe('redis on 127.0.0.1:6379')
    expect(redisOf('rediss://user:x@cache.example/3')).toBe('redis on cache.example:6379')
    expect(redisOf('redis://[::1]:7000')).toBe('redis on [::1]:7000')
    expect(redisOf('redis://:x@a.example', { SVC_REDIS_MODE: 'cluster' })).toBe(
      'redis cluster with nodes on a.example:6379',
    )
    const sentinel = {
      SVC_REDIS_MODE: 'sentinel',
      SVC_REDIS_NODES: 'b.example:26379, [::1]:26380, a.example:26379',
      SVC_REDIS_MASTER_NAME: 'main',
    }
    expect(redisOf('rediss://:x@a.example:26379', sentinel)).toBe(
      'redis master main of sentinels on a.example:26379, b.example:26379, [::1]:26380',
    )
  })

  test('no part of a password, wherever it is and however it is written', () => {
    for (const rest of [
      'svc:hidden@h/a',
      'svc:12%2Fhidden@h/a',
      'svc:hid@hidden@h/a',
      'h/a?password=hidden&user=svc',
      'h/a?sslpassword=hidden',
      'svc%3Ahidden@h/a',
      // A reserved character that is not percent-encoded ends the host name too early.
      'svc:12/hidden@h/a',
      'svc:12?hidden@h/a',
      'svc:12#hidden@h/a',
      'h/a;password=hidden',
      'h/a%0Apassword=hidden',
      'svc:%zz-hidden@h/a',
    ]) {
      const { description, label } = parseDatabaseAddress(`postgres://${rest}`)
      expect([rest, `${description} ${label}`]).toEqual([rest, expect.not.stringMatching(/hid|12/)])
      const shown = createAddressFormatter(`redis://${rest}`)(parseUrlAddress(`redis://${rest}`))
      const redis = `${redisOf(`redis://${rest}`)} ${shown}`
      expect([rest, redis]).toEqual([rest, expect.not.stringMatching(/hid|12/)])
    }
    for (const url of ['postgres:svc:hidden@h/a', 'postgres:/svc:hidden@h/a'])
      expect(parseDatabaseAddress(url).description).toBe(
        'database ********: its URL has an @ after the host; percent-encode the password',
      )
    expect(parseDatabaseAddress('postgres://u@h/a%0Ab')).toEqual({
      server: 'h:5432',
      name: '********',
      user: 'u',
      description: 'database ******** on h:5432 as u',
      label: 'h:5432/********',
    })
  })

  test('a URL that the driver cannot read is one sentence without it', async () => {
    const env = { ...minimalEnv, SVC_DATABASE_URL: 'postgres://svc:hidden@h/a?sslrootcert=/none/here' }
    const { code, stderr } = await runManager(['config', 'check'], env)
    expect([code, stderr]).toEqual([
      1,
      'error: SVC_DATABASE_URL (database.url) cannot be used: percent-encode its user, password and name, and check the files it names\n',
    ])
  })
})
