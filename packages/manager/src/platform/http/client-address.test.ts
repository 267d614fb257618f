import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { getClientNetwork, createClientAddress } from './client-address.ts'

/** Returns the client address of a request from this peer with these hops. */
function addressOf(
  trusted: string[],
  { peer, hops, secret = false }: { peer: string | undefined; hops?: string; secret?: boolean },
): string {
  const headers = hops === undefined ? {} : { 'x-forwarded-for': hops }
  const request = { socket: { remoteAddress: peer }, headers } as unknown as IncomingMessage
  return createClientAddress(trusted)(request, secret)
}

describe('the client address', () => {
  test('is the peer when nobody trusted speaks, whatever it says', () => {
    for (const hops of [undefined, '', '203.0.113.9', '203.0.113.9, 10.0.0.1', 'nonsense']) {
      expect(addressOf([], { peer: '192.0.2.1', hops })).toBe('192.0.2.1')
      expect(addressOf(['10.0.0.0/8'], { peer: '192.0.2.1', hops })).toBe('192.0.2.1')
      expect(addressOf(['2001:db8::/32'], { peer: '2001:db9::1', hops })).toBe('2001:db9::1')
    }
    expect(addressOf(['10.0.0.0/8'], { peer: undefined, hops: '203.0.113.9' })).toBe('')
  })

  test('behind the proxy or a trusted peer is the right-most hop that is not trusted', () => {
    const trusted = ['10.0.0.0/8', '2001:db8::/32']
    for (const [hops, expected] of [
      ['203.0.113.9', '203.0.113.9'],
      ['  203.0.113.9  ', '203.0.113.9'],
      ['198.51.100.1, 203.0.113.9', '203.0.113.9'],
      ['198.51.100.1,203.0.113.9,10.1.2.3', '203.0.113.9'],
      ['198.51.100.1, 203.0.113.9, 2001:db8::7, 10.1.2.3', '203.0.113.9'],
      ['10.9.9.9, 2001:db9::1, 10.1.2.3', '2001:db9::1'],
      ['::ffff:203.0.113.9, ::FFFF:10.1.2.3', '203.0.113.9'],
      ['nonsense, 203.0.113.9', '203.0.113.9'],
      ['203.0.113.9, ::ffff:a01:203', '203.0.113.9'],
    ] as const) {
      expect(addressOf(trusted, { peer: '192.0.2.1', hops, secret: true })).toBe(expected)
      for (const peer of ['10.0.0.1', '::ffff:10.0.0.1', '2001:db8::1'])
        expect(addressOf(trusted, { peer, hops })).toBe(expected)
    }
  })

  test('is the hop without its port', () => {
    for (const [hop, expected] of [
      ['203.0.113.9:4711', '203.0.113.9'],
      ['[2001:db9::1]', '2001:db9::1'],
      ['[2001:db9::1]:443', '2001:db9::1'],
    ] as const)
      expect(addressOf([], { peer: '192.0.2.1', hops: hop, secret: true })).toBe(expected)
  })

  test('is the peer when the hops are all trusted, absent or no addresses', () => {
    for (const hops of [
      undefined,
      '',
      ',',
      '10.1.2.3',
      '10.1.2.3, 10.3.2.1',
      'nonsense',
      '203.0.113.9, nonsense',
      '203.0.113.9, ',
      '203.0.113',
      '203.0.113.009',
      '203.0.113.9/32',
      'unknown, 10.1.2.3',
      '2001:db9:::1',
      '203.0.113.9;10.1.2.3',
    ]) {
      expect(addressOf(['10.0.0.0/8'], { peer: '192.0.2.1', hops, secret: true })).toBe('192.0.2.1')
      expect(addressOf(['10.0.0.0/8'], { peer: '::ffff:10.0.0.1', hops })).toBe('10.0.0.1')
    }
  })

  test('trusted networks may be written for IPv4 mapped into IPv6, and either way hold both spellings', () => {
    for (const cidr of ['10.0.0.0/8', '::ffff:10.0.0.0/104', '::ffff:a00:0/104', '10.1.2.3/8']) {
      for (const peer of ['10.1.2.3', '::ffff:10.1.2.3'])
        expect(addressOf([cidr], { peer, hops: '203.0.113.9' })).toBe('203.0.113.9')
      for (const peer of ['11.1.2.3', '::ffff:11.1.2.3', '::a01:203', '2001:db8::a01:203'])
        expect(addressOf([cidr], { peer, hops: '203.0.113.9' })).toBe(peer.replace('::ffff:', ''))
    }
    expect(addressOf(['10.1.2.3/32'], { peer: '10.1.2.4', hops: '203.0.113.9' })).toBe('10.1.2.4')
    expect(addressOf(['0.0.0.0/0'], { peer: '192.0.2.1', hops: '203.0.113.9' })).toBe('192.0.2.1')
  })

  test('of an IPv4 client mapped into IPv6 is the IPv4 address, in every spelling', () => {
    for (const mapped of [
      '::ffff:192.0.2.1',
      '::FFFF:192.0.2.1',
      '::ffff:c000:201',
      '0:0:0:0:0:ffff:192.0.2.1',
      '0000:0000:0000:0000:0000:ffff:c000:0201',
    ]) {
      expect([mapped, addressOf([], { peer: mapped })]).toEqual([mapped, '192.0.2.1'])
      const forwarded = addressOf([], { peer: '10.0.0.1', hops: mapped, secret: true })
      expect([mapped, forwarded]).toEqual([mapped, '192.0.2.1'])
    }
  })
})

