// Tests signing in, signing out, and the storage of the credential.
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { decide } from '@manager/harness/cli-login.ts'
import { createToken } from '@manager/harness/credentials.ts'
import { startProxy } from './kit/proxy.ts'
import { type Ended, svcAt, useFolder, useSvc } from './kit/svc.ts'

const { service, admin, proxy, env, svc } = useSvc()
const homes = useFolder()
let count = 0
function newHome(): string {
  const home = path.join(homes.path, `home-${++count}`)
  mkdirSync(home)
  return home
}
const credentials = (home: string): string => path.join(home, '.config', 'svc', 'credentials.json')

/** Signs in. A simulated user decides in the browser as soon as the code is shown. */
async function signIn(
  home: string,
  decision: 'approve' | 'deny',
  more: string[] = [],
  given: Record<string, string> = {},
): Promise<Ended> {
  const decisions: Promise<unknown>[] = []
  const onErr = (text: string): void => {
    const code = /code {5}([A-Z]{4}-[A-Z]{4})/.exec(text)?.[1]
    if (code !== undefined && decisions.length === 0) decisions.push(decide(service, admin, code, decision))
  }
  const ended = await svcAt(home, ['login', '--url', proxy.url, ...more], { onErr, env: given })
  await Promise.all(decisions)
  return ended
}

test.concurrent('login shows a code, and keeps a token that works in a file of mode 600', async () => {
  const home = newHome()
  const { code, out, err } = await signIn(home, 'approve', ['--token-name', 'my laptop'])
  expect([code, out]).toEqual([0, expect.stringMatching(/^Signed in to http:.* as admin@example.com until /)])
  expect(err).toMatch(/address {2}http.*\/cli\/authorize\?code=[A-Z]{4}-[A-Z]{4}\n/)
  expect(err).toMatch(/key {6}[0-9a-f]{4} [0-9a-f]{4} [0-9a-f]{4} [0-9a-f]{4}\n/)
  expect(statSync(credentials(home)).mode & 0o777).toBe(0o600)
  expect(statSync(path.dirname(credentials(home))).mode & 0o777).toBe(0o700)
  const kept = JSON.parse(readFileSync(credentials(home), 'utf8')) as {
    profiles: { default: { token: string } }
  }
  const { token } = kept.profiles.default
  expect(token).toMatch(/^pat_/)
  expect(out + err).not.toContain(token)

  const who = await svcAt(home, ['whoami', '--output', 'json'])
  expect(JSON.parse(who.out)).toEqual({
    id: admin.id,
    externalName: 'admin',
    externalUsername: 'admin@example.com',
    externalEmail: 'admin@example.com',
    role: 'administrator',
    url: proxy.url,
  })
  const tokens = await svcAt(home, ['tokens', 'get', 'my laptop', '-o', 'json'])
  expect(JSON.parse(tokens.out)).toMatchObject({ tokenPrefix: token.split('_')[1], revoked: false })

  // The token is valid only for this address.
  const elsewhere = await svcAt(home, ['whoami', '--url', 'http://127.0.0.1:1'])
  expect([elsewhere.code, elsewhere.err]).toEqual([
    3,
    expect.stringContaining(`signed in to ${proxy.url}, not to`),
  ])

  expect((await svcAt(home, ['logout'])).code).toBe(0)
  expect(readFileSync(credentials(home), 'utf8')).not.toContain(token)
  const { rows } = await service.sql.query(
    `select revoked from personal_access_tokens where name = 'my laptop'`,
  )
  expect(rows[0].revoked).toBe(true)
  expect(await svcAt(home, ['whoami'])).toEqual({
    code: 3,
    out: '',
    err: 'svc: You are not signed in. Sign in with: svc login --url <address>\n',
  })
})

const isRevoked = async (id: string): Promise<unknown> =>
  (await service.sql.query('select revoked from personal_access_tokens where id = $1', [id])).rows[0].revoked

test.concurrent('a second login asks with its own token, and revokes the former one', async () => {
  const { token, id } = await createToken(service, admin)
  const home = homeWith(token)
  const { code, out, err } = await signIn(home, 'approve', [], { SVC_TOKEN: 'pat_aaaaaaaa_b' })
  expect([code, out]).toEqual([0, expect.stringMatching(/^Signed in to http:.* as admin@example.com until /)])
  expect(err).not.toContain('could not be revoked')
  expect(await isRevoked(id)).toBe(true)
  expect((await svcAt(home, ['whoami'])).code).toBe(0)
})

test.concurrent('a former token that cannot be revoked is told', async () => {
  const { token, tokenPrefix } = await createToken(service, admin)
  let queries = 0
  const failing = await startProxy(service.url, (call) =>
    call === 'POST /query' && ++queries === 1 ? 500 : undefined,
  )
  try {
    const home = homeWith(token, 0o600, failing.url)
    const { code, err } = await signIn(home, 'approve', ['--url', failing.url])
    expect([code, err]).toEqual([
      0,
      expect.stringContaining(`The previous token (${tokenPrefix}) could not be revoked and works until`),
    ])
    expect(err).not.toContain(token)
  } finally {
    await failing.close()
  }
})

test.concurrent('a login that is denied ends with 1 and keeps nothing', async () => {
  const home = newHome()
  const { code, err } = await signIn(home, 'deny')
  expect([code, err]).toEqual([1, expect.stringContaining('svc: The login was denied in the browser.\n')])
  expect(() => statSync(credentials(home))).toThrow('ENOENT')
})

