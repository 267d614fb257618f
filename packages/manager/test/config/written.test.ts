// Tests that printed configuration can be read back unchanged: from `config print`, the reference page and the example
// file.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { settings } from '../../src/settings.ts'
import type { Config } from '../../src/config/config.ts'
import { formatConfigFile, formatEnvValue, maskConfig } from '../../src/config/config-format.ts'
import { type Env, minimalEnv, load, problemsOf, useFiles } from '../kit/config.ts'
import { runManager } from '../kit/commands.ts'

const file = useFiles()
const root = new URL('../../../../', import.meta.url).pathname
const entries = Object.entries(settings)
const open = entries.filter(([, item]) => !item.secret)
type Entry = (typeof entries)[number]

/** Settings that are rejected with a single Redis server, each with the mode that it requires. */
const modeFor: Record<string, Env> = {
  SVC_REDIS_NODES: { SVC_REDIS_MODE: 'cluster' },
  SVC_REDIS_MASTER_NAME: { SVC_REDIS_MODE: 'sentinel' },
}
/** Settings of an LDAP directory. The longest and the shortest time accept every sample of the other one. */
const ldap: Env = {
  SVC_USERS_PROVIDER: 'ldap',
  SVC_LDAP_URLS: 'ldaps://ldap.example',
  SVC_LDAP_BASE_DN: 'dc=example',
  SVC_LDAP_BIND_DN: 'cn=manager',
  SVC_LDAP_BIND_PASSWORD: 'a-password',
  SVC_LDAP_CONNECT_TIMEOUT: '50ms',
  SVC_LDAP_REQUEST_TIMEOUT: '60s',
}
/** Returns the other settings that a value of a setting requires. */
function companionsOf(variable: string, sample: string): Env {
  if (!/^SVC_(?:LDAP_|USERS_PROVIDER)/.test(variable)) return {}
  const isUnencrypted = /START_TLS|ALLOW_UNENCRYPTED/.test(variable) && sample === 'true'
  return {
    ...ldap,
    ...(isUnencrypted ? { SVC_LDAP_URLS: 'ldap://ldap.example' } : {}),
    [variable]: undefined,
  }
}
/**
 * Returns variables for a test of one setting. In development, every value of every setting is accepted. The variable
 * SVC_ENV is omitted, because it would override the file.
 */
const envFor = (variable: string): Env => ({
  ...minimalEnv,
  ...(variable === 'SVC_ENV' ? {} : { SVC_ENV: 'development' }),
  ...modeFor[variable],
})
const valueOf = (config: Config, name: string): unknown => config[name as keyof Config]

// Values of every kind that a setting accepts, including strings that YAML parses as other types.
const samples = [
  "staging|development|null|true|false|0.0.0.0|1e3|0x10|a: b # c|it's|- x|debug|error|api|jobs,api|s3|kubernetes",
  '7|64|90|150|1001|50000|2000000|900ms|1500ms|7s|2m',
  '0.25|http://collector.example:4318',
  '10.0.0.0/8|10.0.0.0/8, fd00::/8|cluster|10.0.0.2:6379, [fd12::5]:6379|https://manager.example/a?b=c#d',
  'ldap|ldaps://a.example, ldaps://b.example:3636|/etc/ssl/ca.pem|(objectClass=user)|(cn={text})|userName',
].flatMap((texts) => texts.split('|'))