describe('the network a throttle counts', () => {
  test('is an IPv4 address itself, and what is no address stays as it is', () => {
    for (const address of ['192.0.2.1', '0.0.0.0', '255.255.255.255', '', 'nonsense'])
      expect(getClientNetwork(address)).toBe(address)
  })

  test('is the first half of an IPv6 address, in one spelling', () => {
    for (const [address, network] of [
      ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
      ['2001:0DB8:0001:0002:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
      ['2001:db8:1:2::', '2001:db8:1:2::/64'],
      ['2001:db8:1::6', '2001:db8:1:0::/64'],
      ['2001:db8::2:3:4:5:6', '2001:db8:0:2::/64'],
      ['2001::1:2:3:4', '2001:0:0:0::/64'],
      ['2001::db8:1:2:3:4:5', '2001:0:db8:1::/64'],
      ['::2001:db8:1:2:3:4', '0:0:2001:db8::/64'],
      ['::db8:1:2:3:4:5:6', '0:db8:1:2::/64'],
      ['1:2:3:4:5:6:7::', '1:2:3:4::/64'],
      ['::', '0:0:0:0::/64'],
      ['::1', '0:0:0:0::/64'],
      ['1::', '1:0:0:0::/64'],
      ['2001:db8:1:2:3:4:192.0.2.1', '2001:db8:1:2::/64'],
      ['2001:db8:1::192.0.2.1', '2001:db8:1:0::/64'],
      ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
      ['fe80::1%eth0', 'fe80:0:0:0::/64'],
      ['fe80::%1', 'fe80:0:0:0::/64'],
      ['fe80:0:0:7:1:2:3:4%en0', 'fe80:0:0:7::/64'],
    ] as const)
      expect([address, getClientNetwork(address)]).toEqual([address, network])
  })

  /**
   * An address as eight groups, and one of its spellings: with or without `::`, leading zeros, uppercase
   * letters, or the last two groups in dotted decimal form.
   */
  const spelled = fc
    .record({
      groups: fc.array(fc.oneof(fc.constant(0), fc.constant(0), fc.nat({ max: 0xffff })), {
        minLength: 8,
        maxLength: 8,
      }),
      from: fc.nat({ max: 8 }),
      length: fc.nat({ max: 8 }),
      isPadded: fc.boolean(),
      isUpper: fc.boolean(),
      isDotted: fc.boolean(),
    })
    .map(({ groups, from, length, isPadded, isUpper, isDotted }) => {
      const hex = (values: number[]): string[] =>
        values.map((value) => value.toString(16).padStart(isPadded ? 4 : 1, '0'))
      const dotted = groups
        .slice(6)
        .flatMap((value) => [value >> 8, value & 255])
        .join('.')
      const tail = (at: number): string =>
        (isDotted && at <= 6 ? [...hex(groups.slice(at, 6)), dotted] : hex(groups.slice(at))).join(':')
      let until = from
      while (until < Math.min(8, from + length) && groups[until] === 0) until++
      const text = until > from ? `${hex(groups.slice(0, from)).join(':')}::${tail(until)}` : tail(0)
      return { groups, text: isUpper ? text.toUpperCase() : text }
    })

  test('is the same for every spelling of an address', () => {
    fc.assert(
      fc.property(spelled, ({ groups, text }) => {
        expect([text, isIP(text)]).toEqual([text, 6])
        const network = groups.slice(0, 4).map((group) => group.toString(16))
        expect([text, getClientNetwork(text)]).toEqual([text, `${network.join(':')}::/64`])
      }),
      { numRuns: 2_000 },
    )
  })
})
