import { networkInterfaces } from 'node:os'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createCallbacksPolicy, gatewayPolicy } from './egress-policies.ts'
import { type EgressOptions, createAddressRules, createEgress } from './egress.ts'
import { type Lookup, createNameResolver } from './names.ts'

const lookup = createNameResolver().createLookup('tests')
type Lists = Partial<Parameters<typeof gatewayPolicy>[0]>
const policyWith = (lists: Lists = {}) => gatewayPolicy({ esbAllowedCidrs: [], esbDeniedCidrs: [], ...lists })
const open: EgressOptions = { policy: policyWith(), ownServices: [], lookup }

/** A resolver that knows these names only. */
const resolver =
  (names: Record<string, string[]>): Lookup =>
  (host) => {
    const addresses = names[host]
    if (addresses === undefined) return Promise.reject(new Error(`${host} is unknown`))
    return Promise.resolve(addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })))
  }

describe('an address', () => {
  test.each([
    ['0.0.0.0', 'an unspecified address'],
    ['::', 'an unspecified address'],
    ['0.0.0.1', 'an unspecified address'],
    ['169.254.1.1', 'a link-local address'],
    ['fe80::1%eth0', 'a link-local address'],
    ['169.254.169.254', 'a metadata service'],
    ['100.100.100.200', 'a metadata service'],
    ['fd00:ec2::254', 'a metadata service'],
    ['224.0.0.1', 'a multicast address'],
    ['ff02::1', 'a multicast address'],
    ['2001::1', 'a tunnel endpoint'],
    ['2a00::5efe:10.0.0.1', 'a tunnel endpoint'],
    ['localhost', 'not an address'],
    ['', 'not an address'],
  ])('%j is %s and never called, even if a network around it is allowed', async (address, problem) => {
    for (const egress of [
      createEgress(open),
      createEgress({ ...open, policy: policyWith({ esbAllowedCidrs: ['0.0.0.0/0', '::/0'] }) }),
    ]) {
      expect(egress.findAddressProblem(address)).toBe(problem)
      expect(await egress.findProblem(address, 80)).toBe(problem)
    }
  })

  test.each([
    '127.0.0.1',
    '::1',
    '10.0.0.1',
    'fd12::1',
    '192.0.2.1',
    '240.0.0.1',
    '8.8.8.8',
    '2606:4700::1111',
  ])('%s may be called when nothing is configured', (address) =>
    expect(createEgress(open).findAddressProblem(address)).toBeNull(),
  )

  test('is refused in a denied network, and outside the allowed ones', () => {
    const egress = createEgress({
      ...open,
      policy: policyWith({ esbAllowedCidrs: ['10.0.0.0/8', 'fd12::/16'], esbDeniedCidrs: ['10.1.0.0/16'] }),
    })
    for (const [address, problem] of [
      ['10.2.0.1', null],
      ['fd12::1', null],
      ['::ffff:10.2.0.1', null],
      ['10.1.0.1', 'in a denied network'],
      ['64:ff9b::10.1.0.1', 'in a denied network'],
      ['192.168.0.1', 'outside the allowed networks'],
      ['127.0.0.1', 'outside the allowed networks'],
      ['::1', 'outside the allowed networks'],
      ['8.8.8.8', 'outside the allowed networks'],
    ] as const)
      expect([address, egress.findAddressProblem(address)]).toEqual([address, problem])
  })

  test('inside another is not allowed by a network around the wrapping, but denied by it', () => {
    const allowing = createEgress({ ...open, policy: policyWith({ esbAllowedCidrs: ['2000::/3'] }) })
    expect(allowing.findAddressProblem('2002:a00:1::')).toBe('outside the allowed networks')
    expect(allowing.findAddressProblem('2606:4700::1111')).toBeNull()
    const denying = createEgress({ ...open, policy: policyWith({ esbDeniedCidrs: ['2002::/16'] }) })
    expect(denying.findAddressProblem('2002:a00:1::')).toBe('in a denied network')
    expect(denying.findAddressProblem('10.0.0.1')).toBeNull()
  })

  test('of IPv4 that is refused is refused in every wrapping', () => {
    const egress = createEgress({
      ...open,
      policy: policyWith({
        esbAllowedCidrs: ['0.0.0.0/1', '2000::/3', 'fc00::/7', '::/16', '64::/16'],
        esbDeniedCidrs: ['10.1.0.0/16', '8.0.0.0/8'],
      }),
    })
    const byte = fc.oneof(fc.constantFrom(0, 1, 8, 10, 127, 168, 169, 224, 254), fc.nat(255))
    let refusals = 0
    fc.assert(
      fc.property(fc.tuple(byte, byte, byte, byte), fc.nat(0xffff), (bytes, tail) => {
        const [a, b, c, d] = bytes
        const groups = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
        const problem = egress.findAddressProblem(bytes.join('.'))
        if (problem === null) return
        refusals++
        const texts = [`::ffff:${groups}`, `::ffff:0:${groups}`, `64:ff9b::${groups}`, `64:ff9b:1::${groups}`]
        texts.push(`2002:${groups}::${tail.toString(16)}`, `2001:0:${groups}::`, `2a00::5efe:${groups}`)
        texts.push(`64:ff9b:1:${groups.split(':')[0]}::${bytes.join('.')}`, `::ffff:${bytes.join('.')}`)
        // ::0.0.0.1 is the loopback address of IPv6.
        if (a + b + c > 0) texts.push(`::${groups}`)
        for (const text of texts)
          expect([text, egress.findAddressProblem(text) === null]).toEqual([text, false])
      }),
      { numRuns: 2_000 },
    )
    expect(refusals).toBeGreaterThan(500)
  })
})