describe('every setting', () => {
  test('is read again as its default, from the file and from its variable, as it is printed', () => {
    const printed = maskConfig(load({ ...minimalEnv, SVC_ENV: 'development' }), settings)
    const wrong = open.flatMap(([name, item]) => {
      if (item.default === undefined) return printed[item.key] === null ? [] : [item.key]
      if (item.key === 'env') return []
      const inFile = file('default.yaml', JSON.stringify({ [item.key]: printed[item.key] }))
      const values = [
        valueOf(load(envFor(item.env), inFile), name),
        valueOf(load({ ...envFor(item.env), [item.env]: formatEnvValue(item, item.default) }), name),
      ]
      return values.every((value) => JSON.stringify(value) === JSON.stringify(item.default)) ? [] : [item.key]
    })
    expect(wrong).toEqual([])
    expect(open.length).toBeGreaterThan(50)
  })

  // A separate configuration for each setting and value would take almost a minute, so settings that do not affect
  // each other share a configuration.
  test('is read again as it was set, from the file and from its variable, as it is printed', () => {
    const unproved = new Set(open.map(([name]) => name))
    const isAlone = ([, { env }]: Entry): boolean =>
      /^SVC_(?:ENV|USERS_PROVIDER|(?:REDIS|LDAP)_\w+)$/.test(env)
    for (const group of [
      open.filter((entry) => !isAlone(entry)),
      ...open.filter(isAlone).map((entry) => [entry]),
    ])
      for (const sample of samples) {
        const taken = group.flatMap(([name, item]) => {
          const read = item.read(sample)
          return 'problem' in read ? [] : [{ name, item, value: read.value }]
        })
        const [first] = taken
        if (first === undefined) continue
        const env = { ...envFor(first.item.env), ...companionsOf(first.item.env, sample) }
        const set = load({ ...env, ...Object.fromEntries(taken.map(({ item }) => [item.env, sample])) })
        const fromFile = load(env, file('set.yaml', formatConfigFile(set, settings, {})))
        const texts = Object.fromEntries(
          taken.map(({ item, value }) => [item.env, formatEnvValue(item, value)]),
        )
        const fromVariables = load({ ...env, ...texts })
        for (const { name, item, value } of taken) {
          const values = [set, fromFile, fromVariables].map((config) => valueOf(config, name))
          expect([item.key, sample, ...values]).toEqual([item.key, sample, value, value, value])
          if (JSON.stringify(value) !== JSON.stringify(item.default)) unproved.delete(name)
        }
      }
    expect([...unproved]).toEqual([])
  })

  test('times are printed with their unit', () => {
    const env = { ...minimalEnv, SVC_ESB_FORWARD_TIMEOUT: '2m', SVC_ESB_BODY_TIMEOUT: '1500ms' }
    expect(maskConfig(load(env), settings)).toMatchObject({
      'esb.forward_timeout': '120s',
      'esb.body_timeout': '1500ms',
      'esb.body_stall_timeout': '5s',
      'shutdown.timeout_ms': 25_000,
    })
  })

  test('a list of times is printed as it is written, an empty one as none', () => {
    const delaysOf = (text: string) => {
      const config = load({ ...minimalEnv, SVC_TRIGGERS_RETRY_DELAYS: text })
      return [valueOf(config, 'triggerRetryDelaysMs'), maskConfig(config, settings)['triggers.retry_delays']]
    }
    expect(delaysOf('1s, 90,2m')).toEqual([[1_000, 90_000, 120_000], '1s,90s,120s'])
    expect(delaysOf('none')).toEqual([[], 'none'])
    const inFile = file('delays.yaml', 'triggers:\n  retry_delays: [1500ms, 7]\n')
    expect(valueOf(load(minimalEnv, inFile), 'triggerRetryDelaysMs')).toEqual([1_500, 7_000])
    expect(
      valueOf(load(minimalEnv, file('none.yaml', 'triggers:\n  retry_delays: []\n')), 'triggerRetryDelaysMs'),
    ).toEqual([])
    for (const wrong of [
      'soon',
      '5s,',
      '5s,,6s',
      'none,5s',
      '5s;6s',
      '5s 6s',
      '0s',
      '2h',
      '61m',
      Array(11).fill('5s').join(','),
    ])
      expect(problemsOf({ ...minimalEnv, SVC_TRIGGERS_RETRY_DELAYS: wrong })).toEqual([
        'SVC_TRIGGERS_RETRY_DELAYS must be none, or a list of at most 10 durations such as 5s,30s, each from 1s to 3600s',
      ])
  })

  test('shows a default on the page that its variable takes', () => {
    const page = readFileSync(`${root}docs/reference/configuration.md`, 'utf8')
    const rows = [...page.matchAll(/^\| `([a-z0-9._]+)` +\| `(SVC_[A-Z0-9_]+)` +\| (.+?) +\|/gm)]
    expect(rows).toHaveLength(entries.length)
    for (const [, key, variable = '', shown = ''] of rows) {
      const [name, item] = entries.find(([, { env }]) => env === variable) as Entry
      expect([key, item.key]).toEqual([key, key])
      const isShown = shown.startsWith('`')
      const given = isShown ? { [variable]: shown.slice(1, -1) } : {}
      const value = isShown ? valueOf(load({ ...envFor(variable), ...given }), name) : shown
      expect([key, value]).toEqual([key, expectedOf(item)])
    }
  })

  const expectedOf = (item: (typeof settings)[string]): unknown => {
    if (item.default === undefined) return item.optional ? 'none' : 'required'
    return Array.isArray(item.default) && item.default.length === 0 ? 'empty' : item.default
  }
})

