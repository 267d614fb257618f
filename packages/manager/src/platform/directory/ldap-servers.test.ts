import { expect, test } from 'vitest'
import type { LdapServer } from './ldap-connection.ts'
import { LdapFailure, createResultFailure, describeFailure } from './ldap-failure.ts'
import { createFailover, failedServerMs } from './ldap-servers.ts'

const servers = ['a', 'b', 'c'].map((host): LdapServer => ({ host, port: 389, isTls: false }))

function createScene() {
  let time = 0
  const stopped = new Set<string>()
  const tried: string[] = []
  const reports: string[] = []
  const run = createFailover(servers, {
    report: ({ host }, { message }) => reports.push(`${host}: ${message}`),
    now: () => time,
  })
  const request = async (fault: () => Error = () => new LdapFailure('stopped')): Promise<string> => {
    tried.length = 0
    return run(time + 5_000, ({ host }) => {
      tried.push(host)
      time += 10
      return stopped.has(host) ? Promise.reject(fault()) : Promise.resolve(host)
    })
  }
  return { request, stopped, tried, reports, wait: (ms: number) => (time += ms) }
}

test('a server that failed is tried last until its time is over', async () => {
  const { request, stopped, tried, wait } = createScene()
  expect(await request()).toBe('a')
  stopped.add('a')
  expect(await request()).toBe('b')
  expect(tried).toEqual(['a', 'b'])
  expect(await request()).toBe('b')
  expect(tried).toEqual(['b'])
  stopped.add('b').add('c')
  await expect(request()).rejects.toThrow('stopped')
  expect(tried).toEqual(['b', 'c', 'a'])
  stopped.delete('c')
  expect(await request()).toBe('c')
  expect(tried).toEqual(['a', 'b', 'c'])
  stopped.clear()
  wait(failedServerMs)
  expect(await request()).toBe('a')
})

test('the failures of a server are reported once in a while', async () => {
  const { request, stopped, reports, wait } = createScene()
  for (const { host } of servers) stopped.add(host)
  for (let n = 0; n < 5; n++) await expect(request()).rejects.toThrow('stopped')
  expect(reports).toEqual(['a: stopped', 'b: stopped', 'c: stopped'])
  wait(failedServerMs)
  await expect(request()).rejects.toThrow('stopped')
  expect(reports).toHaveLength(6)
})

test('a failure that other servers would repeat is not repeated', async () => {
  const { request, stopped, tried } = createScene()
  stopped.add('a')
  await expect(request(() => createResultFailure('authentication', 49))).rejects.toThrow('invalidCredentials')
  expect(tried).toEqual(['a'])
  await expect(request(() => createResultFailure('authentication', 49))).rejects.toThrow('invalidCredentials')
  expect(tried).toEqual(['a'])
  expect(await request(() => createResultFailure('the search', 51))).toBe('b')
})

test('no server is tried after the deadline', async () => {
  let time = 0
  const run = createFailover(servers, { report: () => undefined, now: () => time })
  const tried: string[] = []
  const work = ({ host }: LdapServer): Promise<never> => {
    tried.push(host)
    time += 600
    return Promise.reject(new LdapFailure('timed out'))
  }
  await expect(run(1_000, work)).rejects.toThrow('timed out')
  expect(tried).toEqual(['a', 'b'])
})

test('the reason of a failure never contains text of the directory', () => {
  const messages = [
    new Error('secret text'),
    Object.assign(new Error('secret text'), { code: 49 }),
    Object.assign(new Error('secret text'), { code: 4_711 }),
    Object.assign(new Error('secret text'), { code: 'ECONNRESET' }),
    Object.assign(new Error('secret text'), { code: 'secret text' }),
  ].map((error) => describeFailure('the search', error).message)
  expect(messages).toEqual([
    'the search failed',
    'the search returned LDAP result 49 (invalidCredentials, check ldap.bind_dn and ldap.bind_password)',
    'the search returned LDAP result 4711 (unknown)',
    'the search failed (ECONNRESET)',
    'the search failed',
  ])
})