describe('a service of our own', () => {
  const lookup = resolver({ 'db.internal': ['10.0.0.5', 'fd12::5'], localhost: ['127.0.0.1'] })
  const ownServices = [
    { host: 'db.internal', port: 5432 },
    { host: 'localhost', port: 6379 },
    { host: '0.0.0.0', port: 8081 },
    { host: '[fd12::9]', port: 9000 },
  ]
  const egress = createEgress({ ...open, ownServices, lookup })

  test.each([
    ['10.0.0.5', 5432],
    ['::ffff:10.0.0.5', 5432],
    ['64:ff9b::10.0.0.5', 5432],
    ['fd12::5', 5432],
    ['FD12:0:0::5', 5432],
    ['127.0.0.1', 6379],
    ['127.8.8.8', 6379],
    ['::1', 6379],
    ['::ffff:127.0.0.1', 6379],
    ['127.0.0.1', 8081],
    ['::1', 8081],
    ['fd12::9', 9000],
  ])('is not called at %s port %i', async (address, port) => {
    expect(await egress.findProblem(address, port)).toBe('an internal service of the Manager')
  })

  test.each([
    ['10.0.0.5', 5433],
    ['10.0.0.6', 5432],
    ['127.0.0.1', 5432],
    ['127.0.0.1', 80],
    ['10.0.0.5', 6379],
    ['fd12::5', 9000],
    ['10.0.0.5', 8081],
  ])('is not at %s port %i', async (address, port) => {
    expect(await egress.findProblem(address, port)).toBeNull()
  })

  test('on this machine is not called at any address of this machine', async () => {
    const addresses = Object.values(networkInterfaces()).flatMap((own) =>
      (own ?? []).map(({ address }) => address),
    )
    expect(addresses).toContain('127.0.0.1')
    for (const address of addresses)
      for (const port of [6379, 8081])
        expect([address, await egress.findProblem(address, port)]).not.toContain(null)
  })

  test('whose name does not resolve could be anywhere', async () => {
    const lost = createEgress({ ...open, ownServices: [{ host: 'gone.internal', port: 5432 }], lookup })
    expect(await lost.findProblem('10.0.0.9', 5432)).toBe('an internal service of the Manager')
    expect(await lost.findProblem('10.0.0.9', 5433)).toBeNull()
  })
})