describe('config print', () => {
  const secrets = {
    ...minimalEnv,
    SVC_REDIS_URL: 'redis://:red-word@cache.example',
    SVC_PROXY_SECRET: 'a-proxy-secret-of-thirty-two-characters',
    SVC_ENCRYPTION_KEYS: `2027:${minimalEnv.SVC_MASTER_KEY}`,
  }

  test('is a file that is accepted where the secrets come from the environment, and prints the same again', async () => {
    const env = { ...secrets, SVC_ESB_BODY_TIMEOUT: '900ms', SVC_PROXY_TRUSTED_CIDRS: '10.0.0.0/8' }
    const { stdout } = await runManager(['config', 'print'], env)
    expect(stdout).toContain(
      '# database.url: ******** (database manager on db.example:5432 as svc)\ndatabase.pool_size: 4\n',
    )
    expect(stdout).toContain('# redis.url: ******** (redis on cache.example:6379)\n')
    expect(stdout).toContain('# proxy.secret: ********\nproxy.previous_secret: null\n')
    expect(stdout).toContain('# encryption.keys: ********\n')
    expect(stdout).not.toMatch(/pass-word|red-word|a-proxy-secret/)
    const path = file('printed.yaml', stdout)
    const check = await runManager(['--config', path, 'config', 'check'], secrets)
    expect(check).toEqual({
      code: 0,
      stdout:
        'database manager on db.example:5432 as svc\nredis on cache.example:6379\nThe configuration is valid.\n',
      stderr: '',
    })
    expect((await runManager(['--config', path, 'config', 'print'], secrets)).stdout).toBe(stdout)
  })

  test('says in its help what the output is good for', async () => {
    const { stdout } = await runManager(['config', 'print', '--help'], {})
    expect(stdout).toContain('The output is a configuration file in which secrets are commented out.')
  })
})

describe('manager.example.yaml', () => {
  const example = readFileSync(`${root}manager.example.yaml`, 'utf8')

  test('is accepted as it is, with the required secrets from the environment, and holds every default', () => {
    const config = load(minimalEnv, `${root}manager.example.yaml`)
    expect(config).toEqual(load(minimalEnv))
  })

  test('names every key, with its meaning; those without a default and secrets as comments', () => {
    const flat = new Set<string>()
    const collect = (node: unknown, path: string): void => {
      if (node === null || typeof node !== 'object' || Array.isArray(node)) return void flat.add(path)
      for (const [key, value] of Object.entries(node)) collect(value, path === '' ? key : `${path}.${key}`)
    }
    const isActive = ([, item]: Entry) => item.default !== undefined && !item.secret
    collect(parse(example), '')
    // All keys in this group are commented out.
    flat.delete('encryption')
    expect([...flat].toSorted()).toEqual(
      entries
        .filter(isActive)
        .map(([, item]) => item.key)
        .toSorted(),
    )
    // After the comment marks are removed, every key is valid and may be empty.
    const uncommented = example.replaceAll(/^( *)#(?=[a-z])/gm, '$1')
    flat.clear()
    collect(parse(uncommented), '')
    expect([...flat].toSorted()).toEqual(entries.map(([, item]) => item.key).toSorted())
    expect(problemsOf(minimalEnv, file('uncommented.yaml', uncommented))).toEqual([])
    const words = example.replaceAll(/\s*\n *# /g, ' ')
    for (const [key, item] of entries) expect([key, words.includes(item.doc)]).toEqual([key, true])
    expect(words).toContain(
      ' Required. Secret: prefer the variable SVC_DATABASE_URL or SVC_DATABASE_URL_FILE.',
    )
  })
})