test.concurrent('a login that is interrupted ends with 130', async () => {
  const controller = new AbortController()
  const { Failure } = await import('../src/failures.ts')
  const { code, err } = await svcAt(newHome(), ['login', '--url', proxy.url], {
    signal: controller.signal,
    onErr: () => controller.abort(new Failure('interrupted', 'Interrupted.')),
  })
  expect([code, err]).toEqual([130, expect.stringMatching(/svc: Interrupted\.\n$/)])
})

function homeWith(token: string, mode = 0o600, url = proxy.url): string {
  const home = newHome()
  mkdirSync(path.dirname(credentials(home)), { recursive: true })
  const profile = { url, token, tokenName: 'test', expiresAt: null }
  writeFileSync(credentials(home), JSON.stringify({ profiles: { default: profile } }), { mode })
  return home
}

test('a credential file that others may read is refused with what to do', async () => {
  const { token } = await createToken(service, admin)
  const home = homeWith(token)
  expect((await svcAt(home, ['whoami'])).code).toBe(0)
  for (const mode of [0o640, 0o604, 0o660, 0o644]) {
    chmodSync(credentials(home), mode)
    const { code, err } = await svcAt(home, ['whoami'])
    expect([code, err]).toEqual([1, expect.stringContaining(`chmod 600 '${credentials(home)}'`)])
    expect(err).not.toContain(token)
  }
})

test('the folder of XDG_CONFIG_HOME is used, unless it is relative', async () => {
  const { token } = await createToken(service, admin)
  const home = homeWith(token)
  const inHome = { XDG_CONFIG_HOME: path.join(home, '.config') }
  expect((await svcAt('/nowhere', ['whoami'], { env: inHome })).code).toBe(0)
  expect((await svcAt(home, ['whoami'], { env: { XDG_CONFIG_HOME: '.config' } })).code).toBe(0)
  expect((await svcAt(home, ['whoami'], { env: { XDG_CONFIG_HOME: homes.path } })).code).toBe(3)
})

test('a token comes from SVC_TOKEN or from the file that SVC_TOKEN_FILE names, which wins', async () => {
  const file = path.join(homes.path, 'given.token')
  writeFileSync(file, `${env['SVC_TOKEN']}\n`)
  expect((await svc(['whoami'])).code).toBe(0)
  expect((await svc(['whoami'], { env: { SVC_TOKEN: 'wrong', SVC_TOKEN_FILE: file } })).code).toBe(0)
  expect((await svc(['whoami'], { env: { SVC_TOKEN_FILE: '/nowhere' } })).err).toBe(
    'svc: File /nowhere does not exist.\n',
  )
  const { code, err } = await svc(['whoami'], { env: { SVC_TOKEN: 'two\nlines' } })
  expect([code, err]).toEqual([3, 'svc: SVC_TOKEN does not contain a token.\n'])
})

test('a token that is refused ends with 3, and logout forgets it', async () => {
  const { token } = await createToken(service, admin, { name: 'to be revoked' })
  const home = homeWith(token)
  expect((await svc(['tokens', 'revoke', 'to be revoked', '--yes'])).out).toBe(
    'Revoked token to be revoked.\n',
  )
  const { code, err } = await svcAt(home, ['whoami'])
  expect([code, err]).toEqual([
    3,
    expect.stringMatching(/^svc: The credential was rejected: .*svc login --url/),
  ])
  expect((await svcAt(home, ['logout'])).code).toBe(0)
  expect((await svcAt(home, ['whoami'])).err).toContain('You are not signed in.')
})

test('a Manager that is away ends with 5; logout then keeps the token unless it shall forget it', async () => {
  const home = homeWith('pat_aaaaaaaa_b')
  const text = readFileSync(credentials(home), 'utf8').replace(proxy.url, 'http://127.0.0.1:1')
  writeFileSync(credentials(home), text)
  const { code, err } = await svcAt(home, ['logout'])
  expect([code, err]).toEqual([
    5,
    expect.stringMatching(/could not be revoked and is still stored.*\nsvc: The Manager cannot be reached/),
  ])
  expect(readFileSync(credentials(home), 'utf8')).toContain('pat_aaaaaaaa_b')
  expect((await svcAt(home, ['logout', '--forget'])).code).toBe(0)
  expect(readFileSync(credentials(home), 'utf8')).not.toContain('pat_aaaaaaaa_b')
})

test('a token is not sent without encryption unless that is asked for', async () => {
  const at = (url: string, ...more: string[]) =>
    svc(['whoami', '--url', url, ...more], { signal: AbortSignal.abort(new Error('asks')) })
  expect((await at('http://manager.example.com')).err).toContain('Use https://, or pass --plain-http.')
  expect((await at('http://manager.example.com', '--plain-http')).err).toBe('svc: asks\n')
  expect((await at('ftp://manager.example.com')).code).toBe(2)
  expect((await at('https://user:secret@manager.example.com')).err).not.toContain('secret')
})

test('profiles keep sign-ins apart', async () => {
  const { token } = await createToken(service, admin)
  const home = homeWith(token)
  expect((await svcAt(home, ['whoami', '--profile', 'other'])).err).toContain('with profile other')
  expect((await svcAt(home, ['whoami'], { env: { SVC_PROFILE: 'other' } })).code).toBe(3)
  expect((await svcAt(home, ['whoami', '--profile', '__proto__'])).code).toBe(3)
})