describe('an optional service of our own', () => {
  const host = 'collector.internal'
  const ownServices = [{ host, port: 443, isOptional: true as const }]

  test('is not called, and blocks no call to its port while its name does not resolve', async () => {
    const known = createEgress({ ...open, ownServices, lookup: resolver({ [host]: ['10.0.0.5'] }) })
    expect(await known.findProblem('10.0.0.5', 443)).toBe('an internal service of the Manager')
    expect(await known.findProblem('10.0.0.6', 443)).toBeNull()
    const unknown = createEgress({ ...open, ownServices, lookup: resolver({}) })
    expect(await unknown.findProblem('10.0.0.5', 443)).toBeNull()
  })

  test('stays closed at its last addresses while the name servers fail', async () => {
    const addresses: Record<string, string[]> = { [host]: ['10.0.0.5'] }
    const egress = createEgress({ ...open, ownServices, lookup: (name) => resolver(addresses)(name) })
    expect(await egress.findProblem('10.0.0.6', 443)).toBeNull()
    delete addresses[host]
    expect(await egress.findProblem('10.0.0.5', 443)).toBe('an internal service of the Manager')
    expect(await egress.findProblem('10.0.0.6', 443)).toBeNull()
  })
})

describe('the policy of callbacks', () => {
  const problemOf = (address: string, opened: readonly string[] = []): string | null =>
    createAddressRules(createCallbacksPolicy(opened)).findAddressProblem(address)

  test.each([
    ['127.0.0.1', 'a loopback address'],
    ['::1', 'a loopback address'],
    ['10.0.0.1', 'a private address'],
    ['100.64.0.1', 'a private address'],
    ['fd12::1', 'a private address'],
    ['2002:a00:1::', 'a private address'],
    ['64:ff9b::c0a8:1', 'a private address'],
    ['240.0.0.1', 'a reserved address'],
    ['192.0.0.1', 'a reserved address'],
    // Outside the allocated address space.
    ['4000::1', 'a reserved address'],
    ['1::1', 'a reserved address'],
    ['64:ff9b:2::808:808', 'a reserved address'],
  ])('refuses %s, which is %s, unless its network is opened', (address, problem) => {
    expect(problemOf(address)).toBe(problem)
    expect(problemOf(address, ['0.0.0.0/0', '::/0'])).toBeNull()
  })

  test.each([
    '8.8.8.8',
    '2606:4700::1111',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
    '2002:808:808::',
    '203.0.113.1',
  ])('lets %s pass', (address) => expect(problemOf(address)).toBeNull())

  test.each([
    '0.0.0.0',
    '169.254.1.1',
    '169.254.169.254',
    '100.100.100.200',
    '224.0.0.1',
    '2001::1',
    'fe80::1',
  ])('never lets %s pass', (address) => {
    const everything = problemOf(address, [
      '0.0.0.0/0',
      '::/0',
      `${address}/${address.includes(':') ? 128 : 32}`,
    ])
    expect([everything, problemOf(address)]).not.toContain(null)
  })

  test('opens what is wrapped by its own network, not by one around the wrapping', () => {
    expect(problemOf('2002:a00:1::', ['2000::/3'])).toBe('a private address')
    expect(problemOf('2002:a00:1::', ['10.0.0.0/8'])).toBeNull()
  })

  test('refuses the services of our own in an opened network too', async () => {
    const egress = createEgress({
      policy: createCallbacksPolicy(['127.0.0.0/8']),
      ownServices: [{ host: '127.0.0.1', port: 5432 }],
      lookup,
    })
    expect(await egress.findProblem('127.0.0.1', 5432)).toBe('an internal service of the Manager')
    expect(await egress.findProblem('127.0.0.1', 5433)).toBeNull()
  })

  test('a denied network wins over an opened one', () => {
    const rules = createAddressRules({
      ...createCallbacksPolicy(['10.0.0.0/8']),
      deniedCidrs: ['10.1.0.0/16'],
    })
    expect(rules.findAddressProblem('10.1.0.1')).toBe('in a denied network')
    expect(rules.findAddressProblem('10.2.0.1')).toBeNull()
  })
})
