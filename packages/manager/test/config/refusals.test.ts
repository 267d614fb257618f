// Tests the messages for rejected configurations. No message may repeat a secret.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { describe, expect, test } from 'vitest'
import { settings } from '../../src/settings.ts'
import { joinSettings } from '../../src/config/config.ts'
import { defineSetting, text } from '../../src/config/readers.ts'
import { minimalEnv, load, problemsOf, useFiles } from '../kit/config.ts'

const file = useFiles()

describe('a name that no setting has', () => {
  test('is refused with the nearest known one', () => {
    for (const [wrong, meant] of [
      ['SVC_DATABSE_URL', 'SVC_DATABASE_URL'],
      ['SVC_PROT', 'SVC_PORT'],
      ['SVC_HEALTH_PROT', 'SVC_HEALTH_PORT'],
      ['SVC_MASTER_KEY_FIEL', 'SVC_MASTER_KEY_FILE'],
      ['SVC_CONFIG_FIL', 'SVC_CONFIG_FILE'],
      ['SVC_LOGLEVEL', 'SVC_LOG_LEVEL'],
      ['SVC_PROXY_SECRET_PREVIUOS', 'SVC_PROXY_SECRET_PREVIOUS'],
    ] as const)
      expect(problemsOf({ ...minimalEnv, [wrong]: 'x' })).toEqual([
        `${wrong} is not a known setting; did you mean ${meant}?`,
      ])
    const path = file('wrong.yaml', 'log:\n  levle: debug\ndatabse:\n  pool_size: 5\nrole: [api]\n')
    expect(problemsOf(minimalEnv, path)).toEqual([
      'log.levle is not a known key of the configuration file; did you mean log.level?',
      'databse.pool_size is not a known key of the configuration file; did you mean database.pool_size?',
      'role is not a known key of the configuration file; did you mean roles?',
    ])
  })

  test('is refused alone where none is near, however long it is', () => {
    for (const wrong of [
      'SVC_',
      'SVC_FOO',
      'SVC_UNKNOWN',
      'SVC_WHATEVER_THIS_IS',
      `SVC_${'X'.repeat(100_000)}`,
    ])
      expect(problemsOf({ ...minimalEnv, [wrong]: 'x' })).toEqual([`${wrong} is not a known setting`])
  })

  test('a group without keys sets nothing; an unknown one is refused', () => {
    expect(problemsOf(minimalEnv, file('empty.yaml', 'http:\nthrottles:\n  machine:\n'))).toEqual([])
    expect(problemsOf(minimalEnv, file('empty.yaml', 'htpt:\n'))).toEqual([
      'htpt is not a known key of the configuration file',
    ])
    expect(load(minimalEnv, file('null.yaml', 'http:\n  port: null\n')).port).toBe(8080)
  })
})

