// Tests the identity of the caller: forwarded headers, provisioning, and the development escape hatch.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ConfigError } from '../src/config/config.ts'
import { type TestApp, startTestApp } from './kit/app.ts'
import { headersOf, proxySecret } from '@manager/harness/callers.ts'
import { testEnv } from '@manager/harness/test-env.ts'
import { postQuery } from '@manager/harness/graphql.ts'
import { rawCall } from './kit/http.ts'
import { runManager } from './kit/commands.ts'
import { runUntilExit } from '@manager/harness/process.ts'
import { gatedRoutes } from './kit/routes.ts'

const me = '{ me { id externalName externalUsername externalEmail role } }'
const developer = '00000000-0000-4000-8000-000000000001'

let service: TestApp
beforeAll(async () => {
  service = await startTestApp()
})
afterAll(() => service.close())

const isKnown = async (id: string): Promise<boolean> =>
  (await service.sql.query('select 1 from users where id = $1', [id])).rowCount === 1

describe('identity', () => {
  test('a repeated Authorization header is refused like a repeated identity header: counted, not logged', async () => {
    const counted = async () =>
      (await service.world.metrics.gateRejections.get()).values.find(
        ({ labels }) => labels.reason === 'identity',
      )?.value ?? 0
    const [before, lines] = [await counted(), service.logLines.length]
    const headers: [string, string][] = [
      ...Object.entries(headersOf({ id: randomUUID() })),
      ['authorization', 'Bearer one'],
      ['authorization', 'Bearer two'],
    ]
    const answer = await rawCall(service.url, { method: 'POST', path: '/query', headers, body: '{}' })
    expect([answer.status, answer.body]).toEqual([401, expect.stringContaining('invalid authenticated user')])
    expect(await counted()).toBe(before + 1)
    expect(service.logLines.length).toBe(lines)
  })

  test('[identity.headers] [identity.one-id-space] the three headers make the caller; their id is the subject', async () => {
    const id = randomUUID()
    const answer = await service.query({ id, email: 'ada@example.com', name: 'Ada Lovelace' }, me)
    expect(answer.data.me).toEqual({
      id,
      externalName: 'Ada Lovelace',
      externalUsername: 'ada@example.com',
      externalEmail: 'ada@example.com',
      role: 'user',
    })
    const upper = await service.query({ id: id.toUpperCase() }, '{ me { id } }')
    expect(upper.data.me.id).toBe(id)
  })

  test('a name in UTF-8 is read as such', async () => {
    const name = Buffer.from('Zoë Łuczak', 'utf8').toString('latin1')
    const answer = await service.query({ id: randomUUID(), name }, me)
    expect(answer.data.me.externalName).toBe('Zoë Łuczak')
  })

  test('[identity.provisioned-on-first-sight] a new subject gets a user with role user; a refused one gets none', async () => {
    const [accepted, refused] = [randomUUID(), randomUUID()]
    await postQuery(service.url, { ...headersOf({ id: refused }), 'x-proxy-auth': 'wrong' }, me)
    expect(await isKnown(refused)).toBe(false)
    const first = await service.query({ id: accepted }, me)
    expect(first.data.me).toMatchObject({ id: accepted, role: 'user' })
    expect(await isKnown(accepted)).toBe(true)
  })

  test('fifty first requests of one subject at once make one user', async () => {
    const person = { id: randomUUID(), email: 'crowd@example.com', name: 'Crowd' }
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => service.query(person, '{ me { id } }')),
    )
    expect(answers.every((answer) => answer.data?.me?.id === person.id)).toBe(true)
  })

  test('[identity.follows-headers] name and e-mail follow the headers; what is not sent stays', async () => {
    const id = randomUUID()
    await service.query({ id, email: 'old@example.com', name: 'Old' }, me)
    await service.query({ id, email: 'new@example.com', name: 'New' }, me)
    const later = await service.query({ id }, me)
    expect(later.data.me).toMatchObject({ externalEmail: 'new@example.com', externalName: 'New' })
  })

  test('[identity.duplicate-header] an identity header sent twice is refused and provisions nobody', async () => {
    const id = randomUUID()
    const lines: Record<string, [string, string][]> = {
      subject: [
        ['X-Token-Subject', id],
        ['X-Token-Subject', id],
      ],
      email: [
        ['X-Token-Subject', id],
        ['X-Token-User-Email', 'a@b.c'],
        ['x-token-user-email', 'a@b.c'],
      ],
      name: [
        ['X-Token-Subject', id],
        ['X-Token-User-Name', 'a'],
        ['X-Token-User-Name', 'b'],
      ],
      otherSubject: [
        ['X-Token-Subject', randomUUID()],
        ['X-Token-Subject', id],
      ],
    }
    for (const headers of Object.values(lines)) {
      const answer = await rawCall(service.url, {
        method: 'POST',
        path: '/query',
        headers: [['X-Proxy-Auth', proxySecret], ['content-type', 'application/json'], ...headers],
        body: JSON.stringify({ query: me }),
      })
      expect(answer.status).toBe(401)
      expect((JSON.parse(answer.body) as { error: string }).error).toMatch(/^invalid authenticated user/)
    }
    expect(await isKnown(id)).toBe(false)
  })

  test('the client address of a row is the right-most untrusted hop, and only behind the secret', async () => {
    const address = async (xff: string): Promise<string> => {
      const headers = { ...headersOf({ id: developer }), 'x-forwarded-for': xff, 'user-agent': 'tests/1' }
      await service.sql.query(
        "insert into users (id, external_username, role) values ($1, 'dev', 'administrator') on conflict (id) do update set role = 'administrator'",
        [developer],
      )
      const slug = `p${randomUUID().slice(0, 8)}`
      const made = await postQuery(
        service.url,
        headers,
        `mutation { createProject(input: {name: "x", slug: "${slug}"}) { id } }`,
      )
      const { rows } = await service.sql.query<{ ip_address: string }>(
        "select ip_address from audit_logs where chain_id = $1 and entity_type = 'project'",
        [made.data.createProject.id],
      )
      return rows[0]?.ip_address ?? ''
    }
    expect(await address('203.0.113.7')).toBe('203.0.113.7')
    expect(await address('10.9.9.9, 203.0.113.7')).toBe('203.0.113.7')
    expect(await address('not an address')).toBe('127.0.0.1')
  })
})

