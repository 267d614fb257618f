// Tests that errors name the next command, and the topics of `svc help`.
import { ConnectionError, GraphqlError, ResponseError } from '@manager/client'
import { expect, test } from 'vitest'
import { commandEntries } from '../src/command-list.ts'
import { exitCodes } from '../src/failures.ts'
import { getOutcome } from '../src/outcomes.ts'
import { createProgram } from '../src/program.ts'
import { findTopic, topicNames } from '../src/topics.ts'
import { svcAt, useSvc } from './kit/svc.ts'

const { service, member, env, svc } = useSvc()
const { signal } = new AbortController()
const graphqlError = (code: string) =>
  new GraphqlError([{ message: 'no', extensions: { code } }], { retryAfterMs: 1_500 })
const responseError = (status: number) => new ResponseError('no', { status })

test.each([
  [new ConnectionError('no connection', { cause: null }), 'svc doctor'],
  [responseError(302), 'svc doctor'],
  [responseError(503), 'svc doctor'],
  [responseError(200), 'svc doctor'],
  [responseError(401), 'svc login --url <address>'],
  [responseError(403), 'svc whoami --can -p <project>'],
  [graphqlError('unavailable'), 'svc doctor'],
  [graphqlError('forbidden'), 'svc whoami --can -p <project>'],
  [graphqlError('not_found'), 'svc search <text>'],
  [graphqlError('unauthenticated'), 'svc login --url <address>'],
  [graphqlError('rate_limited'), 'Run the same command again in 2 s.'],
  [graphqlError('CONFLICT'), 'Run the same command again.'],
])('%s names the next command', (error, next) => {
  expect(getOutcome(error, signal).text.endsWith(next)).toBe(true)
})

test('an error of the user needs no other command', () => {
  expect(getOutcome(graphqlError('bad_request'), signal).text).toBe('The Manager rejected the request: no')
})

test('a command without a permission, without a server, or with a wrong word names the next command', async () => {
  const reader = await member('reader', 'readonly')
  const { createToken } = await import('@manager/harness/credentials.ts')
  const { token } = await createToken(service, reader)
  const forbidden = await svc(['tenants', 'create', 'x', '--name', 'X', '-p', 'main'], {
    env: { SVC_TOKEN: token },
  })
  expect([forbidden.code, forbidden.err]).toEqual([
    1,
    expect.stringContaining('run: svc whoami --can -p <project>\n'),
  ])
  const offline = await svc(['projects', 'list'], { env: { ...env, SVC_URL: 'http://127.0.0.1:1' } })
  expect([offline.code, offline.err]).toEqual([
    5,
    expect.stringContaining('\n  To find the cause, run: svc doctor\n'),
  ])
  expect((await svcAt('/', ['tenants', 'list', '--projct', 'x'])).err).toContain(
    'run: svc tenants list --help\n',
  )
  expect((await svcAt('/', ['tenants', 'lst'])).err).toContain('run: svc tenants --help\n')
  expect((await svcAt('/', ['tenents'])).err).toContain('run: svc help\n')
})

test('every topic fits the screen, is listed, and has no name of a command', async () => {
  const commands = new Set(commandEntries.flatMap(({ names }) => names))
  const list = await svcAt('/', ['help', 'topics'])
  expect(list.code).toBe(0)
  for (const name of topicNames) {
    const { code, out, err } = await svcAt('/', ['help', name])
    expect([name, code, err]).toEqual([name, 0, ''])
    expect(out).toBe(findTopic(name))
    expect(out.split('\n').filter((line) => line.length > 80)).toEqual([])
    expect(out.split('\n').length).toBeLessThanOrEqual(24)
    expect(out).not.toMatch(/n't\b|'re\b/)
    expect(commands).not.toContain(name)
    expect(name === 'topics' || list.out.includes(`  ${name} `)).toBe(true)
  }
  expect(findTopic('nothing')).toBeNull()
})

test('the topics name every exit code, and commands that exist', async () => {
  const text = findTopic('exit-codes') ?? ''
  expect([...text.matchAll(/^ +(\d+) /gm)].map(([, code]) => Number(code))).toEqual(Object.values(exitCodes))
  const program = await createProgram({} as Parameters<typeof createProgram>[0])
  for (const name of topicNames)
    for (const [, word = ''] of (findTopic(name) ?? '').matchAll(/^ +\$ svc (\S+)/gm))
      expect(program.commands.some((command) => command.name() === word)).toBe(true)
})
