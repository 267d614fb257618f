// Tests that `apply` neither loses nor overwrites the tokens that it creates.
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { bearer, call } from '@manager/harness/credentials.ts'
import { shop, useApply } from './kit/apply.ts'
import { startProxy } from './kit/proxy.ts'

const { service, folder, svc, writeDocument, pendingSteps } = useApply()
const readToken = (file: string): string => readFileSync(file, 'utf8').trim()
const isAccepted = async (token: string): Promise<unknown> =>
  (await call(service.url, '/api/machine/check', bearer(token))).body.authenticated

test('a token that was made and could not be written is replaced by the next run', async () => {
  const { file, token } = writeDocument('lost')
  expect((await svc(['apply', '-f', file, '--yes'])).code).toBe(0)
  const previous = readToken(token)
  // Recreates the state after a run that was killed between the response and the write.
  rmSync(token)
  expect(await pendingSteps(file)).toEqual([])
  writeFileSync(`${token}.pending`, '')
  expect(await pendingSteps(file)).toMatchObject([
    { action: 'update', kind: 'machine user', changes: [{ field: 'token' }] },
  ])
  expect((await svc(['apply', '-f', file, '--yes'])).code).toBe(0)
  expect([await isAccepted(previous), await isAccepted(readToken(token))]).toEqual([false, true])
  expect(await pendingSteps(file)).toEqual([])
})

test.each([502, 503, 504])(
  'an answer of %i may hide a token, and the next run replaces it',
  async (status) => {
    const name = `hidden-${status}`
    const { file, token } = writeDocument(name)
    let isBroken = false
    const proxy = await startProxy(service.url, () => (isBroken ? status : undefined))
    try {
      const { code } = await svc(['apply', '-f', file, '--yes'], {
        env: { SVC_URL: proxy.url },
        onErr: (text) => (isBroken = text.includes(`~ settings ${name}: done`)),
      })
      expect([code, existsSync(token), existsSync(`${token}.pending`)]).toEqual([5, false, true])
    } finally {
      await proxy.close()
    }
    expect((await pendingSteps(file))[0]).toMatchObject({
      kind: 'machine user',
      changes: [{ field: 'token' }],
    })
    expect((await svc(['apply', '-f', file, '--yes'])).code).toBe(0)
    expect(await isAccepted(readToken(token))).toBe(true)
  },
)

test('a refusal leaves no mark, and does not take away the mark of a former run', async () => {
  const tooLong = shop('marked').replaceAll('billing', 'x'.repeat(101))
  const { file, token } = writeDocument('marked', tooLong)
  expect((await svc(['apply', '-f', file, '--yes'])).code).toBe(1)
  expect(existsSync(`${token}.pending`)).toBe(false)
  writeFileSync(`${token}.pending`, '')
  expect((await svc(['apply', '-f', file, '--yes'])).code).toBe(1)
  expect(existsSync(`${token}.pending`)).toBe(true)
})

const users = (slug: string, lines: string): string => `
projects:
  - slug: ${slug}
    name: Users
    environments:
      dev:
        machineUsers:
${lines}`

test.each([
  ['one tokenFile', '          - { name: a, tokenFile: t }\n          - { name: b, tokenFile: ./t }'],
  ['one name in --tokens-dir', '          - { name: a b }\n          - { name: a/b }'],
  [
    'the file of another',
    '          - { name: a, tokenFile: t }\n          - { name: b, tokenFile: t.pending }',
  ],
])('two machine users with %s are refused before anything is made', async (_case, lines) => {
  const { file } = writeDocument('shared', users('shared', lines))
  const { code, err } = await svc(['apply', '-f', file, '--yes', '--tokens-dir', folder.path])
  expect([code, err]).toEqual([
    2,
    expect.stringMatching(/have the same token file .*Set a separate tokenFile for each\.\n$/),
  ])
  expect((await svc(['projects', 'get', 'shared'])).code).toBe(4)
})

test('a token that was written since the plan was made is not written over', async () => {
  const lines = '          - { name: a, tokenFile: t/a }\n          - { name: b, tokenFile: u/a }'
  const { file } = writeDocument('linked', users('linked', lines))
  // Make one folder available under two paths.
  mkdirSync(path.join(folder.path, 'linked', 't'))
  symlinkSync('t', path.join(folder.path, 'linked', 'u'))
  const { code, err } = await svc(['apply', '-f', file, '--yes'])
  expect([code, err]).toEqual([
    2,
    expect.stringMatching(/u\/a already exists and may contain a token in use/),
  ])
  expect(await isAccepted(readToken(path.join(folder.path, 'linked', 't', 'a')))).toBe(true)
})

test('tokens without a place are refused, or go into --tokens-dir', async () => {
  const { file } = writeDocument('placed', shop('placed').replace(/ +tokenFile: .*\n/, ''))
  const refused = await svc(['apply', '-f', file, '--yes'])
  expect([refused.code, refused.err]).toEqual([
    2,
    expect.stringContaining('Set tokenFile, or pass --tokens-dir <folder>.'),
  ])
  const tokens = path.join(folder.path, 'placed-tokens')
  expect((await svc(['apply', '-f', file, '--yes', '--tokens-dir', tokens])).code).toBe(0)
  expect(readFileSync(path.join(tokens, 'placed-dev-billing.token'), 'utf8')).toMatch(/^[\w-]{43}\n$/)
  expect((await svc(['apply', '-f', file])).out).toContain('Nothing to do.')
})
