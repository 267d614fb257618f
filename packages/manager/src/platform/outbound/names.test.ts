import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type NameServer, rcodes, startNameServer } from '../../../test/kit/name-server.ts'
import { type NameResolverOptions, createNameResolver } from './names.ts'

let server: NameServer
let folder: string
beforeEach(async () => {
  server = await startNameServer({
    'both.example': { addresses: ['192.0.2.1', '2001:db8::1', '192.0.2.2'] },
    'four.example': { addresses: ['192.0.2.4'] },
    'six.example': { addresses: ['2001:db8::6'] },
    'alias.example': { alias: 'four.example', addresses: ['192.0.2.4'] },
    'empty.example': {},
    'failing.example': { rcode: rcodes.serverFailed },
    'silent.example': { isSilent: true },
    'large.example': { isTruncated: true, addresses: ['192.0.2.9'] },
  })
  folder = await mkdtemp(join(tmpdir(), 'names-'))
})
afterEach(async () => {
  await server.close()
  await rm(folder, { recursive: true })
})

/** Resolves names as on a machine with these files. */
async function namesOf({
  hosts = '',
  resolv = '',
  ...options
}: NameResolverOptions & { hosts?: string; resolv?: string } = {}) {
  const [hostsPath, resolvConfPath] = [join(folder, 'hosts'), join(folder, 'resolv.conf')]
  await writeFile(hostsPath, hosts)
  await writeFile(resolvConfPath, resolv)
  return createNameResolver({ hostsPath, resolvConfPath, servers: [server.address], ...options })
}
/** Returns the addresses of a name, or the error code. */
const found = (names: Awaited<ReturnType<typeof namesOf>>, host: string, owner = 'owner'): Promise<unknown> =>
  names
    .createLookup(owner)(host)
    .then(
      (addresses) => addresses.map(({ address }) => address),
      (error: unknown) => (error as { code: string }).code,
    )

describe('a name server', () => {
  test.each([
    ['both.example', ['192.0.2.1', '192.0.2.2', '2001:db8::1']],
    ['four.example', ['192.0.2.4']],
    ['FOUR.Example', ['192.0.2.4']],
    ['four.example.', ['192.0.2.4']],
    ['six.example', ['2001:db8::6']],
    ['alias.example', ['192.0.2.4']],
    ['large.example', ['192.0.2.9']],
    ['empty.example', 'ENOTFOUND'],
    ['unknown.example', 'ENOTFOUND'],
    ['failing.example', 'EAI_AGAIN'],
    [`${'x'.repeat(64)}.example`, 'ENOTFOUND'],
    ['two..dots', 'ENOTFOUND'],
  ])('is asked for %s', async (host, expected) => {
    expect(await found(await namesOf(), host)).toEqual(expected)
  })

  test('tells the family of every address', async () => {
    expect(await (await namesOf()).createLookup('owner')('both.example')).toEqual([
      { address: '192.0.2.1', family: 4 },
      { address: '192.0.2.2', family: 4 },
      { address: '2001:db8::1', family: 6 },
    ])
  })

  test('that is silent is waited for no longer than a lookup may take', async () => {
    expect(await found(await namesOf({ timeoutMs: 200 }), 'silent.example')).toBe('EAI_AGAIN')
  })

  test('that fails is followed by the next', async () => {
    const other = await startNameServer({ 'failing.example': { addresses: ['192.0.2.5'] } })
    const names = await namesOf({ servers: [server.address, other.address] })
    expect(await found(names, 'failing.example')).toEqual(['192.0.2.5'])
    await other.close()
  })

  test('answers with thousands of addresses, of which some are taken', async () => {
    const addresses = Array.from({ length: 2_000 }, (_, i) => `192.0.${i >> 8}.${i & 255}`)
    server.zones.set('many.example', { isTruncated: true, addresses })
    expect(await found(await namesOf(), 'many.example')).toEqual(addresses.slice(0, 64))
  })
})