describe('manager admin grant', () => {
  const grant = (who: string) => runManager(['admin', 'grant', who], testEnv(service.database.url))

  test('[identity.admin-grant] an unseen subject is provisioned and made administrator, with an audit row', async () => {
    const id = randomUUID()
    expect(await grant(id)).toMatchObject({ code: 0, stdout: expect.stringContaining('is an administrator') })
    const answer = await service.query({ id, email: 'root@example.com' }, me)
    expect(answer.data.me.role).toBe('administrator')
    const { rows } = await service.sql.query(
      "select action, changes from audit_logs where entity_id = $1 and chain_id = '00000000-0000-0000-0000-000000000000'",
      [id],
    )
    expect(rows).toEqual([
      { action: 'update', changes: { role: { before: 'user', after: 'administrator' } } },
    ])
  })

  test('[identity.admin-grant] a known e-mail works in any case; an unknown one says what to do', async () => {
    const id = randomUUID()
    await service.query({ id, email: 'Grace_H@example.com' }, me)
    expect(await grant('grace_h@EXAMPLE.com')).toMatchObject({ code: 0, stdout: expect.stringContaining(id) })
    expect(await grant('nobody@example.com')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('pass the subject'),
    })
  })
})

describe('the development escape hatch', () => {
  const hatch = { SVC_ENV: 'development', SVC_DEV_USER_OVERRIDE_ENABLED: 'true', SVC_PROXY_SECRET: undefined }

  test('[identity.dev-no-secret] [identity.dev-fixed-user] opens gated routes; without identity the fixed administrator acts', async () => {
    const open = await startTestApp({ env: hatch })
    const { rows } = await open.sql.query('select role from users where id = $1', [developer])
    expect(rows).toEqual([{ role: 'administrator' }])
    const anonymous = await postQuery(open.url, {}, me)
    expect(anonymous.data.me).toMatchObject({ id: developer, role: 'administrator' })
    const named = await postQuery(open.url, { 'x-token-subject': randomUUID() }, me)
    expect(named.data.me).toMatchObject({ role: 'user' })
    expect(open.logLines.find((line) => line['level'] === 'warn')?.['msg']).toContain(
      'DEVELOPMENT ESCAPE HATCH IS OPEN',
    )
    expect(await open.world.metrics.registry.metrics()).toContain('svc_dev_override_active 1')
    await open.close()
  })

  test('[identity.dev-never-otherwise] in development, without the other variable, every gated route stays shut', async () => {
    const texts: [string | undefined, RegExp][] = [
      [undefined, /^manager misconfiguration: no proxy secret is configured/],
      [proxySecret, /^missing or invalid X-Proxy-Auth header/],
    ]
    for (const value of [undefined, '', 'false', '0'])
      for (const [secret, text] of texts) {
        const env = { ...hatch, SVC_DEV_USER_OVERRIDE_ENABLED: value, SVC_PROXY_SECRET: secret }
        const app = await startTestApp({ env, database: service.database })
        for (const { method, path } of gatedRoutes(app)) {
          const headers: [string, string][] = [
            ['content-type', 'application/json'],
            ['x-token-subject', developer],
          ]
          const answer = await rawCall(app.url, { method, path, headers, body: '{"query":"{ me { id } }"}' })
          expect([path, answer.status]).toEqual([path, 401])
          expect((JSON.parse(answer.body) as { error: string }).error).toMatch(text)
        }
        await app.close()
      }
  })

  test('[identity.dev-never-otherwise] with any other SVC_ENV, or an override that is neither true nor false, nothing starts', async () => {
    const wrong = [
      ...['production', 'staging', 'test', undefined].map((env) => ({ ...hatch, SVC_ENV: env })),
      ...['TRUE', 'yes', 'on'].map((value) => ({ ...hatch, SVC_DEV_USER_OVERRIDE_ENABLED: value })),
    ]
    for (const env of wrong)
      await expect(startTestApp({ env, database: service.database })).rejects.toThrow(ConfigError)
    const ended = await runUntilExit(testEnv(service.database.url, { ...hatch, SVC_ENV: 'production' }))
    expect([ended.code, ended.stdout]).toEqual([1, ''])
    expect(ended.stderr).toContain('SVC_DEV_USER_OVERRIDE_ENABLED is rejected unless SVC_ENV is development')
  })
})