describe('a secret from a file', () => {
  const url = 'postgres://svc:from-a-file@db.example/manager'
  const secrets = Object.values(settings).filter((item) => item.secret)
  const values: Record<string, string> = {
    SVC_DATABASE_URL: url,
    SVC_REDIS_URL: 'redis://:word@cache.example',
    SVC_REDIS_SENTINEL_PASSWORD: 'watchword',
    SVC_PROXY_SECRET: 'a-proxy-secret-of-thirty-two-characters',
    SVC_PROXY_SECRET_PREVIOUS: 'a-previous-secret-of-thirty-two-characters',
    SVC_MASTER_KEY: Buffer.alloc(32, 9).toString('base64'),
    SVC_ENCRYPTION_KEYS: `2027:${minimalEnv.SVC_MASTER_KEY}`,
    SVC_PILETS_S3_SECRET_ACCESS_KEY: 'the-secret-of-a-bucket',
    SVC_TRACING_OTLP_AUTHORIZATION: 'Bearer of-a-collector',
    SVC_AUDIT_CHECKPOINT_S3_SECRET_ACCESS_KEY: 'the-secret-of-another-bucket',
    SVC_INVITATIONS_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 5).toString('base64')}`,
    SVC_LDAP_BIND_PASSWORD: 'the-password-of-a-reader',
  }

  test('is the same as from its variable, for every secret; one newline at its end is not part of it', () => {
    expect(secrets.map((item) => item.env).toSorted()).toEqual(Object.keys(values).toSorted())
    for (const end of ['', '\n', '\r\n']) {
      const env = Object.fromEntries(
        Object.entries(values).map(([name, value]) => [`${name}_FILE`, file(name, `${value}${end}`)]),
      )
      const others = {
        SVC_REDIS_MODE: 'sentinel',
        SVC_REDIS_MASTER_NAME: 'main',
        SVC_USERS_PROVIDER: 'ldap',
        SVC_LDAP_URLS: 'ldaps://ldap.example',
        SVC_LDAP_BASE_DN: 'dc=example',
        SVC_LDAP_BIND_DN: 'cn=reader,dc=example',
      }
      expect(load({ ...env, ...others })).toEqual(load({ ...values, ...others }))
    }
    const path = file('two', `${values['SVC_PROXY_SECRET']}\n\n`)
    expect(problemsOf({ ...minimalEnv, SVC_PROXY_SECRET_FILE: path })).toEqual([
      'the content of the file that SVC_PROXY_SECRET_FILE names must be a string of 1 to 1024 printable ASCII characters without leading or trailing spaces',
    ])
  })

  test('wins over the configuration file; an empty variable counts as not set', () => {
    const inFile = file('secrets.yaml', 'database:\n  url: postgres://in-the-file/x\n')
    const env = { SVC_MASTER_KEY: minimalEnv.SVC_MASTER_KEY }
    expect(load({ ...env, SVC_DATABASE_URL_FILE: file('url', url) }, inFile).databaseUrl).toBe(url)
    expect(load({ ...env, SVC_DATABASE_URL_FILE: '' }, inFile).databaseUrl).toBe('postgres://in-the-file/x')
    const both = { ...minimalEnv, SVC_DATABASE_URL: '', SVC_DATABASE_URL_FILE: file('url', url) }
    expect(load(both).databaseUrl).toBe(url)
  })

  test('and from its variable too is one problem that names both', () => {
    expect(problemsOf({ ...minimalEnv, SVC_MASTER_KEY_FILE: file('key', 'x') })).toEqual([
      'SVC_MASTER_KEY and SVC_MASTER_KEY_FILE are both set; remove one of them',
    ])
  })

  test('that cannot be used is one sentence with its path and nothing of its content', () => {
    const folder = mkdtempSync(`${tmpdir()}/manager-config-`)
    const [missing, large, wrong] = [
      `${folder}/none`,
      file('large', Buffer.alloc(65_537, 'content')),
      file('wrong', 'the-content'),
    ]
    const names = (path: string) =>
      problemsOf({ ...minimalEnv, SVC_MASTER_KEY: '', SVC_MASTER_KEY_FILE: path })
    expect(names(missing)).toEqual([
      `the file ${missing} that SVC_MASTER_KEY_FILE names cannot be read (ENOENT)`,
    ])
    expect(names(folder)).toEqual([
      `the file ${folder} that SVC_MASTER_KEY_FILE names cannot be read (EISDIR)`,
    ])
    expect(names(large)).toEqual([
      `the file ${large} that SVC_MASTER_KEY_FILE names is larger than 65536 bytes`,
    ])
    expect(names('/dev/zero')).toEqual([
      'the file /dev/zero that SVC_MASTER_KEY_FILE names is larger than 65536 bytes',
    ])
    expect(names(wrong)).toEqual([
      'the content of the file that SVC_MASTER_KEY_FILE names must be the base64 of 32 bytes (`openssl rand -base64 32`)',
    ])
    rmSync(folder, { recursive: true })
  })

  test('a secret where the path belongs is not repeated', () => {
    expect(problemsOf({ ...minimalEnv, SVC_PROXY_SECRET_FILE: 'the-secret-itself' })).toEqual([
      'SVC_PROXY_SECRET_FILE must be an absolute path such as /run/secrets/name',
    ])
  })

  test('a setting that is no secret has no such variable', () => {
    expect(problemsOf({ ...minimalEnv, SVC_PORT_FILE: '/x' })).toEqual([
      'SVC_PORT_FILE is not a known setting; only secrets are read from files, so set SVC_PORT',
    ])
  })

  test('no setting takes the variable of the file of another', () => {
    const of = (key: string, env: string) =>
      defineSetting(text(9), { key, env, secret: true, optional: true, doc: '' })
    expect(() => joinSettings([{ a: of('a', 'SVC_A'), b: of('b', 'SVC_A_FILE') }])).toThrow(
      'two settings share the variable SVC_A_FILE',
    )
  })

  test('stops the start with the sentence when it cannot be read', () => {
    expect(() => load({ ...minimalEnv, SVC_PROXY_SECRET_FILE: '/none/here' })).toThrow(
      'the configuration is invalid (problems: 1):\n  - the file /none/here that SVC_PROXY_SECRET_FILE names cannot be read (ENOENT)',
    )
  })
})

describe('a configuration file', () => {
  test('that is no YAML is named with the line, and nothing of it is repeated', () => {
    for (const [line, content] of [
      [2, 'proxy:\n  secret: "the-hidden'],
      [1, 'master_key: !the-hidden x\n'],
      [2, 'env: x\nenv: the-hidden\n'],
      [1, '{the-hidden'],
    ] as const) {
      const path = file('broken.yaml', content)
      const [problem = '', ...others] = problemsOf(minimalEnv, path)
      expect([content, others]).toEqual([content, []])
      expect(problem).toMatch(
        new RegExp(`^configuration file ${path} is not valid YAML: line ${line} \\([A-Z_]+\\)$`),
      )
      expect(problem).not.toContain('hidden')
    }
  })

  test('that is no mapping, or cannot be read, is one sentence', () => {
    for (const content of ['the-hidden', '- the-hidden', 'master_key: *the-hidden\n', 'a: &a\n  b: *a\n'])
      expect(problemsOf(minimalEnv, file('list.yaml', content))).toEqual([
        expect.stringMatching(
          /list\.yaml must be a mapping of keys to values, and every alias must refer to an anchor$/,
        ),
      ])
    expect(problemsOf(minimalEnv, '/none/here')).toEqual([
      'configuration file /none/here cannot be read (ENOENT)',
    ])
  })
})