describe('the files of the machine', () => {
  test('the hosts file comes first', async () => {
    const hosts = '# four\n192.0.2.7 four.example Own # other\n::1\town\r\nnonsense other\n192.0.2.7 own'
    const names = await namesOf({ hosts })
    expect(await found(names, 'four.example')).toEqual(['192.0.2.7'])
    expect(await found(names, 'OWN.')).toEqual(['192.0.2.7', '::1'])
    expect(await found(names, 'other')).toBe('ENOTFOUND')
    expect(server.questions.filter((question) => question.endsWith('four.example'))).toEqual([])
  })

  test('a change of the hosts file is seen', async () => {
    const names = await namesOf({ hosts: '192.0.2.7 own.example' })
    expect(await found(names, 'own.example')).toEqual(['192.0.2.7'])
    await writeFile(join(folder, 'hosts'), '192.0.2.8 own.example')
    await utimes(join(folder, 'hosts'), 1, 1)
    await expect.poll(() => found(names, 'own.example')).toEqual(['192.0.2.8'])
    await rm(join(folder, 'hosts'))
    await expect.poll(() => found(names, 'own.example')).toBe('ENOTFOUND')
    await writeFile(join(folder, 'hosts'), '')
  })

  test('localhost is this machine, whoever might say otherwise', async () => {
    for (const host of ['localhost', 'LOCALHOST.', 'a.localhost']) {
      server.zones.set(host, { addresses: ['192.0.2.66'] })
      expect(await found(await namesOf(), host)).toEqual(['127.0.0.1', '::1'])
    }
    expect(server.questions).toEqual([])
    expect(await found(await namesOf({ hosts: '127.0.0.9 localhost' }), 'localhost')).toEqual(['127.0.0.9'])
  })

  const inCluster = 'search shop.svc.local svc.local.\noptions timeout:1 ndots:2\n'
  const asked = (): string[] => [...new Set(server.questions.map((question) => question.replace(/.* /, '')))]

  test('names with few dots are searched for first', async () => {
    server.zones.set('db.svc.local', { addresses: ['192.0.2.10'] })
    server.zones.set('db', { addresses: ['192.0.2.66'] })
    expect(await found(await namesOf({ resolv: inCluster }), 'db')).toEqual(['192.0.2.10'])
    expect(asked()).toEqual(['db.shop.svc.local', 'db.svc.local'])
  })

  test('names with more are tried as they are first, and those that end in a dot only so', async () => {
    const names = await namesOf({ resolv: inCluster })
    server.zones.set('a.b.c.svc.local', { addresses: ['192.0.2.11'] })
    expect(await found(names, 'a.b.c')).toEqual(['192.0.2.11'])
    expect(asked()).toEqual(['a.b.c', 'a.b.c.shop.svc.local', 'a.b.c.svc.local'])
    server.questions.length = 0
    expect(await found(names, 'a.b.c.')).toBe('ENOTFOUND')
    expect(asked()).toEqual(['a.b.c'])
  })

  test('a server that fails ends the search: the next name may be of somebody else', async () => {
    server.zones.set('db.shop.svc.local', { rcode: rcodes.serverFailed })
    server.zones.set('db.svc.local', { addresses: ['192.0.2.66'] })
    expect(await found(await namesOf({ resolv: inCluster }), 'db')).toBe('EAI_AGAIN')
  })
})

describe('answers', () => {
  test('are kept for a while, whoever asks, and so is that there is none', async () => {
    const ask = (names: Awaited<ReturnType<typeof namesOf>>) =>
      Promise.all(['four.example', 'unknown.example'].map((host, i) => found(names, host, `owner ${i}`)))
    const [long, short] = [
      await namesOf({ positiveTtlMs: 600_000, negativeTtlMs: 600_000 }),
      await namesOf({ positiveTtlMs: 100, negativeTtlMs: 100 }),
    ]
    for (let i = 0; i < 3; i++) expect(await ask(long)).toEqual([['192.0.2.4'], 'ENOTFOUND'])
    expect(server.questions).toHaveLength(4)
    expect(await ask(short)).toEqual([['192.0.2.4'], 'ENOTFOUND'])
    server.zones.set('four.example', { addresses: ['192.0.2.5'] })
    server.zones.set('unknown.example', { addresses: ['192.0.2.6'] })
    await expect.poll(() => ask(short)).toEqual([['192.0.2.5'], ['192.0.2.6']])
    expect(await ask(long)).toEqual([['192.0.2.4'], 'ENOTFOUND'])
  })

  test('that a server failed to give are not kept', async () => {
    const names = await namesOf()
    expect(await found(names, 'failing.example')).toBe('EAI_AGAIN')
    server.zones.set('failing.example', { addresses: ['192.0.2.5'] })
    expect(await found(names, 'failing.example')).toEqual(['192.0.2.5'])
  })

  test('are kept up to a number', async () => {
    const names = await namesOf({ maxCached: 2 })
    for (const host of ['four.example', 'six.example', 'both.example']) await found(names, host)
    server.questions.length = 0
    await found(names, 'both.example')
    expect(server.questions).toEqual([])
    await found(names, 'four.example')
    expect(server.questions).toHaveLength(2)
  })

  test('to the same question of one owner come together', async () => {
    const names = await namesOf()
    const answers = await Promise.all(Array.from({ length: 20 }, () => found(names, 'four.example')))
    expect([answers.length, server.questions.length]).toEqual([20, 2])
  })
})

describe('an owner', () => {
  test('has a share of the lookups at once; others do not wait for it', async () => {
    const names = await namesOf({ timeoutMs: 60_000 })
    for (let i = 0; i < 200; i++) server.zones.set(`silent${i}.example`, { isSilent: true })
    const silent = Array.from({ length: 200 }, (_, i) => found(names, `silent${i}.example`, 'hostile'))
    // The owner gets 7/8 of the 64 lookups, and each lookup queries both address families.
    const asked = () => new Set(server.questions.filter((question) => question.includes('silent'))).size
    await expect.poll(asked).toBe(112)
    expect(await found(names, 'four.example', 'other')).toEqual(['192.0.2.4'])
    expect(asked()).toBe(112)
    // A lookup that waits too long is rejected.
    expect(await silent.at(-1)).toBe('EAI_AGAIN')
  })

  test('of one purpose does not hold up those of another, however many there are', async () => {
    const names = await namesOf({ timeoutMs: 60_000 })
    const hosts = Array.from({ length: 64 }, (_, i) => `mute${i}.example`)
    for (const host of hosts) server.zones.set(host, { isSilent: true })
    for (const [index, host] of hosts.entries())
      void names
        .createLookup(
          `hostile${index % 8}`,
          'backends',
        )(host)
        .catch(() => undefined)
    const asked = () => new Set(server.questions.filter((question) => question.includes('mute'))).size
    await expect.poll(asked).toBe(112)
    const answer = await names.createLookup('other', 'endpoints')('four.example')
    expect(answer.map(({ address }) => address)).toEqual(['192.0.2.4'])
  })
})
